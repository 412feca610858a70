// Every bit pattern of every small float, against PyTorch's own conversion (float_tables.txt) and
// against the formulas of the formats.
#include "tensor/float_bits.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "tensor/make_tensor.h"

namespace flambeau {
namespace {

const std::map<std::string, std::string>& tables() {
  static const auto rows = [] {
    std::map<std::string, std::string> found;
    std::ifstream in(FLAMBEAU_TEST_DATA "/float_tables.txt");
    std::string name, text;
    std::getline(in, text);
    while (in >> name >> text) found[name] = text;
    return found;
  }();
  return rows;
}

std::uint32_t bits_of(float value) {
  return std::isnan(value) ? 0x7fc00000u : std::bit_cast<std::uint32_t>(value);
}

void expect_table(const std::string& name, float (*decode)(std::uint8_t)) {
  const std::string& hex = tables().at(name);
  ASSERT_EQ(hex.size(), 256u * 8);
  for (unsigned pattern = 0; pattern < 256; ++pattern) {
    const float value = decode(static_cast<std::uint8_t>(pattern));
    EXPECT_EQ(bits_of(value), std::stoul(hex.substr(pattern * 8, 8), nullptr, 16))
        << name << " " << pattern;
  }
}

TEST(FloatBits, EightBitFormats) {
  expect_table("float8_e5m2", decode_f8_e5m2);
  expect_table("float8_e4m3fn", decode_f8_e4m3fn);
  expect_table("float8_e5m2fnuz", decode_f8_e5m2fnuz);
  expect_table("float8_e4m3fnuz", decode_f8_e4m3fnuz);
  expect_table("float8_e8m0fnu", decode_f8_e8m0fnu);
}

TEST(FloatBits, FourBits) {
  const float values[] = {0, 0.5f, 1, 1.5f, 2, 3, 4, 6};
  for (unsigned i = 0; i < 8; ++i) {
    EXPECT_EQ(bits_of(decode_f4_e2m1fn(static_cast<std::uint8_t>(i))), bits_of(values[i]));
    EXPECT_EQ(bits_of(decode_f4_e2m1fn(static_cast<std::uint8_t>(i + 8))), bits_of(-values[i]));
  }
  EXPECT_EQ(decode_f4_e2m1fn(0xf2), 1.0f) << "only the lower half counts";
}

TEST(FloatBits, SixteenBitFormatsAsPyTorchDecodesThem) {
  std::vector<float> halves, brains;
  const float nan = std::bit_cast<float>(0x7fc00000u);
  for (unsigned i = 0; i < 65536; ++i) {
    const float half = decode_f16(static_cast<std::uint16_t>(i));
    const float brain = decode_bf16(static_cast<std::uint16_t>(i));
    halves.push_back(std::isnan(half) ? nan : half);
    brains.push_back(std::isnan(brain) ? nan : brain);
  }
  EXPECT_EQ(to_string(sha256(testing::tensor_of({65536}, halves))), tables().at("float16"));
  EXPECT_EQ(to_string(sha256(testing::tensor_of({65536}, brains))), tables().at("bfloat16"));
}

TEST(FloatBits, HalfByItsFormula) {
  for (unsigned i = 0; i < 65536; ++i) {
    const int exponent = static_cast<int>(i >> 10 & 31);
    const int fraction = static_cast<int>(i & 1023);
    double expected =
        exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
    if (exponent == 31) expected = fraction == 0 ? INFINITY : NAN;
    const float value = to_float(Half{static_cast<std::uint16_t>(i)});
    EXPECT_EQ(bits_of(value), bits_of(static_cast<float>(i < 32768 ? expected : -expected))) << i;
  }
}

TEST(FloatBits, BrainFloatIsTheUpperHalf) {
  EXPECT_EQ(to_float(BFloat16{0x3fc0}), 1.5f);
  EXPECT_EQ(to_float(BFloat16{0xff80}), -INFINITY);
  EXPECT_EQ(to_float(BFloat16{0x0001}), std::bit_cast<float>(0x00010000u));
}

TEST(FloatBits, EncodesAsPyTorch) {
  std::vector<std::uint16_t> halves, brains;
  for (std::uint32_t i = 0; i < 65536; ++i) {
    const float number = std::bit_cast<float>(i << 16 | i * 40503 % 65536);
    halves.push_back(std::isnan(number) ? 0x7e00 : encode_f16(number));
    brains.push_back(encode_bf16(number));
  }
  EXPECT_EQ(to_string(sha256(testing::tensor_of({65536}, halves))), tables().at("to_float16"));
  EXPECT_EQ(to_string(sha256(testing::tensor_of({65536}, brains))), tables().at("to_bfloat16"));
  EXPECT_TRUE(std::isnan(decode_f16(encode_f16(NAN))));
}

TEST(FloatBits, EncodingRoundsTiesToEven) {
  EXPECT_EQ(encode_bf16(std::bit_cast<float>(0x3f808000u)), 0x3f80);
  EXPECT_EQ(encode_bf16(std::bit_cast<float>(0x3f818000u)), 0x3f82);
  EXPECT_EQ(encode_bf16(std::bit_cast<float>(0x7f7fffffu)), 0x7f80);
  EXPECT_EQ(encode_f16(2049.0f), 0x6800);
  EXPECT_EQ(encode_f16(2051.0f), 0x6802);
  EXPECT_EQ(encode_f16(65520.0f), 0x7c00);
  EXPECT_EQ(encode_f16(65519.0f), 0x7bff);
}

TEST(FloatBits, EncodingUndoesDecoding) {
  for (unsigned i = 0; i < 65536; ++i) {
    const auto pattern = static_cast<std::uint16_t>(i);
    const float half = decode_f16(pattern);
    const float brain = decode_bf16(pattern);
    EXPECT_TRUE(std::isnan(half) || encode_f16(half) == pattern) << i;
    EXPECT_TRUE(std::isnan(brain) || encode_bf16(brain) == pattern) << i;
  }
}

}  // namespace
}  // namespace flambeau
