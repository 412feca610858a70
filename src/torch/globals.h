// Which globals of a pickle have a meaning, and which one. The names stand in globals.def.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "flambeau/dtype.h"

namespace flambeau {

/// What a global is to a loader. `other` is everything that stays data.
enum class Role : std::uint8_t {
  other,
  dtype,         ///< an element type as a value: `torch float16`
  storage,       ///< a storage class: any name with "Storage" in it that a dtype has
  tensor_typed,  ///< an old tensor class: `torch FloatTensor`, `torch.cuda HalfTensor`
  bytes,
  bytearray,
  set,
  frozenset,
  complex,
  codecs_encode,
  ordered_dict,
  size,
  type_tag,  ///< a call that says the type of its first argument and gives it back
  device,
  layout,
  tensor_class,
  parameter_class,
  rebuild_tensor,
  rebuild_tensor_v2,
  rebuild_tensor_v3,
  rebuild_parameter,
  rebuild_parameter_with_state,
  rebuild_sparse,
  rebuild_sparse_csr,
  rebuild_qtensor,
  rebuild_nested,
  rebuild_meta,
  rebuild_wrapper,
  rebuild_device_cpu,
  rebuild_device_numpy,
  rebuild_from_type,
  rebuild_jagged,
  jagged_class,
  numpy_reconstruct,
  numpy_frombuffer,
  numpy_scalar,
  numpy_ndarray,
  numpy_dtype,
};

/// A global's role and, where the role has one, its dtype. For `storage`, no dtype means an untyped
/// storage, whose elements are bytes.
struct GlobalMeaning {
  Role role = Role::other;
  std::optional<DType> dtype;
};

/// Source of the storage rule: torch/serialization.py, `find_class` of `_load`: any name that
/// contains "Storage" is looked up without its module.
GlobalMeaning meaning_of(std::string_view module, std::string_view name) noexcept;

/// The name of a role's function for messages, as PyTorch spells it today.
std::string_view function_name(Role role) noexcept;

}  // namespace flambeau
