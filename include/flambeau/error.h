// The one exception class of flambeau, and its codes.
//
//   try {
//     auto checkpoint = flambeau::Checkpoint::open("model.pt");
//   } catch (const flambeau::Error& e) {
//     if (e.code() == flambeau::ErrorCode::not_found) return create_new();
//     std::cerr << e.what() << '\n';   // model.pt: archive/data.pkl+0x1a2c: BINGET 57: …
//   }
//
// Bad input, I/O failure, a limit hit and an unsupported feature all arrive as `Error`; absence
// does not (`find` gives a null pointer, `as_int` an empty optional, `operator[]` a null `Value`).
#pragma once

#include <cstdint>
#include <exception>
#include <optional>
#include <string>
#include <string_view>

namespace flambeau {

/// What went wrong; the rows and their meanings stand in `error.def`.
enum class ErrorCode : std::uint8_t {
#define FLAMBEAU_ERROR(name, meaning) name,
#include "flambeau/error.def"
#undef FLAMBEAU_ERROR
};

/// The enumerator's spelling, for example "malformed_zip". The text lives forever.
std::string_view to_string(ErrorCode code) noexcept;

/// A failure with its place. Copyable, thrown by value.
class Error : public std::exception {
 public:
  /// `where` is a path of places from the outside in, for example "model.pt: archive/data.pkl";
  /// `offset` counts bytes from the start of the innermost place.
  Error(ErrorCode code, std::string where, std::optional<std::uint64_t> offset,
        std::string message);

  ErrorCode code() const noexcept { return code_; }
  const std::string& where() const noexcept { return where_; }
  std::optional<std::uint64_t> offset() const noexcept { return offset_; }
  /// What was read and what was expected, without the place.
  const std::string& message() const noexcept { return message_; }
  /// Place and message in one line: `where+0xOFFSET: message`. Control characters are escaped.
  const char* what() const noexcept override { return what_.c_str(); }

 private:
  ErrorCode code_;
  std::optional<std::uint64_t> offset_;
  std::string where_;
  std::string message_;
  std::string what_;
};

}  // namespace flambeau
