// The strided forms: plain tensors, parameters, tensors of newer dtypes, meta tensors, tensors of
// other devices, and the oldest forms. Argument lists: torch/_utils.py, of PyTorch 0.4 to 2.15.
#include "torch/rebuild.h"

#include "base/checked.h"
#include "torch/numpy.h"

namespace flambeau {

/// One branch for each form. The class `Parameter` is called like the function that replaced it.
bool TensorRebuilder::rebuild(Role role, Ref args_ref, TensorRecord& out) {
  const bool is_rebuild = role >= Role::rebuild_tensor && role <= Role::jagged_class;
  if (!is_rebuild && role != Role::parameter_class) return false;
  const Arguments args(graph_, args_ref, function_name(role), where_);
  if (role == Role::rebuild_tensor || role == Role::rebuild_tensor_v2) {
    tensor(args, out);
  } else if (role == Role::rebuild_tensor_v3) {
    tensor_v3(args, out);
  } else if (role == Role::rebuild_parameter || role == Role::parameter_class ||
             role == Role::rebuild_parameter_with_state) {
    parameter(args, out);
  } else if (role == Role::rebuild_qtensor) {
    qtensor(args, out);
  } else if (role == Role::rebuild_sparse || role == Role::rebuild_sparse_csr) {
    sparse(args, out);
  } else if (role == Role::rebuild_nested) {
    nested(args, out);
  } else if (role == Role::rebuild_jagged || role == Role::jagged_class) {
    jagged(args, out);
  } else if (role == Role::rebuild_meta) {
    meta(args, out);
  } else if (role == Role::rebuild_wrapper) {
    wrapper(args, out);
  } else if (role == Role::rebuild_device_cpu || role == Role::rebuild_device_numpy) {
    device_tensor(args, out);
  } else {
    return from_type(args, out);
  }
  return true;
}

/// `_rebuild_tensor(storage, offset, size, stride)` and
/// `_rebuild_tensor_v2(storage, offset, size, stride, requires_grad, hooks[, metadata])`.
void TensorRebuilder::tensor(const Arguments& args, TensorRecord& out) {
  args.require(4, 7);
  if (graph_.form(args[0]) != Form::storage) args.refuse(0, "storage", "a storage");
  view(args, graph_.dtype(args[0]), out);
  if (args.size() > 4) out.requires_grad = args.boolean(4, "requires_grad");
  if (args.size() > 6) math_bits(args, 6, out);
}

/// `_rebuild_tensor_v3(storage, offset, size, stride, requires_grad, hooks, dtype[, metadata])`:
/// for dtypes without a storage class; the storage is untyped and `offset` counts elements.
void TensorRebuilder::tensor_v3(const Arguments& args, TensorRecord& out) {
  args.require(7, 8);
  view(args, args.dtype(6), out);
  out.requires_grad = args.boolean(4, "requires_grad");
  if (args.size() > 7) math_bits(args, 7, out);
}

/// Storage, offset, size and stride stand first in every strided form.
void TensorRebuilder::view(const Arguments& args, DType dtype, TensorRecord& out) {
  if (graph_.form(args[0]) != Form::storage) args.refuse(0, "storage", "a storage");
  out.storage = graph_.storage(args[0]);
  out.dtype = dtype;
  out.is_byte_swapped = swapped_ && item_size(dtype) > 1;
  out.offset = args.integer(1, "storage_offset");
  std::uint64_t most = graph_.storage_size(args[0]);
  if (const auto view = graph_.view(args[0])) most = enter_view(args, *view, out);
  args.integers(2, "size", size_);
  if (graph_.kind(args[3]) == Kind::none) {
    const auto strides = contiguous_strides(size_);
    if (!strides) args.reject("the size overflows");
    stride_ = *strides;
  } else {
    args.integers(3, "stride", stride_);
  }
  if (stride_.size() != size_.size()) {
    args.reject("{} sizes but {} strides", size_.size(), stride_.size());
  }
  out.dimensions = Dimensions(size_, stride_);
  check_view(out, most, {where_});
  if (!out.storage) out.kind = TensorKind::meta;
}

/// Offsets count from the start of the whole storage. The bytes of it up to the view's end.
std::uint64_t TensorRebuilder::enter_view(const Arguments& args, const View& view,
                                          TensorRecord& out) const {
  const auto offset = checked_add(out.offset, view.offset);
  if (!offset || out.offset < 0) args.reject("the offset is negative or overflows");
  if (item_size(graph_.dtype(args[0])) != item_size(out.dtype)) {
    args.reject("a view of a storage with elements of another size");
  }
  out.offset = *offset;
  return static_cast<std::uint64_t>(view.offset + view.size) * item_size(out.dtype);
}

/// The seventh argument: `{'conj': True, 'neg': True}`, either or both; others are passed over, as
/// PyTorch does (torch/_utils.py, `set_tensor_metadata`).
void TensorRebuilder::math_bits(const Arguments& args, std::size_t i, TensorRecord& out) {
  const Ref metadata = graph_.within(args[i]);
  const Kind kind = graph_.kind(metadata);
  if (kind == Kind::none) return;
  if (kind != Kind::dict && kind != Kind::ordered_dict) args.refuse(i, "metadata", "a dict");
  const auto flag = [&](std::string_view name) {
    const auto found = find_key(graph_, graph_.pairs(metadata), name);
    return found && *found == kTrue;
  };
  out.is_conj = flag("conj");
  out.is_neg = flag("neg");
  if (out.is_conj && category(out.dtype) != DTypeCategory::complex) {
    args.reject("the conjugate bit on {}", to_string(out.dtype));
  }
}

/// `_rebuild_parameter(data, requires_grad, hooks)`, the same `_with_state(…, state)`, and the
/// class `Parameter(data[, requires_grad])` itself.
void TensorRebuilder::parameter(const Arguments& args, TensorRecord& out) {
  args.require(1, 4);
  out = args.tensor(0, "data");
  out.is_parameter = true;
  out.requires_grad = args.size() > 1 ? args.boolean(1, "requires_grad") : true;
}

/// `_rebuild_meta_tensor_no_storage(dtype, size, stride, requires_grad)`.
void TensorRebuilder::meta(const Arguments& args, TensorRecord& out) {
  args.require(4, 4);
  out.kind = TensorKind::meta;
  out.dtype = args.dtype(0);
  args.integers(1, "size", size_);
  args.integers(2, "stride", stride_);
  if (stride_.size() != size_.size()) {
    args.reject("{} sizes but {} strides", size_.size(), stride_.size());
  }
  if (!checked_product(size_) || !view_extent(size_, stride_, 0)) {
    args.reject("the size is negative or overflows");
  }
  out.dimensions = Dimensions(size_, stride_);
  out.requires_grad = args.boolean(3, "requires_grad");
}

/// `_rebuild_device_tensor_from_cpu_tensor(data, dtype, device, requires_grad)`, and the older one
/// from a numpy array.
void TensorRebuilder::device_tensor(const Arguments& args, TensorRecord& out) {
  args.require(4, 4);
  const DType dtype = args.dtype(1);
  if (graph_.form(args[0]) == Form::tensor) {
    out = args.tensor(0, "data");
  } else {
    const auto array = numpy_array(graph_, args[0], where_);
    if (!array) args.refuse(0, "data", "a tensor or a numpy array");
    out = array->record();
  }
  if (out.dtype != dtype)
    out = converted(Tensor(std::make_shared<TensorRecord>(out)), dtype).record();
  TensorExtension extension = out.extension ? *out.extension : TensorExtension();
  extension.device = args.text(2, "device");
  out.extension = std::make_shared<TensorExtension>(std::move(extension));
  out.requires_grad = args.boolean(3, "requires_grad");
}

/// Before 0.4 tensors and parameters pickled as their class and a state.
bool TensorRebuilder::rebuild_from_state(Ref object, const GlobalMeaning& meaning,
                                         TensorRecord& out) {
  const Document& document = graph_.document();
  const ObjectExtra* extra = document.extra(object);
  const bool has_args = !graph_.elements(document.args(object)).empty();
  if (meaning.role == Role::parameter_class && has_args) {
    if (!rebuild(meaning.role, document.args(object), out)) return false;
    if (extra == nullptr || !extra->state) return true;
    const Arguments state(graph_, *extra->state, "Parameter state", where_);
    state.require(3, 5);
    if (state.size() == 5) out = state.tensor(0, "data");
    out.is_parameter = true;
    out.requires_grad = state.boolean(state.size() == 5 ? 3 : 0, "requires_grad");
    return true;
  }
  if (has_args) {
    fail(ErrorCode::malformed_tensor, {where_},
         "a tensor class is called with arguments: its elements would be anything");
  }
  if (extra == nullptr || !extra->state) {
    out.dtype = meaning.dtype.value_or(DType::f32);
    const std::int64_t zero = 0;
    const std::int64_t one = 1;
    out.dimensions = Dimensions({&zero, 1}, {&one, 1});
    out.storage = Storage::borrow({});
    return true;
  }
  const Arguments state(graph_, *extra->state, "tensor state", where_);
  if (state.size() != 4) return false;
  tensor(state, out);
  return true;
}

}  // namespace flambeau
