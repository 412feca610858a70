// Facts from CPython: `PyLong_FromString` (sign, prefix, single underscores between digits, ASCII
// white space around), `PyFloat_FromString`, `_PyBytes_DecodeEscape`, and
// `_PyUnicode_DecodeRawUnicodeEscapeStateful`. Where the C unpickler is laxer or stricter than
// `pickle.py` (octal `010`, a NUL that ends the line early), `pickle.py` decides.
#include "pickle/text_argument.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <limits>
#include <system_error>

#include "base/text.h"
#include "pickle/bigint.h"
#include "pickle/repr.h"

namespace flambeau {
namespace {

constexpr std::string_view kWhiteSpace = " \t\n\v\f\r";
/// Keeps sums of exponents and digit counts far from overflow; any float ends below it.
constexpr std::int64_t kExponentBound = 1'000'000'000'000;

constexpr bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

/// The value of a hexadecimal digit, 16 for any other character.
constexpr unsigned hex_value(char c) noexcept {
  if (is_digit(c)) return static_cast<unsigned>(c - '0');
  const char lower = to_lower(c);
  return lower >= 'a' && lower <= 'f' ? static_cast<unsigned>(lower - 'a') + 10 : 16;
}

/// What Py_ISSPACE takes off both ends.
std::string_view trim(std::string_view text) noexcept {
  const std::size_t first = text.find_first_not_of(kWhiteSpace);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kWhiteSpace) + 1 - first);
}

/// Takes a sign off; whether it was a minus.
bool take_sign(std::string_view& text) noexcept {
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  return negative;
}

/// The base that `0x`, `0o` or `0b` names, and the prefix taken off; else 10.
unsigned take_prefix(std::string_view& text) noexcept {
  if (text.size() < 2 || text[0] != '0') return 10;
  const char letter = to_lower(text[1]);
  const unsigned base = letter == 'x' ? 16 : letter == 'o' ? 8 : letter == 'b' ? 2 : 10;
  if (base != 10) text.remove_prefix(2);
  return base;
}

/// Copies digits and drops single underscores between them; an underscore may also follow a prefix.
bool copy_digits(std::string_view text, IntegerText& integer) {
  bool may_be_underscore = integer.base != 10;
  for (const char c : text) {
    if (c == '_' && may_be_underscore) {
      may_be_underscore = false;
      continue;
    }
    if (hex_value(c) >= integer.base) return false;
    integer.digits.push_back(c);
    may_be_underscore = true;
  }
  return !integer.digits.empty() && text.back() != '_';
}

/// Characters of a decimal float up to its end: digits with single underscores between them.
std::size_t take_float_digits(std::string_view text, std::size_t at, std::string& out) {
  while (at < text.size()) {
    const bool between = text[at] == '_' && at > 0 && is_digit(text[at - 1]) &&
                         at + 1 < text.size() && is_digit(text[at + 1]);
    if (!is_digit(text[at]) && !between) break;
    if (!between) out.push_back(text[at]);
    ++at;
  }
  return at;
}

/// The grammar of a finite float, without underscores; empty where the text breaks it.
std::string plain_float(std::string_view text) {
  std::string plain;
  std::size_t at = take_float_digits(text, 0, plain);
  std::size_t digits = plain.size();
  if (at < text.size() && text[at] == '.') {
    plain.push_back('.');
    at = take_float_digits(text, at + 1, plain);
    digits = plain.size() - 1;
  }
  if (digits == 0) return {};
  if (at < text.size() && to_lower(text[at]) == 'e') {
    plain.push_back('e');
    if (++at < text.size() && text[at] == '-') plain.push_back('-');
    if (at < text.size() && (text[at] == '-' || text[at] == '+')) ++at;
    const std::size_t before = plain.size();
    at = take_float_digits(text, at, plain);
    if (plain.size() == before) return {};
  }
  return at == text.size() ? plain : std::string();
}

