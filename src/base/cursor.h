// A bounds-checked walk over bytes: the one way by which parsers take numbers from a file.
//
//   Cursor cursor(bytes, "archive");
//   auto count = cursor.read_le<std::uint16_t>("entry count");
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/bytes.h"
#include "base/endian.h"
#include "base/fail.h"

namespace flambeau {

/// Views bytes and a name for messages; both must outlive the cursor.
class Cursor {
 public:
  /// `base` is the file offset of the first byte, so that messages give places in the file.
  Cursor(Bytes bytes, std::string_view where, std::uint64_t base = 0,
         ErrorCode code = ErrorCode::truncated) noexcept
      : bytes_(bytes), where_(where), base_(base), code_(code) {}

  std::size_t remaining() const noexcept { return bytes_.size() - position_; }
  std::uint64_t offset() const noexcept { return base_ + position_; }
  Place place() const noexcept { return {where_, offset()}; }

  template <std::unsigned_integral T>
  T read_le(std::string_view what) {
    return load_le<T>(take(sizeof(T), what).data());
  }

  /// The next `size` bytes; `what` names them when they are not there.
  Bytes take(std::uint64_t size, std::string_view what) {
    if (size > remaining()) {
      fail(code_, place(), "{} needs {} bytes, {} are left", what, size, remaining());
    }
    Bytes taken = bytes_.subspan(position_, static_cast<std::size_t>(size));
    position_ += static_cast<std::size_t>(size);
    return taken;
  }

  void skip(std::uint64_t size, std::string_view what) { take(size, what); }

 private:
  Bytes bytes_;
  std::size_t position_ = 0;
  std::string_view where_;
  std::uint64_t base_;
  ErrorCode code_;
};

}  // namespace flambeau
