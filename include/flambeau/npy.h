// numpy's .npy files: one array, a short text header, raw elements.
//
//   flambeau::save_npy("weight.npy", ckpt.tensor("layer1.weight"));
//
// Format: numpy/lib/format.py, version 1.0 (2.0 where the header needs it).
#pragma once

#include <optional>
#include <string>

#include "flambeau/dtype.h"
#include "flambeau/io.h"
#include "flambeau/tensor.h"

namespace flambeau {

/// Whether numpy has the type: bool, integers of 8 to 64 bits, float16/32/64, complex64/128. The
/// quantized types count as their integers.
bool has_numpy_dtype(DType dtype) noexcept;

/// Writes the elements in row-major order, little-endian. `as` converts first.
/// Errors: as `Tensor::copy_to` and `Sink`; `unsupported` where numpy has no such type, or the kind
/// no single array: the message names the parts or the conversion that works.
void write_npy(Sink& sink, const Tensor& tensor, std::optional<DType> as = std::nullopt);
/// The same into a file that appears whole or not at all; gives what `Sink::commit` does.
bool save_npy(const std::string& path, const Tensor& tensor, std::optional<DType> as = std::nullopt,
              const FileSinkOptions& options = {});

}  // namespace flambeau
