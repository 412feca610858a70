// Open addressing with linear probing, between a third and two thirds full: 6 to 12 bytes for each
// name. Large tables lie in huge pages, since every look-up is a jump.
#include "zip/name_table.h"

#include <algorithm>
#include <memory>

namespace flambeau::zip {

/// The first power of two above 1.5 times the names. Ordinals take the lowest bits of a slot, the
/// hash what they leave.
NameTable::NameTable(std::size_t count) {
  const std::size_t slots = std::bit_ceil(count + count / 2 + 1);
  memory_ = allocate_pages(slots * sizeof(std::uint32_t));
  slots_ = static_cast<std::uint32_t*>(memory_.owner.get());
  std::uninitialized_fill_n(slots_, slots, 0);
  position_mask_ = slots - 1;
  ordinal_mask_ = static_cast<std::uint32_t>(std::bit_ceil(count + 1) - 1);
}

}  // namespace flambeau::zip
