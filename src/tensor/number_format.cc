// Follows `torch/_tensor_str.py: _Formatter`, whose rules look at the values that are finite and
// not zero; widths count those only, as there. fmt rounds correctly, as Python's `format` does.
#include "tensor/number_format.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace flambeau {
namespace {

/// Whether the notation depends on the value.
bool counts(double value) noexcept { return std::isfinite(value) && value != 0; }

std::string name_of_special(double value) {
  // Python shows no sign of a NaN.
  if (std::isnan(value)) return "nan";
  return value > 0 ? "inf" : "-inf";
}

}  // namespace

NumberFormat::NumberFormat(std::span<const double> values, const PrintOptions& options)
    : precision_(options.precision) {
  double least = std::numeric_limits<double>::infinity();
  double greatest = 0;
  for (const double value : values) {
    if (!counts(value)) continue;
    least = std::min(least, std::abs(value));
    greatest = std::max(greatest, std::abs(value));
    is_whole_ = is_whole_ && value == std::ceil(value);
  }
  // Without a number that counts PyTorch keeps the whole notation, whatever the options say.
  if (greatest == 0) return;
  const bool is_spread = greatest / least > 1000.0 || greatest > 1.0e8 || least < 1.0e-4;
  is_scientific_ = options.scientific.value_or(is_spread);
  for (const double value : values) {
    if (counts(value)) width_ = std::max(width_, text(value).size());
  }
}

std::string NumberFormat::text(double value) const {
  if (!std::isfinite(value)) return name_of_special(value);
  if (is_scientific_) return fmt::format("{:.{}e}", value, precision_);
  if (is_whole_) return fmt::format("{:.0f}.", value);
  return fmt::format("{:.{}f}", value, precision_);
}

void NumberFormat::append(std::string& out, double value) const {
  const std::string digits = text(value);
  out.append(width_ - std::min(width_, digits.size()), ' ').append(digits);
}

// fmt and Python agree on the shortest digits and on when to use an exponent, not on "1.0".
std::string python_float(double value) {
  if (!std::isfinite(value)) return name_of_special(value);
  std::string digits = fmt::format("{}", value);
  if (digits.find_first_of(".e") == std::string::npos) digits += ".0";
  return digits;
}

std::string python_tuple(std::span<const std::int64_t> sizes) {
  return fmt::format("({}{})", fmt::join(sizes, ", "), sizes.size() == 1 ? "," : "");
}

}  // namespace flambeau
