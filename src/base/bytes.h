// Bytes and text are two views of the same memory; the two casts between them stand here.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace flambeau {

using Bytes = std::span<const std::byte>;
using MutableBytes = std::span<std::byte>;

inline std::string_view as_text(Bytes bytes) noexcept {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

inline Bytes as_bytes(std::string_view text) noexcept {
  return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}

}  // namespace flambeau
