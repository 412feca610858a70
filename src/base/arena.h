// Memory that is taken piece by piece, never moved, and given back all at once. A graph of ten
// million nodes is a few hundred allocations, and its destructor does not walk it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <type_traits>
#include <vector>

namespace flambeau {

/// Hands out uninitialised runs of trivial elements; a run never moves.
template <typename T>
class Arena {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

 public:
  std::span<T> take(std::size_t count) {
    if (count > left_) grow(count);
    std::span<T> run(next_, count);
    next_ += count;
    left_ -= count;
    return run;
  }

 private:
  static constexpr std::size_t kFirstChunk = std::max<std::size_t>(1, 4096 / sizeof(T));
  static constexpr std::size_t kLargestChunk = std::max<std::size_t>(1, (1 << 20) / sizeof(T));

  void grow(std::size_t count) {
    chunk_ = std::max(count, chunk_);
    chunks_.push_back(std::make_unique_for_overwrite<T[]>(chunk_));
    next_ = chunks_.back().get();
    left_ = chunk_;
    chunk_ = std::min(kLargestChunk, chunk_ * 2);
  }

  std::vector<std::unique_ptr<T[]>> chunks_;
  T* next_ = nullptr;
  std::size_t left_ = 0;
  std::size_t chunk_ = kFirstChunk;
};

}  // namespace flambeau
