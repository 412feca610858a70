// Python's equality of dict keys and set elements: 1, 1.0 and True are one key, a NaN equals only
// itself, tuples and frozensets are equal by what they hold, objects only by identity.
//
//   Keys keys(document);
//   if (!keys.admit(key)) …                          // a list, dict, set or bytearray: unhashable
//   count = keys.unite(pairs, Keys::Width::pairs);   // each key once
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "pickle/document.h"

namespace flambeau {

/// What `==` looks at in a key. Two keys are one key just if they are equal field by field.
struct Key {
  /// What kind of equality: 'i' integer, 'I' integer of more than 64 bits, 'f' float, 's' string,
  /// 'b' bytes, 'c' tuple or frozenset, 'x' extension, 'n' identity.
  char tag;
  /// The number itself, the bits of a float, the class of a tuple's equals, an ordinal.
  std::uint64_t word;
  std::string_view text;

  bool operator==(const Key&) const = default;
};

/// Compares the keys of one document while it is being built, in time linear in keys and in what
/// tuples hold: equal tuples get one number, from the numbers of their items up, so that a tuple
/// shared a thousandfold is looked at once and none is walked by recursion.
class Keys {
 public:
  enum class Width : std::size_t {
    elements = 1,
    pairs = 2
  };

  explicit Keys(const Document& document,
                std::pmr::memory_resource* memory = std::pmr::get_default_resource());

  /// Whether Python can hash the value. Must be asked before a value takes part in `unite`.
  bool admit(Ref value) {
    const NodeKind kind = document_.kind(value);
    return kind == NodeKind::string || admit_other(value, kind);
  }

  /// Moves each key to the front once, at the place of its first and, of pairs, with the value of
  /// its last setting. Gives how many keys are left.
  std::size_t unite(std::span<Ref> items, Width width);

 private:
  /// A composite that is being numbered, and the item that comes next.
  struct Visit {
    Ref composite;
    std::size_t next;
  };
  struct Hash {
    std::size_t operator()(const std::string& text) const noexcept;
    std::uint64_t seed;
  };

  bool admit_other(Ref value, NodeKind kind);
  /// Python's `__hash__ = None`.
  bool is_unhashable(NodeKind kind) const noexcept;
  /// Gives a tuple or frozenset its number, and all within it; false where something is unhashable.
  bool number_composite(Ref composite);
  bool advance(Visit& visit);
  void number_visited(Ref composite);
  /// The items of a composite, a tag and a word each.
  std::string spell_items(Ref composite);
  std::uint64_t number_text(char tag, Ref ref, std::string_view text);

  /// What `==` looks at in an admitted value.
  Key key(Ref ref) const;
  Key key_of_real(Ref ref) const;
  std::uint64_t hash(const Key& key) const noexcept;
  std::size_t unite_few(std::span<Ref> items, std::size_t width) const;
  std::size_t unite_many(std::span<Ref> items, std::size_t width);
  std::size_t place(const Key& key, std::uint64_t hash, std::span<Ref> items, std::size_t from,
                    std::size_t count, std::size_t width);
  std::uint32_t tag_of(std::uint64_t hash) const noexcept;
  std::size_t find_slot(const Key& key, std::uint64_t hash, std::span<const Ref> items,
                        std::size_t width) const;

  const Document& document_;
  std::uint64_t seed_;
  /// 1 + the ordinal of the key in the lower bits, a part of its hash above; 0 is free. Kept
  /// between dicts.
  std::pmr::vector<std::uint32_t> slots_;
  unsigned ordinal_bits_ = 0;
  /// Numbers of what stands in tuples, by spelling and by node.
  std::unordered_map<std::string, std::uint64_t, Hash> numbers_;
  std::unordered_map<std::uint32_t, std::uint64_t> number_of_node_;
  std::vector<Visit> visits_;
};

}  // namespace flambeau
