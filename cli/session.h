// One run of one command: its arguments, its output, and the file it has open.
//
//   int run_ls(Session& session) {
//     const Checkpoint& file = session.open();
//     …
//     return kDone;
//   }
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "arguments.h"
#include "flambeau/checkpoint.h"
#include "flambeau/error.h"
#include "output.h"

namespace flambeau::cli {

/// Exit statuses of the program.
inline constexpr int kDone = 0;
inline constexpr int kNegative = 1;  ///< an answer, and it is "no"
inline constexpr int kFailed = 2;    ///< no answer

class Session {
 public:
  Arguments arguments;
  Output out;

  /// The bytes of FILE; of standard input, read to its end, for `-`.
  /// Errors: as `open_file` or `read_stream`.
  SourcePtr open_source() const;
  /// FILE as a checkpoint, by the options that were given. It stays open until the process ends:
  /// taking a graph of a million nodes down costs time and helps nobody.
  /// Errors: as `Checkpoint::open` or `read_stream`.
  const Checkpoint& open();

  /// Tells what is wrong: one line on standard error and, with --json, the error object on standard
  /// output, in place of whatever has not been written yet. Gives back `status`.
  int refuse(const Error& error, int status = kFailed);
  int refuse(ErrorCode code, std::string message, int status = kFailed);

  /// One line on standard error: `flambeau: FILE: text`. Control characters are escaped.
  void warn(std::string_view text) const;

  /// Writes what is left. Gives back `status`, or `kFailed` where standard output failed.
  int finish(int status);

 private:
  void prepare_for_truncation() const;
  std::string place_of(const Error& error) const;

  std::optional<Checkpoint> checkpoint_;
};

/// One line on standard error, as it is.
void write_message(std::string_view line);

/// Refuses a result of `size` bytes from `input` bytes where it is over 64 times as large and over
/// --max-output; nothing where it may be made.
std::optional<Error> refuse_expansion(const Arguments& arguments, std::uint64_t size,
                                      std::uint64_t input);

}  // namespace flambeau::cli
