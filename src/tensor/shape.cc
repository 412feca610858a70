// Arithmetic on shapes and strides that come from a file: PyTorch's rules (c10/core/TensorImpl.h,
// aten/src/ATen/EmptyTensor.cpp: computeStorageNbytes), with every product and sum checked.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/checked.h"
#include "tensor/record.h"

namespace flambeau {

/// `TensorImpl::empty_tensor_restride`: a size of 0 counts as 1.
std::optional<std::vector<std::int64_t>> contiguous_strides(std::span<const std::int64_t> shape) {
  std::vector<std::int64_t> strides(shape.size());
  std::int64_t stride = 1;
  for (std::size_t i = shape.size(); i-- > 0;) {
    strides[i] = stride;
    // The product with the first size is nobody's stride, so it may overflow.
    if (i == 0) break;
    const auto next = checked_mul(stride, std::max<std::int64_t>(shape[i], 1));
    if (!next) return std::nullopt;
    stride = *next;
  }
  return strides;
}

std::optional<std::int64_t> checked_product(std::span<const std::int64_t> shape) noexcept {
  if (std::any_of(shape.begin(), shape.end(), [](std::int64_t n) { return n < 0; })) {
    return std::nullopt;
  }
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return 0;
  // With the zeros out of the way an overflow is one whatever the order.
  std::int64_t product = 1;
  for (const std::int64_t size : shape) {
    const auto next = checked_mul(product, size);
    if (!next) return std::nullopt;
    product = *next;
  }
  return product;
}

/// computeStorageNbytes: the last element stands at offset + sum of (size - 1) x stride, and a view
/// without elements needs nothing, whatever its offset. Two passes, since a 0 may come last.
std::optional<std::uint64_t> view_extent(std::span<const std::int64_t> shape,
                                         std::span<const std::int64_t> strides,
                                         std::int64_t offset) noexcept {
  if (offset < 0) return std::nullopt;
  bool empty = false;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] < 0 || strides[i] < 0) return std::nullopt;
    empty = empty || shape[i] == 0;
  }
  if (empty) return 0;
  auto last = static_cast<std::uint64_t>(offset);
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const auto reach = checked_mul(static_cast<std::uint64_t>(shape[i] - 1),
                                   static_cast<std::uint64_t>(strides[i]));
    const auto sum = reach ? checked_add(last, *reach) : std::nullopt;
    if (!sum) return std::nullopt;
    last = *sum;
  }
  return checked_add(last, std::uint64_t{1});
}

std::string to_string(std::span<const std::int64_t> shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

}  // namespace flambeau
