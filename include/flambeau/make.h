// Tensors of every kind from their parts, to be saved or worked with.
//
//   auto rows = flambeau::make_strided(DType::f32, {3, 2}, {1, 3}, 0, storage);   // transposed
//   auto weight = flambeau::make_parameter(flambeau::Tensor::borrow<float>(numbers, {2, 3}));
//   auto sparse = flambeau::make_sparse_coo(indices, values, {1000, 1000});
//
// All check that the parts belong together, and give `malformed_tensor` where they do not. What
// only the elements of the parts can tell, `validate` checks. Parts are shared, not copied.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "flambeau/tensor.h"

namespace flambeau {

/// A view of any strides, `offset` elements into the storage. Tensors of one storage share it in
/// the file, too.
Tensor make_strided(DType dtype, std::span<const std::int64_t> shape,
                    std::span<const std::int64_t> strides, std::int64_t offset, Storage storage);

/// `torch.nn.Parameter(tensor, requires_grad)`.
Tensor make_parameter(const Tensor& tensor, bool requires_grad = true);
/// `tensor.requires_grad_(requires_grad)`.
Tensor with_requires_grad(const Tensor& tensor, bool requires_grad);
/// `tensor.conj()` of a complex tensor: a view that is conjugated when it is read.
Tensor make_conj(const Tensor& tensor);

/// Integers of a quantized dtype with one scale, contiguous over all of the storage.
Tensor make_quantized(DType dtype, std::vector<std::int64_t> shape, Storage storage, double scale,
                      std::int64_t zero_point);
/// The same with a scale and a zero point for each index of dimension `axis`: vectors of float64
/// and int64, or both of float32.
Tensor make_quantized(DType dtype, std::vector<std::int64_t> shape, Storage storage,
                      const Tensor& scales, const Tensor& zero_points, std::int64_t axis);

/// Indices of shape [sparse dimensions, n], int64, and values of shape [n, …].
Tensor make_sparse_coo(const Tensor& indices, const Tensor& values,
                       std::span<const std::int64_t> shape, bool is_coalesced = false);
/// CSR, CSC, BSR, BSC: `compressed` are the pointers into `plain`, the indices of the other
/// dimension, both int32 or int64.
Tensor make_sparse_compressed(TensorKind kind, const Tensor& compressed, const Tensor& plain,
                              const Tensor& values, std::span<const std::int64_t> shape);

/// Views of a one-dimensional buffer: shapes and strides as int64 matrices of one row for each, and
/// their offsets in elements.
Tensor make_nested(const Tensor& buffer, const Tensor& sizes, const Tensor& strides,
                   const Tensor& offsets);

/// A shape without elements, on the device "meta".
Tensor make_meta(DType dtype, std::span<const std::int64_t> shape);

}  // namespace flambeau
