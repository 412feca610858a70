// Looks globals up in globals.def, and by rule: storage classes and old tensor classes are named
// after their element type. A pickle has a few dozen distinct globals, so a scan of the table does.
#include "torch/globals.h"

#include <algorithm>
#include <array>
#include <string>

#include "base/text.h"

namespace flambeau {
namespace {

struct Row {
  std::string_view module;
  std::string_view name;
  Role role;
};

constexpr std::array kRows = {
#define FLAMBEAU_GLOBAL(role, module, name) Row{module, name, Role::role},
#include "torch/globals.def"
#undef FLAMBEAU_GLOBAL
};

/// Names by role; the first spelling is today's.
constexpr auto kNameOfRole = [] {
  std::array<std::string_view, static_cast<std::size_t>(Role::numpy_dtype) + 1> names;
  names.fill("tensor");
  for (auto row = kRows.rbegin(); row != kRows.rend(); ++row) {
    names[static_cast<std::size_t>(row->role)] = row->name;
  }
  return names;
}();

// Old tensor classes and dtypes are looked for below torch only.
bool is_torch_module(std::string_view module) {
  return module == "torch" || module.starts_with("torch.");
}

/// Of the dtypes that eager files keep in untyped storages: libtorch's pickler puts "Storage"
/// behind the C++ name of the type, which is the dtype's in other letters but for `ComplexHalf`.
std::optional<DType> dtype_of_cpp_storage(std::string_view name) {
  constexpr std::string_view kSuffix = "Storage";
  if (!name.ends_with(kSuffix)) return std::nullopt;
  name.remove_suffix(kSuffix.size());
  if (name == "ComplexHalf") return DType::c32;
  std::string lower(name);
  std::transform(lower.begin(), lower.end(), lower.begin(), to_lower);
  const auto dtype = parse_dtype(lower);
  const bool is_own_name = dtype && to_string(*dtype) == lower && storage_class(*dtype).empty();
  return is_own_name ? dtype : std::nullopt;
}

/// `FloatStorage`, `UntypedStorage`; `TypedStorage` names no dtype and stays other.
std::optional<GlobalMeaning> storage_meaning(std::string_view name) {
  if (name.find("Storage") == std::string_view::npos) return std::nullopt;
  if (const auto dtype = dtype_of_storage(name)) return GlobalMeaning{Role::storage, dtype};
  if (name == "UntypedStorage" || name == "_UntypedStorage") {
    return GlobalMeaning{Role::storage, std::nullopt};
  }
  if (const auto dtype = dtype_of_cpp_storage(name)) return GlobalMeaning{Role::storage, dtype};
  return std::nullopt;
}

/// `torch FloatTensor` holds what `FloatStorage` holds (torch/__init__.py, `_tensor_classes`).
std::optional<GlobalMeaning> tensor_meaning(std::string_view module, std::string_view name) {
  constexpr std::string_view kSuffix = "Tensor";
  if (!name.ends_with(kSuffix) || (module != "torch" && module != "torch.cuda")) {
    return std::nullopt;
  }
  std::string storage(name.substr(0, name.size() - kSuffix.size()));
  const auto dtype = dtype_of_storage(storage + "Storage");
  if (!dtype) return std::nullopt;
  return GlobalMeaning{Role::tensor_typed, dtype};
}

}  // namespace

/// Roles without a row, as those of old tensor classes, are "tensor" in messages.
std::string_view function_name(Role role) noexcept {
  return kNameOfRole[static_cast<std::size_t>(role)];
}

/// Storage classes come first: `find_class` looks for "Storage" in the name before anything else.
GlobalMeaning meaning_of(std::string_view module, std::string_view name) noexcept {
  if (const auto storage = storage_meaning(name)) return *storage;
  const auto* row = std::find_if(kRows.begin(), kRows.end(), [&](const Row& candidate) {
    return candidate.module == module && candidate.name == name;
  });
  if (row != kRows.end()) return {row->role, std::nullopt};
  if (!is_torch_module(module)) return {};
  if (const auto tensor = tensor_meaning(module, name)) return *tensor;
  if (module == "torch") {
    // Aliases (`torch.half`) are the same object in Python, which pickles by its first name.
    const auto dtype = parse_dtype(name);
    if (dtype && to_string(*dtype) == name) return {Role::dtype, dtype};
  }
  return {};
}

}  // namespace flambeau
