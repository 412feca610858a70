// The one door to a tensor's elements: checked, in row-major order, byte order and lazy bits
// resolved, a piece at a time.
//
//   ElementStream stream(tensor);
//   std::vector<std::byte> scratch(1 << 16);
//   for (Bytes piece = stream.next(scratch); !piece.empty(); piece = stream.next(scratch)) …
#pragma once

#include <bit>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "base/bytes.h"
#include "flambeau/tensor.h"
#include "tensor/gather.h"

namespace flambeau {

class ElementStream {
 public:
  /// Checks the kind, the storage's checksum (not for slices) and the view's bounds, before
  /// anything is read. Elements come in `order`. Errors: as `Tensor::copy_to`. The tensor must
  /// outlive the stream.
  explicit ElementStream(const Tensor& tensor, std::endian order = std::endian::native);

  /// Bytes that are left.
  std::size_t remaining() const noexcept;
  /// The next piece: all of the elements in place where they lie so, else whole items in the first
  /// bytes of `scratch`, which holds at least one. Empty at the end.
  Bytes next(MutableBytes scratch) noexcept;
  /// Fills `out`, whose size is that of whole items and at most `remaining()`.
  void read(MutableBytes out) noexcept;

 private:
  Bytes slice_elements();
  void resolve(MutableBytes piece) const noexcept;

  const Tensor& tensor_;
  bool is_native_;
  /// The elements in place, where nothing has to be resolved; else they are gathered.
  Bytes in_place_;
  /// Of the bytes of a slice, which may have been read for it alone.
  std::shared_ptr<const void> owner_;
  std::optional<Gatherer> gatherer_;
};

/// "indices, values": for messages and texts.
std::string names_of_parts(const Tensor& tensor);

/// Throws `unsupported` for kinds without one array of elements, naming the parts that have them.
void check_has_elements(const Tensor& tensor);

/// Where the elements lie, once kind and bounds are checked; empty for a tensor without elements.
Bytes stored_elements(const Tensor& tensor);

}  // namespace flambeau
