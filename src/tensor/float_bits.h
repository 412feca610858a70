// Floating-point formats that C++ has no type for, as bits: to binary32 and, for the two 16-bit
// formats, back.
//
//   float one = decode_f8_e4m3fn(0x38);
//   std::uint16_t bits = encode_bf16(1.5f);
//
// Every format of PyTorch with up to 16 bits is a subset of binary32, so decoding is exact.
#pragma once

#include <bit>
#include <cstdint>

#include "base/bytes.h"
#include "flambeau/dtype.h"

namespace flambeau {

/// bfloat16 is the upper half of a binary32.
inline float decode_bf16(std::uint16_t bits) noexcept {
  return std::bit_cast<float>(std::uint32_t{bits} << 16);
}

float decode_f16(std::uint16_t bits) noexcept;

/// One value per byte, by the tables of the OCP 8-bit formats and their `fnuz` variants (no
/// infinities, no negative zero, NaN at 0x80) and of the power-of-two scale format e8m0.
float decode_f8_e5m2(std::uint8_t bits) noexcept;
float decode_f8_e4m3fn(std::uint8_t bits) noexcept;
float decode_f8_e5m2fnuz(std::uint8_t bits) noexcept;
float decode_f8_e4m3fnuz(std::uint8_t bits) noexcept;
float decode_f8_e8m0fnu(std::uint8_t bits) noexcept;
/// The lower four bits: 0, 0.5, 1, 1.5, 2, 3, 4, 6 and their negatives.
float decode_f4_e2m1fn(std::uint8_t bits) noexcept;

/// Round to nearest, ties to even; too large becomes infinity, NaN a quiet NaN.
std::uint16_t encode_f16(float value) noexcept;
std::uint16_t encode_bf16(float value) noexcept;

/// Decodes all of `stored`, items of `dtype` in native byte order, into `out`, which has room for
/// `values_per_item` values each. `dtype` is f16, bf16, or a floating type of 8 or fewer bits.
void decode_floats(DType dtype, Bytes stored, float* out) noexcept;

}  // namespace flambeau
