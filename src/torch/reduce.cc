// One function for each rebuild function of torch/_utils.py, writing its arguments in their order.
#include "torch/reduce.h"

#include <fmt/format.h>

#include "base/fail.h"
#include "tensor/record.h"

namespace flambeau {
namespace {

/// Without a module it is a literal.
struct NameRow {
  std::string_view module;
  std::string_view name;
};
constexpr std::array<NameRow, kNameCount> kNames = {{
    {"torch._utils", "_rebuild_tensor_v2"},
    {"torch._utils", "_rebuild_tensor_v3"},
    {"torch._utils", "_rebuild_parameter"},
    {"torch._utils", "_rebuild_qtensor"},
    {"torch._utils", "_rebuild_sparse_tensor"},
    {"torch._utils", "_rebuild_nested_tensor"},
    {"torch._utils", "_rebuild_meta_tensor_no_storage"},
    {"collections", "OrderedDict"},
    {"torch", "Size"},
    {"torch.serialization", "_get_layout"},
    {"torch", "per_tensor_affine"},
    {"torch", "per_channel_affine"},
    {"torch.storage", "UntypedStorage"},
    {"", "storage"},
    {"", "cpu"},
    {"", "mps"},
    {"", "meta"},
}};

/// Whether a typed storage class holds it; all others are kept as bytes with a dtype beside them.
bool is_typed(DType dtype) noexcept { return !storage_class(dtype).empty(); }

}  // namespace

TensorNames::TensorNames() noexcept {
  names_.fill(kNone);
  storage_classes_.fill(kNone);
  dtypes_.fill(kNone);
}

void TensorNames::prepare(DocumentBuilder& builder) {
  for (std::size_t i = 0; i < kNameCount; ++i) {
    if (names_[i] != kNone) continue;
    const auto& [module, name] = kNames[i];
    names_[i] = module.empty() ? builder.add_text(NodeKind::string, name)
                               : builder.add_global(module, name);
  }
}

void TensorNames::prepare(DocumentBuilder& builder, const Tensor& tensor) {
  if (tensor.kind() == TensorKind::subclass) {
    fail(ErrorCode::unsupported, {}, "a tensor subclass is saved with the graph that it came in");
  }
  for (const auto& [name, part] : tensor.parts()) {
    if (!part.parts().empty()) {
      fail(ErrorCode::unsupported, {}, "the part '{}' has parts itself", name);
    }
    prepare(builder, part);
  }
  const DType dtype = tensor.dtype();
  if (category(dtype) == DTypeCategory::sub_byte) {
    fail(ErrorCode::unsupported, {}, "PyTorch cannot save {} tensors", to_string(dtype));
  }
  const auto index = static_cast<std::size_t>(dtype);
  if (storage_classes_[index] == kNone && is_typed(dtype)) {
    storage_classes_[index] = builder.add_global("torch", flambeau::storage_class(dtype));
  }
  if (dtypes_[index] == kNone) dtypes_[index] = builder.add_global("torch", to_string(dtype));
}

std::optional<Ref> TensorNames::literal(std::string_view text) const noexcept {
  for (std::size_t i = 0; i < kNameCount; ++i) {
    if (kNames[i].module.empty() && kNames[i].name == text) return names_[i];
  }
  return std::nullopt;
}

void TensorReduction::write(const Tensor& tensor) {
  if (tensor.is_parameter()) return parameter(tensor);
  data(tensor, tensor.requires_grad());
}

/// `_rebuild_parameter(data, requires_grad, hooks)`; the data is a tensor that requires none.
void TensorReduction::parameter(const Tensor& tensor) {
  value(Name::rebuild_parameter);
  begin_tuple(3);
  out_.boundary();
  data(tensor, false);
  out_.put();
  boolean(tensor.requires_grad());
  hooks();
  end_tuple(3);
  call();
}

void TensorReduction::data(const Tensor& tensor, bool requires_grad) {
  switch (tensor.kind()) {
    case TensorKind::strided: return strided(tensor, requires_grad);
    case TensorKind::quantized: return quantized(tensor, requires_grad);
    case TensorKind::sparse_coo:
    case TensorKind::sparse_csr:
    case TensorKind::sparse_csc:
    case TensorKind::sparse_bsr:
    case TensorKind::sparse_bsc: return sparse(tensor);
    case TensorKind::nested: return nested(tensor);
    case TensorKind::meta: return meta(tensor, requires_grad);
    case TensorKind::subclass: break;
  }
  fail(ErrorCode::unsupported, {}, "a tensor subclass is saved with the graph that it came in");
}

/// `_rebuild_tensor_v2(storage, offset, size, stride, requires_grad, hooks[, metadata])` and
/// `_rebuild_tensor_v3(storage, offset, size, stride, requires_grad, hooks, dtype[, metadata])`.
void TensorReduction::strided(const Tensor& tensor, bool requires_grad) {
  const bool typed = is_typed(tensor.dtype());
  const std::size_t count =
      6u + (typed ? 0u : 1u) + (tensor.is_conj() || tensor.is_neg() ? 1u : 0u);
  value(typed ? Name::rebuild_tensor_v2 : Name::rebuild_tensor_v3);
  begin_tuple(count);
  storage(tensor, typed);
  integer(tensor.offset());
  integers(tensor.shape());
  integers(tensor.strides());
  boolean(requires_grad);
  hooks();
  if (!typed) writer_.value(names_.dtype(tensor.dtype()));
  math_bits(tensor);
  end_tuple(count);
  call();
}

/// `{'neg': True, 'conj': True}`, either or both (torch/csrc, `getTensorMetadata`).
void TensorReduction::math_bits(const Tensor& tensor) {
  const int count = (tensor.is_conj() ? 1 : 0) + (tensor.is_neg() ? 1 : 0);
  if (count == 0) return;
  out_.boundary();
  out_.op(Opcode::EMPTY_DICT);
  out_.put();
  if (count > 1) out_.op(Opcode::MARK);
  if (tensor.is_neg()) {
    text("neg");
    boolean(true);
  }
  if (tensor.is_conj()) {
    text("conj");
    boolean(true);
  }
  out_.op(count > 1 ? Opcode::SETITEMS : Opcode::SETITEM);
}

/// `_rebuild_qtensor(storage, offset, size, stride, quantizer, requires_grad, hooks)`.
void TensorReduction::quantized(const Tensor& tensor, bool requires_grad) {
  constexpr std::size_t kCount = 7;
  value(Name::rebuild_qtensor);
  begin_tuple(kCount);
  storage(tensor, true);
  integer(tensor.offset());
  integers(tensor.shape());
  integers(tensor.strides());
  quantizer(tensor);
  boolean(requires_grad);
  hooks();
  end_tuple(kCount);
  call();
}

void TensorReduction::quantizer(const Tensor& tensor) {
  const Quantizer& quantizer = *tensor.quantizer();
  const bool by_channel = quantizer.axis.has_value();
  const std::size_t count = by_channel ? 4 : 3;
  begin_tuple(count);
  if (by_channel) {
    value(Name::per_channel_affine);
    part(tensor, "scales");
    part(tensor, "zero_points");
    integer(*quantizer.axis);
  } else {
    value(Name::per_tensor_affine);
    real(quantizer.scale);
    integer(quantizer.zero_point);
  }
  end_tuple(count);
}

/// `_rebuild_sparse_tensor(layout, data)`: the parts, the shape, and whether a COO tensor is
/// coalesced.
void TensorReduction::sparse(const Tensor& tensor) {
  const bool is_coo = tensor.kind() == TensorKind::sparse_coo;
  value(Name::rebuild_sparse);
  begin_tuple(2);
  value(Name::get_layout);
  begin_tuple(1);
  text(fmt::format("torch.{}", to_string(tensor.kind())));
  end_tuple(1);
  call();
  out_.put();
  const std::size_t count = tensor.parts().size() + (is_coo ? 2 : 1);
  begin_tuple(count);
  for (const auto& [name, inner] : tensor.parts()) part(tensor, name);
  size(tensor.shape());
  if (is_coo) boolean(tensor.is_coalesced().value_or(false));
  end_tuple(count);
  end_tuple(2);
  call();
}

/// `_rebuild_nested_tensor(buffer, sizes, strides, storage_offsets)`.
void TensorReduction::nested(const Tensor& tensor) {
  constexpr std::string_view kParts[] = {"buffer", "sizes", "strides", "storage_offsets"};
  if (tensor.find_part(kParts[0]) == nullptr) {
    fail(ErrorCode::unsupported, {}, "a jagged tensor is saved with the graph that it came in");
  }
  value(Name::rebuild_nested);
  begin_tuple(std::size(kParts));
  for (const std::string_view name : kParts) part(tensor, name);
  end_tuple(std::size(kParts));
  call();
}

/// `_rebuild_meta_tensor_no_storage(dtype, size, stride, requires_grad)`.
void TensorReduction::meta(const Tensor& tensor, bool requires_grad) {
  value(Name::rebuild_meta);
  begin_tuple(4);
  writer_.value(names_.dtype(tensor.dtype()));
  integers(tensor.shape());
  integers(tensor.strides());
  boolean(requires_grad);
  end_tuple(4);
  call();
}

void TensorReduction::part(const Tensor& tensor, std::string_view name) {
  out_.boundary();
  write(*tensor.find_part(name));
  out_.put();
}

/// `('storage', class, key, location, numel)`; an untyped storage counts bytes.
void TensorReduction::storage(const Tensor& tensor, bool is_typed) {
  const Storage& storage = tensor.storage();
  const DType dtype = is_typed ? tensor.dtype() : DType::u8;
  StorageKey& key = storages_.meet(storage, dtype);
  storage_id(is_typed ? names_.storage_class(dtype) : names_[Name::untyped_storage], key,
             storage.device(), static_cast<std::int64_t>(key.size / item_size(dtype)));
  out_.op(Opcode::BINPERSID);
}

/// `('storage', class, key, location, numel)`; in streams with None behind it, where views had
/// their part of the storage.
void TensorReduction::storage_id(Ref storage_class, StorageKey& key, std::string_view device,
                                 std::int64_t numel) {
  const std::size_t count = storages_.is_stream() ? 6 : 5;
  begin_tuple(count);
  value(Name::storage);
  writer_.value(storage_class);
  this->key(key);
  location(device);
  integer(numel);
  if (storages_.is_stream()) writer_.value(kNone);
  end_tuple(count);
}

void TensorReduction::key(StorageKey& key) {
  if (storages_.is_stream()) return text(fmt::format_int(key.number).c_str());
  if (key.node != kNone) return writer_.value(key.node);
  out_.boundary();
  if (key.memo != UINT32_MAX) return out_.get(key.memo);
  out_.string(fmt::format_int(key.number).c_str());
  key.memo = out_.put();
}

/// Tags without a number are literals of PyTorch's code, those with one are made for each storage.
void TensorReduction::location(std::string_view tag) {
  if (tag == "cpu") return value(Name::cpu);
  if (tag == "mps") return value(Name::mps);
  if (tag == "meta") return value(Name::meta);
  text(tag);
}

/// A tuple of integers.
void TensorReduction::integers(std::span<const std::int64_t> values) {
  if (values.empty()) return empty_tuple();
  begin_tuple(values.size());
  for (const std::int64_t value : values) integer(value);
  end_tuple(values.size());
}

/// `torch.Size((…))`.
void TensorReduction::size(std::span<const std::int64_t> shape) {
  out_.boundary();
  value(Name::size);
  begin_tuple(1);
  integers(shape);
  end_tuple(1);
  call();
  out_.put();
}

/// An OrderedDict without items: hooks are not saved.
void TensorReduction::hooks() {
  out_.boundary();
  value(Name::ordered_dict);
  empty_tuple();
  call();
  out_.put();
}

void TensorReduction::boolean(bool value) {
  out_.boundary();
  out_.boolean(value);
}

void TensorReduction::integer(std::int64_t value) {
  out_.boundary();
  out_.integer(value);
}

void TensorReduction::real(double value) {
  out_.boundary();
  out_.real(value);
}

/// A string of its own.
void TensorReduction::text(std::string_view value) {
  out_.boundary();
  out_.string(value);
  out_.put();
}

void TensorReduction::empty_tuple() {
  out_.boundary();
  out_.op(Opcode::EMPTY_TUPLE);
}

void TensorReduction::begin_tuple(std::size_t count) {
  out_.boundary();
  out_.begin_tuple(count);
}

void TensorReduction::end_tuple(std::size_t count) {
  out_.end_tuple(count);
  out_.put();
}

}  // namespace flambeau
