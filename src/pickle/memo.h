// The memo: what a pickle noted under a number. Picklers count the numbers up, so that a vector
// holds them; a number that is larger than the bytes read so far cannot come from counting, and
// goes to a map. So memory stays linear in the pickle whatever numbers it uses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory_resource>
#include <vector>

namespace flambeau {

/// `kAbsent` is a value that is never noted.
template <typename T, T kAbsent>
class Memo {
 public:
  explicit Memo(std::pmr::memory_resource* memory = std::pmr::get_default_resource())
      : dense_(memory) {}

  /// Makes room for numbers below `count` at once.
  void reserve(std::size_t count) { dense_.reserve(count); }

  /// The value noted under `index`, or null.
  const T* find(std::uint64_t index) const {
    if (index < dense_.size() && dense_[index] != kAbsent) return &dense_[index];
    if (sparse_.empty()) return nullptr;
    const auto found = sparse_.find(index);
    return found == sparse_.end() ? nullptr : &found->second;
  }

  /// `offset` is how far the pickle has been read. A value noted again replaces the first.
  void put(std::uint64_t index, T value, std::uint64_t offset) {
    if (index == dense_.size() && sparse_.empty()) [[likely]] {
      dense_.push_back(value);
    } else {
      put_elsewhere(index, value, offset);
    }
  }

  /// Numbers in use.
  std::uint64_t count() const noexcept { return dense_.size() - holes_ + sparse_.size(); }

 private:
  [[gnu::noinline]] void put_elsewhere(std::uint64_t index, T value, std::uint64_t offset) {
    if (index >= dense_.size() && index > offset) {
      sparse_.insert_or_assign(index, value);
      return;
    }
    sparse_.erase(index);
    if (index >= dense_.size()) {
      holes_ += index + 1 - dense_.size();
      dense_.resize(index + 1, kAbsent);
    }
    if (dense_[index] == kAbsent) --holes_;
    dense_[index] = value;
  }

  std::pmr::vector<T> dense_;
  std::map<std::uint64_t, T> sparse_;
  /// Numbers below the vector's size that are not in use.
  std::uint64_t holes_ = 0;
};

}  // namespace flambeau
