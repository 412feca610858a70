// Elements as numbers of another type, block by block.
//
//   Converter convert(tensor, DType::f32);
//   for (Bytes block = convert.next(); !block.empty(); block = convert.next()) sink.write(block);
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/bytes.h"
#include "flambeau/tensor.h"
#include "tensor/dequantize.h"
#include "tensor/elements.h"

namespace flambeau {

/// The types that numbers can be converted to: bool, integers of 8 to 64 bits, float16, bfloat16,
/// float32, float64, complex64 and complex128.
bool is_conversion_target(DType dtype) noexcept;

/// The integer type that a quantized type of whole bytes stores; any other type itself.
DType stored_dtype(DType dtype) noexcept;

/// Whether the elements have numbers: all but the bits and sub-byte types.
bool is_numeric(DType dtype) noexcept;

/// Numbers that the elements are: `numel()`, twice as many for float4_e2m1fn_x2.
/// Nothing where they overflow.
std::optional<std::int64_t> count_values(const Tensor& tensor) noexcept;

/// The rules are those of `Tensor::to`. The tensor must outlive the converter.
class Converter {
 public:
  /// Errors: as `Tensor::to`; `unsupported` where `to` is no conversion target.
  Converter(const Tensor& tensor, DType to);

  /// The next converted numbers, in native byte order; empty at the end. Valid until the next call.
  Bytes next();
  /// Whether the next piece is empty.
  bool is_done() const noexcept { return left_ == 0; }

 private:
  static constexpr std::size_t kBlock = 1024;  // values

  Bytes next_stored();
  template <typename Lane>
  Bytes convert_block(Bytes stored, std::size_t count);
  Bytes dequantize_block(Bytes stored, std::size_t count);
  template <typename Lane>
  Bytes encode_block(const Lane* lane, std::size_t count);

  const Tensor& tensor_;
  DType to_;
  ElementStream stream_;
  std::optional<Dequantizer> dequantizer_;
  std::uint64_t left_;  // values
  Bytes piece_;
  std::vector<std::byte> stored_;
  std::vector<std::byte> converted_;
};

}  // namespace flambeau
