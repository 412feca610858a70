// The operating system as the program meets it: streams, terminal, signals. No other file of the
// command line includes a system header.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace flambeau::cli::terminal {

/// Standard input.
inline constexpr int kInput = 0;

/// The streams that the program writes to.
enum class Stream : int {
  output = 1,
  error = 2,
};

/// Call once, first. A closed pipe and a file that may not grow further become errors of `write`
/// instead of signals, and a stream that the caller left closed is held, so that no file that is
/// opened later gets its number.
void prepare() noexcept;

/// What the program says when a file that it has mapped is truncated by another process.
struct LastWords {
  std::string output;
  std::string error;
  int status = 0;
};

/// From now on the touch of a page that a file has lost, which is SIGBUS, writes `words` and ends
/// the process with their status.
void prepare_for_lost_pages(LastWords words);

bool is_terminal(Stream stream) noexcept;

/// Columns of the terminal that standard output is; 0 where it is none or does not tell.
std::size_t width() noexcept;

/// Whether to colour: only on a terminal that knows how, and never with NO_COLOR set.
bool wants_colour() noexcept;

/// Writes all of `text`. Returns 0, or the `errno` of the write that failed.
int write(Stream stream, std::string_view text) noexcept;

/// What `errno` value `error` means, in words.
std::string_view describe(int error) noexcept;

}  // namespace flambeau::cli::terminal
