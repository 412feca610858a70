// Values as text: the short form of `repr`, and the names of types.
#include <fmt/format.h>

#include <cmath>
#include <string>

#include "base/bytes.h"
#include "flambeau/value.h"
#include "pickle/repr.h"

namespace flambeau {
namespace {

std::string storage_text(const StorageReference& storage) {
  return fmt::format("<{} {} of {} elements>", storage.storage_class, python_repr_text(storage.key),
                     storage.numel);
}

/// A part of a complex number is written as a float is, but without the ".0" of a whole one.
std::string complex_part(double value) {
  std::string text = python_repr_real(value);
  if (text.ends_with(".0")) text.resize(text.size() - 2);
  return text;
}

/// `(1+2j)`, and `2j` where the real part is 0, but not where it is -0 (CPython,
/// Objects/complexobject.c: complex_repr).
std::string complex_text(std::complex<double> value) {
  const std::string imag = complex_part(value.imag());
  if (value.real() == 0 && !std::signbit(value.real())) return imag + "j";
  return fmt::format("({}{}{}j)", complex_part(value.real()), imag.front() == '-' ? "" : "+", imag);
}

/// A tensor is described, not printed: its elements may be many, and reading them may fail.
std::string tensor_text(const Value& value, const Tensor& tensor) {
  const std::string shape = tensor.has_shape() ? to_string(tensor.shape()) : "ragged";
  return fmt::format("<{} {} {}>", value.type_name(), to_string(tensor.dtype()), shape);
}

/// A container by its type and length: what it holds may hold it.
std::string container_text(const Value& value) {
  return fmt::format("<{} of {}>", value.type_name(), value.size());
}

/// One value on one line.
std::string scalar_text(const Value& value) {
  switch (value.kind()) {
    case Kind::missing: return "<missing>";
    case Kind::none: return "None";
    case Kind::boolean: return *value.as_bool() ? "True" : "False";
    case Kind::integer: return *value.integer_text();
    case Kind::real: return python_repr_real(*value.as_double());
    case Kind::complex: return complex_text(*value.as_complex());
    case Kind::string: return python_repr_text(*value.as_string());
    case Kind::bytes: return python_repr_bytes(as_text(*value.as_bytes()));
    case Kind::bytearray: return python_repr_bytearray(as_text(*value.as_bytes()));
    case Kind::global: {
      const auto [module, name] = value.global_name();
      return fmt::format("{}.{}", module, name);
    }
    case Kind::dtype: return fmt::format("torch.{}", to_string(*value.as_dtype()));
    case Kind::device: return fmt::format("device({})", python_repr_text(*value.as_device()));
    case Kind::layout: return fmt::format("torch.{}", *value.as_layout());
    case Kind::tensor: return tensor_text(value, *value.as_tensor());
    case Kind::storage: return storage_text(*value.as_storage());
    case Kind::list:
    case Kind::tuple:
    case Kind::set:
    case Kind::frozenset:
    case Kind::dict:
    case Kind::ordered_dict:
    case Kind::size:
    case Kind::object:
    case Kind::persistent: return container_text(value);
  }
  return {};
}

/// Whether the items are written one after the other.
bool is_flat_sequence(const Value& value) {
  const Kind kind = value.kind();
  return kind == Kind::list || kind == Kind::tuple || kind == Kind::size || kind == Kind::set ||
         kind == Kind::frozenset;
}

struct Brackets {
  std::string_view open;
  std::string_view close;
};

/// What has no literal is written as a call: empty sets, since `{}` is a dict, and the classes.
Brackets brackets_of(const Value& value) {
  const Kind kind = value.kind();
  const bool empty = value.size() == 0;
  if (kind == Kind::set && empty) return {"set(", ")"};
  if (kind == Kind::frozenset && empty) return {"frozenset(", ")"};
  if (kind == Kind::ordered_dict && empty) return {"OrderedDict(", ")"};
  if (kind == Kind::tuple) return value.size() == 1 ? Brackets{"(", ",)"} : Brackets{"(", ")"};
  if (kind == Kind::size) return {"torch.Size([", "])"};
  if (kind == Kind::frozenset) return {"frozenset({", "})"};
  if (kind == Kind::ordered_dict) return {"OrderedDict({", "})"};
  if (kind == Kind::set || kind == Kind::dict) return {"{", "}"};
  return {"[", "]"};
}

/// One level of a container; what is deeper stands as its type and length, so that cycles end.
std::string shallow_text(const Value& value, std::size_t max_length) {
  const Brackets brackets = brackets_of(value);
  std::string text(brackets.open);
  std::string_view comma;
  bool full = false;
  const auto add = [&](const std::string& part) {
    full = text.size() + comma.size() + part.size() > max_length;
    text.append(comma).append(full ? "…" : part);
    comma = ", ";
  };
  for (const Value item : value.elements()) {
    if (!full) add(scalar_text(item));
  }
  for (const auto& [key, item] : value.items()) {
    if (!full) add(fmt::format("{}: {}", scalar_text(key), scalar_text(item)));
  }
  return text.append(brackets.close);
}

}  // namespace

std::string repr(Value value, std::size_t max_length) {
  const Kind kind = value.kind();
  if (is_flat_sequence(value) || kind == Kind::dict || kind == Kind::ordered_dict) {
    return shallow_text(value, max_length);
  }
  return scalar_text(value);
}

/// Classes by the names that the file gives them, which need not be those of today: `__builtin__`
/// and `copy_reg` stay what they are.
std::string Value::type_name() const {
  const auto [module, name] = global_name();
  switch (kind()) {
    case Kind::missing: return "";
    case Kind::none: return "NoneType";
    case Kind::boolean: return "bool";
    case Kind::integer: return "int";
    case Kind::real: return "float";
    case Kind::string: return "str";
    case Kind::ordered_dict: return "collections.OrderedDict";
    case Kind::size: return "torch.Size";
    case Kind::global: return "type";
    case Kind::dtype: return "torch.dtype";
    case Kind::device: return "torch.device";
    case Kind::layout: return "torch.layout";
    case Kind::storage: return as_storage()->storage_class;
    case Kind::persistent: return "persistent id";
    case Kind::tensor:
      if (!name.empty()) break;
      return as_tensor()->is_parameter() ? "torch.nn.parameter.Parameter" : "torch.Tensor";
    case Kind::object:
      if (!name.empty()) break;
      return "object";
    case Kind::complex:
    case Kind::bytes:
    case Kind::bytearray:
    case Kind::list:
    case Kind::tuple:
    case Kind::set:
    case Kind::frozenset:
    case Kind::dict: return std::string(to_string(kind()));
  }
  return fmt::format("{}.{}", module, name);
}

}  // namespace flambeau
