// The Python object graph of a checkpoint, as data.
//
//   flambeau::Value root = ckpt.root();
//   auto epoch = root["epoch"].as_int().value_or(0);      // a missing step is a null Value
//   for (auto [key, value] : root["optimizer"]["param_groups"][0].items())
//     fmt::print("{} = {}\n", repr(key), repr(value));
//   for (const auto& [path, value] : flambeau::walk(root))   // each node once
//     if (value.kind() == flambeau::Kind::object) fmt::print("{}: {}\n", path, value.type_name());
//
// A `Value` is a pointer and a number: copy it freely, but not past the life of its checkpoint.
// Nothing here calls, imports or resolves anything: an object of an unknown class is the callable,
// arguments, state and items that its pickle gives for it.
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "flambeau/tensor.h"

namespace flambeau {

class Graph;
/// A place in a graph; opaque to programs.
enum class Ref : std::uint32_t;

enum class Kind : std::uint8_t {
  missing,  ///< a null `Value`: what a step that leads nowhere gives
  none,
  boolean,
  integer,
  real,
  complex,
  string,
  bytes,
  bytearray,
  list,
  tuple,
  set,
  frozenset,
  dict,
  ordered_dict,  ///< collections.OrderedDict; its attributes, if any, are its `state`
  size,          ///< torch.Size
  global,        ///< a class or function that stands as a value
  dtype,
  device,
  layout,
  tensor,
  storage,     ///< a storage that stands by itself
  object,      ///< anything else that the pickle builds
  persistent,  ///< a persistent id that is no storage
};
/// "ordered_dict". The text lives forever.
std::string_view to_string(Kind kind) noexcept;

/// How the pickle makes an object.
enum class Construction : std::uint8_t {
  reduce,     ///< callable(*args)
  newobj,     ///< cls.__new__(cls, *args)
  newobj_ex,  ///< cls.__new__(cls, *args, **kwargs)
};
std::string_view to_string(Construction construction) noexcept;

/// A storage that stands by itself in the graph. The texts live as long as the checkpoint.
struct StorageReference {
  /// "torch.FloatStorage", as module and name stand in the file.
  std::string storage_class;
  std::string_view key;
  std::string_view device;
  std::int64_t numel = 0;
  DType dtype = DType::u8;
  Storage storage;
};

class Value {
 public:
  /// The null value: every question to it has an empty answer.
  constexpr Value() noexcept = default;
  constexpr Value(const Graph* graph, Ref ref) noexcept : graph_(graph), ref_(ref) {}

  Kind kind() const noexcept;
  explicit operator bool() const noexcept { return graph_ != nullptr; }
  /// Identity, as Python's `is`. Numbers, booleans and None have none: there it is equality.
  friend bool operator==(Value a, Value b) noexcept = default;
  /// Whether the value is a node of its own, so that `==` means identity: containers, objects,
  /// tensors, bytes. Strings and numbers have none that a program should see.
  bool has_identity() const noexcept;
  /// A number that is the same for the same object; for maps keyed by identity. Values without an
  /// identity have numbers, too, from 2^31 on where they are small integers, booleans or None.
  std::uint32_t id() const noexcept { return static_cast<std::uint32_t>(ref_); }

  // ---- scalars: empty unless the value is one (or a numpy scalar of that kind)

  std::optional<bool> as_bool() const noexcept;
  /// Integers that fit; `integer_text` has the others.
  std::optional<std::int64_t> as_int() const noexcept;
  /// Reals, and integers of up to 64 bits converted.
  std::optional<double> as_double() const noexcept;
  std::optional<std::complex<double>> as_complex() const noexcept;
  /// Text in UTF-8; lone surrogates stand in their three-byte form. A Python 2 byte string is text
  /// where it is valid in the `encoding` of the options.
  std::optional<std::string_view> as_string() const noexcept;
  std::optional<std::span<const std::byte>> as_bytes() const noexcept;
  /// Decimal digits of an integer of any size. Error: `limit` beyond `max_integer_digits`.
  std::optional<std::string> integer_text() const;

  // ---- torch

  /// Tensors and parameters; also numpy arrays, as tensors of the dtype that numpy's has
  /// (structured and object arrays have none), whose elements are copied at each call.
  /// Error: `malformed_tensor` for a numpy array whose bytes do not have its shape.
  std::optional<Tensor> as_tensor() const;
  std::optional<DType> as_dtype() const noexcept;
  /// "cuda:0".
  std::optional<std::string> as_device() const;
  /// "sparse_coo".
  std::optional<std::string_view> as_layout() const noexcept;
  std::optional<StorageReference> as_storage() const;

  // ---- containers

  /// Items of a list, tuple, set, frozenset, size; pairs of a dict or ordered_dict; list items and
  /// then dict items of an object. 0 for all else.
  std::size_t size() const noexcept;
  /// The item of a list, tuple or size at `index`, counted from the end when negative; for a dict
  /// the value of the integer key, in time linear in its size. Null where there is none.
  Value operator[](std::int64_t index) const noexcept;
  Value operator[](int index) const noexcept { return (*this)[std::int64_t{index}]; }
  /// The value of a string key of a dict or of an object's dict items, else the attribute of that
  /// name (from the state). Null where there is none. Linear in the container's size;
  /// `Checkpoint::find` looks tensors up in constant time.
  Value operator[](std::string_view key) const noexcept;
  Value operator[](const char* key) const noexcept { return (*this)[std::string_view(key)]; }
  /// Only an attribute: an entry of a state that is a dict of names, or of either part of a pair
  /// of such dicts (`__slots__`).
  Value attribute(std::string_view name) const noexcept;

