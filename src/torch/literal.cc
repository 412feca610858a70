// Python's literals as objects of a draft: what `ast.literal_eval` takes. Open brackets lie on a
// stack of their own, so that no depth of nesting matters.
#include <algorithm>
#include <complex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/fail.h"
#include "flambeau/draft.h"
#include "flambeau/limits.h"
#include "pickle/repr.h"
#include "pickle/text_argument.h"

namespace flambeau {
namespace {

constexpr std::string_view kWhiteSpace = " \t\n\r\f";

bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }
bool is_word(char c) noexcept {
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

class LiteralParser {
 public:
  LiteralParser(Draft& draft, std::string_view text) : draft_(draft), text_(text) {}

  Object parse();

 private:
  /// A bracket that is open; `bracket` is 0 for the text as a whole, which may be a tuple.
  struct Open {
    char bracket;
    std::vector<Item> items{};
    /// Of a dict: keys and values in turn.
    bool is_dict = false;
    bool ends_with_comma = false;
  };

  char peek() const noexcept { return at_ < text_.size() ? text_[at_] : '\0'; }
  bool take(char c) noexcept {
    if (peek() != c || at_ == text_.size()) return false;
    ++at_;
    return true;
  }
  bool take(std::string_view text) noexcept {
    if (!text_.substr(at_).starts_with(text)) return false;
    at_ += text.size();
    return true;
  }
  void skip_space() noexcept {
    at_ = std::min(text_.find_first_not_of(kWhiteSpace, at_), text_.size());
  }
  [[noreturn]] void refuse(std::string_view what) const {
    fail(ErrorCode::usage, {}, "no Python literal: {} at character {}", what, at_ + 1);
  }

  void open_brackets();
  bool wants_value() const;
  bool separate();
  Object close();
  Object atom();
  Object word();
  Object number();
  std::optional<Object> with_imaginary(double real);
  Object integer(std::string_view token, bool negative);
  bool starts_text() const noexcept;
  Object text_literal();
  bool append_text(std::string& content);
  std::string_view take_quoted();

  Draft& draft_;
  std::string_view text_;
  std::size_t at_ = 0;
  std::vector<Open> open_;
};

void LiteralParser::open_brackets() {
  for (skip_space(); peek() == '[' || peek() == '(' || peek() == '{'; skip_space()) {
    open_.push_back({peek()});
    ++at_;
  }
}

/// Not where a bracket closes: at once behind its opening, or behind a comma.
bool LiteralParser::wants_value() const {
  const Open& open = open_.back();
  const bool may_close = open.bracket == 0 ? !open.items.empty() && at_ == text_.size()
                                           : peek() == ']' || peek() == ')' || peek() == '}';
  return !may_close || (!open.items.empty() && !open.ends_with_comma);
}

/// What may stand behind a value; whether another value follows.
bool LiteralParser::separate() {
  Open& open = open_.back();
  open.ends_with_comma = false;
  skip_space();
  if (open.bracket == '{' && peek() == ':' &&
      (open.items.size() == 1 || (open.is_dict && open.items.size() % 2 == 1))) {
    open.is_dict = true;
    ++at_;
    return true;
  }
  if (open.is_dict && open.items.size() % 2 == 1) refuse("a key without a value");
  if (!take(',')) return false;
  skip_space();
  open.ends_with_comma = true;
  return true;
}

/// One value in round brackets, without a comma, is that value.
Object LiteralParser::close() {
  Open open = std::move(open_.back());
  open_.pop_back();
  const char closing = open.bracket == '[' ? ']' : open.bracket == '{' ? '}' : ')';
  if (open.bracket != 0 && !take(closing)) {
    refuse(at_ == text_.size() ? "a bracket stays open" : "no comma and no closing bracket");
  }
  if (open.bracket == '[') return draft_.list(open.items);
  if (open.bracket == '{' && !open.is_dict && !open.items.empty()) return draft_.set(open.items);
  if (open.bracket == '{') {
    std::vector<Entry> entries;
    for (std::size_t i = 0; i < open.items.size(); i += 2) {
      entries.emplace_back(open.items[i], open.items[i + 1]);
    }
    return draft_.dict(entries);
  }
  if (open.items.size() == 1 && !open.ends_with_comma) return draft_.make(open.items[0]);
  return draft_.tuple(open.items);
}

Object LiteralParser::parse() {
  open_.push_back({0});
  for (;;) {
    open_brackets();
    std::optional<Object> value;
    if (wants_value()) value = atom();
    // A value may end several brackets.
    do {
      if (value) {
        open_.back().items.push_back(*value);
        if (separate()) break;
      }
      value = close();
    } while (!open_.empty());
    if (open_.empty()) {
      skip_space();
      if (at_ < text_.size()) refuse("more text");
      return *value;
    }
  }
}

Object LiteralParser::atom() {
  const char c = peek();
  if (is_digit(c) || c == '.' || c == '+' || c == '-') return number();
  if (starts_text()) return text_literal();
  return word();
}

Object LiteralParser::word() {
  if (at_ == text_.size()) refuse("no value");
  std::size_t size = 0;
  while (at_ + size < text_.size() && is_word(text_[at_ + size])) ++size;
  const std::string_view word = text_.substr(at_, size);
  const std::size_t start = at_;
  at_ += size;
  if (word == "None") return draft_.none();
  if (word == "True" || word == "False") return draft_.make(word == "True");
  if (word == "set") {
    skip_space();
    if (take('(')) {
      skip_space();
      if (take(')')) return draft_.set();
    }
  }
  at_ = start;
  refuse(word.empty() ? "no value" : "a name (texts stand in quotes)");
}

/// A sign before it, an imaginary part behind it.
Object LiteralParser::number() {
  const bool negative = peek() == '-';
  if (negative || peek() == '+') {
    ++at_;
    skip_space();
  }
  const std::size_t start = at_;
  const bool is_based = text_.substr(at_).size() > 1 && peek() == '0' &&
                        std::string_view("xXoObB").find(text_[at_ + 1]) != std::string_view::npos;
  while (at_ < text_.size()) {
    const char c = text_[at_];
    const char before = at_ > start ? text_[at_ - 1] : '\0';
    const bool is_exponent =
        !is_based && (c == '+' || c == '-') && (before == 'e' || before == 'E');
    if (!is_word(c) && c != '.' && !is_exponent) break;
    ++at_;
  }
  std::string_view token = text_.substr(start, at_ - start);
  if (token.empty() || !(is_digit(token[0]) || token[0] == '.')) {
    at_ = start;
    refuse("no number");
  }
  const bool is_imaginary = !is_based && (token.back() == 'j' || token.back() == 'J');
  if (is_imaginary) {
    const auto part = read_real_text(token.substr(0, token.size() - 1));
    if (!part) refuse("no number");
    return draft_.complex({negative ? -0.0 : 0.0, negative ? -*part : *part});
  }
  if (!is_based && token.find_first_of(".eE") != std::string_view::npos) {
    const auto real = read_real_text(token);
    if (!real) refuse("no number");
    const double value = negative ? -*real : *real;
    if (const auto sum = with_imaginary(value)) return *sum;
    return draft_.make(value);
  }
  const Object integer = this->integer(token, negative);
  const auto real = read_real_text(token);
  if (!real) return integer;
  return with_imaginary(negative ? -*real : *real).value_or(integer);
}

/// The sum with an imaginary part where one follows: "+ 2j". Zeros have the signs that Python's
/// addition and subtraction give them.
std::optional<Object> LiteralParser::with_imaginary(double real) {
  const std::size_t start = at_;
  skip_space();
  const bool negative = peek() == '-';
  if (!negative && peek() != '+') {
    at_ = start;
    return std::nullopt;
  }
  ++at_;
  skip_space();
  const std::size_t end = std::min(text_.find_first_of("jJ", at_), text_.size());
  const auto part = read_real_text(text_.substr(at_, end - at_));
  if (!part || end == text_.size() || !(is_digit(peek()) || peek() == '.')) {
    refuse("no imaginary part behind the sign");
  }
  at_ = end + 1;
  if (negative) return draft_.complex({real, 0.0 - *part});
  return draft_.complex({real + 0.0, *part});
}

Object LiteralParser::integer(std::string_view token, bool negative) {
  auto integer = read_integer_text(token, IntegerRule::literal);
  if (!integer) refuse("no number");
  integer->negative = negative;
  if (integer->base == 10) return draft_.integer(to_decimal(*integer));
  if (integer->digits.size() > Limits{}.max_integer_digits) refuse("a number with too many digits");
  return draft_.integer(decimal_of(to_twos_complement(*integer)));
}

/// Letters before the quote say what the text is.
bool LiteralParser::starts_text() const noexcept {
  std::size_t at = at_;
  while (at < text_.size() && at - at_ < 2 && is_word(text_[at])) ++at;
  return at < text_.size() && (text_[at] == '\'' || text_[at] == '"');
}

std::string_view LiteralParser::take_quoted() {
  const char quote = peek();
  const std::string_view three = text_.substr(at_, 3);
  const bool is_long = three == "'''" || three == "\"\"\"";
  const std::string_view end = is_long ? three : text_.substr(at_, 1);
  at_ += end.size();
  const std::size_t start = at_;
  while (at_ < text_.size() && !text_.substr(at_).starts_with(end)) {
    if (!is_long && text_[at_] == '\n') refuse("a line end in a text");
    if (text_[at_] == '\\') ++at_;
    ++at_;
  }
  if (at_ >= text_.size()) {
    at_ = text_.size();
    refuse(quote == '"' ? "no closing \"" : "no closing '");
  }
  const std::string_view body = text_.substr(start, at_ - start);
  at_ += end.size();
  return body;
}

/// Takes one text off; whether it is of bytes.
bool LiteralParser::append_text(std::string& content) {
  bool is_raw = false;
  bool is_bytes = false;
  for (; is_word(peek()); ++at_) {
    const char letter = peek();
    if (letter == 'r' || letter == 'R') {
      is_raw = true;
    } else if (letter == 'b' || letter == 'B') {
      is_bytes = true;
    } else if (letter != 'u' && letter != 'U') {
      refuse("a name (texts stand in quotes)");
    }
  }
  const std::string_view body = take_quoted();
  if (is_bytes && !is_ascii(body)) refuse("bytes that are not ASCII, before it,");
  const auto plain = is_raw     ? std::optional(std::string(body))
                     : is_bytes ? undo_escapes(body)
                                : undo_source_escapes(body);
  if (!plain) refuse("an escape that means nothing, before it,");
  content += *plain;
  return is_bytes;
}

/// Texts that follow each other are one.
Object LiteralParser::text_literal() {
  std::string content;
  const bool is_bytes = append_text(content);
  std::size_t end = at_;
  for (skip_space(); starts_text(); skip_space()) {
    if (append_text(content) != is_bytes) refuse("bytes and text in one, before it,");
    end = at_;
  }
  at_ = end;
  if (is_bytes) return draft_.bytes(std::as_bytes(std::span(content)));
  return draft_.string(content);
}

}  // namespace

Object Draft::parse(std::string_view literal) { return LiteralParser(*this, literal).parse(); }

}  // namespace flambeau
