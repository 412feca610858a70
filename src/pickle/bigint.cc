// Big integers by the schoolbook: a magnitude is a row of 32-bit limbs, and decimal digits come and
// go nine at a time, so that conversion from and to decimal takes quadratic time (CPython has the
// same in `long_to_decimal_string`, and the same remedy: a bound on the digits). All else is
// linear.
#include "pickle/bigint.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "pickle/repr.h"

namespace flambeau {
namespace {

// The largest power of ten that a limb holds.
constexpr std::uint32_t kChunk = 1'000'000'000;
constexpr std::size_t kChunkDigits = 9;

unsigned byte_at(std::string_view text, std::size_t i) noexcept {
  return static_cast<unsigned char>(text[i]);
}

bool is_negative(std::string_view number) noexcept {
  return !number.empty() && (byte_at(number, number.size() - 1) & 0x80) != 0;
}

/// Two's complement negation of a number that has a byte to spare for the sign.
void negate(std::string& number) noexcept {
  unsigned carry = 1;
  for (char& byte : number) {
    carry += ~static_cast<unsigned>(byte) & 0xff;
    byte = static_cast<char>(carry & 0xff);
    carry >>= 8;
  }
}

/// Absolute value, little-endian, without zeros on top. The lowest number of a size, such as -128,
/// is its own negative there and needs one byte more.
std::string magnitude_of(std::string_view number) {
  std::string magnitude(number);
  if (is_negative(number)) {
    magnitude.push_back('\xff');
    negate(magnitude);
  }
  while (!magnitude.empty() && magnitude.back() == 0) magnitude.pop_back();
  return magnitude;
}

std::vector<std::uint32_t> limbs_of(std::string_view magnitude) {
  std::vector<std::uint32_t> limbs((magnitude.size() + 3) / 4);
  for (std::size_t i = 0; i < magnitude.size(); ++i) {
    limbs[i / 4] |= static_cast<std::uint32_t>(byte_at(magnitude, i)) << (i % 4 * 8);
  }
  return limbs;
}

/// Divides in place and gives the rest.
std::uint32_t divide(std::vector<std::uint32_t>& limbs, std::uint32_t divisor) {
  std::uint64_t rest = 0;
  for (std::size_t i = limbs.size(); i-- > 0;) {
    rest = (rest << 32) | limbs[i];
    limbs[i] = static_cast<std::uint32_t>(rest / divisor);
    rest %= divisor;
  }
  while (!limbs.empty() && limbs.back() == 0) limbs.pop_back();
  return static_cast<std::uint32_t>(rest);
}

/// Multiplies in place and adds; grows by a limb where the product needs one.
void multiply_add(std::vector<std::uint32_t>& limbs, std::uint32_t factor, std::uint32_t summand) {
  std::uint64_t carry = summand;
  for (std::uint32_t& limb : limbs) {
    carry += std::uint64_t{limb} * factor;
    limb = static_cast<std::uint32_t>(carry);
    carry >>= 32;
  }
  if (carry != 0) limbs.push_back(static_cast<std::uint32_t>(carry));
}

std::string bytes_of(const std::vector<std::uint32_t>& limbs) {
  std::string bytes;
  bytes.reserve(limbs.size() * 4 + 1);
  for (const std::uint32_t limb : limbs) {
    for (unsigned shift = 0; shift < 32; shift += 8) {
      bytes.push_back(static_cast<char>((limb >> shift) & 0xff));
    }
  }
  return bytes;
}

unsigned digit_value(char digit) noexcept {
  const auto code = static_cast<unsigned char>(digit);
  return code <= '9' ? code - '0' : (code | 0x20u) - 'a' + 10;
}

}  // namespace

std::string_view minimal_twos_complement(std::string_view number) noexcept {
  const char filler = is_negative(number) ? '\xff' : '\0';
  while (!number.empty() && number.back() == filler) {
    // The byte below has to have the same sign, or the number would change its own.
    const bool sign_stays = is_negative(number.substr(0, number.size() - 1)) == (filler != 0);
    if (!sign_stays) break;
    number.remove_suffix(1);
  }
  return number;
}

std::optional<std::int64_t> to_int64(std::string_view number) noexcept {
  const std::string_view minimal = minimal_twos_complement(number);
  if (minimal.size() > 8) return std::nullopt;
  std::uint64_t value = is_negative(minimal) ? ~std::uint64_t{0} : 0;
  for (std::size_t i = minimal.size(); i-- > 0;) value = (value << 8) | byte_at(minimal, i);
  return static_cast<std::int64_t>(value);
}

/// A zero byte more keeps the top bit free for the sign; it goes again where it is not needed.
std::string with_sign(std::string magnitude, bool negative) {
  magnitude.push_back('\0');
  if (negative) negate(magnitude);
  magnitude.resize(minimal_twos_complement(magnitude).size());
  return magnitude;
}

std::string twos_complement_of_digits(std::string_view digits, unsigned bits_per_digit,
                                      bool negative) {
  std::string magnitude;
  magnitude.reserve(digits.size() * bits_per_digit / 8 + 2);
  // Octal digits do not end where bytes do: what is over waits in `bits`.
  unsigned bits = 0;
  unsigned held = 0;
  for (std::size_t i = digits.size(); i-- > 0;) {
    bits |= digit_value(digits[i]) << held;
    held += bits_per_digit;
    if (held < 8) continue;
    magnitude.push_back(static_cast<char>(bits & 0xff));
    bits >>= 8;
    held -= 8;
  }
  magnitude.push_back(static_cast<char>(bits));
  return with_sign(std::move(magnitude), negative);
}

std::optional<double> exact_real(std::string_view number) {
  const std::string magnitude = magnitude_of(number);
  if (magnitude.empty()) return 0.0;
  // A double is at most 53 bits with zeros below: eight bytes, wherever the lowest bit stands.
  const std::size_t low = magnitude.find_first_not_of('\0');
  if (magnitude.size() - low > 8) return std::nullopt;
  std::uint64_t bits = 0;
  for (std::size_t i = magnitude.size(); i-- > low;) bits = (bits << 8) | byte_at(magnitude, i);
  // 2^1024 and more is no double; byte 128 is where it would begin.
  if (std::bit_width(bits >> std::countr_zero(bits)) > 53 || low > 128) return std::nullopt;
  const double value = std::ldexp(static_cast<double>(bits), static_cast<int>(low * 8));
  if (std::isinf(value)) return std::nullopt;
  return is_negative(number) ? -value : value;
}

/// Of the topmost eight bytes at least 57 bits count, four more than a double keeps. The lowest of
/// them stands for all bytes below, so that the one rounding of the cast sees whether any is set.
double nearest_real(std::string_view number) {
  const std::string magnitude = magnitude_of(number);
  constexpr std::size_t kMostBytes = 1024 / 8;
  if (magnitude.size() > kMostBytes) {
    const double infinity = std::numeric_limits<double>::infinity();
    return is_negative(number) ? -infinity : infinity;
  }
  const std::size_t low = magnitude.size() - std::min<std::size_t>(magnitude.size(), 8);
  std::uint64_t bits = 0;
  for (std::size_t i = magnitude.size(); i-- > low;) bits = (bits << 8) | byte_at(magnitude, i);
  if (magnitude.find_first_not_of('\0') < low) bits |= 1;
  const double value = std::ldexp(static_cast<double>(bits), static_cast<int>(low * 8));
  return is_negative(number) ? -value : value;
}

/// Nine digits at a time, lowest first: the remainders of dividing by 10^9 until nothing is left.
std::string decimal_of(std::string_view twos_complement) {
  std::vector<std::uint32_t> limbs = limbs_of(magnitude_of(twos_complement));
  std::vector<std::uint32_t> chunks;
  while (!limbs.empty()) chunks.push_back(divide(limbs, kChunk));
  if (chunks.empty()) return "0";
  std::string digits = is_negative(twos_complement) ? "-" : "";
  digits += fmt::format("{}", chunks.back());
  for (std::size_t i = chunks.size() - 1; i-- > 0;) digits += fmt::format("{:09}", chunks[i]);
  return digits;
}

std::string twos_complement_of(std::string_view decimal) {
  const bool negative = decimal.starts_with('-');
  if (negative || decimal.starts_with('+')) decimal.remove_prefix(1);
  std::vector<std::uint32_t> limbs;
  while (!decimal.empty()) {
    // The first chunk takes what is over, all others nine digits.
    const std::size_t size = (decimal.size() - 1) % kChunkDigits + 1;
    std::uint32_t chunk = 0;
    std::from_chars(decimal.data(), decimal.data() + size, chunk);
    multiply_add(limbs, kChunk, chunk);
    decimal.remove_prefix(size);
  }
  return with_sign(bytes_of(limbs), negative);
}

}  // namespace flambeau
