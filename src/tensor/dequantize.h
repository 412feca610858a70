// Real numbers of quantized tensors, as PyTorch's `dequantize()` computes them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "flambeau/tensor.h"

namespace flambeau {

class Dequantizer {
 public:
  /// Reads scale and zero point, or those of every channel. Errors: `malformed_tensor` where the
  /// quantizer is missing or does not fit the shape; those of reading the parts.
  explicit Dequantizer(const Tensor& tensor);

  /// The next integers in row-major order become real numbers in `out`.
  void next(std::span<const std::int64_t> integers, float* out) noexcept;

 private:
  void load_channels(const Tensor& tensor, std::int64_t axis);

  /// One entry each, or one per channel.
  std::vector<double> scales_;
  std::vector<double> zero_points_;
  /// Neighbours in row-major order that share a channel (0: all do), and how many are done.
  std::uint64_t run_ = 0;
  std::uint64_t done_ = 0;
  std::size_t channel_ = 0;
};

}  // namespace flambeau
