// Sparse tensors whose indices break a promise of their layout. Those that files can hold in one
// pickle are tested with the rebuild functions; these are put together by hand.
#include <gtest/gtest.h>

#include "tensor/make_tensor.h"

namespace flambeau {
namespace {

using testing::error_of;
using testing::tensor_of;
using testing::whole_of;
using Longs = std::vector<std::int64_t>;

struct Compressed {
  Tensor offsets;
  Tensor indices;
  Tensor values;
};

Tensor by_row(TensorKind kind, std::vector<std::int64_t> shape, const Compressed& parts) {
  return whole_of(
      kind, DType::f32, std::move(shape),
      {{"crow_indices", parts.offsets}, {"col_indices", parts.indices}, {"values", parts.values}});
}

Tensor floats(std::vector<std::int64_t> shape, std::size_t count) {
  return tensor_of(std::move(shape), std::vector<float>(count, 1));
}

void expect_refused(const Tensor& tensor, std::string_view message) {
  const auto [code, told] = error_of([&] { validate(tensor); });
  EXPECT_EQ(code, ErrorCode::malformed_tensor);
  EXPECT_EQ(told, message);
}

TEST(Validate, CompressedIndicesNeverFall) {
  const Tensor indices = tensor_of({2}, Longs{0, 1});
  const Tensor values = floats({2}, 2);
  const auto csr = [&](const Longs& offsets) {
    return by_row(TensorKind::sparse_csr, {3, 2}, {tensor_of({4}, offsets), indices, values});
  };
  validate(csr({0, 1, 1, 2}));
  expect_refused(csr({0, 2, 1, 2}), "sparse_csr tensor: compressed indices 2 and 1 do not ascend");
  expect_refused(csr({0, 1, 3, 2}), "sparse_csr tensor: compressed indices 1 and 3 do not ascend");
}

TEST(Validate, BlocksDivideTheMatrix) {
  const auto bsr = [](std::vector<std::int64_t> block) {
    const auto count = static_cast<std::size_t>(block[1] * block[2]);
    return by_row(TensorKind::sparse_bsr, {4, 6},
                  {tensor_of({3}, Longs{0, 1, 1}), tensor_of({1}, Longs{1}), floats(block, count)});
  };
  validate(bsr({1, 2, 3}));
  expect_refused(bsr({1, 3, 3}), "sparse_bsr tensor: blocks of 3 by 3 do not divide 4 by 6");
  expect_refused(bsr({1, 2, 4}), "sparse_bsr tensor: blocks of 2 by 4 do not divide 4 by 6");
  expect_refused(bsr({1, 0, 3}), "sparse_bsr tensor: blocks of 0 by 3 do not divide 4 by 6");
}

TEST(Validate, BothIndicesHaveOneBatch) {
  const auto csr = [](const Tensor& indices) {
    return by_row(TensorKind::sparse_csr, {2, 2, 2},
                  {tensor_of({2, 3}, Longs{0, 1, 1, 0, 0, 1}), indices, floats({2, 1}, 2)});
  };
  validate(csr(tensor_of({2, 1}, Longs{0, 1})));
  expect_refused(csr(tensor_of({1, 1}, Longs{0})),
                 "sparse_csr tensor: the batches of the indices differ");
}

}  // namespace
}  // namespace flambeau
