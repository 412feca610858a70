// A strided view read as one row-major sequence of items, a piece at a time.
//
//   Gatherer gather(first, shape, strides, sizeof(float));
//   while (gather.remaining() > 0) {
//     std::size_t size = std::min(buffer.size(), gather.remaining());
//     gather.read(buffer.first(size));
//     use(buffer.first(size));
//   }
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/bytes.h"

namespace flambeau {

class Gatherer {
 public:
  /// `first` is the view's first item. The caller has checked that the view lies in memory
  /// (`check_view`); nothing is checked again. `item_size` is 1, 2, 4, 8 or 16.
  Gatherer(const std::byte* first, std::span<const std::int64_t> shape,
           std::span<const std::int64_t> strides, std::size_t item_size);

  /// Bytes that are left to read.
  std::size_t remaining() const noexcept { return remaining_; }
  /// Copies the next `out.size()` bytes, a multiple of the item size and at most `remaining()`.
  void read(MutableBytes out) noexcept;

 private:
  /// One loop of the walk: how often, by how many bytes, and where it stands.
  struct Loop {
    std::size_t size;
    std::ptrdiff_t stride;
    std::size_t index;
  };

  void read_part_of_row(MutableBytes& out) noexcept;
  void read_rows(MutableBytes& out) noexcept;
  void advance(std::size_t loop, std::size_t steps) noexcept;

  const std::byte* at_;
  std::size_t item_size_;
  std::size_t remaining_;
  /// Outermost first, at least two; a dimension of size 1 is left out, and neighbours that form
  /// one run are one loop.
  std::vector<Loop> loops_;
};

}  // namespace flambeau
