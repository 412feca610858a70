// The forms whose elements stand in several tensors: quantized, sparse, nested, jagged, and the
// subclasses around inner tensors. Each is a record with named parts; what the parts' elements must
// satisfy is checked by `validate`, since opening a file reads no data.
#include <algorithm>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/checked.h"
#include "torch/rebuild.h"

namespace flambeau {
namespace {

// Names: torch/csrc/Layout.cpp.
TensorKind kind_of_layout(std::string_view layout) {
  if (layout == "sparse_csr") return TensorKind::sparse_csr;
  if (layout == "sparse_csc") return TensorKind::sparse_csc;
  if (layout == "sparse_bsr") return TensorKind::sparse_bsr;
  if (layout == "sparse_bsc") return TensorKind::sparse_bsc;
  return layout == "sparse_coo" ? TensorKind::sparse_coo : TensorKind::strided;
}

/// A tensor of one dimension that owns its elements.
template <typename T>
Tensor vector_of(std::vector<T> elements) {
  const auto owner = std::make_shared<const std::vector<T>>(std::move(elements));
  return Tensor(kDTypeOf<T>, {static_cast<std::int64_t>(owner->size())},
                Storage::own(std::as_bytes(std::span(*owner)), owner));
}

// PyTorch takes indices of both widths and converts.
bool is_index(DType dtype) { return dtype == DType::i64 || dtype == DType::i32; }

}  // namespace

/// A tensor of its own with the same content. Parts must not share the graph's table: the table
/// would own itself.
Tensor TensorRebuilder::part(Ref tensor) const {
  return Tensor(std::make_shared<TensorRecord>(graph_.record(tensor)));
}

/// A tensor of parts shows the element type of its values.
void TensorRebuilder::finish_parts(std::shared_ptr<const TensorExtension> extension,
                                   const TensorRecord& values, TensorRecord& out) {
  out.dtype = values.dtype;
  out.extension = std::move(extension);
}

/// `_rebuild_qtensor(storage, offset, size, stride, qparams, requires_grad, hooks)`.
void TensorRebuilder::qtensor(const Arguments& args, TensorRecord& out) {
  args.require(7, 7);
  if (graph_.form(args[0]) != Form::storage) args.refuse(0, "storage", "a storage");
  const DType dtype = graph_.dtype(args[0]);
  if (category(dtype) != DTypeCategory::quantized) {
    args.reject("the storage is {}, a quantized type is wanted", to_string(dtype));
  }
  out.kind = TensorKind::quantized;
  view(args, dtype, out);
  out.requires_grad = args.boolean(5, "requires_grad");
  quantizer(args, out);
}

/// `(per_tensor_affine, scale, zero_point)` or `(per_channel_affine, scales, zero_points, axis)`.
void TensorRebuilder::quantizer(const Arguments& args, TensorRecord& out) {
  const Arguments params(graph_, args[4], "quantizer parameters", where_);
  params.require(3, 4);
  const bool is_global = graph_.document().is(params[0], NodeKind::global);
  const std::string_view scheme =
      is_global ? graph_.document().global(params[0]).name : std::string_view();
  if (scheme == "per_tensor_affine" && params.size() == 3) {
    const auto extension = std::make_shared<TensorExtension>();
    extension->quantizer = Quantizer{std::string(scheme), params.real(1, "scale"),
                                     params.integer(2, "zero_point"), std::nullopt};
    out.extension = extension;
  } else if (scheme == "per_channel_affine" && params.size() == 4) {
    per_channel(params, args, out);
  } else {
    args.reject("an unknown quantization scheme");
  }
}

/// Scales and zero points are vectors along the axis: float64 and int64, or both float32.
void TensorRebuilder::per_channel(const Arguments& params, const Arguments& args,
                                  TensorRecord& out) {
  const auto shape = out.dimensions.shape();
  const std::int64_t axis = params.integer(3, "axis");
  if (axis < 0 || static_cast<std::uint64_t>(axis) >= shape.size()) {
    args.reject("axis {} of {} dimensions", axis, shape.size());
  }
  const std::int64_t channels = shape[static_cast<std::size_t>(axis)];
  const auto extension = std::make_shared<TensorExtension>();
  extension->quantizer = Quantizer{"per_channel_affine", 1, 0, axis};
  extension->parts.emplace_back("scales", channel_numbers(params, 1, "scales"));
  extension->parts.emplace_back("zero_points", channel_numbers(params, 2, "zero_points"));
  for (const auto& [name, each] : extension->parts) {
    const bool is_plain = each.kind() == TensorKind::strided || each.kind() == TensorKind::meta;
    if (!is_plain || each.ndim() != 1 || each.shape()[0] != channels) {
      args.reject("{} must have one element for each of {} channels", name, channels);
    }
  }
  out.extension = extension;
}

/// A tensor, or in old files a list of numbers.
Tensor TensorRebuilder::channel_numbers(const Arguments& params, std::size_t i,
                                        std::string_view what) const {
  if (graph_.kind(params[i]) != Kind::list) {
    params.tensor(i, what);
    return part(params[i]);
  }
  const Document& document = graph_.document();
  const bool is_real = i == 1;
  std::vector<double> reals;
  std::vector<std::int64_t> integers;
  for (const Ref item : graph_.elements(params[i])) {
    if (is_real && document.is(item, NodeKind::real)) {
      reals.push_back(document.real(item));
    } else if (!is_real && document.is(item, NodeKind::integer)) {
      integers.push_back(document.integer(item));
    } else {
      params.refuse(i, what, "a tensor or a list of numbers");
    }
  }
  return is_real ? vector_of(std::move(reals)) : vector_of(std::move(integers));
}

/// `_rebuild_sparse_tensor(layout, data)`, and `_rebuild_sparse_csr_tensor` of PyTorch up to 1.13.
/// libtorch's pickler writes COO tensors with their parts among the arguments.
void TensorRebuilder::sparse(const Arguments& args, TensorRecord& out) {
  if (args.size() == 6) return sparse_of_cpp(args, out);
  args.require(2, 2);
  if (graph_.form(args[0]) != Form::layout) args.refuse(0, "layout", "a layout");
  const TensorKind kind = kind_of_layout(graph_.layout(args[0]));
  const Arguments data(graph_, args[1], args.function(), where_);
  if (kind == TensorKind::sparse_coo) {
    sparse_coo(data, out);
  } else if (kind != TensorKind::strided) {
    sparse_compressed(data, kind, out);
  } else {
    args.reject("layout {} is none of the sparse ones", graph_.layout(args[0]));
  }
}

/// `(layout, size, requires_grad, indices, values, hooks)` with the layout as a number
/// (torch/csrc/jit/serialization/pickler.cpp, `pushSparseTensor`).
void TensorRebuilder::sparse_of_cpp(const Arguments& args, TensorRecord& out) {
  constexpr std::int64_t kSparse = 1;  // c10::Layout
  if (args.integer(0, "layout") != kSparse) args.reject("a layout that is not COO");
  args.integers(1, "size", size_);
  coo_parts(args, 3, out);
  out.requires_grad = args.boolean(2, "requires_grad");
}

/// `(indices, values, size[, is_coalesced])`.
void TensorRebuilder::sparse_coo(const Arguments& data, TensorRecord& out) {
  data.require(3, 4);
  data.integers(2, "size", size_);
  coo_parts(data, 0, out);
  if (data.size() > 3 && graph_.kind(data[3]) != Kind::none) {
    auto extension = std::make_shared<TensorExtension>(*out.extension);
    extension->is_coalesced = data.boolean(3, "is_coalesced");
    out.extension = std::move(extension);
  }
}

/// Indices of [sparse dims, nnz] and values of [nnz, …], which stand at `first`; the size is known.
void TensorRebuilder::coo_parts(const Arguments& data, std::size_t first, TensorRecord& out) {
  const TensorRecord& indices = data.tensor(first, "indices");
  const TensorRecord& values = data.tensor(first + 1, "values");
  const auto index_shape = indices.dimensions.shape();
  const auto value_shape = values.dimensions.shape();
  const bool fits =
      is_index(indices.dtype) && index_shape.size() == 2 && !value_shape.empty() &&
      index_shape[1] == value_shape[0] && checked_product(size_) &&
      static_cast<std::uint64_t>(index_shape[0]) + value_shape.size() - 1 == size_.size();
  if (!fits ||
      !std::equal(value_shape.begin() + 1, value_shape.end(), size_.begin() + index_shape[0])) {
    data.reject("indices {}, values {} and size {} do not belong together", to_string(index_shape),
                to_string(value_shape), to_string(size_));
  }
  const auto extension = std::make_shared<TensorExtension>();
  extension->parts.emplace_back("indices", part(data[first]));
  extension->parts.emplace_back("values", part(data[first + 1]));
  out.kind = TensorKind::sparse_coo;
  out.dimensions = Dimensions(size_, {});
  out.requires_grad = values.requires_grad;
  finish_parts(extension, values, out);
}

/// `(compressed indices, plain indices, values, size)`.
void TensorRebuilder::sparse_compressed(const Arguments& data, TensorKind kind, TensorRecord& out) {
  data.require(4, 4);
  const bool by_row = kind == TensorKind::sparse_csr || kind == TensorKind::sparse_bsr;
  const bool blocked = kind == TensorKind::sparse_bsr || kind == TensorKind::sparse_bsc;
  const TensorRecord& compressed = data.tensor(0, by_row ? "crow_indices" : "ccol_indices");
  const TensorRecord& plain = data.tensor(1, by_row ? "col_indices" : "row_indices");
  const TensorRecord& values = data.tensor(2, "values");
  data.integers(3, "size", size_);
  // Batch dimensions come first in all parts. Of the two dimensions that are compressed, values
  // have one, that of the stored elements, and with blocks two more.
  const auto batch = compressed.dimensions.shape().size() - 1;
  const auto value_rank = values.dimensions.shape().size();
  const bool fits = !compressed.dimensions.shape().empty() && is_index(compressed.dtype) &&
                    compressed.dtype == plain.dtype && checked_product(size_) &&
                    plain.dimensions.shape().size() == batch + 1 && size_.size() >= batch + 2 &&
                    value_rank == (blocked ? size_.size() + 1 : size_.size() - 1);
  if (!fits) {
    data.reject("indices {} and {}, values {} and size {} do not belong together",
                to_string(compressed.dimensions.shape()), to_string(plain.dimensions.shape()),
                to_string(values.dimensions.shape()), to_string(size_));
  }
  const auto extension = std::make_shared<TensorExtension>();
  extension->parts.emplace_back(by_row ? "crow_indices" : "ccol_indices", part(data[0]));
  extension->parts.emplace_back(by_row ? "col_indices" : "row_indices", part(data[1]));
  extension->parts.emplace_back("values", part(data[2]));
  out.kind = kind;
  out.dimensions = Dimensions(size_, {});
  out.requires_grad = values.requires_grad;
  finish_parts(extension, values, out);
}

/// `_rebuild_nested_tensor(buffer, sizes, strides, storage_offsets)`: constituent i is the view of
/// row i of sizes and strides at storage_offsets[i].
void TensorRebuilder::nested(const Arguments& args, TensorRecord& out) {
  args.require(4, 4);
  const TensorRecord& buffer = args.tensor(0, "buffer");
  const auto sizes = args.tensor(1, "sizes").dimensions.shape();
  const auto strides = args.tensor(2, "strides").dimensions.shape();
  const auto offsets = args.tensor(3, "storage_offsets").dimensions.shape();
  const bool fits = buffer.dimensions.shape().size() == 1 && offsets.size() == 1 &&
                    std::equal(sizes.begin(), sizes.end(), strides.begin(), strides.end()) &&
                    (sizes.empty() || sizes[0] == offsets[0]);
  if (!fits) args.reject("buffer, sizes, strides and offsets do not belong together");
  const auto extension = std::make_shared<TensorExtension>();
  constexpr std::string_view kNames[] = {"buffer", "sizes", "strides", "storage_offsets"};
  for (std::size_t i = 0; i < 4; ++i) {
    if (i > 0 && args.tensor(i, kNames[i]).dtype != DType::i64) args.refuse(i, kNames[i], "int64");
    extension->parts.emplace_back(kNames[i], part(args[i]));
  }
  out.kind = TensorKind::nested;
  out.has_shape = false;
  out.requires_grad = buffer.requires_grad;
  finish_parts(extension, buffer, out);
}

/// `_rebuild_njt({values, offsets, lengths, …})`, and `NestedTensor(values, offsets)` of 2.4.
void TensorRebuilder::jagged(const Arguments& args, TensorRecord& out) {
  args.require(1, 8);
  const auto extension = std::make_shared<TensorExtension>();
  const auto add = [&](std::string_view name, Ref ref) {
    if (graph_.form(ref) == Form::tensor) extension->parts.emplace_back(name, part(ref));
  };
  if (graph_.kind(args[0]) == Kind::dict) {
    const auto pairs = graph_.pairs(args[0]);
    for (const std::string_view name : {"values", "offsets", "lengths"}) {
      if (const auto found = find_key(graph_, pairs, name)) add(name, *found);
    }
    const auto grad = find_key(graph_, pairs, "requires_grad");
    out.requires_grad = grad && *grad == kTrue;
  } else {
    add("values", args[0]);
    if (args.size() > 1) add("offsets", args[1]);
  }
  if (extension->parts.empty() || extension->parts[0].first != "values") {
    args.reject("there is no tensor of values");
  }
  const TensorRecord values = extension->parts[0].second.record();
  out.kind = TensorKind::nested;
  out.has_shape = false;
  finish_parts(extension, values, out);
}

/// `_rebuild_wrapper_subclass(cls, dtype, size, stride, offset, layout, device, requires_grad)`: a
/// tensor without bytes of its own; its inner tensors come with the state.
void TensorRebuilder::wrapper(const Arguments& args, TensorRecord& out) {
  args.require(8, 8);
  out.kind = TensorKind::subclass;
  out.dtype = args.dtype(1);
  args.integers(2, "size", size_);
  if (!checked_product(size_)) args.reject("the size is negative or overflows");
  out.dimensions = Dimensions(size_, {});
  out.requires_grad = args.boolean(7, "requires_grad");
  const auto extension = std::make_shared<TensorExtension>();
  if (graph_.form(args[6]) == Form::device) extension->device = graph_.device(args[6]);
  out.extension = extension;
}

/// `_rebuild_from_type_v2(function, type, args, state)`: the tensor that `function` makes, as
/// `type`, with attributes. Of an unknown function nothing is made, and the call stays data.
bool TensorRebuilder::from_type(const Arguments& args, TensorRecord& out) {
  args.require(4, 4);
  const Document& document = graph_.document();
  const Role role =
      document.is(args[0], NodeKind::global) ? graph_.meaning(args[0]).role : Role::other;
  if (role == Role::rebuild_from_type || !rebuild(role, args[2], out)) return false;
  const Role type =
      document.is(args[1], NodeKind::global) ? graph_.meaning(args[1]).role : Role::other;
  if (type == Role::parameter_class) out.is_parameter = true;
  // A nested tensor's class is part of its form, not one around it.
  const bool plain =
      type == Role::tensor_class || type == Role::parameter_class || out.kind == TensorKind::nested;
  if (!plain) subclass(args, out);
  return true;
}

/// Turns the base tensor in `out` into a subclass row: inner tensors of the state are the parts of
/// a wrapper; of any other the base itself is.
void TensorRebuilder::subclass(const Arguments& args, TensorRecord& out) {
  const auto extension = std::make_shared<TensorExtension>();
  if (out.extension) extension->device = out.extension->device;
  if (out.kind == TensorKind::subclass) {
    inner_tensors(args[3], *extension);
  } else {
    const auto shape = out.dimensions.shape();
    size_.assign(shape.begin(), shape.end());
    extension->parts.emplace_back("base", Tensor(std::make_shared<TensorRecord>(out)));
    TensorRecord wrapped;
    wrapped.dtype = out.dtype;
    wrapped.has_shape = out.has_shape;
    wrapped.requires_grad = out.requires_grad;
    wrapped.dimensions = Dimensions(size_, {});
    out = wrapped;
    out.kind = TensorKind::subclass;
  }
  // torch/nn/parameter.py: a tensor of another class is a Parameter by this attribute.
  const auto flag = find_attribute(graph_, args[3], "_is_param");
  out.is_parameter = flag && *flag == kTrue;
  out.extension = extension;
}

/// The attributes that are tensors. A ShardedTensor's state is a tuple that begins with its list of
/// local shards (torch/distributed/_shard/sharded_tensor/api.py, `__getstate__`).
void TensorRebuilder::inner_tensors(Ref state, TensorExtension& extension) const {
  if (graph_.kind(state) != Kind::tuple) {
    add_inner(state, extension);
    return;
  }
  const auto items = graph_.elements(state);
  for (const Ref item : items) {
    add_inner(item, extension);
    if (graph_.kind(item) == Kind::list) local_shards(item, extension);
  }
}

/// Attributes in the order of the state.
void TensorRebuilder::add_inner(Ref pairs_of, TensorExtension& extension) const {
  const auto pairs = graph_.pairs(pairs_of);
  for (std::size_t i = 0; i + 1 < pairs.size(); i += 2) {
    if (graph_.form(pairs[i + 1]) != Form::tensor || graph_.kind(pairs[i]) != Kind::string)
      continue;
    extension.parts.emplace_back(graph_.text(pairs[i]), part(pairs[i + 1]));
  }
}

void TensorRebuilder::local_shards(Ref shards, TensorExtension& extension) const {
  std::size_t i = 0;
  for (const Ref shard : graph_.elements(shards)) {
    const auto tensor = find_attribute(graph_, graph_.state(shard), "tensor");
    if (tensor && graph_.form(*tensor) == Form::tensor) {
      extension.parts.emplace_back("local_shards." + std::to_string(i), part(*tensor));
    }
    ++i;
  }
}

}  // namespace flambeau
