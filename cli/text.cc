// UTF-8 is decoded by hand, because what stands in a file may be anything: bytes that are no UTF-8
// are shown, never dropped. Floats follow CPython's float_repr_style "short" (pystrtod.c): fixed
// notation for exponents from -4 to 15, else scientific with at least two exponent digits.
#include "text.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <iterator>

namespace flambeau::cli {
namespace {

unsigned byte_at(std::string_view text, std::size_t index) noexcept {
  return static_cast<unsigned char>(text[index]);
}

// Length that the first byte announces, and the bits of the code point that it holds.
struct Lead {
  std::size_t size;
  char32_t bits;
  char32_t smallest;  // below it the form would be overlong
};

// 0xC0, 0xC1 and 0xF5 to 0xFF start nothing (RFC 3629).
Lead lead_of(unsigned byte) noexcept {
  if (byte >= 0xC2 && byte <= 0xDF) return {2, byte & 0x1F, 0x80};
  if (byte >= 0xE0 && byte <= 0xEF) return {3, byte & 0x0F, 0x800};
  if (byte >= 0xF0 && byte <= 0xF4) return {4, byte & 0x07, 0x10000};
  return {0, 0, 0};
}

// As Python spells them, so that a name can be pasted into a string literal.
void append_escape(std::string& out, CodePoint code) {
  const auto to = std::back_inserter(out);
  if (code.valid && code.value == '\n') {
    out += "\\n";
  } else if (code.valid && code.value == '\t') {
    out += "\\t";
  } else if (code.valid && code.value == '\r') {
    out += "\\r";
  } else if (code.value < 0x100) {
    fmt::format_to(to, "\\x{:02x}", static_cast<unsigned>(code.value));
  } else {
    fmt::format_to(to, "\\u{:04x}", static_cast<unsigned>(code.value));
  }
}

}  // namespace

CodePoint next_code_point(std::string_view text) noexcept {
  const unsigned first = byte_at(text, 0);
  if (first < 0x80) return {first, 1, true};
  const Lead lead = lead_of(first);
  if (lead.size == 0 || text.size() < lead.size) return {first, 1, false};
  char32_t value = lead.bits;
  for (std::size_t i = 1; i < lead.size; ++i) {
    const unsigned byte = byte_at(text, i);
    if ((byte & 0xC0) != 0x80) return {first, 1, false};
    value = (value << 6) | (byte & 0x3F);
  }
  if (value < lead.smallest || value > 0x10FFFF) return {first, 1, false};
  return {value, lead.size, true};
}

// The same set as the library escapes in messages. Nothing of it lies between U+009F and U+061C,
// where most letters beyond ASCII stand.
bool is_control(char32_t code) noexcept {
  if (code < 0x20 || (code >= 0x7F && code <= 0x9F)) return true;
  if (code < 0x061C) return false;
  return code == 0x061C || code == 0x200E || code == 0x200F || (code >= 0x2028 && code <= 0x202E) ||
         (code >= 0x2066 && code <= 0x2069) || (code >= 0xD800 && code <= 0xDFFF) || code == 0xFEFF;
}

std::string escaped(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const CodePoint code = next_code_point(text);
    if (code.valid && !is_control(code.value)) {
      out += text.substr(0, code.size);
    } else {
      append_escape(out, code);
    }
    text.remove_prefix(code.size);
  }
  return out;
}

// Every byte but those that continue a code point. Characters of double width count one: cells may
// then be misaligned, but nothing is lost.
std::size_t columns(std::string_view text) noexcept {
  std::size_t count = 0;
  for (const char c : text) count += (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  return count;
}

// Cut between code points, so that what is left is still UTF-8.
std::string fitted(std::string text, std::size_t width) {
  if (width == 0 || columns(text) <= width) return text;
  std::size_t size = 0;
  for (std::size_t column = 1; column < width; ++column) {
    size += next_code_point(std::string_view(text).substr(size)).size;
  }
  return text.substr(0, size) + "…";
}

std::string fitted_tail(std::string text, std::size_t width) {
  const std::size_t count = columns(text);
  if (width == 0 || count <= width) return text;
  std::size_t start = 0;
  for (std::size_t column = 0; column < count - width + 1; ++column) {
    start += next_code_point(std::string_view(text).substr(start)).size;
  }
  return "…" + text.substr(start);
}

// `to_chars` without a precision gives the shortest digits, and at least two of the exponent.
std::string float_repr(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  const double size = std::fabs(value);
  const bool fixed = size == 0 || (size >= 1e-4 && size < 1e16);
  std::array<char, 32> buffer;
  const auto format = fixed ? std::chars_format::fixed : std::chars_format::scientific;
  char* const end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, format).ptr;
  std::string text(buffer.data(), end);
  if (fixed && text.find('.') == std::string::npos) text += ".0";
  return text;
}

std::string grouped(std::uint64_t number) {
  std::string digits = std::to_string(number);
  for (std::size_t at = digits.size(); at > 3;) digits.insert(at -= 3, ",");
  return digits;
}

std::string human_size(std::uint64_t bytes) {
  if (bytes < 1024) return counted(bytes, "byte");
  static constexpr std::array kUnits = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  double size = static_cast<double>(bytes) / 1024;
  std::size_t unit = 0;
  // 1023.95 would be shown as 1024.0.
  for (; size >= 1023.95 && unit + 1 < kUnits.size(); ++unit) size /= 1024;
  return fmt::format("{:.1f} {}", size, kUnits[unit]);
}

std::string full_size(std::uint64_t bytes) {
  if (bytes < 1024) return counted(bytes, "byte");
  return fmt::format("{} ({})", counted(bytes, "byte"), human_size(bytes));
}

std::string counted(std::uint64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", grouped(count), noun, count == 1 ? "" : "s");
}

}  // namespace flambeau::cli
