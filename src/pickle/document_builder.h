// Makes a document while the machine runs, or changes a copy of one. All rules about nodes are
// here: which values can be appended to, which can be keys, how many nodes there may be.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "pickle/document.h"
#include "pickle/keys.h"
#include "pickle/step.h"
#include "pickle/text_argument.h"

namespace flambeau {

/// Adds nodes and fills containers. Refuses with `malformed_pickle`, `unsupported` and `limit` at
/// the instruction that `step` holds, which must outlive the builder.
class DocumentBuilder {
 public:
  DocumentBuilder(const ParseOptions& options, const CurrentStep& step);
  /// Goes on with a copy of a document.
  DocumentBuilder(Document copy, const ParseOptions& options, const CurrentStep& step);
  DocumentBuilder(const DocumentBuilder&) = delete;
  DocumentBuilder& operator=(const DocumentBuilder&) = delete;

  /// What has been built so far.
  const Document& document() const noexcept { return document_; }
  std::uint32_t node_count() const noexcept { return count_; }

  /// An integer, in place where it is small.
  Ref add_integer(std::int64_t value) {
    if (is_small(value)) return small_integer_ref(value);
    Node& node = add(NodeKind::integer, 0);
    node.integer = value;
    return last();
  }
  Ref add_real(double value) {
    Node& node = add(NodeKind::real, 0);
    node.real = value;
    return last();
  }
  /// A text that stays where it is, in the pickle.
  Ref add_text(NodeKind kind, std::string_view text) {
    if (text.size() >= kLargeText) [[unlikely]]
      return add_large_text(kind, text);
    Node& node = add(kind, static_cast<std::uint32_t>(text.size()));
    node.text = text.data();
    return last();
  }
  /// A text that had to be decoded: copied into the document.
  Ref add_decoded_text(NodeKind kind, std::string_view text);
  /// A string node of UTF-8 with surrogates let through.
  Ref add_string(std::string_view text) {
    if (!is_ascii(text)) [[unlikely]]
      check_utf8(text);
    return add_text(NodeKind::string, text);
  }
  /// An integer from two's complement in the pickle, of any size.
  Ref add_long(std::string_view twos_complement);
  /// The same from two's complement that lies elsewhere.
  Ref add_decoded_long(std::string_view twos_complement);

  /// An empty list, dict or set.
  Ref add_empty(NodeKind container) {
    Node& node = add(container, 0);
    node.items = nullptr;
    return last();
  }
  /// A tuple; two items or fewer stand in the node itself.
  Ref add_tuple(std::span<const Ref> items) {
    if (items.size() > kNearItems) return add_items_node(NodeKind::tuple, items);
    Node& node = add(NodeKind::tuple, static_cast<std::uint32_t>(items.size()));
    node.near[0] = items.empty() ? kNone : items[0];
    node.near[1] = items.size() > 1 ? items[1] : kNone;
    return last();
  }
  /// A frozenset of the items, equal ones once.
  Ref add_frozenset(std::span<const Ref> items);
  /// A call that is not made. The operands may be anything.
  Ref add_object(CallForm how, Ref callable, Ref args) {
    Node& node = add(NodeKind::object, bits_of(callable));
    node.detail = static_cast<std::uint8_t>(how);
    node.call = {args, 0};
    return last();
  }
  Ref add_object_with_kwargs(Ref callable, Ref args, Ref kwargs);
  /// The node of a class or function; the same for the same two names. `texts` are the nodes that
  /// spell them, where STACK_GLOBAL does.
  Ref add_global(std::string_view module, std::string_view name,
                 std::pair<Ref, Ref> texts = {kNone, kNone});
  /// The same for names that live elsewhere: they are copied where they are new.
  Ref add_named_global(std::string_view module, std::string_view name);
  /// Whether Python can hash the value, so that it can be a key.
  bool is_hashable(Ref value) { return keys_.admit(value); }
  /// Something outside the pickle. Each is a node of its own, also those of one id.
  Ref add_persistent(Ref id) {
    Node& node = add(NodeKind::persistent, bits_of(id));
    node.bits = 0;
    return last();
  }
  /// Something that the layer above will write, and knows by this number.
  Ref add_outside(std::uint32_t number) {
    Node& node = add(NodeKind::outside, number);
    node.bits = 0;
    return last();
  }
  /// A code of Python's extension registry.
  Ref add_extension(std::int64_t code);

