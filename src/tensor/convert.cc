// Conversion in two steps by way of the smallest C++ type that holds every value of the stored one
// (its lane): int64 or uint64, float or double, complex<double>. So each stored type is decoded
// once and each target encoded once per lane, and nothing is lost between integers of 64 bits.
// Blocks of 1,024 values stay in the first-level cache.
#include "tensor/convert.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#include "base/checked.h"
#include "flambeau/limits.h"
#include "tensor/element_bits.h"
#include "tensor/float_bits.h"
#include "tensor/packed.h"
#include "tensor/record.h"

namespace flambeau {
namespace {

/// A bool of a file: any byte, true where it is not 0.
enum class Boolean : std::uint8_t {
};

template <typename T>
inline constexpr bool kIsComplex = false;
template <typename T>
inline constexpr bool kIsComplex<std::complex<T>> = true;

/// `kDTypeOf`, with the one type that has no public C++ type.
template <typename T>
inline constexpr DType kDTypeHeldBy = kDTypeOf<T>;
template <>
inline constexpr DType kDTypeHeldBy<Boolean> = DType::boolean;

/// Calls `f` with a value of the one of `Types` that holds `dtype`; false where there is none.
template <typename... Types, typename F>
bool with_type(DType dtype, F f) {
  return ((kDTypeHeldBy<Types> == dtype ? (f(Types{}), true) : false) || ...);
}

/// The same for all conversion targets: the row to extend for a new one.
template <typename F>
bool with_target(DType dtype, F f) {
  return with_type<Boolean, std::uint8_t, std::int8_t, std::int16_t, std::int32_t, std::int64_t,
                   std::uint16_t, std::uint32_t, std::uint64_t, Half, BFloat16, float, double,
                   std::complex<float>, std::complex<double>>(dtype, f);
}

/// The nearest integer toward zero that `T` has; 0 for NaN.
template <typename T, typename Real>
T truncate(Real value) noexcept {
  if (std::isnan(value)) return 0;
  // One above the largest integer: a power of two, which every floating type has exactly.
  constexpr auto kHalf = std::uint64_t{1} << (std::numeric_limits<T>::digits - 1);
  constexpr Real above = 2 * static_cast<Real>(kHalf);
  if (value >= above) return std::numeric_limits<T>::max();
  if (std::is_signed_v<T> && value < -above) return std::numeric_limits<T>::min();
  if (!std::is_signed_v<T> && value <= Real{-1}) return 0;
  return static_cast<T>(value);
}

/// The nearest integer that `T` has.
template <typename T, typename Integer>
T saturate(Integer value) noexcept {
  if (std::in_range<T>(value)) return static_cast<T>(value);
  return std::cmp_less(value, 0) ? std::numeric_limits<T>::min() : std::numeric_limits<T>::max();
}

/// One number of a lane as a `To`.
template <typename To, typename Lane>
To convert(Lane value) noexcept {
  if constexpr (std::is_same_v<To, Boolean>) {
    return Boolean{static_cast<std::uint8_t>(value != Lane{})};
  } else if constexpr (kIsComplex<To> && kIsComplex<Lane>) {
    return To(value);
  } else if constexpr (kIsComplex<Lane>) {
    return convert<To>(value.real());
  } else if constexpr (kIsComplex<To>) {
    return To(static_cast<typename To::value_type>(value));
  } else if constexpr (std::is_same_v<To, Half>) {
    return Half{encode_f16(static_cast<float>(value))};
  } else if constexpr (std::is_same_v<To, BFloat16>) {
    return BFloat16{encode_bf16(static_cast<float>(value))};
  } else if constexpr (std::is_floating_point_v<To>) {
    return static_cast<To>(value);
  } else if constexpr (std::is_floating_point_v<Lane>) {
    return truncate<To>(value);
  } else {
    return saturate<To>(value);
  }
}

/// Writes `count` numbers; `to` need not be aligned.
template <typename To, typename Lane>
void encode(const Lane* from, std::size_t count, std::byte* to) noexcept {
  for (std::size_t i = 0; i < count; ++i) {
    const To converted = convert<To>(from[i]);
    std::memcpy(to + i * sizeof(To), &converted, sizeof(To));
  }
}

/// Reads all of `stored`, which need not be aligned: a record of a file may start at any byte.
template <typename Stored, typename Lane>
void widen(Bytes stored, Lane* out) noexcept {
  for (std::size_t i = 0; i + sizeof(Stored) <= stored.size(); i += sizeof(Stored)) {
    Stored value;
    std::memcpy(&value, stored.data() + i, sizeof value);
    *out++ = static_cast<Lane>(value);  // NOLINT(bugprone-signed-char-misuse): int8 is a number
  }
}

/// Everything whole that fits 64 signed bits; a bool is never loaded as one.
void decode(DType dtype, Bytes stored, std::int64_t* out) noexcept {
  const auto widen_all = [&](auto type) { widen<decltype(type)>(stored, out); };
  if (is_packed_quantized(dtype)) {
    unpack(dtype, stored, out);
  } else if (dtype == DType::boolean) {
    for (const std::byte b : stored) *out++ = b != std::byte{0} ? 1 : 0;
  } else {
    with_type<std::int8_t, std::uint8_t, std::int16_t, std::uint16_t, std::int32_t, std::uint32_t,
              std::int64_t>(stored_dtype(dtype), widen_all);
  }
}

/// uint64 alone does not fit a signed lane.
void decode(DType, Bytes stored, std::uint64_t* out) noexcept { widen<std::uint64_t>(stored, out); }

void decode(DType, Bytes stored, double* out) noexcept { widen<double>(stored, out); }

/// Floats of 32 bits and fewer.
void decode(DType dtype, Bytes stored, float* out) noexcept {
  if (dtype == DType::f32) return widen<float>(stored, out);
  decode_floats(dtype, stored, out);
}

/// Pairs of 16-bit floats, both halves decoded alike.
template <float (*decode_half)(std::uint16_t)>
void decode_pairs(Bytes stored, std::complex<double>* out) noexcept {
  for (std::size_t i = 0; i + 4 <= stored.size(); i += 4) {
    std::uint16_t halves[2];
    std::memcpy(halves, stored.data() + i, sizeof halves);
    *out++ = {decode_half(halves[0]), decode_half(halves[1])};
  }
}

void decode(DType dtype, Bytes stored, std::complex<double>* out) noexcept {
  if (dtype == DType::c32) return decode_pairs<decode_f16>(stored, out);
  if (dtype == DType::bc32) return decode_pairs<decode_bf16>(stored, out);
  if (dtype == DType::c64) return widen<std::complex<float>>(stored, out);
  widen<std::complex<double>>(stored, out);
}

bool is_integer(DType dtype) noexcept {
  const DTypeCategory kind = category(dtype);
  return kind == DTypeCategory::signed_integer || kind == DTypeCategory::unsigned_integer;
}

/// `tensor`, once it is known to have numbers and a way to `to`.
const Tensor& checked_numbers(const Tensor& tensor, DType to) {
  check_has_elements(tensor);
  if (!is_numeric(tensor.dtype())) {
    fail(ErrorCode::unsupported, {}, "{} elements are no numbers", to_string(tensor.dtype()));
  }
  if (!is_conversion_target(to)) {
    fail(ErrorCode::unsupported, {}, "numbers cannot be converted to {}", to_string(to));
  }
  return tensor;
}

}  // namespace

bool is_conversion_target(DType dtype) noexcept {
  return with_target(dtype, [](auto) {});
}

DType stored_dtype(DType dtype) noexcept {
  if (dtype == DType::qi8) return DType::i8;
  if (dtype == DType::qu8) return DType::u8;
  return dtype == DType::qi32 ? DType::i32 : dtype;
}

bool is_numeric(DType dtype) noexcept {
  return category(dtype) != DTypeCategory::bits && category(dtype) != DTypeCategory::sub_byte;
}

/// The packed quantized types count values in their shape already; of float4_e2m1fn_x2 it counts
/// bytes.
std::optional<std::int64_t> count_values(const Tensor& tensor) noexcept {
  const bool is_pair = tensor.dtype() == DType::f4_e2m1fn_x2;
  return checked_mul(tensor.numel(), std::int64_t{is_pair ? 2 : 1});
}

Converter::Converter(const Tensor& tensor, DType to)
    : tensor_(checked_numbers(tensor, to)), to_(to), stream_(tensor) {
  if (category(tensor.dtype()) == DTypeCategory::quantized && !is_integer(to)) {
    dequantizer_.emplace(tensor);
  }
  left_ = static_cast<std::uint64_t>(count_values(tensor).value_or(0));
  stored_.resize(kBlock * item_size(tensor.dtype()));
  converted_.resize(kBlock * sizeof(std::complex<double>));
}

Bytes Converter::next() {
  const DType from = tensor_.dtype();
  const Bytes stored = next_stored();
  // The last byte of a packed type may hold more values than the tensor has.
  const std::uint64_t held = stored.size() / item_size(from) * values_per_item(from);
  const auto count = static_cast<std::size_t>(std::min(left_, held));
  left_ -= count;
  if (dequantizer_) return dequantize_block(stored, count);
  if (category(from) == DTypeCategory::complex) {
    return convert_block<std::complex<double>>(stored, count);
  }
  if (from == DType::u64) return convert_block<std::uint64_t>(stored, count);
  if (from == DType::f64) return convert_block<double>(stored, count);
  if (category(from) == DTypeCategory::floating) return convert_block<float>(stored, count);
  return convert_block<std::int64_t>(stored, count);
}

/// A piece of the stream may be the whole tensor, in place; it is taken block by block.
Bytes Converter::next_stored() {
  const DType from = tensor_.dtype();
  const std::size_t size = kBlock / values_per_item(from) * item_size(from);
  if (piece_.empty()) piece_ = stream_.next(MutableBytes(stored_).first(size));
  const Bytes block = piece_.first(std::min(size, piece_.size()));
  piece_ = piece_.subspan(block.size());
  return block;
}

template <typename Lane>
Bytes Converter::convert_block(Bytes stored, std::size_t count) {
  Lane lane[kBlock];
  decode(tensor_.dtype(), stored, lane);
  return encode_block(lane, count);
}

Bytes Converter::dequantize_block(Bytes stored, std::size_t count) {
  std::int64_t integers[kBlock];
  float reals[kBlock];
  decode(tensor_.dtype(), stored, integers);
  dequantizer_->next(std::span(integers).first(count), reals);
  return encode_block(reals, count);
}

template <typename Lane>
Bytes Converter::encode_block(const Lane* lane, std::size_t count) {
  std::size_t size = 0;
  with_target(to_, [&](auto type) {
    encode<decltype(type)>(lane, count, converted_.data());
    size = count * sizeof type;
  });
  return Bytes(converted_).first(size);
}

std::size_t Tensor::checked_numel() const {
  // Elements that are given without regard to the storage's size: 1 GiB of doubles.
  constexpr std::int64_t kAlwaysGiven = std::int64_t{1} << 27;
  check_has_elements(*this);
  const auto count = count_values(*this);
  const auto most = checked_mul(Limits{}.max_expansion, storage().size());
  if (!count || (*count > kAlwaysGiven && most && nbytes() > *most)) {
    fail(ErrorCode::limit, {}, "{} elements would be made of a storage of {} bytes", numel(),
         storage().size());
  }
  return static_cast<std::size_t>(*count);
}

/// By the converter where the type changes, else by one copy.
void Tensor::convert_into(DType dtype, void* out) const {
  auto* to = static_cast<std::byte*>(out);
  // Bools take the long way, which makes them 0 and 1.
  if (stored_dtype(this->dtype()) == dtype && dtype != DType::boolean) {
    const auto size = static_cast<std::size_t>(nbytes());
    return ElementStream(*this).read({to, size});
  }
  Converter converter(*this, dtype);
  for (Bytes block = converter.next(); !block.empty(); block = converter.next()) {
    std::memcpy(to, block.data(), block.size());
    to += block.size();
  }
}

}  // namespace flambeau
