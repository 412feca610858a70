// The memo: what a pickle noted under a number. Picklers count the numbers up, so that an array
// holds them; a number that is larger than the bytes read so far cannot come from counting, and
// goes to a map. So memory stays linear in the pickle whatever numbers it uses.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory_resource>

#include "base/arena.h"

namespace flambeau {

/// `kAbsent` is a value that is never noted.
template <typename T, T kAbsent>
class Memo {
 public:
  explicit Memo(std::pmr::memory_resource* memory = std::pmr::get_default_resource())
      : memory_(memory) {}

  /// Makes room for numbers below `count` at once.
  void reserve(std::size_t count) {
    if (count <= room_) return;
    Run<T> larger = make_run<T>(memory_, count);
    std::copy_n(dense_.get(), size_, larger.get());
    dense_ = std::move(larger);
    room_ = count;
  }

  /// The value noted under `index`, or null.
  const T* find(std::uint64_t index) const {
    if (index < size_ && dense_[index] != kAbsent) [[likely]]
      return &dense_[index];
    if (sparse_.empty()) return nullptr;
    const auto found = sparse_.find(index);
    return found == sparse_.end() ? nullptr : &found->second;
  }

  /// `offset` is how far the pickle has been read. A value noted again replaces the first.
  [[gnu::always_inline]] void put(std::uint64_t index, T value, std::uint64_t offset) {
    if (index == size_ && index < room_ && sparse_.empty()) [[likely]] {
      dense_[size_++] = value;
    } else {
      put_elsewhere(index, value, offset);
    }
  }

  /// Numbers in use.
  std::uint64_t count() const noexcept { return size_ - holes_ + sparse_.size(); }

 private:
  static constexpr std::size_t kFirstRoom = 16;

  [[gnu::noinline]] void put_elsewhere(std::uint64_t index, T value, std::uint64_t offset) {
    if (index >= size_ && index > offset) {
      sparse_.insert_or_assign(index, value);
      return;
    }
    sparse_.erase(index);
    if (index >= size_) extend(static_cast<std::size_t>(index) + 1);
    if (dense_[index] == kAbsent) --holes_;
    dense_[index] = value;
  }

  /// Makes the array longer, by holes.
  void extend(std::size_t size) {
    if (size > room_) reserve(std::max({kFirstRoom, size, room_ * 2}));
    std::fill(dense_.get() + size_, dense_.get() + size, kAbsent);
    holes_ += size - size_;
    size_ = size;
  }

  std::pmr::memory_resource* memory_;
  /// `room_` places, of which the first `size_` are in use or holes.
  Run<T> dense_;
  std::size_t size_ = 0;
  std::size_t room_ = 0;
  /// Places of the array that are not in use.
  std::size_t holes_ = 0;
  std::map<std::uint64_t, T> sparse_;
};

}  // namespace flambeau
