// Small floats by table. A table of 256 binary32 values per 8-bit format is made at compile time
// from the format's parameters: sign, exponent, mantissa, bias (OCP 8-bit Floating Point
// Specification, revision 1.0; OCP Microscaling Formats, version 1.0, for e2m1 and e8m0; the
// `fnuz` variants as in torch/headeronly/util/Float8_e4m3fnuz.h). binary16 goes through Imath.
#include "tensor/float_bits.h"

#include <half.h>

#include <array>
#include <cstring>
#include <limits>
#include <utility>

namespace flambeau {
namespace {

/// What the bit patterns at the end of the range mean.
enum class Specials : std::uint8_t {
  ieee,    ///< the largest exponent is infinity and NaN
  fn,      ///< finite, and all ones is NaN
  fnuz,    ///< finite, and the pattern of -0 is the only NaN
  absent,  ///< every pattern is a number
};

struct Format {
  unsigned exponent_bits;
  unsigned mantissa_bits;
  int bias;
  Specials specials;
};

constexpr Format kE5M2{5, 2, 15, Specials::ieee};
constexpr Format kE4M3FN{4, 3, 7, Specials::fn};
constexpr Format kE5M2FNUZ{5, 2, 16, Specials::fnuz};
constexpr Format kE4M3FNUZ{4, 3, 8, Specials::fnuz};
constexpr Format kE2M1FN{2, 1, 1, Specials::absent};

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

/// Exact, subnormal numbers included; `std::ldexp` is not constexpr.
constexpr float power_of_two(int exponent) {
  float power = 1;
  for (; exponent > 0; --exponent) power *= 2;
  for (; exponent < 0; ++exponent) power /= 2;
  return power;
}

/// The value of a pattern without its sign bit.
constexpr float magnitude_of(Format format, unsigned magnitude) {
  const unsigned fraction = magnitude & ((1u << format.mantissa_bits) - 1);
  const unsigned exponent = magnitude >> format.mantissa_bits;
  const bool top = exponent == (1u << format.exponent_bits) - 1;
  const bool all_ones = top && fraction == (1u << format.mantissa_bits) - 1;
  if (format.specials == Specials::ieee && top) return fraction == 0 ? kInfinity : kNaN;
  if (format.specials == Specials::fn && all_ones) return kNaN;
  // The leading 1 is not stored; subnormal numbers have none, and the exponent of the smallest
  // normal ones.
  const unsigned hidden = exponent == 0 ? 0 : 1u << format.mantissa_bits;
  const int scale = static_cast<int>(exponent == 0 ? 1 : exponent) - format.bias -
                    static_cast<int>(format.mantissa_bits);
  return static_cast<float>(hidden + fraction) * power_of_two(scale);
}

/// All patterns of a format, whose highest bit is the sign. The fnuz formats have their only NaN
/// where -0 would be.
template <std::size_t kSize>
constexpr std::array<float, kSize> make_table(Format format) {
  std::array<float, kSize> table{};
  for (unsigned bits = 0; bits < kSize; ++bits) {
    const float magnitude = magnitude_of(format, bits % (kSize / 2));
    table[bits] = bits < kSize / 2 ? magnitude : -magnitude;
  }
  if (format.specials == Specials::fnuz) table[kSize / 2] = kNaN;
  return table;
}

/// An exponent alone: no sign, no fraction, no zero.
constexpr std::array<float, 256> make_e8m0_table() {
  std::array<float, 256> table{};
  for (int bits = 0; bits < 255; ++bits) {
    table[static_cast<std::size_t>(bits)] = power_of_two(bits - 127);
  }
  table[255] = kNaN;
  return table;
}

constexpr auto kE5M2Table = make_table<256>(kE5M2);
constexpr auto kE4M3FNTable = make_table<256>(kE4M3FN);
constexpr auto kE5M2FNUZTable = make_table<256>(kE5M2FNUZ);
constexpr auto kE4M3FNUZTable = make_table<256>(kE4M3FNUZ);
constexpr auto kE8M0Table = make_e8m0_table();
constexpr auto kE2M1FNTable = make_table<16>(kE2M1FN);

constexpr std::pair<DType, const std::array<float, 256>*> kTables[] = {
    {DType::f8_e5m2, &kE5M2Table},         {DType::f8_e4m3fn, &kE4M3FNTable},
    {DType::f8_e5m2fnuz, &kE5M2FNUZTable}, {DType::f8_e4m3fnuz, &kE4M3FNUZTable},
    {DType::f8_e8m0fnu, &kE8M0Table},
};

void decode_by_table(const std::array<float, 256>& table, Bytes stored, float* out) noexcept {
  for (const std::byte b : stored) *out++ = table[std::to_integer<std::size_t>(b)];
}

/// Two values per byte, the lower four bits first.
void decode_pairs(Bytes stored, float* out) noexcept {
  for (const std::byte b : stored) {
    *out++ = decode_f4_e2m1fn(std::to_integer<std::uint8_t>(b));
    *out++ = decode_f4_e2m1fn(std::to_integer<std::uint8_t>(b >> 4));
  }
}

template <float (*decode)(std::uint16_t)>
void decode_16_bits(Bytes stored, float* out) noexcept {
  for (std::size_t i = 0; i + 1 < stored.size(); i += 2) {
    std::uint16_t bits;
    std::memcpy(&bits, stored.data() + i, sizeof bits);
    *out++ = decode(bits);
  }
}

}  // namespace

float decode_f16(std::uint16_t bits) noexcept { return imath_half_to_float(bits); }

float decode_f8_e5m2(std::uint8_t bits) noexcept { return kE5M2Table[bits]; }

float decode_f8_e4m3fn(std::uint8_t bits) noexcept { return kE4M3FNTable[bits]; }

float decode_f8_e5m2fnuz(std::uint8_t bits) noexcept { return kE5M2FNUZTable[bits]; }

float decode_f8_e4m3fnuz(std::uint8_t bits) noexcept { return kE4M3FNUZTable[bits]; }

float decode_f8_e8m0fnu(std::uint8_t bits) noexcept { return kE8M0Table[bits]; }

float decode_f4_e2m1fn(std::uint8_t bits) noexcept { return kE2M1FNTable[bits & 15u]; }

std::uint16_t encode_f16(float value) noexcept { return imath_float_to_half(value); }

/// As torch/headeronly/util/BFloat16.h, `round_to_nearest_even`: half of the last place is added,
/// less one where the last place is even. A NaN could become infinity by that, so it goes first.
std::uint16_t encode_bf16(float value) noexcept {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if (value != value) return 0x7fc0;
  const std::uint32_t ties_to_even = 0x7fff + ((bits >> 16) & 1);
  return static_cast<std::uint16_t>((bits + ties_to_even) >> 16);
}

void decode_floats(DType dtype, Bytes stored, float* out) noexcept {
  if (dtype == DType::f16) return decode_16_bits<decode_f16>(stored, out);
  if (dtype == DType::bf16) return decode_16_bits<decode_bf16>(stored, out);
  for (const auto& [format, table] : kTables) {
    if (format == dtype) return decode_by_table(*table, stored, out);
  }
  decode_pairs(stored, out);
}

float to_float(Half value) noexcept { return decode_f16(value.bits); }

float to_float(BFloat16 value) noexcept { return decode_bf16(value.bits); }

}  // namespace flambeau
