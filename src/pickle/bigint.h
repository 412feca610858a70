// Integers of any size, in the form that pickles keep them: little-endian two's complement, as few
// bytes as the value needs ("" is 0, "\xff" is -1). `decimal_of` and `twos_complement_of` in
// pickle/repr.h convert from and to decimal.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace flambeau {

/// The same number without bytes that only repeat the sign. A prefix of the given view.
std::string_view minimal_twos_complement(std::string_view number) noexcept;

/// The number where 64 bits hold it.
std::optional<std::int64_t> to_int64(std::string_view number) noexcept;

/// The minimal two's complement of a magnitude (little-endian) with a sign.
std::string with_sign(std::string magnitude, bool negative);

/// A number from digits of a base that is a power of two (`bits_per_digit` 1, 3 or 4), most
/// significant first. The digits are hexadecimal at most.
std::string twos_complement_of_digits(std::string_view digits, unsigned bits_per_digit,
                                      bool negative);

/// The float that is exactly this number, where there is one.
std::optional<double> exact_real(std::string_view number);

/// The nearest float, halves to the even one; infinity beyond the largest.
double nearest_real(std::string_view number);

/// A lower bound for the decimal digits of a number whose minimal form has `size` bytes.
constexpr std::uint64_t fewest_decimal_digits(std::uint64_t size) noexcept {
  return size < 2 ? 1 : (size - 1) * 240 / 100;  // 2.408 digits a byte
}

}  // namespace flambeau
