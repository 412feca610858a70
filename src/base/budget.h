// What `Limits` lets a result become.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/checked.h"
#include "flambeau/limits.h"

namespace flambeau {

/// The most bytes that `max_expansion` and `max_output` let `input` bytes become.
constexpr std::uint64_t most_from(std::uint64_t input, const Limits& limits) noexcept {
  const auto grown = checked_mul(limits.max_expansion, input).value_or(UINT64_MAX);
  return std::max(limits.max_output, grown);
}

}  // namespace flambeau
