// Random strided views and the plainest way to read them.
#pragma once

#include <algorithm>
#include <random>
#include <vector>

#include "tensor/make_tensor.h"

namespace flambeau::testing {

using Random = std::mt19937;

inline std::int64_t pick(Random& random, std::int64_t low, std::int64_t high) {
  return std::uniform_int_distribution<std::int64_t>(low, high)(random);
}

inline std::vector<std::byte> random_bytes(Random& random, std::size_t size) {
  std::vector<std::byte> bytes(size);
  for (std::byte& b : bytes) b = static_cast<std::byte>(random());
  return bytes;
}

/// A view of any rank up to five: permuted, stepped, expanded, overlapping or contiguous.
inline Tensor random_view(Random& random, DType dtype) {
  const auto rank = static_cast<std::size_t>(pick(random, 0, 5));
  std::vector<std::int64_t> shape(rank);
  std::vector<std::int64_t> strides(rank);
  std::vector<std::size_t> order(rank);
  for (std::size_t i = 0; i < rank; ++i) order[i] = i;
  if (pick(random, 0, 2) > 0) std::shuffle(order.begin(), order.end(), random);
  std::int64_t stride = pick(random, 0, 3) == 0 ? 2 : 1;
  for (const std::size_t i : order) {
    shape[i] = pick(random, 0, 20) == 0 ? 0 : pick(random, 1, 7);
    strides[i] = pick(random, 0, 9) == 0 ? pick(random, 0, 2) : stride;
    stride *= std::max<std::int64_t>(shape[i], 1) + (pick(random, 0, 4) == 0 ? 1 : 0);
  }
  const std::int64_t offset = pick(random, 0, 5);
  const auto extent = static_cast<std::size_t>(offset + 1) + [&] {
    std::int64_t reach = 0;
    for (std::size_t i = 0; i < rank; ++i)
      reach += std::max<std::int64_t>(shape[i] - 1, 0) * strides[i];
    return static_cast<std::size_t>(reach);
  }();
  return view_of(dtype, shape, strides, offset,
                 storage_of(Bytes(random_bytes(random, extent * item_size(dtype)))));
}

/// The items one by one, each at the sum of index × stride.
inline std::vector<std::byte> items_one_by_one(const Tensor& tensor) {
  const std::size_t item = item_size(tensor.dtype());
  const Bytes stored = tensor.storage().bytes();
  std::vector<std::byte> out;
  for (std::int64_t n = 0; n < tensor.numel(); ++n) {
    std::int64_t rest = n;
    std::int64_t at = tensor.offset();
    for (std::size_t i = tensor.ndim(); i-- > 0;) {
      at += rest % tensor.shape()[i] * tensor.strides()[i];
      rest /= tensor.shape()[i];
    }
    const Bytes bytes = stored.subspan(static_cast<std::size_t>(at) * item, item);
    out.insert(out.end(), bytes.begin(), bytes.end());
  }
  return out;
}

/// The types whose bits mean nothing to a copy, one of each size.
inline const std::vector<DType>& types_by_size() {
  static const std::vector<DType> types = {DType::u8, DType::bf16, DType::f32, DType::f64,
                                           DType::c128};
  return types;
}

}  // namespace flambeau::testing
