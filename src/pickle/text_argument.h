// How Python reads the lines of protocol 0: numbers, quoted literals, `\u` escapes. One place for
// the machine and the disassembler, which give these lines slightly different meanings.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

namespace flambeau {

/// An integer literal without its sign, prefix and underscores.
struct IntegerText {
  bool negative = false;
  /// 2, 8, 10 or 16.
  unsigned base = 10;
  /// Digits as written, leading zeros too; CPython's bound on digits counts those.
  std::string digits;
};

enum class IntegerRule {
  decimal,  ///< `int(text)`: `007` is 7
  literal,  ///< `int(text, 0)`: `0x10` is 16, `007` is refused
};

/// What `int` of these bytes takes as a number; nothing where it raises ValueError.
std::optional<IntegerText> read_integer_text(std::string_view text, IntegerRule rule);
/// The number's minimal two's complement. Quadratic in the digits of base 10.
std::string to_twos_complement(const IntegerText& integer);
/// `str` of a number in base 10: no leading zeros, no "-0".
std::string to_decimal(const IntegerText& integer);

/// What `float` of these bytes gives; nothing where it raises ValueError. No locale.
std::optional<double> read_real_text(std::string_view text);

/// The bytes between the quotes of a line, which have to be the same at both ends.
std::optional<std::string_view> strip_quotes(std::string_view text) noexcept;
/// What `codecs.escape_decode` gives; nothing for `\x` without two digits and a `\` at the end.
std::optional<std::string> undo_escapes(std::string_view text);
/// What the body of a `str` literal in Python's source means, as UTF-8; nothing for cut escapes,
/// those above U+10FFFF, and `\N{…}`, which needs the names of all characters.
std::optional<std::string> undo_source_escapes(std::string_view text);
/// What decoding by "raw-unicode-escape" gives, as UTF-8; nothing for a cut escape or one above
/// U+10FFFF. Surrogates stay alone, also where two of them would make a pair.
std::optional<std::string> undo_unicode_escapes(std::string_view text);

/// Whether every byte is below 0x80; eight bytes at a time.
inline bool is_ascii(std::string_view text) noexcept {
  constexpr std::uint64_t kHighBits = 0x8080808080808080;
  const char* at = text.data();
  std::size_t left = text.size();
  std::uint64_t seen = 0;
  std::uint64_t block = 0;
  for (; left >= sizeof block; left -= sizeof block, at += sizeof block) {
    std::memcpy(&block, at, sizeof block);
    seen |= block;
  }
  for (; left > 0; --left) seen |= static_cast<unsigned char>(*at++);
  return (seen & kHighBits) == 0;
}
/// Whether all is UTF-8 with no surrogate in it.
bool is_strict_utf8(std::string_view text) noexcept;

}  // namespace flambeau
