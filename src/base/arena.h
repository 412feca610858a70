// Memory that is taken piece by piece, never moved, and given back all at once. A graph of ten
// million nodes is a few hundred allocations, and its destructor does not walk it.
//
// The memory comes from a `std::pmr::memory_resource`, so that a layer which may ask the system can
// give one of large pages.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <memory_resource>
#include <span>
#include <type_traits>
#include <vector>

namespace flambeau {

/// Gives memory back to the resource that it came from. Calls no destructor.
template <typename T>
struct RunDelete {
  std::pmr::memory_resource* memory = nullptr;
  std::size_t count = 0;
  void operator()(T* run) const noexcept { memory->deallocate(run, count * sizeof(T), alignof(T)); }
};

/// Uninitialised room for elements of a type.
template <typename T>
using Run = std::unique_ptr<T[], RunDelete<T>>;

template <typename T>
Run<T> make_run(std::pmr::memory_resource* memory, std::size_t count) {
  void* room = memory->allocate(count * sizeof(T), alignof(T));
  return Run<T>(static_cast<T*>(room), {memory, count});
}

/// Hands out uninitialised runs of trivial elements; a run never moves.
template <typename T>
class Arena {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

 public:
  explicit Arena(std::pmr::memory_resource* memory = std::pmr::get_default_resource()) noexcept
      : memory_(memory) {}

  std::span<T> take(std::size_t count) {
    if (count > left_) grow(count);
    std::span<T> run(next_, count);
    next_ += count;
    left_ -= count;
    return run;
  }

 private:
  // Small files stay small; from a quarter of a megabyte on, chunks are large pages.
  static constexpr std::size_t kFirstChunk = std::max<std::size_t>(1, 4096 / sizeof(T));
  static constexpr std::size_t kLargestChunk = std::max<std::size_t>(1, (2 << 20) / sizeof(T));

  void grow(std::size_t count) {
    chunk_ = std::max(count, chunk_);
    chunks_.push_back(make_run<T>(memory_, chunk_));
    next_ = chunks_.back().get();
    left_ = chunk_;
    chunk_ = chunk_ >= kLargestChunk / 8 ? kLargestChunk : chunk_ * 4;
  }

  std::pmr::memory_resource* memory_;
  std::vector<Run<T>> chunks_;
  T* next_ = nullptr;
  std::size_t left_ = 0;
  std::size_t chunk_ = kFirstChunk;
};

}  // namespace flambeau