  class Items;
  class Elements;
  /// Pairs of a dict, an ordered_dict or an object's dict items, each key once, in order.
  Items items() const noexcept;
  /// Items of a list, tuple, set, frozenset, size, or an object's list items.
  Elements elements() const noexcept;

  // ---- classes and objects

  /// Module and name of a global, as the file spells them; of an object or a tensor of a class of
  /// its own, those of its class. Empty for all else.
  std::pair<std::string_view, std::string_view> global_name() const noexcept;
  /// "collections.OrderedDict", "torch.Tensor", "list", …: what Python's `type` would say.
  std::string type_name() const;
  /// Of an object: what the pickle would call, with what, and how.
  Value callable() const noexcept;
  Value args() const noexcept;
  Value kwargs() const noexcept;
  std::optional<Construction> construction() const noexcept;
  /// What BUILD would set: of an object, of an ordered_dict with attributes, of a tensor with
  /// attributes. Null where there is none.
  Value state() const noexcept;
  /// Of an unknown persistent id: the id.
  Value persistent_id() const noexcept;

  /// For the library's own use.
  const Graph* graph() const noexcept { return graph_; }
  Ref ref() const noexcept { return ref_; }

 private:
  const Graph* graph_ = nullptr;
  Ref ref_{};
};

/// A range of pairs; each pair is made as it is looked at.
class Value::Items {
 public:
  class Iterator {
   public:
    using value_type = std::pair<Value, Value>;
    using difference_type = std::ptrdiff_t;
    Iterator() = default;
    Iterator(const Graph* graph, const Ref* at) noexcept : graph_(graph), at_(at) {}
    value_type operator*() const noexcept { return {Value(graph_, at_[0]), Value(graph_, at_[1])}; }
    Iterator& operator++() noexcept { return at_ += 2, *this; }
    Iterator operator++(int) noexcept { return std::exchange(*this, Iterator(graph_, at_ + 2)); }
    friend bool operator==(const Iterator&, const Iterator&) noexcept = default;

   private:
    const Graph* graph_ = nullptr;
    const Ref* at_ = nullptr;
  };
  Items() = default;
  Items(const Graph* graph, std::span<const Ref> refs) noexcept : graph_(graph), refs_(refs) {}
  Iterator begin() const noexcept { return {graph_, refs_.data()}; }
  Iterator end() const noexcept { return {graph_, refs_.data() + refs_.size()}; }
  std::size_t size() const noexcept { return refs_.size() / 2; }
  bool empty() const noexcept { return refs_.empty(); }

 private:
  const Graph* graph_ = nullptr;
  std::span<const Ref> refs_;
};

/// A range of values.
class Value::Elements {
 public:
  class Iterator {
   public:
    using value_type = Value;
    using difference_type = std::ptrdiff_t;
    Iterator() = default;
    Iterator(const Graph* graph, const Ref* at) noexcept : graph_(graph), at_(at) {}
    value_type operator*() const noexcept { return Value(graph_, *at_); }
    Iterator& operator++() noexcept { return ++at_, *this; }
    Iterator operator++(int) noexcept { return std::exchange(*this, Iterator(graph_, at_ + 1)); }
    friend bool operator==(const Iterator&, const Iterator&) noexcept = default;

   private:
    const Graph* graph_ = nullptr;
    const Ref* at_ = nullptr;
  };
  Elements() = default;
  Elements(const Graph* graph, std::span<const Ref> refs) noexcept : graph_(graph), refs_(refs) {}
  Iterator begin() const noexcept { return {graph_, refs_.data()}; }
  Iterator end() const noexcept { return {graph_, refs_.data() + refs_.size()}; }
  std::size_t size() const noexcept { return refs_.size(); }
  bool empty() const noexcept { return refs_.empty(); }

 private:
  const Graph* graph_ = nullptr;
  std::span<const Ref> refs_;
};

/// The value as Python would write it: scalars and small containers in full, a tensor by dtype and
/// shape, an object by its type, a container inside a container by its type and length. Items are
/// left out from `max_length` characters on. Error: `limit` beyond `max_integer_digits`.
std::string repr(Value value, std::size_t max_length = 200);

/// A node of the graph and the Python expression that leads to it from the root.
struct WalkStep {
  std::string path;
  Value value;
};
/// The values that can be reached from `root`, itself first (its path is ""), depth first in the
/// pickle's order. A node that several paths lead to comes once, at its first path; numbers and
/// strings, which have no identity, come at each.
/// Error: `limit` where the graph is nested deeper than `Limits::json_depth`, since paths grow with
/// the depth, or where the paths take more bytes than `max_expansion` and `max_output` let through.
std::vector<WalkStep> walk(Value root);

}  // namespace flambeau
