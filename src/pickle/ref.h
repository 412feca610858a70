// How nodes of a document name each other: 32 bits, half the size of a pointer, so that a container
// of a million items is 4 MB.
//
//   bit 31 clear   the ordinal of a node
//   1 0 …          None (0), False (1), True (2)
//   1 1 …          an integer of 30 bits, plus kIntegerBias
#pragma once

#include <cstdint>

namespace flambeau {

/// A place in a document: the ordinal of a node, or, with bit 31 set, a constant. Small integers,
/// booleans and None are constants: they have no node and, as in pickles, no identity.
enum class Ref : std::uint32_t {
};

inline constexpr std::uint32_t kConstantBit = 1u << 31;
inline constexpr std::uint32_t kIntegerBit = 1u << 30;
/// Small integers are -kIntegerBias … kIntegerBias - 1.
inline constexpr std::int64_t kIntegerBias = 1 << 29;
inline constexpr Ref kNone{kConstantBit};
inline constexpr Ref kFalse{kConstantBit | 1};
inline constexpr Ref kTrue{kConstantBit | 2};

/// The reference of a node; its ordinal is below 2^31.
constexpr Ref node_ref(std::uint32_t ordinal) noexcept { return Ref{ordinal}; }
constexpr Ref boolean_ref(bool value) noexcept { return value ? kTrue : kFalse; }
/// Whether an integer needs no node.
constexpr bool is_small(std::int64_t value) noexcept {
  return value >= -kIntegerBias && value < kIntegerBias;
}
constexpr Ref small_integer_ref(std::int64_t value) noexcept {
  return Ref{kConstantBit | kIntegerBit | static_cast<std::uint32_t>(value + kIntegerBias)};
}

constexpr std::uint32_t bits_of(Ref ref) noexcept { return static_cast<std::uint32_t>(ref); }
/// Whether it is the ordinal of a node, which `bits_of` gives, and no constant.
constexpr bool is_node(Ref ref) noexcept { return (bits_of(ref) & kConstantBit) == 0; }
constexpr bool is_small_integer(Ref ref) noexcept { return bits_of(ref) >> 30 == 3; }
constexpr std::int64_t small_integer(Ref ref) noexcept {
  return static_cast<std::int64_t>(bits_of(ref) & (kIntegerBit - 1)) - kIntegerBias;
}

}  // namespace flambeau
