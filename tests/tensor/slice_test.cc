// Slices follow Python's rules.
#include <gtest/gtest.h>

#include <limits>
#include <numeric>

#include "tensor/make_tensor.h"

namespace flambeau {
namespace {

using Sizes = std::vector<std::int64_t>;
using Numbers = std::vector<std::int32_t>;
using testing::error_of;
using testing::quantized_of;
using testing::storage_of;
using testing::tensor_of;
using testing::view_of;
using testing::whole_of;

constexpr std::int64_t kEnd = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();

Tensor count_to(std::int32_t count) {
  Numbers numbers(static_cast<std::size_t>(count));
  std::iota(numbers.begin(), numbers.end(), 0);
  return tensor_of<std::int32_t>({count}, numbers);
}

Numbers sliced(std::int64_t start, std::int64_t stop = kEnd, std::int64_t step = 1) {
  return count_to(6).slice(0, start, stop, step).to<std::int32_t>();
}

TEST(Slice, PythonsRules) {
  EXPECT_EQ(sliced(1, 4), (Numbers{1, 2, 3}));
  EXPECT_EQ(sliced(2), (Numbers{2, 3, 4, 5}));
  EXPECT_EQ(sliced(-2), (Numbers{4, 5}));
  EXPECT_EQ(sliced(0, -4), (Numbers{0, 1}));
  EXPECT_EQ(sliced(-100, 2), (Numbers{0, 1}));
  EXPECT_EQ(sliced(0, 100), (Numbers{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(sliced(4, 2), Numbers{});
  EXPECT_EQ(sliced(6), Numbers{});
  EXPECT_EQ(sliced(kEnd), Numbers{});
  EXPECT_EQ(sliced(kLeast, kLeast), Numbers{});
}

TEST(Slice, Steps) {
  EXPECT_EQ(sliced(0, 6, 2), (Numbers{0, 2, 4}));
  EXPECT_EQ(sliced(0, 5, 2), (Numbers{0, 2, 4}));
  EXPECT_EQ(sliced(1, 6, 4), (Numbers{1, 5}));
  EXPECT_EQ(sliced(3, 6, kEnd), Numbers{3}) << "a stride that no element uses";
}

TEST(Slice, AlongAnyDimension) {
  const Tensor matrix = tensor_of<std::int32_t>({2, 3}, {0, 1, 2, 3, 4, 5});
  const Tensor columns = matrix.slice(1, 1);
  EXPECT_EQ(columns.to<std::int32_t>(), (Numbers{1, 2, 4, 5}));
  EXPECT_EQ(columns.offset(), 1);
  EXPECT_EQ(columns.storage(), matrix.storage());
  EXPECT_EQ(matrix.slice(-1, 1).to<std::int32_t>(), columns.to<std::int32_t>());
  EXPECT_EQ(columns.slice(0, 1).slice(1, -1).to<std::int32_t>(), Numbers{5});
  EXPECT_TRUE(columns.record().is_slice);
}

TEST(Slice, WrongUse) {
  const Tensor tensor = count_to(6);
  EXPECT_EQ(error_of([&] { tensor.slice(1, 0); }).second, "dimension 1 of a tensor of 1");
  EXPECT_EQ(error_of([&] { tensor.slice(-2, 0); }).first, ErrorCode::usage);
  EXPECT_EQ(error_of([&] { tensor.slice(0, 0, 6, 0); }).second, "a slice with step 0");
  EXPECT_EQ(error_of([&] { tensor.slice(0, 0, 6, -1); }).first, ErrorCode::usage);
  const Tensor scalar = tensor_of<float>({}, {1});
  EXPECT_EQ(error_of([&] { scalar.slice(0, 0); }).first, ErrorCode::usage);
}

TEST(Slice, KindsThatCannot) {
  const Tensor sparse = whole_of(TensorKind::sparse_csr, DType::f32, {2, 2}, {});
  EXPECT_EQ(error_of([&] { sparse.slice(0, 0); }).second,
            "a sparse_csr tensor of float32 cannot be sliced");
  const Tensor packed = quantized_of(
      view_of(DType::qu4x2, {4}, {1}, 0, storage_of(std::vector<std::uint8_t>(2))), {});
  EXPECT_EQ(error_of([&] { packed.slice(0, 0); }).first, ErrorCode::unsupported);
}

TEST(Slice, KeepsItsOwnScales) {
  const Tensor integers = tensor_of<std::int8_t>({3, 2}, {1, 2, 3, 4, 5, 6}, DType::qi8);
  const Tensor whole = quantized_of(integers, {"per_channel_affine", 1, 0, 0},
                                    {{"scales", tensor_of<double>({3}, {1, 10, 100})},
                                     {"zero_points", tensor_of<std::int64_t>({3}, {0, 1, 2})}});
  EXPECT_EQ(whole.slice(0, 1).to<float>(), (std::vector<float>{20, 30, 300, 400}));
  EXPECT_EQ(whole.slice(1, 1).to<float>(), (std::vector<float>{2, 30, 400}));
}

TEST(Slice, OfAMetaTensorIsAShape) {
  TensorRecord record = testing::record_of(DType::f32, {8, 2}, {2, 1}, 0, {});
  record.kind = TensorKind::meta;
  const Tensor half = tensor_of(std::move(record)).slice(0, 4);
  EXPECT_EQ(half.kind(), TensorKind::meta);
  EXPECT_EQ(half.shape()[0], 4);
}

TEST(Slice, OfAViewWithoutElementsUsesNoStride) {
  const Tensor whole(std::make_shared<const TensorRecord>(
      testing::record_of(DType::f32, {0, kEnd}, {1, kEnd}, kEnd, storage_of<float>({1}))));
  const Tensor part = whole.slice(1, kEnd / 2, kEnd, 2);
  EXPECT_EQ(part.shape()[1], kEnd / 4 + 1);
  EXPECT_EQ(part.offset(), kEnd);
  EXPECT_TRUE(part.to<float>().empty());
}

TEST(Slice, IsNoParameter) {
  TensorRecord record = count_to(4).record();
  record.is_parameter = record.requires_grad = true;
  const Tensor slice = tensor_of(std::move(record)).slice(0, 1);
  EXPECT_FALSE(slice.is_parameter());
  EXPECT_TRUE(slice.requires_grad());
}

}  // namespace
}  // namespace flambeau