/// Whether a number that no double holds is too large, rather than too small.
bool is_too_large(std::string_view plain) noexcept {
  const std::size_t e = std::min(plain.find('e'), plain.size());
  const std::size_t point = std::min(plain.find('.'), e);
  const std::size_t first = plain.find_first_not_of("0.");
  std::int64_t exponent = 0;
  if (e < plain.size()) {
    const auto read = std::from_chars(plain.data() + e + 1, plain.data() + plain.size(), exponent);
    if (read.ec != std::errc()) exponent = plain[e + 1] == '-' ? -kExponentBound : kExponentBound;
  }
  exponent = std::clamp(exponent, -kExponentBound, kExponentBound);
  return static_cast<std::int64_t>(point) - static_cast<std::int64_t>(first) + exponent > 0;
}

/// The words that `float` knows, in any letter case.
std::optional<double> named_float(std::string_view text) noexcept {
  if (equal_ignoring_case(text, "inf") || equal_ignoring_case(text, "infinity")) {
    return std::numeric_limits<double>::infinity();
  }
  if (equal_ignoring_case(text, "nan")) return std::numeric_limits<double>::quiet_NaN();
  return std::nullopt;
}

/// Reads exactly `count` hexadecimal digits, or nothing.
std::optional<char32_t> take_hex(std::string_view text, std::size_t at,
                                 std::size_t count) noexcept {
  if (text.size() < at + count) return std::nullopt;
  char32_t value = 0;
  for (const char c : text.substr(at, count)) {
    if (hex_value(c) == 16) return std::nullopt;
    value = value << 4 | hex_value(c);
  }
  return value;
}

/// Up to three octal digits from `at` on, which is moved behind them.
unsigned take_octal(std::string_view text, std::size_t& at) noexcept {
  unsigned value = 0;
  const std::size_t end = std::min(at + 3, text.size());
  for (; at < end && text[at] >= '0' && text[at] <= '7'; ++at) {
    value = value * 8 + static_cast<unsigned>(text[at] - '0');
  }
  return value;
}

/// What the letter after a `\` means; 0 where it means nothing.
constexpr char plain_escape(char letter) noexcept {
  switch (letter) {
    case '\\':
    case '\'':
    case '"': return letter;
    case 'a': return '\a';
    case 'b': return '\b';
    case 'f': return '\f';
    case 'n': return '\n';
    case 'r': return '\r';
    case 't': return '\t';
    case 'v': return '\v';
    default: return 0;
  }
}

/// Appends what the escape whose letter stands at `at` means; the place behind it, or npos.
std::size_t append_escape(std::string_view text, std::size_t at, std::string& out) {
  const char letter = text[at];
  if (const char plain = plain_escape(letter); plain != 0) {
    out.push_back(plain);
    return at + 1;
  }
  if (letter >= '0' && letter <= '7') {
    // Python lets `\777` overflow the byte.
    out.push_back(static_cast<char>(take_octal(text, at) & 0xff));
    return at;
  }
  if (letter == 'x') {
    const auto value = take_hex(text, at + 1, 2);
    if (!value) return std::string_view::npos;
    out.push_back(static_cast<char>(*value));
    return at + 3;
  }
  out.append({'\\', letter});
  return at + 1;
}

/// How many digits the escape of that letter has; 0 where it has none.
constexpr std::size_t digits_after(char letter) noexcept {
  return letter == 'x' ? 2 : letter == 'u' ? 4 : letter == 'U' ? 8 : 0;
}

/// The same in source text, where `\u` and `\U` mean characters and a line end means nothing.
std::size_t append_source_escape(std::string_view text, std::size_t at, std::string& out) {
  const char letter = text[at];
  if (letter == '\n') return at + 1;
  if (letter == 'N') return std::string_view::npos;
  if (letter >= '0' && letter <= '7') {
    append_utf8(out, take_octal(text, at));
    return at;
  }
  const std::size_t digits = digits_after(letter);
  if (digits == 0) return append_escape(text, at, out);
  const auto code = take_hex(text, at + 1, digits);
  if (!code || *code > 0x10ffff) return std::string_view::npos;
  append_utf8(out, *code);
  return at + 1 + digits;
}

