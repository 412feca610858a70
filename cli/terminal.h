// The operating system as the program meets it: streams, terminal, signals. No other file of the
// command line includes a system header.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace flambeau::cli::terminal {

/// The three streams that every process starts with.
enum class Stream : int {
  input = 0,
  output = 1,
  error = 2,
};

/// Call once, first. A closed pipe becomes an error of `write` instead of a signal, and a stream
/// that the caller left closed is held, so that no file that is opened later gets its number.
void prepare() noexcept;

bool is_terminal(Stream stream) noexcept;

/// Columns of the terminal that standard output is; 0 where it is none or does not tell.
std::size_t width() noexcept;

/// Whether to colour: only on a terminal that knows how, and never with NO_COLOR set.
bool wants_colour() noexcept;

/// Writes all of `text`. Returns 0, or the `errno` of the write that failed.
int write(Stream stream, std::string_view text) noexcept;

/// What `errno` value `error` means, in words.
std::string_view describe(int error) noexcept;

/// Appends all of standard input to `bytes`. Returns 0, or the `errno` of the read that failed.
int read_input(std::vector<std::byte>& bytes);

}  // namespace flambeau::cli::terminal
