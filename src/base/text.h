// Small facts about text: UTF-8, escapes for the terminal, hexadecimal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace flambeau {

/// A decoded code point and the bytes it took.
struct CodePoint {
  char32_t value;
  std::size_t size;
};

/// The code point at the start of `text`, or nothing where the bytes are not UTF-8. Surrogates
/// (U+D800 to U+DFFF) pass, as Python's "surrogatepass" lets them; overlong forms and anything
/// above U+10FFFF do not.
std::optional<CodePoint> decode_utf8(std::string_view text) noexcept;

/// Whether all of `text` decodes (see `decode_utf8`).
bool is_utf8(std::string_view text) noexcept;

/// Appends the UTF-8 form of `code` (surrogates included) to `out`.
void append_utf8(std::string& out, char32_t code);

/// `text` made fit for one line of a terminal: control characters, line ends, bidirectional marks
/// and overrides (U+061C, U+200E–200F, U+202A–202E, U+2066–2069), byte order marks, lone surrogates
/// and bytes that are not UTF-8 stand as `\n`, `\x1b`, `\u202e`. All else is untouched.
std::string escape_controls(std::string_view text);

/// "0x1a2c".
std::string to_hex(std::uint64_t value);

/// ASCII only, as miniz folds names.
constexpr char to_lower(char c) noexcept {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}
bool equal_ignoring_case(std::string_view a, std::string_view b) noexcept;

}  // namespace flambeau