/// `text` with each escape appended by `append`, which is given the place of the letter.
template <typename Append>
std::optional<std::string> undo(std::string_view text, Append append) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] != '\\') {
      out.push_back(text[at++]);
      continue;
    }
    if (at + 1 == text.size()) return std::nullopt;
    at = append(text, at + 1, out);
    if (at == std::string_view::npos) return std::nullopt;
  }
  return out;
}

}  // namespace

/// CPython's `PyLong_FromString` in base 0 or 10: white space, sign, prefix, digits, white space.
std::optional<IntegerText> read_integer_text(std::string_view text, IntegerRule rule) {
  text = trim(text);
  IntegerText integer;
  integer.negative = take_sign(text);
  if (rule == IntegerRule::literal) integer.base = take_prefix(text);
  if (text.empty() || !copy_digits(text, integer)) return std::nullopt;
  const bool is_zero = integer.digits.find_first_not_of('0') == std::string::npos;
  // `010` was octal in Python 2; Python 3 refuses it rather than change its meaning.
  const bool has_zero_before = integer.base == 10 && integer.digits[0] == '0' && !is_zero;
  if (rule == IntegerRule::literal && has_zero_before) return std::nullopt;
  return integer;
}

std::string to_twos_complement(const IntegerText& integer) {
  if (integer.base == 10) {
    return twos_complement_of(to_decimal(integer));
  }
  const unsigned bits = integer.base == 16 ? 4 : integer.base == 8 ? 3 : 1;
  return twos_complement_of_digits(integer.digits, bits, integer.negative);
}

std::string to_decimal(const IntegerText& integer) {
  const std::size_t first = integer.digits.find_first_not_of('0');
  if (first == std::string::npos) return "0";
  std::string decimal(integer.negative ? "-" : "");
  return decimal.append(integer.digits, first);
}

std::optional<double> read_real_text(std::string_view text) {
  text = trim(text);
  const bool negative = take_sign(text);
  double value = 0;
  if (const auto named = named_float(text)) {
    value = *named;
  } else {
    const std::string plain = plain_float(text);
    if (plain.empty()) return std::nullopt;
    const auto read = std::from_chars(plain.data(), plain.data() + plain.size(), value);
    if (read.ec == std::errc::result_out_of_range) {
      // Python rounds as IEEE 754 does, to infinity or zero, where from_chars leaves the value
      // alone.
      value = is_too_large(plain) ? std::numeric_limits<double>::infinity() : 0;
    }
  }
  return negative ? -value : value;
}

std::optional<std::string_view> strip_quotes(std::string_view text) noexcept {
  if (text.size() < 2 || text.front() != text.back()) return std::nullopt;
  if (text.front() != '\'' && text.front() != '"') return std::nullopt;
  return text.substr(1, text.size() - 2);
}

std::optional<std::string> undo_escapes(std::string_view text) { return undo(text, append_escape); }

std::optional<std::string> undo_source_escapes(std::string_view text) {
  return undo(text, append_source_escape);
}

std::optional<std::string> undo_unicode_escapes(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size(); ++at) {
    // Bytes are Latin-1; a backslash before anything but `u` and `U` stands for itself, and so does
    // what follows it.
    append_utf8(out, static_cast<unsigned char>(text[at]));
    if (text[at] != '\\' || at + 1 == text.size()) continue;
    const char letter = text[++at];
    if (letter != 'u' && letter != 'U') {
      append_utf8(out, static_cast<unsigned char>(letter));
      continue;
    }
    const std::size_t digits = letter == 'u' ? 4 : 8;
    const auto code = take_hex(text, at + 1, digits);
    if (!code || *code > 0x10ffff) return std::nullopt;
    out.pop_back();
    append_utf8(out, *code);
    at += digits;
  }
  return out;
}

/// As Python's codec "utf-8", which refuses surrogates.
bool is_strict_utf8(std::string_view text) noexcept {
  while (!text.empty()) {
    const auto code = decode_utf8(text);
    if (!code || (code->value >= 0xd800 && code->value <= 0xdfff)) return false;
    text.remove_prefix(code->size);
  }
  return true;
}

}  // namespace flambeau
