// The `read_*` functions of pickletools.py, each followed by `repr`.
//
// How pickletools reads the lines of protocol 0 is not how an unpickler does: integers are decimal
// only (no `0x10`, but `007`), a lone quote is an empty string, names undo escapes and are ASCII.
#include "pickle/shown_argument.h"

#include <optional>
#include <string_view>

#include "base/text.h"
#include "pickle/bigint.h"
#include "pickle/document.h"
#include "pickle/repr.h"
#include "pickle/text_argument.h"

namespace flambeau {
namespace {

/// CPython's bound on `int` from text and on `repr` of an int.
void check_digits(std::uint64_t digits, const CurrentStep& step, std::uint32_t max_digits) {
  if (digits > max_digits) {
    fail(ErrorCode::limit, step.place(), "{}: the integer has over {} digits", to_string(step.op),
         max_digits);
  }
}

std::string show_decimal(std::string_view line, const CurrentStep& step, std::uint32_t max_digits) {
  const auto integer = read_integer_text(line, IntegerRule::decimal);
  if (!integer) refuse(step, "the line is no decimal integer");
  check_digits(integer->digits.size(), step, max_digits);
  return to_decimal(*integer);
}

/// A line of INT, GET or PUT: pickletools sees the booleans of INT in all three.
std::string show_short(std::string_view line, const CurrentStep& step, std::uint32_t max_digits) {
  if (line == "00") return "False";
  if (line == "01") return "True";
  return show_decimal(line, step, max_digits);
}

std::string show_long_line(std::string_view line, const CurrentStep& step,
                           std::uint32_t max_digits) {
  if (line.ends_with('L')) line.remove_suffix(1);
  return show_decimal(line, step, max_digits);
}

std::string show_long(std::string_view number, const CurrentStep& step, std::uint32_t max_digits) {
  number = minimal_twos_complement(number);
  // Conversion takes quadratic time: what is certainly too long is not converted.
  check_digits(fewest_decimal_digits(number.size()), step, max_digits);
  std::string decimal = decimal_of(number);
  check_digits(decimal.size() - (decimal.starts_with('-') ? 1 : 0), step, max_digits);
  return decimal;
}

/// `float` takes more than picklers write: white space, underscores, "Infinity".
std::string show_real_line(std::string_view line, const CurrentStep& step) {
  const auto value = read_real_text(line);
  if (!value) refuse(step, "the line is no float");
  return python_repr_real(*value);
}

/// `escape_decode` and then `decode("ascii")`, also for the names of GLOBAL, which pickletools
/// calls "noescape" all the same.
std::string undo_ascii(std::string_view text, const CurrentStep& step) {
  auto plain = undo_escapes(text);
  if (!plain) refuse(step, "an escape is cut");
  if (!is_ascii(*plain)) refuse(step, "the text is not ASCII");
  return *std::move(plain);
}

std::string show_literal(std::string_view line, const CurrentStep& step) {
  const bool is_quoted = line.starts_with('"') || line.starts_with('\'');
  if (!is_quoted || line.back() != line.front()) refuse(step, "the line is not in quotes");
  // A lone quote is both ends at once.
  line.remove_prefix(1);
  if (!line.empty()) line.remove_suffix(1);
  return python_repr_text(undo_ascii(line, step));
}

std::string show_unicode_line(std::string_view line, const CurrentStep& step) {
  const auto text = undo_unicode_escapes(line);
  if (!text) refuse(step, "an escape is cut, or above U+10FFFF");
  return python_repr_text(*text);
}

/// Lone surrogates pass, and `repr` escapes them.
std::string show_utf8(std::string_view text, const CurrentStep& step) {
  if (!is_utf8(text)) refuse(step, "the text is not UTF-8");
  return python_repr_text(text);
}

/// Python 2 strings: one character for each byte.
std::string show_latin1(std::string_view bytes) {
  return python_repr_text(*decode_byte_string("latin1", bytes));
}

}  // namespace

std::string show_argument(const Instruction& ins, const CurrentStep& step,
                          std::uint32_t max_digits) {
  switch (argument_of(ins.op)) {
    case Argument::none: return {};
    case Argument::uint1:
    case Argument::uint2:
    case Argument::uint4:
    case Argument::int4: return fmt::format("{}", ins.integer);
    case Argument::uint8: return fmt::format("{}", static_cast<std::uint64_t>(ins.integer));
    case Argument::float8: return python_repr_real(ins.real);
    case Argument::long1:
    case Argument::long4: return show_long(ins.text, step, max_digits);
    case Argument::string1:
    case Argument::string4: return show_latin1(ins.text);
    case Argument::bytes1:
    case Argument::bytes4:
    case Argument::bytes8: return python_repr_bytes(ins.text);
    case Argument::bytearray8: return python_repr_bytearray(ins.text);
    case Argument::unicodestring1:
    case Argument::unicodestring4:
    case Argument::unicodestring8: return show_utf8(ins.text, step);
    case Argument::decimalnl_short: return show_short(ins.text, step, max_digits);
    case Argument::decimalnl_long: return show_long_line(ins.text, step, max_digits);
    case Argument::floatnl: return show_real_line(ins.text, step);
    case Argument::stringnl: return show_literal(ins.text, step);
    case Argument::stringnl_noescape: return python_repr_text(undo_ascii(ins.text, step));
    case Argument::stringnl_noescape_pair:
      return python_repr_text(undo_ascii(ins.text, step) + " " + undo_ascii(ins.name, step));
    case Argument::unicodestringnl: return show_unicode_line(ins.text, step);
  }
  return {};
}

/// The False that `00` is read as is the key 0 of a Python dict: shown as one, looked up as the
/// other.
std::string show_memo_index(const Instruction& ins, const CurrentStep& step,
                            std::uint32_t max_digits) {
  const bool is_line_argument = argument_of(ins.op) == Argument::decimalnl_short;
  return is_line_argument ? show_decimal(ins.text, step, max_digits)
                          : fmt::format("{}", ins.integer);
}

}  // namespace flambeau
