// real = scale × (integer − zero point), rounded where PyTorch rounds, so that the results have the
// same bits: the difference is a binary32 in both schemes. Per tensor it is made from the exact
// difference (aten/src/ATen/native/quantized/AffineQuantizerBase.cpp: dequantize_val), per channel
// from two rounded numbers (AffineQuantizer.cpp: dequantize_tensor_per_channel_affine). A product
// of binary32 numbers is exact in binary64, so one multiplication serves float and double scales.
#include "tensor/dequantize.h"

#include "tensor/record.h"

namespace flambeau {
namespace {

/// Scales and zero points are one-dimensional, one number per channel.
std::vector<double> numbers_of_part(const Tensor& tensor, std::string_view name,
                                    std::int64_t count) {
  const Tensor* part = tensor.find_part(name);
  if (!part || part->ndim() != 1 || part->numel() != count) {
    fail(ErrorCode::malformed_tensor, {}, "a quantized tensor needs {} {}", count, name);
  }
  return part->to<double>();
}

}  // namespace

Dequantizer::Dequantizer(const Tensor& tensor) {
  const Quantizer* quantizer = tensor.quantizer();
  if (!quantizer) fail(ErrorCode::malformed_tensor, {}, "a quantized tensor has no quantizer");
  if (quantizer->axis) {
    load_channels(tensor, *quantizer->axis);
  } else {
    scales_ = {static_cast<float>(quantizer->scale)};
    zero_points_ = {static_cast<double>(quantizer->zero_point)};
  }
}

void Dequantizer::load_channels(const Tensor& tensor, std::int64_t axis) {
  const auto shape = tensor.shape();
  if (axis < 0 || axis >= static_cast<std::int64_t>(shape.size())) {
    fail(ErrorCode::malformed_tensor, {}, "channel axis {} of a tensor of {} dimensions", axis,
         shape.size());
  }
  const auto dimension = static_cast<std::size_t>(axis);
  scales_ = numbers_of_part(tensor, "scales", shape[dimension]);
  zero_points_ = numbers_of_part(tensor, "zero_points", shape[dimension]);
  const auto inner = checked_product(shape.subspan(dimension + 1));
  run_ = static_cast<std::uint64_t>(inner.value_or(0));
}

void Dequantizer::next(std::span<const std::int64_t> integers, float* out) noexcept {
  for (const std::int64_t integer : integers) {
    const double zero_point = zero_points_[channel_];
    const float difference = run_ == 0
                                 ? static_cast<float>(static_cast<double>(integer) - zero_point)
                                 : static_cast<float>(integer) - static_cast<float>(zero_point);
    *out++ = static_cast<float>(difference * scales_[channel_]);
    if (run_ == 0 || ++done_ < run_) continue;
    done_ = 0;
    channel_ = channel_ + 1 == scales_.size() ? 0 : channel_ + 1;
  }
}

}  // namespace flambeau
