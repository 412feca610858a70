// Integers in a stated byte order, whatever the host's. No alignment is needed: all go by memcpy.
#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace flambeau {

static_assert(std::endian::native == std::endian::little || std::endian::native == std::endian::big,
              "mixed-endian hosts are not supported");

template <std::unsigned_integral T>
constexpr T byte_swap(T value) noexcept {
  if constexpr (sizeof(T) == 1) {
    return value;
  } else if constexpr (sizeof(T) == 2) {
    return __builtin_bswap16(value);
  } else if constexpr (sizeof(T) == 4) {
    return __builtin_bswap32(value);
  } else {
    return __builtin_bswap64(value);
  }
}

/// Reads `sizeof(T)` bytes at `from`, least significant first. The caller has checked the bound.
template <std::unsigned_integral T>
T load_le(const std::byte* from) noexcept {
  T value;
  std::memcpy(&value, from, sizeof value);
  return std::endian::native == std::endian::little ? value : byte_swap(value);
}

/// Reads `sizeof(T)` bytes at `from`, most significant first. The caller has checked the bound.
template <std::unsigned_integral T>
T load_be(const std::byte* from) noexcept {
  T value;
  std::memcpy(&value, from, sizeof value);
  return std::endian::native == std::endian::big ? value : byte_swap(value);
}

/// Writes `sizeof(T)` bytes at `to`, least significant first.
template <std::unsigned_integral T>
void store_le(std::byte* to, T value) noexcept {
  if constexpr (std::endian::native == std::endian::big) value = byte_swap(value);
  std::memcpy(to, &value, sizeof value);
}

/// Writes `sizeof(T)` bytes at `to`, most significant first.
template <std::unsigned_integral T>
void store_be(std::byte* to, T value) noexcept {
  if constexpr (std::endian::native == std::endian::little) value = byte_swap(value);
  std::memcpy(to, &value, sizeof value);
}

}  // namespace flambeau
