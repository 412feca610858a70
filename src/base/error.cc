// The error class and the texts of its codes, read from error.def.
#include "flambeau/error.h"

#include <array>
#include <utility>

#include "base/text.h"

namespace flambeau {

std::string_view to_string(ErrorCode code) noexcept {
  static constexpr std::array kNames = {
#define FLAMBEAU_ERROR(name, meaning) std::string_view(#name),
#include "flambeau/error.def"
#undef FLAMBEAU_ERROR
  };
  return kNames[static_cast<std::size_t>(code)];
}

Error::Error(ErrorCode code, std::string where, std::optional<std::uint64_t> offset,
             std::string message)
    : code_(code), offset_(offset), where_(std::move(where)), message_(std::move(message)) {
  // Both parts may quote names from a file, and `what()` goes to terminals and logs.
  what_ = escape_controls(where_);
  if (offset_) what_ += (where_.empty() ? "at " : "+") + to_hex(*offset_);
  if (!what_.empty()) what_ += ": ";
  what_ += escape_controls(message_);
}

}  // namespace flambeau
