// Hashing of keys from a file: nobody can choose keys that collide, because a seed of the process
// takes part in each hash.
#pragma once

#include <cstdint>
#include <random>

namespace flambeau {

/// Multiplies to 128 bits and folds: every bit of both operands reaches every bit of the result.
constexpr std::uint64_t fold_product(std::uint64_t a, std::uint64_t b) noexcept {
  __extension__ using Wide = unsigned __int128;
  const Wide product = Wide{a} * b;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

/// For seeds: 64 bits of the system's randomness. Slow; ask once for each process.
inline std::uint64_t random_word() {
  std::random_device random;
  const std::uint64_t high = random();
  return high << 32 | random();
}

}  // namespace flambeau