  /// What APPEND and APPENDS do: to a list or an object.
  void append(Ref target, std::span<const Ref> items);
  /// What SETITEM and SETITEMS do, with keys and values in turn: to a dict or an object.
  void set_items(Ref target, std::span<const Ref> pairs);
  /// What ADDITEMS does: to a set.
  void add_to_set(Ref target, std::span<const Ref> items);
  /// What BUILD does: to an object, once.
  void set_state(Ref target, Ref state);

  // ---- changes to what there is; the references named are of the kind that each wants

  /// Of a list, tuple, dict (keys and values in turn), set or frozenset.
  void replace_items(Ref container, std::span<const Ref> items);
  /// Of an object: its list items or its dict items.
  void replace_list_items(Ref object, std::span<const Ref> items);
  void replace_dict_items(Ref object, std::span<const Ref> pairs);
  void replace_args(Ref object, Ref args) { node(object).call.args = args; }
  void replace_state(Ref object, std::optional<Ref> state) { extra(object).state = state; }
  /// Of a string. The text is copied.
  void replace_text(Ref string, std::string_view text);
  /// Leaves each key of a dict, set or object's dict items once, the value of its last setting at
  /// the place of its first.
  void unite(Ref container);
  /// The document so far, as if it were finished.
  const Document& seal(Ref root, int protocol) noexcept;

  /// Gives each dict, set and OrderedDict its keys once, and the document away.
  Document finish(Ref root, std::uint64_t source_size, std::uint64_t left_on_stack, int protocol);

 private:
  /// Room for one more node, with the common fields set.
  [[gnu::always_inline]] Node& add(NodeKind kind, std::uint32_t count) {
    if (count_ == room_) [[unlikely]]
      grow();
    Node& node = chunk_[count_ & (Document::kChunkSize - 1)];
    ++count_;
    node.kind = kind;
    node.detail = 0;
    node.tag = 0;
    node.count = count;
    return node;
  }
  /// The node that was added last.
  Ref last() const noexcept { return node_ref(count_ - 1); }
  std::string_view copy_text(std::string_view text);
  Ref add_items_node(NodeKind kind, std::span<const Ref> items);
  Ref add_large_text(NodeKind kind, std::string_view text);
  /// Makes room, or refuses where `max_nodes` is reached: the only place that compares with it.
  [[gnu::noinline]] void grow();
  void grow_first_chunk(std::uint32_t room);

  Node& node(Ref ref) noexcept { return document_.mutable_node(bits_of(ref)); }
  /// Makes the items of a list, dict or set longer; `width` references each.
  void extend(Node& container, std::span<const Ref> items, std::size_t width);
  /// Makes sure that a container has room for `count` items.
  void reserve(Node& container, std::uint64_t count, std::size_t width);
  void check_utf8(std::string_view text) const;
  /// Refuses what Python cannot hash.
  void check_keys(std::span<const Ref> items, std::size_t width);
  std::uint32_t checked_count(std::uint64_t count) const;
  /// What an object has beside callable and arguments, made when it is first asked for.
  ObjectExtra& extra(Ref object);
  bool is_ordered_dict(Ref object) const noexcept;
  void set_object_items(Ref object, std::span<const Ref> pairs);
  void unite_keys(Ref container);
  [[noreturn, gnu::cold]] void refuse_target(Ref target, std::string_view wanted) const;

  Document document_;
  std::pmr::memory_resource* memory_;
  const CurrentStep& step_;
  std::uint32_t max_nodes_;
  /// The chunk that is being filled, nodes so far, and where they have to stop or take a new chunk.
  Node* chunk_ = nullptr;
  std::uint32_t count_ = 0;
  std::uint32_t room_ = 0;
  Keys keys_;
  /// A map with an order, so that no names can be chosen to make it slow.
  std::map<std::pair<std::string_view, std::string_view>, Ref> globals_;
  /// The global `collections OrderedDict`, once it has occurred.
  Ref ordered_dict_ = kNone;
  /// Dicts, sets and OrderedDicts with more than one key, for `finish`.
  std::vector<Ref> keyed_;
};

/// "a list", "an object": for messages.
std::string_view describe(NodeKind kind) noexcept;

}  // namespace flambeau
