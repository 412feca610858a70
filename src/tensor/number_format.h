// How PyTorch writes the numbers of one tensor: all alike, after a look at all of them.
//
//   NumberFormat format(values, {});
//   format.append(text, values[0]);       // "1.5000e+00" where another value is 1e-6
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "flambeau/tensor.h"

namespace flambeau {

/// The notation for floating-point numbers. `torch/_tensor_str.py: _Formatter`: whole numbers get
/// a bare point; a ratio over 1,000, a number over 1e8 or one below 1e-4 makes all scientific.
class NumberFormat {
 public:
  NumberFormat(std::span<const double> values, const PrintOptions& options);

  /// Columns of the widest of the values.
  std::size_t width() const noexcept { return width_; }
  /// Appends `value`, filled with blanks on the left up to `width()`.
  void append(std::string& out, double value) const;
  std::string text(double value) const;

 private:
  int precision_;
  bool is_scientific_ = false;
  bool is_whole_ = true;
  std::size_t width_ = 1;
};

/// `repr` of a Python float: the shortest digits that read back the same.
std::string python_float(double value);

/// `str` of a Python tuple of ints: "(2, 3)", "(2,)", "()".
std::string python_tuple(std::span<const std::int64_t> sizes);

}  // namespace flambeau
