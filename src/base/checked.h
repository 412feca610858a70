// Arithmetic on numbers from a file. An overflow gives nothing, never a wrapped number.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>

namespace flambeau {

template <std::integral T>
constexpr std::optional<T> checked_add(T a, T b) noexcept {
  T sum;
  if (__builtin_add_overflow(a, b, &sum)) return std::nullopt;
  return sum;
}

template <std::integral T>
constexpr std::optional<T> checked_mul(T a, T b) noexcept {
  T product;
  if (__builtin_mul_overflow(a, b, &product)) return std::nullopt;
  return product;
}

/// Whether `[offset, offset + size)` lies within `[0, limit)`; never wraps.
constexpr bool fits(std::uint64_t offset, std::uint64_t size, std::uint64_t limit) noexcept {
  return offset <= limit && size <= limit - offset;
}

}  // namespace flambeau
