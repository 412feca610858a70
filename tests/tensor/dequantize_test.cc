// Real numbers of quantized tensors.
#include "tensor/dequantize.h"

#include <gtest/gtest.h>

#include "tensor/make_tensor.h"

namespace flambeau {
namespace {

using testing::error_of;
using testing::quantized_of;
using testing::storage_of;
using testing::tensor_of;
using testing::view_of;

Tensor per_tensor(const Tensor& integers, double scale, std::int64_t zero_point) {
  return quantized_of(integers, {"per_tensor_affine", scale, zero_point, {}});
}

Tensor per_channel(const Tensor& integers, std::int64_t axis, std::vector<double> scales,
                   std::vector<std::int64_t> zero_points) {
  const auto count = static_cast<std::int64_t>(scales.size());
  const auto points = static_cast<std::int64_t>(zero_points.size());
  return quantized_of(integers, {"per_channel_affine", 1, 0, axis},
                      {{"scales", tensor_of<double>({count}, scales)},
                       {"zero_points", tensor_of<std::int64_t>({points}, zero_points)}});
}

TEST(Dequantize, PerTensor) {
  const Tensor q = per_tensor(tensor_of<std::int8_t>({3}, {-128, 3, 127}, DType::qi8), 0.1, 3);
  EXPECT_EQ(q.to<float>(), (std::vector<float>{0.1f * -131, 0, 0.1f * 124}));
  EXPECT_EQ(q.to<int>(), (std::vector<int>{-128, 3, 127})) << "integers stay integers";
  EXPECT_EQ(q.to<double>()[0], double{0.1f * -131}) << "rounded as binary32, as PyTorch does";
}

TEST(Dequantize, UnsignedAndWide) {
  EXPECT_EQ(per_tensor(tensor_of<std::uint8_t>({2}, {0, 255}, DType::qu8), 2, 128).to<float>(),
            (std::vector<float>{-256, 254}));
  EXPECT_EQ(per_tensor(tensor_of<std::int32_t>({2}, {-2147483647 - 1, 7}, DType::qi32), 1, 1)
                .to<double>(),
            (std::vector<double>{-2147483648.0, 6}));
}

TEST(Dequantize, OfAStridedView) {
  const Tensor transposed =
      per_tensor(view_of(DType::qi8, {3, 2}, {1, 3}, 0,
                         storage_of(std::vector<std::int8_t>{1, 2, 3, 4, 5, 6})),
                 10, 0);
  EXPECT_EQ(transposed.to<float>(), (std::vector<float>{10, 40, 20, 50, 30, 60}));
}

TEST(Dequantize, PerChannelAlongEachAxis) {
  const Tensor integers = tensor_of<std::int8_t>({2, 3}, {1, 2, 3, 4, 5, 6}, DType::qi8);
  EXPECT_EQ(per_channel(integers, 0, {1, 10}, {0, 1}).to<float>(),
            (std::vector<float>{1, 2, 3, 30, 40, 50}));
  EXPECT_EQ(per_channel(integers, 1, {1, 10, 100}, {0, 1, 2}).to<float>(),
            (std::vector<float>{1, 10, 100, 4, 40, 400}));
}

TEST(Dequantize, PerChannelOfAStridedViewCountsLogicalChannels) {
  const Tensor transposed = view_of(DType::qi8, {3, 2}, {1, 3}, 0,
                                    storage_of(std::vector<std::int8_t>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(per_channel(transposed, 0, {1, 10, 100}, {0, 0, 0}).to<float>(),
            (std::vector<float>{1, 4, 20, 50, 300, 600}));
}

TEST(Dequantize, LongerThanOneBlock) {
  std::vector<std::uint8_t> integers(5000);
  for (std::size_t i = 0; i < integers.size(); ++i) integers[i] = static_cast<std::uint8_t>(i);
  const Tensor q = per_channel(tensor_of({2, 2500}, integers, DType::qu8), 0, {1, 2}, {0, 5});
  const auto reals = q.to<float>();
  for (std::size_t i = 0; i < integers.size(); ++i) {
    const float expected = i < 2500 ? integers[i] : 2.0f * (integers[i] - 5.0f);
    ASSERT_EQ(reals[i], expected) << i;
  }
}

TEST(Dequantize, ZeroPointsAndScalesOfAnySize) {
  const Tensor integers = tensor_of<std::int32_t>({1}, {2147483647}, DType::qi32);
  EXPECT_EQ(per_tensor(integers, 1, std::numeric_limits<std::int64_t>::min()).to<float>()[0],
            9223372036854775808.0f);
  EXPECT_TRUE(std::isnan(per_tensor(integers, NAN, 0).to<float>()[0]));
  EXPECT_EQ(per_tensor(integers, 0, 0).to<int>()[0], 2147483647);
}

TEST(Dequantize, Booleans) {
  const Tensor q = per_tensor(tensor_of<std::int8_t>({2}, {3, 4}, DType::qi8), 1, 3);
  EXPECT_EQ(q.to<double>(), (std::vector<double>{0, 1}));
}

TEST(Dequantize, QuantizersThatDoNotFit) {
  const Tensor integers = tensor_of<std::int8_t>({2, 3}, {1, 2, 3, 4, 5, 6}, DType::qi8);
  const auto message = [](const Tensor& tensor) {
    const auto [code, text] = error_of([&] { tensor.to<float>(); });
    EXPECT_EQ(code, ErrorCode::malformed_tensor);
    return text;
  };
  EXPECT_EQ(message(per_channel(integers, 0, {1, 2, 3}, {0, 0})),
            "a quantized tensor needs 2 scales");
  EXPECT_EQ(message(per_channel(integers, 0, {1, 2}, {0})),
            "a quantized tensor needs 2 zero_points");
  EXPECT_EQ(message(per_channel(integers, -1, {1}, {0})),
            "channel axis -1 of a tensor of 2 dimensions");
  EXPECT_EQ(message(per_channel(integers, 2, {1}, {0})),
            "channel axis 2 of a tensor of 2 dimensions");
  TensorRecord record = integers.record();
  record.kind = TensorKind::quantized;
  const Tensor bare = tensor_of(std::move(record));
  EXPECT_EQ(message(bare), "a quantized tensor has no quantizer");
  EXPECT_EQ(error_of([&] { to_string(bare); }).first, ErrorCode::malformed_tensor);
}

}  // namespace
}  // namespace flambeau
