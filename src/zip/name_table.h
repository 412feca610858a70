// From a name to its entry: one flat table of 32-bit slots for all names of a directory.
//
// A slot holds the entry's ordinal + 1 in as many bits as ordinals need, and bits of the name's
// hash in the others, so that names are compared nearly only when they are equal. 0 is a free slot.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "io/pages.h"

namespace flambeau::zip {

/// Knows hashes and ordinals; what the names are, `is_same` knows. Never grows.
class NameTable {
 public:
  /// Room for `count` names, at most 2^31.
  explicit NameTable(std::size_t count);

  /// Has the memory of a name's slot fetched, for a look-up that comes soon.
  void prefetch(std::uint64_t hash) const noexcept {
    __builtin_prefetch(&slots_[hash & position_mask_]);
  }

  /// The entry with that hash for which `is_same(ordinal)`, or nothing.
  template <typename F>
  std::optional<std::uint32_t> find(std::uint64_t hash, F&& is_same) const noexcept {
    const std::uint32_t slot = slots_[seek(hash, is_same)];
    if (slot == 0) return std::nullopt;
    return (slot & ordinal_mask_) - 1;
  }

  /// As `find`; where there is nothing, `ordinal` becomes the entry.
  template <typename F>
  std::optional<std::uint32_t> find_or_add(std::uint64_t hash, std::uint32_t ordinal, F&& is_same) {
    std::uint32_t& slot = slots_[seek(hash, is_same)];
    if (slot != 0) return (slot & ordinal_mask_) - 1;
    slot = tag(hash) | (ordinal + 1);
    return std::nullopt;
  }

  /// Lets `ordinal` take the place of the entry for which `is_same`.
  template <typename F>
  void replace(std::uint64_t hash, std::uint32_t ordinal, F&& is_same) noexcept {
    slots_[seek(hash, is_same)] = tag(hash) | (ordinal + 1);
  }

 private:
  std::uint32_t tag(std::uint64_t hash) const noexcept {
    return static_cast<std::uint32_t>(hash >> 32) & ~ordinal_mask_;
  }

  /// The slot of the entry, or the free slot where it would stand. Ends, as slots are never full.
  template <typename F>
  std::size_t seek(std::uint64_t hash, F& is_same) const noexcept {
    std::size_t at = hash & position_mask_;
    for (; slots_[at] != 0; at = (at + 1) & position_mask_) {
      const bool tag_fits = (slots_[at] & ~ordinal_mask_) == tag(hash);
      if (tag_fits && is_same((slots_[at] & ordinal_mask_) - 1)) break;
    }
    return at;
  }

  Pages memory_;
  std::uint32_t* slots_ = nullptr;
  std::size_t position_mask_ = 0;
  std::uint32_t ordinal_mask_ = 0;
};

}  // namespace flambeau::zip
