// Three forms (numpy/_core/multiarray.py and src/multiarray/methods.c, array_reduce):
//   _reconstruct(ndarray, (0,), b'b')  BUILD (version, shape, dtype, is_fortran, bytes)
//   _frombuffer(bytes, dtype, shape, 'C' | 'F')              protocol 5
//   scalar(dtype, bytes)
// with dtype = `numpy.dtype('f8', False, True)` BUILD (3, '<', None, None, None, -1, -1, 0).
#include "torch/numpy.h"

#include <bit>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/checked.h"
#include "base/fail.h"

namespace flambeau {
namespace {

struct NumpyType {
  DType dtype;
  bool swapped;
};

struct Layout {
  std::vector<std::int64_t> shape;
  bool fortran = false;
};

// Kind and bytes, as numpy writes the first argument of its dtype.
std::optional<DType> dtype_of_code(std::string_view code) {
  static constexpr std::pair<std::string_view, DType> kCodes[] = {
      {"b1", DType::boolean}, {"i1", DType::i8},   {"i2", DType::i16}, {"i4", DType::i32},
      {"i8", DType::i64},     {"u1", DType::u8},   {"u2", DType::u16}, {"u4", DType::u32},
      {"u8", DType::u64},     {"f2", DType::f16},  {"f4", DType::f32}, {"f8", DType::f64},
      {"c8", DType::c64},     {"c16", DType::c128}};
  for (const auto& [name, dtype] : kCodes) {
    if (name == code) return dtype;
  }
  return std::nullopt;
}

/// Whether `object` is a call of a global with that role.
bool has_role(const Graph& graph, Ref object, Role role) {
  const Document& document = graph.document();
  if (!document.is(object, NodeKind::object)) return false;
  const Ref callable = document.callable(object);
  return document.is(callable, NodeKind::global) && graph.meaning(callable).role == role;
}

/// The byte order stands in the state; "|" and "=" are the host's.
std::optional<NumpyType> numpy_type(const Graph& graph, Ref ref) {
  if (!has_role(graph, ref, Role::numpy_dtype)) return std::nullopt;
  const auto args = graph.elements(graph.document().args(ref));
  if (args.empty() || graph.kind(args[0]) != Kind::string) return std::nullopt;
  const auto dtype = dtype_of_code(graph.text(args[0]));
  if (!dtype) return std::nullopt;
  const auto state = graph.elements(graph.state(ref));
  const std::string_view order = state.size() > 1 ? graph.text(state[1]) : std::string_view("=");
  constexpr bool kLittle = std::endian::native == std::endian::little;
  const bool swapped = order == (kLittle ? ">" : "<") && item_size(*dtype) > 1;
  return NumpyType{*dtype, swapped};
}

/// Elements stand as bytes, or as a Python 2 string, whatever text that may be.
std::optional<std::string_view> content_of(const Graph& graph, Ref ref) {
  if (graph.document().is(ref, NodeKind::byte_string)) return graph.document().text(ref);
  const Kind kind = graph.kind(ref);
  if (kind == Kind::bytes || kind == Kind::bytearray) return graph.text(ref);
  return std::nullopt;
}

/// A shape that is none, or has too many dimensions, makes no array, and the call stays data.
std::optional<std::vector<std::int64_t>> integers(const Graph& graph, Ref ref) {
  if (graph.kind(ref) != Kind::tuple) return std::nullopt;
  std::vector<std::int64_t> values;
  for (const Ref item : graph.elements(ref)) {
    if (!graph.document().is(item, NodeKind::integer)) return std::nullopt;
    values.push_back(graph.document().integer(item));
  }
  if (values.size() > graph.limits().max_dimensions) return std::nullopt;
  return values;
}

/// In elements; the product was checked, so nothing overflows.
std::vector<std::int64_t> strides_of(const Layout& layout) {
  std::vector<std::int64_t> strides(layout.shape.size());
  std::int64_t step = 1;
  for (std::size_t i = 0; i < strides.size(); ++i) {
    const std::size_t at = layout.fortran ? i : strides.size() - 1 - i;
    strides[at] = step;
    step *= layout.shape[at] == 0 ? 1 : layout.shape[at];
  }
  return strides;
}

/// The bytes are copied: an array is small beside the file, and its tensor may outlive the graph.
Tensor make_array(NumpyType type, const Layout& layout, std::string_view content,
                  std::string_view where) {
  const auto numel = checked_product(layout.shape);
  const auto size =
      numel ? checked_mul<std::uint64_t>(static_cast<std::uint64_t>(*numel), item_size(type.dtype))
            : std::nullopt;
  if (!size || *size != content.size()) {
    fail(ErrorCode::malformed_tensor, {where}, "a numpy array of shape {} and {} has {} bytes",
         to_string(layout.shape), to_string(type.dtype), content.size());
  }
  const auto copy = std::make_shared<const std::string>(content);
  auto record = std::make_shared<TensorRecord>();
  record->storage = Storage::own(as_bytes(*copy), copy);
  record->dtype = type.dtype;
  record->is_byte_swapped = type.swapped;
  // A shape with a 0 has no elements, so its strides, which may not fit, are never used.
  const auto strides =
      *numel == 0 ? std::vector<std::int64_t>(layout.shape.size(), 1) : strides_of(layout);
  record->dimensions = Dimensions(layout.shape, strides);
  return Tensor(std::move(record));
}

/// What the two forms of arrays have in common, taken apart.
struct ArrayParts {
  Ref shape;
  Ref dtype;
  Ref content;
  bool fortran;
};

/// The first of the five is the state's version, 1. numpy reads states of four, version 0, but
/// writes none.
std::optional<ArrayParts> array_parts(const Graph& graph, Ref ref) {
  if (has_role(graph, ref, Role::numpy_reconstruct)) {
    const auto state = graph.elements(graph.state(ref));
    if (state.size() != 5) return std::nullopt;
    return ArrayParts{state[1], state[2], state[4], state[3] == kTrue};
  }
  if (!has_role(graph, ref, Role::numpy_frombuffer)) return std::nullopt;
  const auto args = graph.elements(graph.document().args(ref));
  if (args.size() != 4) return std::nullopt;
  return ArrayParts{args[2], args[1], args[0], graph.text(args[3]) == "F"};
}

}  // namespace

std::optional<Tensor> numpy_array(const Graph& graph, Ref ref, std::string_view where) {
  const auto parts = array_parts(graph, ref);
  if (!parts) return std::nullopt;
  const auto content = content_of(graph, parts->content);
  const auto type = numpy_type(graph, parts->dtype);
  auto shape = integers(graph, parts->shape);
  if (!content || !type || !shape) return std::nullopt;
  return make_array(*type, {std::move(*shape), parts->fortran}, *content, where);
}

std::optional<Tensor> numpy_scalar(const Graph& graph, Ref ref) {
  if (!has_role(graph, ref, Role::numpy_scalar)) return std::nullopt;
  const auto args = graph.elements(graph.document().args(ref));
  if (args.size() != 2) return std::nullopt;
  const auto content = content_of(graph, args[1]);
  const auto type = numpy_type(graph, args[0]);
  if (!content || !type || content->size() != item_size(type->dtype)) return std::nullopt;
  return make_array(*type, {}, *content, {});
}

namespace {

template <typename T>
Tensor converted_to(const Tensor& tensor) {
  const auto elements = std::make_shared<const std::vector<T>>(tensor.to<T>());
  const auto shape = tensor.shape();
  return Tensor(kDTypeOf<T>, {shape.begin(), shape.end()},
                Storage::own(std::as_bytes(std::span(*elements)), elements));
}

}  // namespace

/// The types that PyTorch's devices without storages have had; a row for each that comes.
Tensor converted(const Tensor& tensor, DType dtype) {
  if (dtype == DType::f16) return converted_to<Half>(tensor);
  if (dtype == DType::bf16) return converted_to<BFloat16>(tensor);
  if (dtype == DType::f32) return converted_to<float>(tensor);
  if (dtype == DType::f64) return converted_to<double>(tensor);
  if (dtype == DType::i32) return converted_to<std::int32_t>(tensor);
  if (dtype == DType::i64) return converted_to<std::int64_t>(tensor);
  fail(ErrorCode::unsupported, {}, "a device tensor of {} stored as {}", to_string(dtype),
       to_string(tensor.dtype()));
}

}  // namespace flambeau
