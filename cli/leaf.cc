// Python's spelling where Python has one (`repr` of the library gives it), else a few words. What
// numpy pickled is shown as the number or array that it is, though to the graph it is an object.
#include "leaf.h"

#include <fmt/format.h>

#include "text.h"

namespace flambeau::cli {
namespace {

// Cut after escaping, since that is what takes columns.
std::string cut(std::string text, std::size_t longest) {
  text = escaped(text);
  const std::size_t size = columns(text);
  if (size <= longest) return text;
  return fmt::format("{} ({} characters)", fitted(std::move(text), longest), grouped(size));
}

// Named as in rows: key, location, class, size.
std::string describe_storage(Value value) {
  const auto storage = value.as_storage().value_or(StorageReference{});
  return fmt::format("storage {} {} {} of {}", escaped(storage.key), escaped(storage.device),
                     escaped(storage.storage_class),
                     counted(static_cast<std::uint64_t>(storage.numel), "element"));
}

// Python's repr would say <class …>, but a file does not tell classes from functions.
std::string global_text(Value value) {
  const auto [module, name] = value.global_name();
  return fmt::format("<global {}.{}>", escaped(module), escaped(name));
}

// An object that stands for a number or an array of numpy's.
std::optional<std::string> numpy_text(Value value) {
  if (const auto array = value.as_tensor()) return describe_tensor(*array, "array");
  if (const auto flag = value.as_bool()) return *flag ? "numpy True" : "numpy False";
  if (const auto number = value.as_int()) return fmt::format("numpy {}", *number);
  if (const auto real = value.as_double()) return fmt::format("numpy {}", float_repr(*real));
  return std::nullopt;
}

// Tensors of classes of their own are named by it; plain ones and parameters are not.
std::string type_prefix(Value value) {
  const auto [module, name] = value.global_name();
  return name.empty() ? std::string() : fmt::format("{}.{} ", escaped(module), escaped(name));
}

}  // namespace

// Parts are named, so that a person knows what `show NAME.part` would take.
std::string describe_tensor(const Tensor& tensor, std::string_view noun) {
  std::string text(noun);
  if (tensor.kind() != TensorKind::strided) text.append(" ").append(to_string(tensor.kind()));
  text.append(" ").append(to_string(tensor.dtype()));
  if (tensor.has_shape()) text.append(" ").append(to_string(tensor.shape()));
  if (tensor.storage() && !tensor.storage().key().empty()) {
    text.append(" storage ").append(escaped(tensor.storage().key()));
  }
  if (noun == "tensor") text.append(" ").append(escaped(tensor.device()));
  if (tensor.is_parameter()) text.append(" parameter");
  for (const auto& part : tensor.parts()) text.append(" .").append(escaped(part.first));
  return text;
}

// Without making the text: walks ask this of every value of a graph.
bool is_leaf(Value value) {
  switch (value.kind()) {
    case Kind::list:
    case Kind::tuple:
    case Kind::set:
    case Kind::frozenset:
    case Kind::dict:
    case Kind::ordered_dict:
    case Kind::size:
    case Kind::persistent: return false;
    case Kind::tensor: return !value.state();
    case Kind::object: return numpy_text(value).has_value();
    case Kind::missing:
    case Kind::none:
    case Kind::boolean:
    case Kind::integer:
    case Kind::real:
    case Kind::complex:
    case Kind::string:
    case Kind::bytes:
    case Kind::bytearray:
    case Kind::dtype:
    case Kind::device:
    case Kind::layout:
    case Kind::global:
    case Kind::storage: return true;
  }
  return true;
}

std::optional<std::string> leaf_text(Value value, std::size_t longest) {
  if (!is_leaf(value)) return std::nullopt;
  const Kind kind = value.kind();
  if (kind == Kind::global) return global_text(value);
  if (kind == Kind::storage) return describe_storage(value);
  if (kind == Kind::object) return numpy_text(value);
  if (kind != Kind::tensor) return cut(repr(value, longest), longest);
  return type_prefix(value) + describe_tensor(value.as_tensor().value_or(Tensor()), "tensor");
}

}  // namespace flambeau::cli
