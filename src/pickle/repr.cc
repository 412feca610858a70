// `repr` of CPython 3.11: `unicode_repr` and `bytes_repr` (quotes, escapes), `float_repr_style`
// "short" (`PyOS_double_to_string` with 'r'). What `str.isprintable` asks of a code point is its
// general category, which utf8proc knows.
//
// CPython 3.11 has Unicode 14, utf8proc 2.8 has 15, which assigned 4,482 printable code points more
// (U+0CF3, U+0ECE, U+10EFD … U+323AF): repr here prints what repr there escapes. No others differ.
#include "pickle/repr.h"

#include <fmt/format.h>
#include <utf8proc.h>

#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>

#include "base/text.h"

namespace flambeau {
namespace {

/// Single quotes, but where only they would have to be escaped.
char quote_for(std::string_view text) noexcept {
  const bool has_single = text.find('\'') != std::string_view::npos;
  const bool has_double = text.find('"') != std::string_view::npos;
  return has_single && !has_double ? '"' : '\'';
}

/// Appends the escape that text and bytes have in common for `c`; false where there is none.
bool append_short_escape(std::string& out, char32_t c, char quote) {
  if (c == '\\' || c == static_cast<unsigned char>(quote)) {
    out.append({'\\', static_cast<char>(c)});
  } else if (c == '\t') {
    out += "\\t";
  } else if (c == '\n') {
    out += "\\n";
  } else if (c == '\r') {
    out += "\\r";
  } else {
    return false;
  }
  return true;
}

/// `str.isprintable` of one code point above ASCII: letters, marks, numbers, punctuation, symbols;
/// no separators, no controls, nothing unassigned.
bool is_printable(char32_t code) noexcept {
  const auto category = utf8proc_category(static_cast<utf8proc_int32_t>(code));
  return category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_SO;
}

void append_hex_escape(std::string& out, char32_t code) {
  const auto number = static_cast<std::uint32_t>(code);
  if (number < 0x100) {
    out += fmt::format("\\x{:02x}", number);
  } else if (number < 0x10000) {
    out += fmt::format("\\u{:04x}", number);
  } else {
    out += fmt::format("\\U{:08x}", number);
  }
}

void append_code_point(std::string& out, CodePoint code, std::string_view spelling, char quote) {
  if (append_short_escape(out, code.value, quote)) return;
  const bool is_plain =
      code.value < 0x80 ? code.value >= 0x20 && code.value < 0x7f : is_printable(code.value);
  if (is_plain) {
    out += spelling;
  } else {
    append_hex_escape(out, code.value);
  }
}

/// All bytes between two quotes; of quotes, `escaped_quote` alone is escaped.
std::string quote_bytes(std::string_view bytes, char quote, char escaped_quote) {
  std::string out(1, quote);
  for (const char byte : bytes) {
    const auto code = static_cast<unsigned char>(byte);
    if (append_short_escape(out, code, escaped_quote)) continue;
    if (code >= 0x20 && code < 0x7f) {
      out += byte;
    } else {
      append_hex_escape(out, code);
    }
  }
  return out += quote;
}

/// Digits without a point, and the place of the point among them, of a finite number above 0.
struct Decimal {
  std::string digits;
  int point;
};

/// `to_chars` gives the same digits as CPython's `_Py_dg_dtoa` in mode 0: the fewest that read back
/// as the number, and of those the nearest.
Decimal shortest_decimal(double value) {
  std::array<char, 32> buffer;
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value,
                                 std::chars_format::scientific)
                       .ptr;
  const std::string_view text(buffer.data(), static_cast<std::size_t>(end - buffer.data()));
  const std::size_t e = text.find('e');
  Decimal decimal{std::string(text.substr(0, e)), 0};
  std::erase(decimal.digits, '.');
  const std::size_t sign = text[e + 1] == '+' ? 1 : 0;
  std::from_chars(text.data() + e + 1 + sign, text.data() + text.size(), decimal.point);
  ++decimal.point;
  return decimal;
}

/// CPython writes an exponent below 1e-4 and from 1e16 on.
std::string spell(const Decimal& decimal) {
  const std::string_view digits = decimal.digits;
  const auto count = static_cast<int>(digits.size());
  if (decimal.point <= -4 || decimal.point > 16) {
    const int exponent = decimal.point - 1;
    return fmt::format("{}{}{}e{}{:02}", digits.substr(0, 1), count > 1 ? "." : "",
                       digits.substr(1), exponent < 0 ? '-' : '+', std::abs(exponent));
  }
  if (decimal.point <= 0) return fmt::format("0.{:0>{}}{}", "", -decimal.point, digits);
  if (decimal.point >= count) return fmt::format("{:0<{}}.0", digits, decimal.point);
  const auto point = static_cast<std::size_t>(decimal.point);
  return fmt::format("{}.{}", digits.substr(0, point), digits.substr(point));
}

}  // namespace

std::string python_repr_text(std::string_view text) {
  const char quote = quote_for(text);
  std::string out(1, quote);
  while (!text.empty()) {
    // Bytes that are not UTF-8 cannot stand in a `str`; they are shown by their value.
    const auto code = decode_utf8(text).value_or(CodePoint{static_cast<unsigned char>(text[0]), 1});
    const bool is_stray = code.size == 1 && code.value >= 0x80;
    if (is_stray) {
      append_hex_escape(out, code.value);
    } else {
      append_code_point(out, code, text.substr(0, code.size), quote);
    }
    text.remove_prefix(code.size);
  }
  return out += quote;
}

std::string python_repr_bytes(std::string_view bytes) {
  return fmt::format("b{}", quote_bytes(bytes, quote_for(bytes), quote_for(bytes)));
}

std::string python_repr_bytearray(std::string_view bytes) {
  return fmt::format("bytearray(b{})", quote_bytes(bytes, quote_for(bytes), '\''));
}

std::string python_repr_real(double value) {
  if (std::isnan(value)) return "nan";
  const std::string sign = std::signbit(value) ? "-" : "";
  if (std::isinf(value)) return sign + "inf";
  if (value == 0) return sign + "0.0";
  return sign + spell(shortest_decimal(std::abs(value)));
}

}  // namespace flambeau
