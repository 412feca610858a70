// One class per notation: words, integers, floats, complex numbers. Bits, sub-byte integers and
// float4_e2m1fn_x2 show the unsigned integers of their bytes, the last with a point behind: PyTorch
// does so for float4 and prints none of the others.
#include "tensor/cells.h"

#include <fmt/format.h>

#include <algorithm>
#include <complex>
#include <utility>

#include "tensor/convert.h"
#include "tensor/number_format.h"
#include "tensor/record.h"

namespace flambeau {
namespace {

/// Booleans and integers: each its own text, flush right.
template <typename Number>
class PlainCells final : public Cells {
 public:
  PlainCells(std::vector<Number> numbers, bool are_words)
      : numbers_(std::move(numbers)), are_words_(are_words) {
    for (const Number number : numbers_) width_ = std::max(width_, text(number).size());
  }

  std::size_t width() const noexcept override { return width_; }
  void append(std::string& out, std::size_t index) const override {
    const std::string digits = text(numbers_[index]);
    out.append(width_ - digits.size(), ' ').append(digits);
  }

 private:
  std::string text(Number number) const {
    if (are_words_) return number != 0 ? "True" : "False";
    return fmt::format("{}", number);
  }

  std::vector<Number> numbers_;
  bool are_words_;
  std::size_t width_ = 1;
};

class FloatCells final : public Cells {
 public:
  /// `measured` are the numbers that the notation is chosen by.
  FloatCells(std::vector<double> numbers, std::span<const double> measured,
             const PrintOptions& options)
      : numbers_(std::move(numbers)), format_(measured, options) {}

  std::size_t width() const noexcept override { return format_.width(); }
  void append(std::string& out, std::size_t index) const override {
    format_.append(out, numbers_[index]);
  }

 private:
  std::vector<double> numbers_;
  NumberFormat format_;
};

/// Real and imaginary parts have a notation each.
class ComplexCells final : public Cells {
 public:
  ComplexCells(std::vector<double> real, std::vector<double> imaginary, const PrintOptions& options)
      : real_(std::move(real)),
        imaginary_(std::move(imaginary)),
        real_format_(real_, options),
        imaginary_format_(imaginary_, options) {}

  std::size_t width() const noexcept override {
    return real_format_.width() + imaginary_format_.width() + 1;
  }
  void append(std::string& out, std::size_t index) const override {
    real_format_.append(out, real_[index]);
    // `_vector_str` strips the imaginary part of the blanks that align the real one.
    const std::string digits = imaginary_format_.text(imaginary_[index]);
    if (digits.front() != '-') out += '+';
    out.append(digits).append("j");
  }

 private:
  std::vector<double> real_;
  std::vector<double> imaginary_;
  NumberFormat real_format_;
  NumberFormat imaginary_format_;
};

/// PyTorch formats real and imaginary parts as two tensors, each by its own rules.
std::unique_ptr<Cells> complex_cells(const Tensor& tensor, const PrintOptions& options) {
  std::vector<double> real;
  std::vector<double> imaginary;
  for (const auto& number : tensor.to<std::complex<double>>()) {
    real.push_back(number.real());
    imaginary.push_back(number.imag());
  }
  return std::make_unique<ComplexCells>(std::move(real), std::move(imaginary), options);
}

std::unique_ptr<Cells> float_cells(const Tensor& tensor, const PrintOptions& options) {
  std::vector<double> numbers = tensor.to<double>();
  std::vector<double> measured = numbers;
  // The format e8m0 has no zero; PyTorch compares with the nearest number that it has.
  if (tensor.dtype() == DType::f8_e8m0fnu) {
    std::replace(measured.begin(), measured.end(), 0x1p-127, 0.0);
  }
  return std::make_unique<FloatCells>(std::move(numbers), measured, options);
}

/// The same elements under another dtype of the same size.
Tensor reinterpret(const Tensor& tensor, DType dtype) {
  TensorRecord record = tensor.record();
  record.dtype = dtype;
  return Tensor(std::make_shared<const TensorRecord>(std::move(record)));
}

}  // namespace

/// All elements are converted before the first is shown, because the notation of each depends on
/// all. Quantized ones are shown as the real numbers that they stand for.
std::unique_ptr<Cells> make_cells(const Tensor& tensor, const PrintOptions& options) {
  const DType dtype = tensor.dtype();
  switch (category(dtype)) {
    case DTypeCategory::boolean:
      return std::make_unique<PlainCells<std::uint8_t>>(tensor.to<std::uint8_t>(), true);
    case DTypeCategory::signed_integer:
      return std::make_unique<PlainCells<std::int64_t>>(tensor.to<std::int64_t>(), false);
    case DTypeCategory::unsigned_integer:
      return std::make_unique<PlainCells<std::uint64_t>>(tensor.to<std::uint64_t>(), false);
    case DTypeCategory::complex: return complex_cells(tensor, options);
    case DTypeCategory::bits:
    case DTypeCategory::sub_byte:
      return make_cells(reinterpret(tensor, item_size(dtype) == 1 ? DType::u8 : DType::u16),
                        options);
    case DTypeCategory::floating:
    case DTypeCategory::quantized: break;
  }
  const bool is_pair = dtype == DType::f4_e2m1fn_x2;
  return float_cells(is_pair ? reinterpret(tensor, DType::u8) : tensor, options);
}

}  // namespace flambeau
