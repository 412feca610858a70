// Object graphs that are being made, or changed: what `save` writes beside a `StateDict`.
//
//   flambeau::Draft draft;                        // or draft(checkpoint), to change what it holds
//   flambeau::Object weight = draft.tensor(flambeau::Tensor::borrow<float>(numbers, {2, 3}));
//   flambeau::Object group = draft.dict({{"lr", 1e-3}, {"betas", draft.tuple({0.9, 0.999})}});
//   draft.set_root(draft.dict({{"weight", weight}, {"again", weight}, {"group", group}}));
//   flambeau::save("out.pt", draft);
//
// An `Object` that is put in two places is one Python object in both. A number, a text or a tensor
// that is put somewhere by itself becomes an object of its own there, as Python makes one for each
// expression; `literal` gives the one object that Python has for a text of its source code. Texts
// of one character up to U+00FF, and the empty one, are always one object, as in CPython.
//
// A draft and its objects belong to one thread at a time. An object is a pointer and a number: copy
// it freely, but not past the life of its draft. Tensors are not copied: what they borrow must live
// until the draft is saved.
#pragma once

#include <complex>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "flambeau/tensor.h"
#include "flambeau/value.h"

namespace flambeau {

class Checkpoint;
class Draft;
class Item;
struct ObjectAccess;

/// One object of a draft. Every call needs an object of a draft, not a default one, and of the kind
/// that it says; `usage` otherwise.
class Object {
 public:
  Object() = default;

  /// What it is, as a loaded graph would say it.
  Kind kind() const noexcept;
  explicit operator bool() const noexcept { return draft_ != nullptr; }
  /// Identity.
  friend bool operator==(Object a, Object b) noexcept = default;

  /// Items of a list or tuple, entries of a dict or OrderedDict.
  std::size_t size() const;

  // ---- dict, OrderedDict, and an object's dict items

  /// Sets a key: at its old place where it was there, else behind the others. Constant time.
  Object set(const Item& key, const Item& value) const;
  /// The value of a key, equal as Python's texts and integers are; nothing where there is none.
  /// Linear.
  std::optional<Object> find(const Item& key) const;
  /// Whether there was such a key. Linear.
  bool erase(const Item& key) const;
  /// Gives a key another name, at its place. Whether there was such a key. Linear. Error: `exists`
  /// where the new one is there already.
  bool rename(const Item& key, const Item& new_key) const;

  // ---- list; `replace` also tuple

  Object append(const Item& value) const;
  /// Before the item at `index`, or behind the last.
  Object insert(std::size_t index, const Item& value) const;
  Object replace(std::size_t index, const Item& value) const;
  Object erase(std::size_t index) const;
  /// The item at `index`.
  Object at(std::size_t index) const;

  // ---- instances of classes, and OrderedDicts

  /// What BUILD gives it: usually a dict of attributes.
  Object set_state(const Item& state) const;
  std::optional<Object> state() const;

  /// For the library's own use.
  Ref ref() const noexcept { return ref_; }

 private:
  friend class Draft;
  ObjectAccess access() const;
  Object(Draft* draft, Ref ref) noexcept : draft_(draft), ref_(ref) {}

  Draft* draft_ = nullptr;
  Ref ref_{};
};

/// What can be put into a container: an object, or something that becomes one there.
class Item {
 public:
  Item(std::nullptr_t) {}                        // NOLINT: None
  Item(bool value) : value_(value) {}            // NOLINT: a bool is an item
  Item(double value) : value_(value) {}          // NOLINT: so is a float
  Item(std::string_view text) : value_(text) {}  // NOLINT: a text, copied where it is put
  Item(const char* text) : Item(std::string_view(text)) {}         // NOLINT: the same
  Item(const std::string& text) : Item(std::string_view(text)) {}  // NOLINT: the same
  Item(Tensor tensor) : value_(std::move(tensor)) {}  // NOLINT: a tensor object of its own
  Item(Object object) : value_(object) {}             // NOLINT: that very object
  template <std::integral T>
  Item(T value) : value_(static_cast<std::int64_t>(value)) {}  // NOLINT: an integer is an item

