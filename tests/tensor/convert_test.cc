// Conversion between types, against expectations computed here.
#include "tensor/convert.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tensor/float_bits.h"
#include "tensor/random_view.h"

namespace flambeau {
namespace {

using testing::error_of;
using testing::storage_of;
using testing::storage_of_bytes;
using testing::tensor_of;
using testing::view_of;
using testing::whole_of;

template <typename T>
using Limit = std::numeric_limits<T>;
constexpr double kInfinity = Limit<double>::infinity();
constexpr double kNaN = Limit<double>::quiet_NaN();

Tensor reals(std::vector<double> values) {
  const auto count = static_cast<std::int64_t>(values.size());
  return tensor_of<double>({count}, values);
}

TEST(Convert, RealsTruncateAndSaturate) {
  const Tensor tensor = reals({1.9, -1.9, 300, -300, kNaN, kInfinity, -kInfinity, 127.5, -128.5});
  EXPECT_EQ(tensor.to<std::int8_t>(),
            (std::vector<std::int8_t>{1, -1, 127, -128, 0, 127, -128, 127, -128}));
  EXPECT_EQ(tensor.to<std::uint8_t>(),
            (std::vector<std::uint8_t>{1, 0, 255, 0, 0, 255, 0, 127, 0}));
}

TEST(Convert, RealsAtTheEdgesOfWideIntegers) {
  const Tensor tensor = reals({0x1p63, -0x1p63, 0x1p64, -0x1p64, 0x1p62, 1e300, -0.5});
  EXPECT_EQ(tensor.to<std::int64_t>(),
            (std::vector<std::int64_t>{Limit<std::int64_t>::max(), Limit<std::int64_t>::min(),
                                       Limit<std::int64_t>::max(), Limit<std::int64_t>::min(),
                                       std::int64_t{1} << 62, Limit<std::int64_t>::max(), 0}));
  EXPECT_EQ(tensor.to<std::uint64_t>(),
            (std::vector<std::uint64_t>{std::uint64_t{1} << 63, 0, Limit<std::uint64_t>::max(), 0,
                                        std::uint64_t{1} << 62, Limit<std::uint64_t>::max(), 0}));
  EXPECT_EQ(tensor_of<float>({2}, {0x1p31f, -0x1p31f}).to<std::int32_t>(),
            (std::vector<std::int32_t>{Limit<std::int32_t>::max(), Limit<std::int32_t>::min()}));
}

TEST(Convert, WideIntegersAreExact) {
  const std::vector<std::int64_t> wide = {9007199254740993, Limit<std::int64_t>::min(), -1};
  EXPECT_EQ(tensor_of({3}, wide).to<std::int64_t>(), wide);
  EXPECT_EQ(tensor_of({3}, wide).to<std::uint64_t>(),
            (std::vector<std::uint64_t>{9007199254740993u, 0, 0}));
  const std::vector<std::uint64_t> large = {Limit<std::uint64_t>::max(), 9007199254740993u};
  EXPECT_EQ(tensor_of({2}, large).to<std::int64_t>(),
            (std::vector<std::int64_t>{Limit<std::int64_t>::max(), 9007199254740993}));
  EXPECT_EQ(tensor_of({2}, large).to<std::uint64_t>(), large);
  EXPECT_EQ(tensor_of({2}, large).to<double>()[0], 0x1p64);
}

TEST(Convert, IntegersSaturateToNarrowerOnes) {
  const Tensor tensor = tensor_of<std::int32_t>({4}, {70000, -70000, 255, -1});
  EXPECT_EQ(tensor.to<std::int16_t>(), (std::vector<std::int16_t>{32767, -32768, 255, -1}));
  EXPECT_EQ(tensor.to<std::uint16_t>(), (std::vector<std::uint16_t>{65535, 0, 255, 0}));
  EXPECT_EQ(tensor.to<float>(), (std::vector<float>{70000, -70000, 255, -1}));
}

TEST(Convert, BoolsOfAnyByte) {
  const Tensor tensor(DType::boolean, {4}, storage_of_bytes({0, 1, 2, 255}));
  EXPECT_EQ(tensor.to<std::uint8_t>(), (std::vector<std::uint8_t>{0, 1, 1, 1}));
  EXPECT_EQ(tensor.to<double>(), (std::vector<double>{0, 1, 1, 1}));
  EXPECT_EQ(testing::bytes_of(tensor)[2], std::byte{2}) << "copied as stored";
  EXPECT_EQ(to_string(tensor), "tensor([False,  True,  True,  True])");
}

TEST(Convert, ComplexDropsTheImaginaryPart) {
  using Complex = std::complex<float>;
  const Tensor z = tensor_of<Complex>({2}, {{1.5f, 2}, {-3, 4}});
  EXPECT_EQ(z.to<float>(), (std::vector<float>{1.5f, -3}));
  EXPECT_EQ(z.to<int>(), (std::vector<int>{1, -3}));
  EXPECT_EQ(z.to<std::complex<double>>()[0], (std::complex<double>{1.5, 2}));
  EXPECT_EQ(reals({2}).to<Complex>()[0], (Complex{2, 0}));
}

TEST(Convert, PairsOfHalves) {
  const Tensor half(DType::c32, {1}, storage_of_bytes({0x00, 0x3c, 0x00, 0xc0}));
  EXPECT_EQ(half.to<std::complex<float>>()[0], (std::complex<float>{1, -2}));
  const Tensor brain(DType::bc32, {1}, storage_of_bytes({0x80, 0x3f, 0x00, 0xc0}));
  EXPECT_EQ(brain.to<std::complex<double>>()[0], (std::complex<double>{1, -2}));
  EXPECT_EQ(brain.to<float>()[0], 1);
}

TEST(Convert, SmallFloats) {
  const Storage bytes = storage_of_bytes({0x38, 0xb8});
  EXPECT_EQ(Tensor(DType::f8_e4m3fn, {2}, bytes).to<float>(), (std::vector<float>{1, -1}));
  EXPECT_EQ(Tensor(DType::f8_e5m2, {2}, bytes).to<double>(), (std::vector<double>{0.5, -0.5}));
  EXPECT_EQ(Tensor(DType::f8_e4m3fnuz, {2}, bytes).to<float>(), (std::vector<float>{0.5f, -0.5f}));
  EXPECT_EQ(Tensor(DType::f8_e8m0fnu, {2}, bytes).to<double>()[0], std::ldexp(1.0, 0x38 - 127));
}

TEST(Convert, Float4HasTwoValuesPerByte) {
  const Tensor tensor =
      view_of(DType::f4_e2m1fn_x2, {2}, {2}, 0, storage_of_bytes({0x21, 0, 0xf7}));
  EXPECT_EQ(count_values(tensor), 4);
  EXPECT_EQ(tensor.to<float>(), (std::vector<float>{0.5f, 1, 6, -6}));
}

TEST(Convert, ToSixteenBits) {
  const Tensor tensor = reals({1.5, -2, 1e30, kNaN});
  const auto halves = tensor.to<Half>();
  EXPECT_EQ(halves[0].bits, 0x3e00);
  EXPECT_EQ(halves[2].bits, 0x7c00);
  EXPECT_TRUE(std::isnan(to_float(halves[3])));
  const auto brains = tensor.to<BFloat16>();
  EXPECT_EQ(brains[1].bits, 0xc000);
  EXPECT_EQ(brains[3].bits, 0x7fc0);
  EXPECT_EQ(tensor_of<BFloat16>({4}, brains).to<BFloat16>(), brains);
}

/// One element as a double, read and converted without the code under test.
double number_at(DType dtype, const std::byte* at) {
  const auto load = [&](auto value) {
    std::memcpy(&value, at, sizeof value);
    return value;
  };
  if (dtype == DType::u8) return load(std::uint8_t{});
  if (dtype == DType::bf16) return std::ldexp(1.0, 0) * decode_bf16(load(std::uint16_t{}));
  if (dtype == DType::f32) return load(float{});
  return load(double{});
}

TEST(Convert, RandomViewsToFloatAndDouble) {
  testing::Random random(5);
  for (int i = 0; i < 1500; ++i) {
    const DType dtype = testing::types_by_size()[static_cast<std::size_t>(i) % 4];
    const Tensor tensor = testing::random_view(random, dtype);
    const auto items = testing::items_one_by_one(tensor);
    const auto floats = tensor.to<float>();
    const auto doubles = tensor.to<double>();
    ASSERT_EQ(doubles.size(), static_cast<std::size_t>(tensor.numel()));
    for (std::size_t n = 0; n < doubles.size(); ++n) {
      const double expected = number_at(dtype, items.data() + n * item_size(dtype));
      ASSERT_TRUE(doubles[n] == expected || std::isnan(expected));
      ASSERT_TRUE(floats[n] == static_cast<float>(expected) || std::isnan(expected));
    }
  }
}

TEST(Convert, MoreThanOneBlock) {
  std::vector<std::int16_t> numbers(5000);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<std::int16_t>(i * 7);
  const auto converted = tensor_of({5000}, numbers).to<double>();
  for (std::size_t i = 0; i < numbers.size(); ++i) ASSERT_EQ(converted[i], numbers[i]);
}

TEST(Convert, WhatHasNoNumbers) {
  for (const DType dtype : {DType::bits8, DType::bits1x8, DType::u3, DType::i7}) {
    const Tensor tensor(dtype, {1}, storage_of_bytes({1}));
    const auto [code, message] = error_of([&] { tensor.to<float>(); });
    EXPECT_EQ(code, ErrorCode::unsupported);
    EXPECT_EQ(message, std::string(to_string(dtype)) + " elements are no numbers");
  }
}

TEST(Convert, WhatIsNoTarget) {
  EXPECT_TRUE(is_conversion_target(DType::boolean));
  EXPECT_FALSE(is_conversion_target(DType::f8_e5m2));
  EXPECT_FALSE(is_conversion_target(DType::qi8));
  const Tensor tensor = reals({1});
  EXPECT_EQ(error_of([&] { Converter(tensor, DType::c32); }).second,
            "numbers cannot be converted to complex32");
}

TEST(Convert, ExpansionBeyondAllReason) {
  const Storage storage = storage_of(std::vector<float>{1});
  const Tensor broadcast = view_of(DType::f32, {100000}, {0}, 0, storage);
  EXPECT_EQ(broadcast.to<float>().size(), 100000u) << "small results are given at any ratio";
  const Tensor huge = view_of(DType::f32, {std::int64_t{1} << 62}, {0}, 0, storage);
  EXPECT_EQ(error_of([&] { huge.to<float>(); }).first, ErrorCode::limit);
  const Tensor pairs =
      view_of(DType::f4_e2m1fn_x2, {std::int64_t{1} << 62}, {0}, 0, storage_of_bytes({1}));
  EXPECT_FALSE(count_values(pairs));
  EXPECT_EQ(error_of([&] { pairs.to<float>(); }).first, ErrorCode::limit);
}

}  // namespace
}  // namespace flambeau
