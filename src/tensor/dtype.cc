// The table of dtype.def behind the functions of dtype.h. Enumerators are c10::ScalarType numbers
// without gaps, so a row's place in the table is its enumerator.
//
// TorchScript archives name storages after the C++ name of the type (c10::toString plus "Storage"),
// which for types without a typed storage class is PyTorch's name in other capitals:
// `Float8_e4m3fnStorage`, `UInt16Storage`. The one exception is complex32.
#include "flambeau/dtype.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "base/text.h"

namespace flambeau {
namespace {

struct Row {
  std::string_view name;
  std::string_view storage_class;
  std::uint8_t scalar_type;
  std::uint8_t item_size;
  std::uint8_t values_per_item;
  DTypeCategory category;
};

constexpr Row kRows[] = {
#define FLAMBEAU_DTYPE(enumerator, name, scalar_type, item_size, packed, category, storage) \
  {name, storage, scalar_type, item_size, packed, DTypeCategory::category},
#include "flambeau/dtype.def"
#undef FLAMBEAU_DTYPE
};

constexpr bool rows_are_in_order() {
  for (std::size_t i = 0; i < std::size(kRows); ++i) {
    if (kRows[i].scalar_type != i) return false;
  }
  return true;
}
static_assert(rows_are_in_order());

const Row& row(DType dtype) noexcept { return kRows[static_cast<std::size_t>(dtype)]; }

// The other names that the module `torch` has for its dtypes. Files never have them.
constexpr std::pair<std::string_view, DType> kAliases[] = {
    {"half", DType::f16},   {"float", DType::f32},    {"double", DType::f64}, {"chalf", DType::c32},
    {"cfloat", DType::c64}, {"cdouble", DType::c128}, {"short", DType::i16},  {"int", DType::i32},
    {"long", DType::i64},   {"bit", DType::u1},
};

template <typename Predicate>
std::optional<DType> find_row(Predicate matches) {
  const auto found = std::find_if(std::begin(kRows), std::end(kRows), matches);
  if (found == std::end(kRows)) return std::nullopt;
  return static_cast<DType>(found->scalar_type);
}

}  // namespace

std::string_view to_string(DType dtype) noexcept { return row(dtype).name; }

std::optional<DType> parse_dtype(std::string_view name) noexcept {
  for (const auto& [alias, dtype] : kAliases) {
    if (alias == name) return dtype;
  }
  return find_row([&](const Row& r) { return r.name == name; });
}

std::size_t item_size(DType dtype) noexcept { return row(dtype).item_size; }

std::size_t values_per_item(DType dtype) noexcept { return row(dtype).values_per_item; }

DTypeCategory category(DType dtype) noexcept { return row(dtype).category; }

std::string_view storage_class(DType dtype) noexcept { return row(dtype).storage_class; }

std::optional<DType> dtype_of_storage(std::string_view storage_class) noexcept {
  constexpr std::string_view kSuffix = "Storage";
  if (!storage_class.ends_with(kSuffix)) return std::nullopt;
  if (storage_class == "ComplexHalfStorage") return DType::c32;
  const std::string_view stem = storage_class.substr(0, storage_class.size() - kSuffix.size());
  return find_row([&](const Row& r) {
    return r.storage_class.empty() ? equal_ignoring_case(r.name, stem)
                                   : r.storage_class == storage_class;
  });
}

}  // namespace flambeau
