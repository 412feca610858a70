// The public handle: each question goes to the graph. A null value, and a question that does not
// fit the kind, have empty answers; nothing here throws but what reads data or writes digits.
#include "flambeau/value.h"

#include <array>
#include <utility>

#include "base/bytes.h"
#include "base/fail.h"
#include "pickle/bigint.h"
#include "pickle/repr.h"
#include "torch/graph.h"
#include "torch/numpy.h"

namespace flambeau {

// In the order of the enumerators, in value.h.
std::string_view to_string(Kind kind) noexcept {
  static constexpr std::array<std::string_view, 24> kNames = {
      "missing",   "none",   "boolean",      "integer", "real",   "complex",
      "string",    "bytes",  "bytearray",    "list",    "tuple",  "set",
      "frozenset", "dict",   "ordered_dict", "size",    "global", "dtype",
      "device",    "layout", "tensor",       "storage", "object", "persistent"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::string_view to_string(Construction construction) noexcept {
  static constexpr std::array<std::string_view, 3> kNames = {"reduce", "newobj", "newobj_ex"};
  return kNames[static_cast<std::size_t>(construction)];
}

namespace {

/// The element of a numpy scalar whose dtype is of one of the categories.
template <typename T>
std::optional<T> scalar_as(const Graph& graph, Ref ref, std::initializer_list<DTypeCategory> fits) {
  if (graph.kind(ref) != Kind::object) return std::nullopt;
  const auto scalar = numpy_scalar(graph, ref);
  if (!scalar) return std::nullopt;
  for (const DTypeCategory each : fits) {
    if (category(scalar->dtype()) == each) return scalar->to<T>()[0];
  }
  return std::nullopt;
}

/// A part of a complex number: `complex(1, 2)` is written with ints, too, and those may be large.
double number_of(const Document& document, Ref ref) {
  if (document.is(ref, NodeKind::real)) return document.real(ref);
  if (document.is(ref, NodeKind::integer)) return static_cast<double>(document.integer(ref));
  return nearest_real(document.text(ref));
}

}  // namespace

Kind Value::kind() const noexcept { return graph_ == nullptr ? Kind::missing : graph_->kind(ref_); }

bool Value::has_identity() const noexcept {
  switch (kind()) {
    case Kind::missing:
    case Kind::none:
    case Kind::boolean:
    case Kind::integer:
    case Kind::real:
    case Kind::string:
    case Kind::global:
    case Kind::dtype:
    case Kind::device:
    case Kind::layout: return false;
    case Kind::bytes:
      // A Python 2 string is written as text or bytes, by content; only the latter has an identity.
    case Kind::bytearray:
    case Kind::complex:
    case Kind::list:
    case Kind::tuple:
    case Kind::set:
    case Kind::frozenset:
    case Kind::dict:
    case Kind::ordered_dict:
    case Kind::size:
    case Kind::tensor:
    case Kind::storage:
    case Kind::object:
    case Kind::persistent: return true;
  }
  return false;
}

// Scalars: a numpy scalar is a call with its bytes, and counts as the number that it is.
std::optional<bool> Value::as_bool() const noexcept {
  if (kind() == Kind::boolean) return ref_ == kTrue;
  if (graph_ == nullptr) return std::nullopt;
  const auto scalar = scalar_as<std::uint8_t>(*graph_, ref_, {DTypeCategory::boolean});
  return scalar ? std::optional(*scalar != 0) : std::nullopt;
}

std::optional<std::int64_t> Value::as_int() const noexcept {
  if (graph_ == nullptr) return std::nullopt;
  if (graph_->document().is(ref_, NodeKind::integer)) return graph_->document().integer(ref_);
  // Unsigned ones by themselves: as int64 those from 2^63 on would saturate to another number.
  if (const auto scalar =
          scalar_as<std::uint64_t>(*graph_, ref_, {DTypeCategory::unsigned_integer})) {
    return std::in_range<std::int64_t>(*scalar) ? std::optional(*scalar) : std::nullopt;
  }
  return scalar_as<std::int64_t>(*graph_, ref_, {DTypeCategory::signed_integer});
}

std::optional<double> Value::as_double() const noexcept {
  if (kind() == Kind::real) return graph_->document().real(ref_);
  if (graph_ == nullptr) return std::nullopt;
  if (graph_->document().is(ref_, NodeKind::integer)) {
    return static_cast<double>(graph_->document().integer(ref_));
  }
  return scalar_as<double>(
      *graph_, ref_,
      {DTypeCategory::floating, DTypeCategory::signed_integer, DTypeCategory::unsigned_integer});
}

/// Calls of `complex` that are not of two numbers were left objects by the graph's builder.
std::optional<std::complex<double>> Value::as_complex() const noexcept {
  if (kind() == Kind::complex) {
    const Document& document = graph_->document();
    const auto args = document.items(document.args(ref_));
    return std::complex<double>(number_of(document, args[0]), number_of(document, args[1]));
  }
  if (const auto real = as_double()) return std::complex<double>(*real);
  if (graph_ == nullptr) return std::nullopt;
  return scalar_as<std::complex<double>>(*graph_, ref_, {DTypeCategory::complex});
}

std::optional<std::string_view> Value::as_string() const noexcept {
  if (kind() != Kind::string) return std::nullopt;
  return graph_->text(ref_);
}

std::optional<std::span<const std::byte>> Value::as_bytes() const noexcept {
  if (kind() != Kind::bytes && kind() != Kind::bytearray) return std::nullopt;
  return flambeau::as_bytes(graph_->text(ref_));
}

/// The size is bounded first, because the conversion takes quadratic time.
std::optional<std::string> Value::integer_text() const {
  if (kind() != Kind::integer) return std::nullopt;
  const Document& document = graph_->document();
  if (document.is(ref_, NodeKind::integer)) return std::to_string(document.integer(ref_));
  const std::string_view bytes = document.text(ref_);
  // log10(256) is 2.408…: a number of n bytes has at most 2.41 n digits.
  const double digits = 2.4083 * static_cast<double>(bytes.size());
  if (digits > graph_->limits().max_integer_digits + 3.0) {
    fail(ErrorCode::limit, {}, "an integer of {} bytes: more than {} digits", bytes.size(),
         graph_->limits().max_integer_digits);
  }
  return decimal_of(bytes);
}

/// An array is made anew each time: few programs ask for one twice, and kept ones would have to be
/// guarded against other threads.
std::optional<Tensor> Value::as_tensor() const {
  if (kind() == Kind::tensor) return graph_->tensor(ref_);
  if (kind() != Kind::object) return std::nullopt;
  return numpy_array(*graph_, ref_, "numpy array");
}

std::optional<DType> Value::as_dtype() const noexcept {
  if (kind() != Kind::dtype) return std::nullopt;
  return graph_->dtype(ref_);
}

std::optional<std::string> Value::as_device() const {
  if (kind() != Kind::device) return std::nullopt;
  return graph_->device(ref_);
}

std::optional<std::string_view> Value::as_layout() const noexcept {
  if (kind() != Kind::layout) return std::nullopt;
  return graph_->layout(ref_);
}

/// The id was checked item by item when the storage was resolved.
std::optional<StorageReference> Value::as_storage() const {
  if (kind() != Kind::storage) return std::nullopt;
  const Document& document = graph_->document();
  const auto id = document.items(document.persistent_id(ref_));
  const GlobalName& name = document.global(id[1]);
  StorageReference reference;
  reference.storage_class = std::string(name.module) + "." + std::string(name.name);
  reference.key = graph_->text(id[2]);
  reference.device = graph_->text(id[3]);
  const auto view = graph_->view(ref_);
  reference.numel = view ? view->size : document.integer(id[4]);
  reference.dtype = graph_->dtype(ref_);
  reference.storage = graph_->storage(ref_);
  return reference;
}

/// A kind has one of the two, an object of an unknown class may have both.
std::size_t Value::size() const noexcept { return elements().size() + items().size(); }

/// Dicts by key, sequences by place; a set has no places.
Value Value::operator[](std::int64_t index) const noexcept {
  if (kind() == Kind::dict || kind() == Kind::ordered_dict) {
    for (const auto& [key, value] : items()) {
      if (key.as_int() == index) return value;
    }
    return {};
  }
  const auto refs = graph_ == nullptr ? std::span<const Ref>() : graph_->elements(ref_);
  const auto size = static_cast<std::int64_t>(refs.size());
  if (index < 0) index += size;
  if (index < 0 || index >= size || kind() == Kind::set || kind() == Kind::frozenset) return {};
  return {graph_, refs[static_cast<std::size_t>(index)]};
}

/// Keys first: of an OrderedDict, `_metadata` is an attribute and "weight" a key.
Value Value::operator[](std::string_view key) const noexcept {
  if (graph_ == nullptr) return {};
  if (const auto found = find_key(*graph_, graph_->pairs(ref_), key)) return {graph_, *found};
  return attribute(key);
}

Value Value::attribute(std::string_view name) const noexcept {
  if (graph_ == nullptr) return {};
  const auto found = find_attribute(*graph_, graph_->state(ref_), name);
  return found ? Value(graph_, *found) : Value();
}

Value::Items Value::items() const noexcept {
  if (graph_ == nullptr) return {};
  return {graph_, graph_->pairs(ref_)};
}

Value::Elements Value::elements() const noexcept {
  if (graph_ == nullptr) return {};
  return {graph_, graph_->elements(ref_)};
}

/// Of an object the class is what would be called, where that is a global at all.
std::pair<std::string_view, std::string_view> Value::global_name() const noexcept {
  if (graph_ == nullptr) return {};
  Ref name = ref_;
  if (kind() == Kind::tensor) {
    name = graph_->traits(ref_).type;
  } else if (kind() == Kind::object) {
    name = graph_->document().callable(ref_);
  }
  const bool is_named = graph_->document().is(name, NodeKind::global) ||
                        graph_->form(name) == Form::class_with_source;
  if (!is_named) return {};
  return {graph_->global(name).module, graph_->global(name).name};
}

Value Value::callable() const noexcept {
  if (kind() != Kind::object) return {};
  return {graph_, graph_->document().callable(ref_)};
}

Value Value::args() const noexcept {
  if (kind() != Kind::object) return {};
  return {graph_, graph_->document().args(ref_)};
}

Value Value::kwargs() const noexcept {
  if (kind() != Kind::object) return {};
  const ObjectExtra* extra = graph_->document().extra(ref_);
  return extra != nullptr && extra->kwargs ? Value(graph_, *extra->kwargs) : Value();
}

/// INST and OBJ of protocols 0 and 1 call the class, as REDUCE does.
std::optional<Construction> Value::construction() const noexcept {
  if (kind() != Kind::object) return std::nullopt;
  const CallForm form = graph_->document().call_form(ref_);
  if (form == CallForm::newobj) return Construction::newobj;
  return form == CallForm::newobj_ex ? Construction::newobj_ex : Construction::reduce;
}

Value Value::state() const noexcept {
  if (graph_ == nullptr || !graph_->has_state(ref_)) return {};
  return {graph_, graph_->state(ref_)};
}

Value Value::persistent_id() const noexcept {
  if (kind() != Kind::persistent) return {};
  return {graph_, graph_->document().persistent_id(ref_)};
}

}  // namespace flambeau
