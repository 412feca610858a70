// Sizes and integers of the packed quantized types (packed.h shows the layout).
#include "tensor/packed.h"

#include "base/checked.h"
#include "tensor/record.h"

namespace flambeau {

bool is_packed_quantized(DType dtype) noexcept {
  return category(dtype) == DTypeCategory::quantized && values_per_item(dtype) > 1;
}

std::optional<std::uint64_t> packed_bytes(DType dtype,
                                          std::span<const std::int64_t> shape) noexcept {
  // A single value still takes a byte.
  if (shape.empty()) return 1;
  const auto rows = checked_product(shape.first(shape.size() - 1));
  if (!rows || shape.back() < 0) return std::nullopt;
  const auto per_byte = static_cast<std::uint64_t>(values_per_item(dtype));
  const std::uint64_t row_bytes =
      (static_cast<std::uint64_t>(shape.back()) + per_byte - 1) / per_byte;
  return checked_mul(static_cast<std::uint64_t>(*rows), row_bytes);
}

/// Also the values beyond the tensor's last that fill up the last byte: the caller drops them.
void unpack(DType dtype, Bytes stored, std::int64_t* out) noexcept {
  const std::size_t per_byte = values_per_item(dtype);
  const std::size_t width = 8 / per_byte;
  const unsigned mask = (1u << width) - 1;
  for (const std::byte b : stored) {
    for (std::size_t i = 0; i < per_byte; ++i) {
      *out++ = (std::to_integer<unsigned>(b) >> (i * width)) & mask;
    }
  }
}

}  // namespace flambeau