 private:
  friend class Draft;
  std::variant<std::monostate, bool, std::int64_t, double, std::string_view, Tensor, Object> value_;
};

/// A key and its value.
using Entry = std::pair<Item, Item>;

class Draft {
 public:
  /// A new graph, whose root is None until `set_root`; it is saved with pickle protocol 2, as
  /// `torch.save` does unless told otherwise.
  Draft();
  /// A copy of what a checkpoint holds, to be changed. What is not touched is saved as it came,
  /// objects of unknown classes too. The storages are not copied: the draft keeps the file open.
  explicit Draft(const Checkpoint& checkpoint);
  Draft(Draft&&) = delete;
  ~Draft();

  Object root();
  void set_root(const Item& root);
  /// The object that a value of the draft's checkpoint is here. Error: `usage` for a value of
  /// another graph.
  Object object(Value value);

  // ---- new objects

  /// Any item as an object, so that it can be put in several places.
  Object make(const Item& item);
  Object none() { return make(nullptr); }
  Object string(std::string_view text) { return make(text); }
  /// The same object for the same text.
  Object literal(std::string_view text);
  Object bytes(std::span<const std::byte> content);
  /// An integer of any size, from decimal digits with an optional sign. Errors: `usage`; `limit`
  /// beyond `Limits::max_integer_digits`.
  Object integer(std::string_view digits);
  Object complex(std::complex<double> value);
  Object list(std::span<const Item> items);
  Object list(std::initializer_list<Item> items = {}) { return list(std::span(items)); }
  Object tuple(std::span<const Item> items);
  Object tuple(std::initializer_list<Item> items = {}) { return tuple(std::span(items)); }
  /// Elements in this order; Python's own depends on hashes. Error: `usage` for what cannot be
  /// hashed.
  Object set(std::span<const Item> elements);
  Object set(std::initializer_list<Item> elements = {}) { return set(std::span(elements)); }
  Object dict(std::span<const Entry> entries);
  Object dict(std::initializer_list<Entry> entries = {}) { return dict(std::span(entries)); }
  Object ordered_dict(std::span<const Entry> entries);
  Object ordered_dict(std::initializer_list<Entry> entries = {}) {
    return ordered_dict(std::span(entries));
  }
  /// What `ast.literal_eval` makes of a text: "{'lr': 1e-3, 'betas': (0.9, 0.999)}".
  /// Error: `usage`, with the place, for what is no literal.
  Object parse(std::string_view literal);
  /// One tensor object. Error: `unsupported` for what PyTorch cannot save, and for subclasses.
  Object tensor(const Tensor& tensor) { return make(tensor); }
  Object size(std::span<const std::int64_t> shape);
  Object dtype(DType dtype);
  /// "cuda:1".
  Object device(std::string_view device);
  /// A class or function. Names stand in the file as they are given; below protocol 3 Python
  /// expects those of Python 2 ("__builtin__", "copy_reg").
  Object global(std::string_view module, std::string_view name);
  /// callable(*args), made when the file is loaded.
  Object call(Object callable, std::span<const Item> args);
  Object call(Object callable, std::initializer_list<Item> args = {}) {
    return call(callable, std::span(args));
  }
  /// cls.__new__(cls, *args); `set_state` gives it attributes.
  Object instance(Object cls, std::span<const Item> args);
  Object instance(Object cls, std::initializer_list<Item> args = {}) {
    return instance(cls, std::span(args));
  }

  struct State;
  /// For the library's own use.
  State& state() noexcept { return *state_; }
  const State& state() const noexcept { return *state_; }

 private:
  friend class Object;
  Ref ref(const Item& item);
  Ref checked_key(Ref key);
  Object builtin(std::string_view name);
  std::vector<Ref> refs(std::span<const Item> items);
  std::vector<Ref> refs(std::span<const Entry> entries);
  Object object(Ref ref) noexcept { return {this, ref}; }

  std::unique_ptr<State> state_;
};

}  // namespace flambeau
