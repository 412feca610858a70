// Text as people see it: UTF-8 taken apart, control characters made visible, numbers and sizes in
// words.
//
//   escaped("a\x1b[31m")  →  "a\x1b[31m", with the escape character as four visible ones
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace flambeau::cli {

/// One step through UTF-8 text.
struct CodePoint {
  char32_t value = 0;
  std::size_t size = 1;
  /// False for a byte that is not UTF-8; `value` is then that byte.
  bool valid = true;
};

/// The code point at the start of `text`, which is not empty. Surrogates in three-byte form pass.
CodePoint next_code_point(std::string_view text) noexcept;

/// Characters that a terminal obeys instead of showing: C0 and C1 controls, DEL, line and
/// paragraph separators, bidirectional marks and overrides; and lone surrogates, which no terminal
/// can show.
bool is_control(char32_t code) noexcept;

/// `text` on one line, fit for a terminal: controls and invalid bytes as `\n`, `\x1b`, `\u202e`.
std::string escaped(std::string_view text);

/// Number of code points; that is its width on a terminal for most scripts.
std::size_t columns(std::string_view text) noexcept;

/// `text` cut to `width` columns, with `…` as its last where something was cut.
std::string fitted(std::string text, std::size_t width);
/// The same from the other end: `…` and the last columns.
std::string fitted_tail(std::string text, std::size_t width);

/// Python's `repr(float)`: the shortest digits that read back as the same number.
std::string float_repr(double value);

/// "12,345".
std::string grouped(std::uint64_t number);

/// "812 bytes", "48.2 KiB".
std::string human_size(std::uint64_t bytes);

/// "812 bytes", "49,356 bytes (48.2 KiB)".
std::string full_size(std::uint64_t bytes);

/// "1 tensor", "2 tensors".
std::string counted(std::uint64_t count, std::string_view noun);

}  // namespace flambeau::cli
