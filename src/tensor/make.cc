// What the rebuild functions of torch/_utils.py demand of their arguments, demanded of a caller's.
#include "flambeau/make.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "base/fail.h"
#include "tensor/record.h"

namespace flambeau {
namespace {

using Shape = std::span<const std::int64_t>;

Tensor tensor_of(TensorRecord record) {
  return Tensor(std::make_shared<const TensorRecord>(std::move(record)));
}

void require(bool fits, std::string_view what) {
  if (!fits) fail(ErrorCode::malformed_tensor, {}, "{}", what);
}

bool is_index(DType dtype) noexcept { return dtype == DType::i64 || dtype == DType::i32; }

/// A tensor that is made of others shows the type of its values.
Tensor of_parts(TensorKind kind, Shape shape, std::shared_ptr<TensorExtension> extension,
                const Tensor& values) {
  TensorRecord record;
  record.kind = kind;
  record.dtype = values.dtype();
  record.requires_grad = values.requires_grad();
  record.dimensions = Dimensions(shape, {});
  record.extension = std::move(extension);
  return tensor_of(std::move(record));
}

TensorRecord quantized_record(DType dtype, Shape shape, Storage storage) {
  require(category(dtype) == DTypeCategory::quantized, "this is no quantized dtype");
  TensorRecord record = Tensor(dtype, {shape.begin(), shape.end()}, std::move(storage)).record();
  record.kind = TensorKind::quantized;
  return record;
}

}  // namespace

Tensor make_strided(DType dtype, Shape shape, Shape strides, std::int64_t offset, Storage storage) {
  require(shape.size() == strides.size(), "there must be a stride for each dimension");
  TensorRecord record;
  record.dtype = dtype;
  record.dimensions = Dimensions(shape, strides);
  record.offset = offset;
  record.storage = std::move(storage);
  check_view(record, record.storage.size(), {});
  return tensor_of(std::move(record));
}

Tensor make_parameter(const Tensor& tensor, bool requires_grad) {
  TensorRecord record = tensor.record();
  record.is_parameter = true;
  record.requires_grad = requires_grad;
  return tensor_of(std::move(record));
}

Tensor with_requires_grad(const Tensor& tensor, bool requires_grad) {
  TensorRecord record = tensor.record();
  record.requires_grad = requires_grad;
  return tensor_of(std::move(record));
}

Tensor make_conj(const Tensor& tensor) {
  require(category(tensor.dtype()) == DTypeCategory::complex && tensor.parts().empty(),
          "only strided complex tensors have a conjugate view");
  TensorRecord record = tensor.record();
  record.is_conj = !record.is_conj;
  return tensor_of(std::move(record));
}

Tensor make_quantized(DType dtype, std::vector<std::int64_t> shape, Storage storage, double scale,
                      std::int64_t zero_point) {
  TensorRecord record = quantized_record(dtype, shape, std::move(storage));
  auto extension = std::make_shared<TensorExtension>();
  extension->quantizer = Quantizer{"per_tensor_affine", scale, zero_point, std::nullopt};
  record.extension = std::move(extension);
  return tensor_of(std::move(record));
}

Tensor make_quantized(DType dtype, std::vector<std::int64_t> shape, Storage storage,
                      const Tensor& scales, const Tensor& zero_points, std::int64_t axis) {
  require(axis >= 0 && static_cast<std::size_t>(axis) < shape.size(),
          "the axis is no dimension of the tensor");
  const std::int64_t channels = shape[static_cast<std::size_t>(axis)];
  for (const Tensor* each : {&scales, &zero_points}) {
    require(
        each->kind() == TensorKind::strided && each->ndim() == 1 && each->shape()[0] == channels,
        "scales and zero points have one element for each channel");
  }
  TensorRecord record = quantized_record(dtype, shape, std::move(storage));
  auto extension = std::make_shared<TensorExtension>();
  extension->quantizer = Quantizer{"per_channel_affine", 1, 0, axis};
  extension->parts = {{"scales", scales}, {"zero_points", zero_points}};
  record.extension = std::move(extension);
  return tensor_of(std::move(record));
}

Tensor make_sparse_coo(const Tensor& indices, const Tensor& values, Shape shape,
                       bool is_coalesced) {
  const bool has_ranks = is_index(indices.dtype()) && indices.ndim() == 2 && values.ndim() > 0;
  require(has_ranks, "indices are a matrix of integers, values have a dimension for them");
  const auto sparse = static_cast<std::size_t>(indices.shape()[0]);
  const Shape dense = values.shape().subspan(1);
  require(sparse <= shape.size() && indices.shape()[1] == values.shape()[0] &&
              std::ranges::equal(dense, shape.subspan(sparse)) && checked_product(shape),
          "indices, values and shape do not belong together");
  auto extension = std::make_shared<TensorExtension>();
  extension->parts = {{"indices", indices}, {"values", values}};
  extension->is_coalesced = is_coalesced;
  return of_parts(TensorKind::sparse_coo, shape, std::move(extension), values);
}

Tensor make_sparse_compressed(TensorKind kind, const Tensor& compressed, const Tensor& plain,
                              const Tensor& values, Shape shape) {
  const bool by_row = kind == TensorKind::sparse_csr || kind == TensorKind::sparse_bsr;
  const bool blocked = kind == TensorKind::sparse_bsr || kind == TensorKind::sparse_bsc;
  require(by_row || blocked || kind == TensorKind::sparse_csc, "this kind is not compressed");
  const std::size_t rank = blocked ? shape.size() + 1 : shape.size() - 1;
  require(shape.size() >= 2 && compressed.ndim() >= 1 && is_index(compressed.dtype()) &&
              compressed.dtype() == plain.dtype() && plain.ndim() == compressed.ndim() &&
              shape.size() >= compressed.ndim() + 1 && values.ndim() == rank &&
              checked_product(shape),
          "indices, values and shape do not belong together");
  auto extension = std::make_shared<TensorExtension>();
  extension->parts = {{by_row ? "crow_indices" : "ccol_indices", compressed},
                      {by_row ? "col_indices" : "row_indices", plain},
                      {"values", values}};
  return of_parts(kind, shape, std::move(extension), values);
}

Tensor make_nested(const Tensor& buffer, const Tensor& sizes, const Tensor& strides,
                   const Tensor& offsets) {
  require(buffer.ndim() == 1 && offsets.ndim() == 1 && sizes.dtype() == DType::i64 &&
              strides.dtype() == DType::i64 && offsets.dtype() == DType::i64 &&
              std::ranges::equal(sizes.shape(), strides.shape()) &&
              (sizes.ndim() == 0 || sizes.shape()[0] == offsets.shape()[0]),
          "buffer, sizes, strides and offsets do not belong together");
  auto extension = std::make_shared<TensorExtension>();
  extension->parts = {
      {"buffer", buffer}, {"sizes", sizes}, {"strides", strides}, {"storage_offsets", offsets}};
  TensorRecord record = of_parts(TensorKind::nested, {}, std::move(extension), buffer).record();
  record.has_shape = false;
  return tensor_of(std::move(record));
}

Tensor make_meta(DType dtype, Shape shape) {
  const auto strides = contiguous_strides(shape);
  require(checked_product(shape) && strides, "the size is negative or overflows");
  TensorRecord record;
  record.kind = TensorKind::meta;
  record.dtype = dtype;
  record.dimensions = Dimensions(shape, *strides);
  return tensor_of(std::move(record));
}

}  // namespace flambeau
