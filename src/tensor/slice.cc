// Slices: a new record over the same storage. Numbers are clamped as Python's `slice.indices` does
// (CPython, Objects/sliceobject.c: PySlice_AdjustIndices).
#include <algorithm>

#include "tensor/packed.h"
#include "tensor/record.h"

namespace flambeau {
namespace {

/// A negative index counts from the end; what lies outside is moved to the nearer end.
std::int64_t clamp_index(std::int64_t index, std::int64_t size) noexcept {
  if (index < 0) index = std::max<std::int64_t>(index + size, 0);
  return std::min(index, size);
}

/// A negative dimension counts from the last.
std::size_t dimension_of(const Tensor& tensor, std::int64_t dim) {
  const auto rank = static_cast<std::int64_t>(tensor.ndim());
  if (dim < -rank || dim >= rank) {
    fail(ErrorCode::usage, {}, "dimension {} of a tensor of {}", dim, rank);
  }
  return static_cast<std::size_t>(dim < 0 ? dim + rank : dim);
}

/// A slice needs strides, and items that begin at whole bytes.
void check_sliceable(const Tensor& tensor) {
  const bool has_strides = tensor.strides().size() == tensor.ndim() && tensor.has_shape();
  if (!has_strides || is_packed_quantized(tensor.dtype())) {
    fail(ErrorCode::unsupported, {}, "a {} tensor of {} cannot be sliced", to_string(tensor.kind()),
         to_string(tensor.dtype()));
  }
}

/// The quantizer of the slice: scales and zero points along the sliced dimension are sliced, too.
std::shared_ptr<const TensorExtension> slice_extension(const TensorExtension& whole,
                                                       std::int64_t start, std::int64_t stop,
                                                       std::int64_t step) {
  auto extension = std::make_shared<TensorExtension>(whole);
  for (auto& [name, part] : extension->parts) part = part.slice(0, start, stop, step);
  return extension;
}

}  // namespace

Tensor Tensor::slice(std::int64_t dim, std::int64_t start, std::int64_t stop,
                     std::int64_t step) const {
  const std::size_t along = dimension_of(*this, dim);
  if (step < 1) fail(ErrorCode::usage, {}, "a slice with step {}", step);
  check_sliceable(*this);
  std::vector<std::int64_t> sizes(shape().begin(), shape().end());
  std::vector<std::int64_t> steps(strides().begin(), strides().end());
  const std::int64_t first = clamp_index(start, sizes[along]);
  const std::int64_t last = std::max(first, clamp_index(stop, sizes[along]));
  const std::int64_t count = (last - first) / step + ((last - first) % step != 0 ? 1 : 0);

  TensorRecord record = *record_;
  sizes[along] = count;
  // Nothing bounds offset and strides of a view without elements, so their products could overflow;
  // nothing uses them either. A slice of one element or none leaves the stride alone for the same
  // reason.
  const bool has_elements = std::find(sizes.begin(), sizes.end(), 0) == sizes.end();
  if (has_elements) record.offset += first * steps[along];
  if (has_elements && count > 1) steps[along] *= step;
  record.dimensions = Dimensions(sizes, steps);
  record.is_slice = true;
  record.is_parameter = false;
  const Quantizer* q = quantizer();
  if (q && q->axis && static_cast<std::size_t>(*q->axis) == along) {
    record.extension = slice_extension(*record_->extension, start, stop, step);
  }
  return Tensor(std::make_shared<const TensorRecord>(std::move(record)));
}

}  // namespace flambeau
