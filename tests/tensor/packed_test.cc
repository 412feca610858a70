// The packed quantized types.
#include "tensor/packed.h"

#include <gtest/gtest.h>

#include "tensor/make_tensor.h"

namespace flambeau {
namespace {

using Sizes = std::vector<std::int64_t>;
using testing::error_of;
using testing::quantized_of;
using testing::storage_of_bytes;
using testing::view_of;

TEST(Packed, Types) {
  EXPECT_TRUE(is_packed_quantized(DType::qu4x2));
  EXPECT_TRUE(is_packed_quantized(DType::qu2x4));
  EXPECT_FALSE(is_packed_quantized(DType::qi8));
  EXPECT_FALSE(is_packed_quantized(DType::f4_e2m1fn_x2));
  EXPECT_FALSE(is_packed_quantized(DType::bits4x2));
}

TEST(Packed, BytesRoundEveryRowUp) {
  EXPECT_EQ(packed_bytes(DType::qu4x2, Sizes{2, 3}), 4u);
  EXPECT_EQ(packed_bytes(DType::qu4x2, Sizes{3, 5}), 9u);
  EXPECT_EQ(packed_bytes(DType::qu2x4, Sizes{3, 5}), 6u);
  EXPECT_EQ(packed_bytes(DType::qu2x4, Sizes{}), 1u);
  EXPECT_EQ(packed_bytes(DType::qu2x4, Sizes{0, 5}), 0u);
  EXPECT_FALSE(packed_bytes(DType::qu4x2, Sizes{std::int64_t{1} << 62, 1 << 10}));
  EXPECT_FALSE(packed_bytes(DType::qu4x2, Sizes{2, -1}));
  EXPECT_FALSE(packed_bytes(DType::qu4x2, Sizes{-2, 1}));
}

TEST(Packed, LowestBitsFirst) {
  const std::byte bytes[] = {std::byte{0x21}, std::byte{0xe4}};
  std::int64_t fours[4];
  unpack(DType::qu4x2, bytes, fours);
  EXPECT_EQ(Sizes(fours, fours + 4), (Sizes{1, 2, 4, 14}));
  std::int64_t twos[8];
  unpack(DType::qu2x4, bytes, twos);
  EXPECT_EQ(Sizes(twos, twos + 8), (Sizes{1, 0, 2, 0, 0, 1, 2, 3}));
}

TEST(Packed, IntegersFillBytesWithoutRegardToRows) {
  // What PyTorch stores for these integers of shape [3, 5]; the last byte is left over.
  const Tensor tensor = quantized_of(
      view_of(DType::qu4x2, {3, 5}, {5, 1}, 0,
              storage_of_bytes({0x20, 0x01, 0x02, 0x00, 0x10, 0x00, 0xf0, 0x03, 0x80})),
      {"per_tensor_affine", 0.5, 1, {}});
  EXPECT_EQ(tensor.to<int>(), (std::vector<int>{0, 2, 1, 0, 2, 0, 0, 0, 0, 1, 0, 0, 0, 15, 3}));
  EXPECT_EQ(tensor.to<float>()[13], 7.0f);
  EXPECT_EQ(testing::bytes_of(tensor).size(), 9u) << "copied as stored";
}

TEST(Packed, ViewsThatAreNotContiguous) {
  const Tensor tensor =
      quantized_of(view_of(DType::qu4x2, {2, 2}, {1, 2}, 0, storage_of_bytes({0x21, 0x43})), {});
  EXPECT_EQ(error_of([&] { tensor.to<int>(); }).second,
            "a view of quint4x2 elements that are not contiguous");
}

}  // namespace
}  // namespace flambeau
