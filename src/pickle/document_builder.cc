// Nodes are handed out from chunks that never move, but for the first, which grows by doubling so
// that a small pickle costs little. A container takes exactly the room of its first batch of items,
// and a power of two from the second on.
//
// A dict is filled as the pickle says, repeated keys too, and cleared of them at the end: what is
// left is the same as if each SETITEM had looked for its key, since nothing reads dicts before.
// Whether a key can be hashed is asked when it is set, where the place is known.
#include "pickle/document_builder.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>

#include "base/text.h"
#include "pickle/bigint.h"

namespace flambeau {
namespace {

constexpr std::uint32_t kFirstNodes = 64;
constexpr std::size_t kSingle = 1;
constexpr std::size_t kPair = 2;

}  // namespace

std::string_view describe(NodeKind kind) noexcept {
  switch (kind) {
    case NodeKind::none: return "None";
    case NodeKind::boolean: return "a bool";
    case NodeKind::integer:
    case NodeKind::big_integer: return "an int";
    case NodeKind::real: return "a float";
    case NodeKind::string: return "a string";
    case NodeKind::byte_string: return "a Python 2 string";
    case NodeKind::bytes: return "bytes";
    case NodeKind::bytearray: return "a bytearray";
    case NodeKind::list: return "a list";
    case NodeKind::tuple: return "a tuple";
    case NodeKind::dict: return "a dict";
    case NodeKind::set: return "a set";
    case NodeKind::frozenset: return "a frozenset";
    case NodeKind::global: return "a class or function";
    case NodeKind::object: return "an object";
    case NodeKind::persistent: return "a persistent id";
    case NodeKind::extension: return "an extension";
    case NodeKind::outside: return "an object";
  }
  return "";
}

DocumentBuilder::DocumentBuilder(const ParseOptions& options, const CurrentStep& step)
    : document_(options.owner, options.memory),
      memory_(options.memory),
      step_(step),
      max_nodes_(static_cast<std::uint32_t>(
          std::min<std::uint64_t>(options.limits.max_nodes, kConstantBit))),
      keys_(document_, options.memory) {}

/// Only a first chunk can be smaller than the others, and a copy has none that is.
DocumentBuilder::DocumentBuilder(Document copy, const ParseOptions& options,
                                 const CurrentStep& step)
    : DocumentBuilder(options, step) {
  document_ = std::move(copy);
  count_ = document_.node_count_;
  if (!document_.nodes_.empty()) chunk_ = document_.nodes_.back().get();
  room_ = std::min<std::uint32_t>(
      max_nodes_, static_cast<std::uint32_t>(document_.nodes_.size() * Document::kChunkSize));
  for (std::uint32_t i = 0; i < count_; ++i) {
    if (document_.node(i).kind != NodeKind::global) continue;
    const GlobalName& global = document_.global(node_ref(i));
    globals_.try_emplace({global.module, global.name}, node_ref(i));
    if (global.module == "collections" && global.name == "OrderedDict") ordered_dict_ = node_ref(i);
  }
}

void DocumentBuilder::grow() {
  if (count_ == max_nodes_) {
    fail(ErrorCode::limit, step_.place(), "the graph has more than max_nodes {} nodes", max_nodes_);
  }
  if (count_ < Document::kChunkSize) {
    return grow_first_chunk(std::clamp(count_ * 4, kFirstNodes, Document::kChunkSize));
  }
  document_.nodes_.push_back(make_run<Node>(memory_, Document::kChunkSize));
  chunk_ = document_.nodes_.back().get();
  room_ = std::min(max_nodes_, count_ + Document::kChunkSize);
}

/// Copies the first chunk into a larger one; later chunks are of full size and stay.
void DocumentBuilder::grow_first_chunk(std::uint32_t room) {
  auto chunk = make_run<Node>(memory_, room);
  std::copy(chunk_, chunk_ + count_, chunk.get());
  chunk_ = chunk.get();
  room_ = std::min(max_nodes_, room);
  document_.nodes_.clear();
  document_.nodes_.push_back(std::move(chunk));
}

/// 32 bits count the bytes of a text; one of 4 GiB gets a place in a table.
Ref DocumentBuilder::add_large_text(NodeKind kind, std::string_view text) {
  Node& node = add(kind, kLargeText);
  node.bits = document_.large_texts_.size();
  document_.large_texts_.push_back(text);
  return last();
}

Ref DocumentBuilder::add_decoded_text(NodeKind kind, std::string_view text) {
  return add_text(kind, copy_text(text));
}

void DocumentBuilder::check_utf8(std::string_view text) const {
  if (!is_utf8(text)) refuse(step_, "the text is not UTF-8");
}

/// Picklers write small ints as LONG1, too: an int is the same node kind whatever its opcode was.
Ref DocumentBuilder::add_long(std::string_view twos_complement) {
  if (const auto small = to_int64(twos_complement)) return add_integer(*small);
  return add_text(NodeKind::big_integer, minimal_twos_complement(twos_complement));
}

Ref DocumentBuilder::add_decoded_long(std::string_view twos_complement) {
  if (const auto small = to_int64(twos_complement)) return add_integer(*small);
  return add_decoded_text(NodeKind::big_integer, minimal_twos_complement(twos_complement));
}

Ref DocumentBuilder::add_items_node(NodeKind kind, std::span<const Ref> items) {
  const std::span<Ref> run = document_.items_.take(items.size());
  std::copy(items.begin(), items.end(), run.begin());
  Node& node = add(kind, checked_count(items.size()));
  node.items = run.data();
  return last();
}

/// United at once, because a frozenset can be a key as soon as it is there.
Ref DocumentBuilder::add_frozenset(std::span<const Ref> items) {
  check_keys(items, kSingle);
  const Ref ref = add_items_node(NodeKind::frozenset, items);
  unite_keys(ref);
  return ref;
}

Ref DocumentBuilder::add_object_with_kwargs(Ref callable, Ref args, Ref kwargs) {
  const Ref object = add_object(CallForm::newobj_ex, callable, args);
  extra(object).kwargs = kwargs;
  return object;
}

/// The views are of the pickle, or of a decoded text in the document: both outlive the map.
Ref DocumentBuilder::add_global(std::string_view module, std::string_view name,
                                std::pair<Ref, Ref> texts) {
  const auto [place, is_new] = globals_.try_emplace({module, name}, kNone);
  if (is_new) {
    Node& node = add(NodeKind::global, static_cast<std::uint32_t>(document_.globals_.size()));
    node.near[0] = texts.first;
    node.near[1] = texts.second;
    place->second = last();
    document_.globals_.push_back({module, name});
    if (module == "collections" && name == "OrderedDict") ordered_dict_ = place->second;
  }
  return place->second;
}

Ref DocumentBuilder::add_named_global(std::string_view module, std::string_view name) {
  const auto known = globals_.find({module, name});
  if (known != globals_.end()) return known->second;
  return add_global(copy_text(module), copy_text(name));
}

std::string_view DocumentBuilder::copy_text(std::string_view text) {
  const std::span<char> copy = document_.texts_.take(text.size());
  std::copy(text.begin(), text.end(), copy.begin());
  return {copy.data(), copy.size()};
}

Ref DocumentBuilder::add_extension(std::int64_t code) {
  Node& node = add(NodeKind::extension, 0);
  node.integer = code;
  return last();
}

/// An object takes items as they come: its class's `append` or `extend` is not known.
void DocumentBuilder::append(Ref target, std::span<const Ref> items) {
  const NodeKind kind = document_.kind(target);
  if (kind == NodeKind::list) return extend(node(target), items, kSingle);
  if (kind != NodeKind::object) refuse_target(target, "a list");
  auto& list = extra(target).list_items;
  list.insert(list.end(), items.begin(), items.end());
}

void DocumentBuilder::set_items(Ref target, std::span<const Ref> pairs) {
  if (pairs.size() % 2 != 0) refuse(step_, "a key without a value");
  const NodeKind kind = document_.kind(target);
  if (kind == NodeKind::object) return set_object_items(target, pairs);
  if (kind != NodeKind::dict) refuse_target(target, "a dict");
  check_keys(pairs, kPair);
  Node& dict = node(target);
  // Noted once: when the second key comes.
  const bool had_several = dict.count > 1;
  extend(dict, pairs, kPair);
  if (!had_several && dict.count > 1) keyed_.push_back(target);
}

/// Only of an OrderedDict is it known that its items are those of a dict. Another class may make
/// anything of them, so that they are kept as they came.
void DocumentBuilder::set_object_items(Ref object, std::span<const Ref> pairs) {
  const bool is_ordered = is_ordered_dict(object);
  if (is_ordered) check_keys(pairs, kPair);
  auto& items = extra(object).dict_items;
  const bool had_several = items.size() > kPair;
  items.insert(items.end(), pairs.begin(), pairs.end());
  if (is_ordered && !had_several && items.size() > kPair) keyed_.push_back(object);
}

void DocumentBuilder::add_to_set(Ref target, std::span<const Ref> items) {
  if (!document_.is(target, NodeKind::set)) refuse_target(target, "a set");
  check_keys(items, kSingle);
  Node& set = node(target);
  const bool had_several = set.count > 1;
  extend(set, items, kSingle);
  if (!had_several && set.count > 1) keyed_.push_back(target);
}

/// CPython would set attributes of both states one after the other; no pickler writes two.
void DocumentBuilder::set_state(Ref target, Ref state) {
  if (!document_.is(target, NodeKind::object)) refuse_target(target, "an object");
  ObjectExtra& object = extra(target);
  if (object.state) {
    fail(ErrorCode::unsupported, step_.place(), "BUILD: the object has a state already");
  }
  object.state = state;
}

/// Most objects of a checkpoint are calls with arguments and nothing more, so extras stand aside.
ObjectExtra& DocumentBuilder::extra(Ref object) {
  std::uint32_t& place = node(object).call.extra;
  if (place == 0) {
    document_.extras_.emplace_back();
    place = static_cast<std::uint32_t>(document_.extras_.size());
  }
  return document_.extras_[place - 1];
}

bool DocumentBuilder::is_ordered_dict(Ref object) const noexcept {
  return ordered_dict_ != kNone && document_.callable(object) == ordered_dict_;
}

void DocumentBuilder::check_keys(std::span<const Ref> items, std::size_t width) {
  for (std::size_t at = 0; at < items.size(); at += width) {
    if (!keys_.admit(items[at])) [[unlikely]] {
      refuse(step_, "{} is unhashable, or holds what is", describe(document_.kind(items[at])));
    }
  }
}

std::uint32_t DocumentBuilder::checked_count(std::uint64_t count) const {
  if (count > UINT32_MAX) {
    fail(ErrorCode::limit, step_.place(), "a container has more than {} items", UINT32_MAX);
  }
  return static_cast<std::uint32_t>(count);
}

/// The old run stays in the arena when a container moves: doubling keeps that below the new one.
void DocumentBuilder::extend(Node& container, std::span<const Ref> items, std::size_t width) {
  const std::uint64_t count = container.count + items.size() / width;
  reserve(container, count, width);
  std::copy(items.begin(), items.end(), container.items + container.count * width);
  container.count = static_cast<std::uint32_t>(count);
}

void DocumentBuilder::reserve(Node& container, std::uint64_t count, std::size_t width) {
  const std::uint64_t room =
      container.detail == 0 ? container.count : std::uint64_t{1} << container.detail;
  if (count <= room) return;
  checked_count(count);
  // A first batch is often the only one; from the second on, doubling keeps appends linear.
  const std::uint64_t new_room = container.count == 0 ? count : std::bit_ceil(count);
  const std::span<Ref> run = document_.items_.take(new_room * width);
  std::copy(container.items, container.items + container.count * width, run.begin());
  container.items = run.data();
  container.detail =
      static_cast<std::uint8_t>(container.count == 0 ? 0 : std::countr_zero(new_room));
}

/// Only dicts count for `duplicate_keys`: an element that a set has twice loses nothing.
void DocumentBuilder::unite_keys(Ref container) {
  if (document_.is(container, NodeKind::object)) {
    auto& items = extra(container).dict_items;
    const std::size_t before = items.size();
    items.resize(keys_.unite(items, Keys::Width::pairs) * kPair);
    if (items.size() < before) ++document_.duplicate_keys_;
    return;
  }
  Node& node = this->node(container);
  const bool is_dict = node.kind == NodeKind::dict;
  const auto width = is_dict ? Keys::Width::pairs : Keys::Width::elements;
  const std::size_t kept =
      keys_.unite({node.items, node.count * static_cast<std::size_t>(width)}, width);
  if (is_dict && kept < node.count) ++document_.duplicate_keys_;
  node.count = static_cast<std::uint32_t>(kept);
}

void DocumentBuilder::replace_items(Ref container, std::span<const Ref> items) {
  Node& node = this->node(container);
  const std::size_t width = node.kind == NodeKind::dict ? kPair : kSingle;
  const std::uint32_t count = checked_count(items.size() / width);
  const bool is_near = node.kind == NodeKind::tuple && count <= kNearItems;
  // Copied before the node changes: `items` may be its own.
  const std::span<Ref> run = document_.items_.take(items.size());
  std::copy(items.begin(), items.end(), run.begin());
  node.count = count;
  if (is_near) {
    node.near[0] = count > 0 ? run[0] : kNone;
    node.near[1] = count > 1 ? run[1] : kNone;
  } else {
    node.detail = 0;
    node.items = run.data();
  }
}

void DocumentBuilder::replace_list_items(Ref object, std::span<const Ref> items) {
  extra(object).list_items = std::vector<Ref>(items.begin(), items.end());
}

void DocumentBuilder::replace_dict_items(Ref object, std::span<const Ref> pairs) {
  extra(object).dict_items = std::vector<Ref>(pairs.begin(), pairs.end());
}

void DocumentBuilder::replace_text(Ref string, std::string_view text) {
  Node& node = this->node(string);
  node.text = copy_text(text).data();
  node.count = checked_count(text.size());
}

void DocumentBuilder::unite(Ref container) {
  const bool is_object = document_.is(container, NodeKind::object);
  const std::span<const Ref> keys =
      is_object ? std::span<const Ref>(extra(container).dict_items) : document_.items(container);
  check_keys(keys, is_object || document_.is(container, NodeKind::dict) ? kPair : kSingle);
  unite_keys(container);
}

const Document& DocumentBuilder::seal(Ref root, int protocol) noexcept {
  document_.node_count_ = count_;
  document_.root_ = root;
  document_.protocol_ = protocol;
  return document_;
}

Document DocumentBuilder::finish(Ref root, std::uint64_t source_size, std::uint64_t left_on_stack,
                                 int protocol) {
  // One with less than two keys has none twice, and is not in the list.
  for (const Ref container : keyed_) unite_keys(container);
  document_.node_count_ = count_;
  document_.root_ = root;
  document_.source_size_ = source_size;
  document_.left_on_stack_ = left_on_stack;
  document_.protocol_ = protocol;
  return std::move(document_);
}

void DocumentBuilder::refuse_target(Ref target, std::string_view wanted) const {
  refuse(step_, "needs {}, finds {}", wanted, describe(document_.kind(target)));
}

}  // namespace flambeau
