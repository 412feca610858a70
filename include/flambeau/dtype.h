// Element types: names, sizes, and the C++ types that hold them.
//
//   flambeau::DType d = flambeau::DType::bf16;
//   fmt::print("{} {}\n", flambeau::to_string(d), flambeau::item_size(d));   // bfloat16 2
//
// The rows stand in dtype.def.
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace flambeau {

enum class DType : std::uint8_t {
#define FLAMBEAU_DTYPE(enumerator, name, scalar_type, item_size, packed, category, storage) \
  enumerator = scalar_type,
#include "flambeau/dtype.def"
#undef FLAMBEAU_DTYPE
};

/// What the elements mean.
enum class DTypeCategory : std::uint8_t {
  boolean,
  signed_integer,
  unsigned_integer,
  floating,
  complex,
  quantized,  ///< integers with a scale and a zero point beside them
  bits,       ///< bytes without a meaning of their own
  sub_byte,  ///< int1–int7 and uint1–uint7: PyTorch gives them a size, a name, and no operators
};

/// PyTorch's name without `torch.`: "bfloat16".
std::string_view to_string(DType dtype) noexcept;
/// The inverse of `to_string`; also knows PyTorch's aliases (`float`, `half`, `long`, …).
std::optional<DType> parse_dtype(std::string_view name) noexcept;
/// Bytes of one stored item.
std::size_t item_size(DType dtype) noexcept;
/// Logical values in one stored item: 2 for the 4-bit types, 1 for nearly all.
std::size_t values_per_item(DType dtype) noexcept;
/// Which of the categories above the type belongs to.
DTypeCategory category(DType dtype) noexcept;
/// The typed storage class that holds it in files, such as "FloatStorage"; empty where files use
/// `UntypedStorage`.
std::string_view storage_class(DType dtype) noexcept;
/// The inverse of `storage_class`. Also knows the names that only TorchScript archives use
/// (`Float8_e4m3fnStorage`, …).
std::optional<DType> dtype_of_storage(std::string_view storage_class) noexcept;

/// IEEE 754 binary16, as bits.
struct Half {
  std::uint16_t bits = 0;
  friend bool operator==(Half, Half) = default;
};

/// The upper half of a binary32, as bits.
struct BFloat16 {
  std::uint16_t bits = 0;
  friend bool operator==(BFloat16, BFloat16) = default;
};

/// Exact: binary32 has every value of both, infinities and NaN too.
float to_float(Half value) noexcept;
float to_float(BFloat16 value) noexcept;

/// `kDTypeOf<float>` is `DType::f32`; ill-formed for types that no dtype has. There is none for
/// `bool`: a byte of a file may be neither 0 nor 1, which a C++ `bool` may not.
template <typename T>
inline constexpr DType kDTypeOf = [] {
  static_assert(sizeof(T) == 0, "no dtype has this C++ type");
  return DType::u8;
}();
template <>
inline constexpr DType kDTypeOf<std::uint8_t> = DType::u8;
template <>
inline constexpr DType kDTypeOf<std::int8_t> = DType::i8;
template <>
inline constexpr DType kDTypeOf<std::int16_t> = DType::i16;
template <>
inline constexpr DType kDTypeOf<std::int32_t> = DType::i32;
template <>
inline constexpr DType kDTypeOf<std::int64_t> = DType::i64;
template <>
inline constexpr DType kDTypeOf<std::uint16_t> = DType::u16;
template <>
inline constexpr DType kDTypeOf<std::uint32_t> = DType::u32;
template <>
inline constexpr DType kDTypeOf<std::uint64_t> = DType::u64;
template <>
inline constexpr DType kDTypeOf<Half> = DType::f16;
template <>
inline constexpr DType kDTypeOf<BFloat16> = DType::bf16;
template <>
inline constexpr DType kDTypeOf<float> = DType::f32;
template <>
inline constexpr DType kDTypeOf<double> = DType::f64;
template <>
inline constexpr DType kDTypeOf<std::complex<float>> = DType::c64;
template <>
inline constexpr DType kDTypeOf<std::complex<double>> = DType::c128;

}  // namespace flambeau
