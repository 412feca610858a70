// numpy arrays and scalars inside checkpoints, as values.
#pragma once

#include <complex>
#include <optional>
#include <string_view>

#include "flambeau/tensor.h"
#include "torch/graph.h"

namespace flambeau {

/// The array as a tensor that owns a copy of its elements; nothing where the value is no array, or
/// of a type that no dtype has (text, dates, structures, objects).
/// Error: `malformed_tensor` where bytes, shape and type do not fit each other.
std::optional<Tensor> numpy_array(const Graph& graph, Ref ref, std::string_view where);
/// The one element of a `numpy.float64(1.5)` and its like, as a 0-dimensional tensor; nothing where
/// its bytes are not as many as its type has.
std::optional<Tensor> numpy_scalar(const Graph& graph, Ref ref);

/// A contiguous copy with another dtype. Error: `unsupported` where there is no conversion.
Tensor converted(const Tensor& tensor, DType dtype);

}  // namespace flambeau
