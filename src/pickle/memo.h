// The memo: what a pickle noted under a number. Picklers count the numbers up, so that a vector
// holds them; a number that is larger than the bytes read so far cannot come from counting, and
// goes to a map. So memory stays linear in the pickle whatever numbers it uses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace flambeau {

/// `kAbsent` is a value that is never noted.
template <typename T, T kAbsent>
class Memo {
 public:
  /// The value noted under `index`, or null.
  const T* find(std::uint64_t index) const {
    if (index < dense_.size() && dense_[index] != kAbsent) return &dense_[index];
    if (sparse_.empty()) return nullptr;
    const auto found = sparse_.find(index);
    return found == sparse_.end() ? nullptr : &found->second;
  }

  /// `offset` is how far the pickle has been read. A value noted again replaces the first.
  void put(std::uint64_t index, T value, std::uint64_t offset) {
    if (index == dense_.size() && sparse_.empty()) {
      dense_.push_back(value);
      ++count_;
      return;
    }
    put_elsewhere(index, value, offset);
  }

  /// Numbers in use.
  std::uint64_t count() const noexcept { return count_; }

 private:
  void put_elsewhere(std::uint64_t index, T value, std::uint64_t offset) {
    if (find(index) == nullptr) ++count_;
    if (index >= dense_.size() && index > offset) {
      sparse_.insert_or_assign(index, value);
      return;
    }
    sparse_.erase(index);
    if (index >= dense_.size()) dense_.resize(index + 1, kAbsent);
    dense_[index] = value;
  }

  std::vector<T> dense_;
  std::map<std::uint64_t, T> sparse_;
  std::uint64_t count_ = 0;
};

}  // namespace flambeau
