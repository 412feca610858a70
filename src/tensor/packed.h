// The quantized types that keep several integers in one byte, quint4x2 and quint2x4.
//
// The integers fill the bytes in row-major order, the lowest bits first, without regard to rows:
//
//   quint4x2   byte k = value[2k] | value[2k+1] << 4
//   quint2x4   byte k = value[4k] | value[4k+1] << 2 | value[4k+2] << 4 | value[4k+3] << 6
//
// The storage has room for every row rounded up to whole bytes, so bytes may be left over at its
// end (aten/src/ATen/quantized/Quantizer.cpp: get_sub_byte_tensor_size).
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "base/bytes.h"
#include "flambeau/dtype.h"

namespace flambeau {

bool is_packed_quantized(DType dtype) noexcept;

/// product(shape[:-1]) × ceil(shape[-1] / values per item); nothing where it overflows or a size
/// is negative.
std::optional<std::uint64_t> packed_bytes(DType dtype,
                                          std::span<const std::int64_t> shape) noexcept;

/// Writes the integers of all of `stored` to `out`, `values_per_item` for each byte.
void unpack(DType dtype, Bytes stored, std::int64_t* out) noexcept;

}  // namespace flambeau
