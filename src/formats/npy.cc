// The .npy writer: numpy/lib/format.py, `write_array_header_1_0` and `_2_0`, whose spacing is
// followed to the byte.
//
//   \x93NUMPY  major  minor  header size (2 bytes LE in 1.0, 4 in 2.0)
//   {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }  blanks  \n
//   elements, row-major
//
// The header ends at a multiple of 64 bytes and leaves room for the first size to grow to 21
// digits. Booleans are written as 0 and 1, whatever other bytes stand for true.
#include "flambeau/npy.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/endian.h"
#include "base/fail.h"
#include "tensor/convert.h"
#include "tensor/element_bits.h"

namespace flambeau {
namespace {

constexpr std::size_t kAlignment = 64;
constexpr std::size_t kGrowthDigits = 21;
constexpr std::size_t kPieceSize = std::size_t{1} << 20;

/// numpy's kind letter; 0 where it has no such type.
char kind_letter(DType dtype) noexcept {
  switch (category(dtype)) {
    case DTypeCategory::boolean: return 'b';
    case DTypeCategory::signed_integer: return 'i';
    case DTypeCategory::unsigned_integer: return 'u';
    case DTypeCategory::floating:
      return dtype == DType::f16 || dtype == DType::f32 || dtype == DType::f64 ? 'f' : '\0';
    case DTypeCategory::complex: return dtype == DType::c64 || dtype == DType::c128 ? 'c' : '\0';
    case DTypeCategory::quantized:
    case DTypeCategory::bits:
    case DTypeCategory::sub_byte: break;
  }
  return '\0';
}

/// "<f4"; single bytes have no order.
std::string type_text(DType dtype) {
  const std::size_t size = item_size(dtype);
  return fmt::format("{}{}{}", size == 1 ? '|' : '<', kind_letter(dtype), size);
}

void append_le(std::string& out, std::uint64_t value, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; ++i) out += static_cast<char>((value >> (8 * i)) & 0xff);
}

/// Magic, version, size and header for a dictionary, filled up to the alignment.
std::string framed(std::string dictionary, std::uint8_t major, std::size_t size_bytes) {
  const std::size_t before = 8 + size_bytes;
  const std::size_t bare = before + dictionary.size() + 1;
  dictionary.append((kAlignment - bare % kAlignment) % kAlignment, ' ').append("\n");
  std::string header = "\x93NUMPY";
  header += static_cast<char>(major);
  header += '\0';
  append_le(header, dictionary.size(), size_bytes);
  return header + dictionary;
}

/// All that stands before the elements.
std::string header_text(DType dtype, std::span<const std::int64_t> shape) {
  std::string dictionary =
      fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}{}), }}", type_text(dtype),
                  fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
  if (!shape.empty()) {
    dictionary.append(kGrowthDigits - std::to_string(shape.front()).size(), ' ');
  }
  // Version 1.0 has 16 bits for the size of what stands behind its 10 bytes.
  std::string header = framed(dictionary, 1, 2);
  return header.size() - 10 <= 0xffff ? header : framed(dictionary, 2, 4);
}

/// What can be done with a type that numpy lacks.
std::string_view conversion_hint(DType dtype) noexcept {
  if (category(dtype) == DTypeCategory::complex) return "convert it to complex64, for example";
  return is_numeric(dtype) ? "convert it to float32, for example" : "take its raw bytes";
}

/// The type to write: the asked one, or the tensor's own, or its integers'.
/// The packed types have their integers written as uint8, one for each value.
DType written_dtype(const Tensor& tensor, std::optional<DType> as) {
  const DType own = tensor.dtype();
  if (as && !has_numpy_dtype(*as)) {
    fail(ErrorCode::unsupported, {}, "numpy has no {}", to_string(*as));
  }
  if (!as && !has_numpy_dtype(own)) {
    fail(ErrorCode::unsupported, {}, "numpy has no {}: {}", to_string(own), conversion_hint(own));
  }
  const DType dtype = as.value_or(own);
  const bool is_packed = category(dtype) == DTypeCategory::quantized && values_per_item(dtype) > 1;
  return is_packed ? DType::u8 : stored_dtype(dtype);
}

/// The shape of the array; a pair type has its values along the last dimension.
std::vector<std::int64_t> written_shape(const Tensor& tensor) {
  std::vector<std::int64_t> shape(tensor.shape().begin(), tensor.shape().end());
  if (count_values(tensor) == tensor.numel()) return shape;
  if (shape.empty()) shape.push_back(1);
  shape.back() *= 2;
  return shape;
}

/// The elements as they are, in little-endian order.
void write_elements(Sink& sink, ElementStream stream) {
  std::vector<std::byte> scratch(std::min(kPieceSize, stream.remaining()));
  for (Bytes piece = stream.next(scratch); !piece.empty(); piece = stream.next(scratch)) {
    sink.write(piece);
  }
}

/// The elements as `dtype`, in little-endian order.
void write_converted(Sink& sink, Converter converter, DType dtype) {
  for (Bytes block = converter.next(); !block.empty(); block = converter.next()) {
    if constexpr (std::endian::native == std::endian::little) {
      sink.write(block);
    } else {
      std::vector<std::byte> swapped(block.begin(), block.end());
      swap_bytes(swapped, swap_unit(dtype));
      sink.write(swapped);
    }
  }
}

}  // namespace

bool has_numpy_dtype(DType dtype) noexcept {
  return category(dtype) == DTypeCategory::quantized || kind_letter(dtype) != '\0';
}

void write_npy(Sink& sink, const Tensor& tensor, std::optional<DType> as) {
  check_has_elements(tensor);
  const DType dtype = written_dtype(tensor, as);
  const bool is_as_stored = dtype == stored_dtype(tensor.dtype()) && dtype != DType::boolean;
  if (is_as_stored) {
    ElementStream stream(tensor, std::endian::little);
    sink.write(as_bytes(header_text(dtype, tensor.shape())));
    return write_elements(sink, std::move(stream));
  }
  Converter converter(tensor, dtype);
  sink.write(as_bytes(header_text(dtype, written_shape(tensor))));
  write_converted(sink, std::move(converter), dtype);
}

bool save_npy(const std::string& path, const Tensor& tensor, std::optional<DType> as,
              const FileSinkOptions& options) {
  const auto sink = create_file(path, options);
  write_npy(*sink, tensor, as);
  return sink->commit();
}

}  // namespace flambeau
