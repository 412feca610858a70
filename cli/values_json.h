// The elements of a tensor as nested JSON lists.
#pragma once

#include <optional>

#include "flambeau/error.h"
#include "flambeau/tensor.h"
#include "json_writer.h"

namespace flambeau::cli {

/// Writes the elements in row-major order, one list for each dimension: integers in full, booleans
/// as `true` and `false`, reals with the shortest digits that read back, complex numbers as
/// `[re, im]`, quantized ones as the real numbers that they stand for. NaN and infinities are the
/// strings "nan", "inf" and "-inf".
/// Errors: as `Tensor::to`.
void write_values(JsonWriter& json, const Tensor& tensor);

}  // namespace flambeau::cli
