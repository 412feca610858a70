// Answers to what a node is and holds. Everything here reads tables that the builder made; nothing
// is recognised anew.
#include "torch/graph.h"

#include <algorithm>
#include <bit>

#include "base/budget.h"

namespace flambeau {
namespace {

/// The entry of a table sorted by node, or null.
template <typename T>
const T* find_by_node(const std::vector<std::pair<std::uint32_t, T>>& table, Ref ref) {
  const auto found =
      std::lower_bound(table.begin(), table.end(), bits_of(ref),
                       [](const auto& entry, std::uint32_t node) { return entry.first < node; });
  return found != table.end() && found->first == bits_of(ref) ? &found->second : nullptr;
}

}  // namespace

TensorTable::TensorTable(std::pmr::memory_resource* memory, std::size_t expected)
    : memory_(memory), nodes_(memory) {
  constexpr std::size_t kSmallest = 64;
  // One chunk for a million tensors: what is not touched takes no memory.
  constexpr std::size_t kLargest = std::size_t{1} << 20;
  chunk_bits_ = std::countr_zero(std::bit_ceil(std::clamp(expected, kSmallest, kLargest)));
  nodes_.reserve(expected);
}

TensorTable::~TensorTable() {
  for (std::size_t row = 0; row < size(); ++row) std::destroy_at(&at(row));
}

/// Room comes in chunks that are never moved, since handles point into them.
void TensorTable::append(TensorRecord&& record) {
  const std::size_t row = size();
  if (row >> chunk_bits_ == chunks_.size()) {
    chunks_.push_back(make_run<TensorRecord>(memory_, std::size_t{1} << chunk_bits_));
  }
  std::construct_at(&at(row), std::move(record));
}

void TensorTable::add_late(Ref node, TensorRecord&& record) {
  const std::size_t row = size();
  append(std::move(record));
  late_nodes_.emplace(bits_of(node), row);
}

/// In node order first, then among the few that were made late.
std::optional<std::size_t> TensorTable::find(Ref node, std::size_t hint) const noexcept {
  if (hint < nodes_.size() && nodes_[hint] == bits_of(node)) return hint;
  const auto found = std::lower_bound(nodes_.begin(), nodes_.end(), bits_of(node));
  if (found != nodes_.end() && *found == bits_of(node)) {
    return static_cast<std::size_t>(found - nodes_.begin());
  }
  const auto late = late_nodes_.find(bits_of(node));
  return late == late_nodes_.end() ? std::nullopt : std::optional(late->second);
}

/// The handle shares the whole table: one count for all tensors of the file.
Tensor Graph::tensor_at(std::size_t row) const {
  return Tensor(std::shared_ptr<const TensorRecord>(tensors_, &tensors_->record(row)));
}

Tensor Graph::tensor(Ref ref, std::size_t hint) const {
  return tensor_at(*tensors_->find(ref, hint));
}

/// A caller's device may have put something else in the place of the file's storage.
Storage Graph::storage(Ref ref) const noexcept {
  const std::uint32_t row = document_.row(ref);
  return restored_.empty() ? Storage(storages_, row) : restored_[row];
}

/// Type and state are arguments of the call, so they are read from there each time instead of being
/// kept for every tensor.
TensorTraits Graph::traits(Ref ref) const noexcept {
  TensorTraits traits;
  if (!document_.is(ref, NodeKind::object)) return traits;
  const Ref callable = document_.callable(ref);
  if (document_.is(callable, NodeKind::global)) {
    const auto args = document_.items(document_.args(ref));
    const Role role = meaning(callable).role;
    if (role == Role::rebuild_parameter_with_state && args.size() > 3) traits.state = args[3];
    if (role == Role::rebuild_from_type && args.size() > 3) {
      traits.type = args[1];
      traits.state = args[3];
    }
  }
  const bool plain_type = document_.is(traits.type, NodeKind::global) &&
                          (meaning(traits.type).role == Role::tensor_class ||
                           meaning(traits.type).role == Role::parameter_class);
  if (plain_type) traits.type = kNone;
  const bool empty_state =
      document_.is(traits.state, NodeKind::dict) && document_.items(traits.state).empty();
  if (empty_state) traits.state = kNone;
  return traits;
}

/// Decoded texts come first: a Python 2 string has both, and the decoded one counts.
std::string_view Graph::text(Ref ref) const noexcept {
  if (const auto* decoded = find_by_node(decoded_, ref)) return *decoded;
  const NodeKind kind = document_.kind(ref);
  const bool is_text = kind == NodeKind::string || kind == NodeKind::byte_string ||
                       kind == NodeKind::bytes || kind == NodeKind::bytearray;
  return is_text ? document_.text(ref) : std::string_view();
}

/// Up to protocol 2 sets, and always torch.Size, are calls with one sequence as argument.
std::span<const Ref> Graph::elements(Ref ref) const noexcept {
  const NodeKind kind = document_.kind(ref);
  if (kind == NodeKind::list || kind == NodeKind::tuple || kind == NodeKind::set ||
      kind == NodeKind::frozenset) {
    return document_.items(ref);
  }
  if (kind != NodeKind::object) return {};
  const Form form = this->form(ref);
  if (form == Form::set || form == Form::frozenset || form == Form::size) {
    const auto args = document_.items(document_.args(ref));
    return args.empty() ? std::span<const Ref>() : document_.items(args[0]);
  }
  const ObjectExtra* extra = document_.extra(ref);
  if (form != Form::none || extra == nullptr) return {};
  return extra->list_items;
}

/// An OrderedDict made from a list of pairs has them joined with what was set later.
std::span<const Ref> Graph::pairs(Ref ref) const noexcept {
  if (document_.is(ref, NodeKind::dict)) return document_.items(ref);
  const Form form = this->form(ref);
  const bool has_pairs =
      document_.is(ref, NodeKind::object) && (form == Form::none || form == Form::ordered_dict);
  if (!has_pairs) return {};
  if (const auto* spread = find_by_node(spread_, ref)) return *spread;
  const ObjectExtra* extra = document_.extra(ref);
  return extra == nullptr ? std::span<const Ref>() : extra->dict_items;
}

/// None both for no state and for the state None; `has_state` tells them apart.
Ref Graph::state(Ref ref) const noexcept {
  if (!document_.is(ref, NodeKind::object)) return kNone;
  if (form(ref) == Form::tensor) return traits(ref).state;
  const ObjectExtra* extra = document_.extra(ref);
  return extra == nullptr ? kNone : extra->state.value_or(kNone);
}

bool Graph::has_state(Ref ref) const noexcept {
  if (form(ref) == Form::tensor) return state(ref) != kNone;
  if (!document_.is(ref, NodeKind::object)) return false;
  const ObjectExtra* extra = document_.extra(ref);
  return extra != nullptr && extra->state.has_value();
}

/// `device('cuda', 1)` and `device('cuda:1')` are the same.
std::string Graph::device(Ref ref) const {
  const auto args = document_.items(document_.args(ref));
  std::string device(text(args[0]));
  if (args.size() > 1) device += ":" + std::to_string(document_.integer(args[1]));
  return device;
}

/// `_get_layout('torch.strided')` (torch/serialization.py): the text is `str` of the layout.
std::string_view Graph::layout(Ref ref) const noexcept {
  std::string_view layout = text(document_.items(document_.args(ref))[0]);
  constexpr std::string_view kPrefix = "torch.";
  if (layout.starts_with(kPrefix)) layout.remove_prefix(kPrefix.size());
  return layout;
}

std::uint64_t text_budget(const Graph& graph) noexcept {
  return most_from(graph.document().source_size(), graph.limits());
}

/// Keys are few where names are asked for one by one; the listing's names have an index of their
/// own.
std::optional<Ref> find_key(const Graph& graph, std::span<const Ref> pairs,
                            std::string_view key) noexcept {
  for (std::size_t i = 0; i + 1 < pairs.size(); i += 2) {
    if (graph.kind(pairs[i]) == Kind::string && graph.text(pairs[i]) == key) return pairs[i + 1];
  }
  return std::nullopt;
}

/// `object.__getstate__` gives (dict, slots) for a class with `__slots__`; either may be None.
std::optional<Ref> find_attribute(const Graph& graph, Ref state, std::string_view name) noexcept {
  if (graph.kind(state) != Kind::tuple) return find_key(graph, graph.pairs(state), name);
  const auto parts = graph.elements(state);
  if (parts.size() != 2) return std::nullopt;
  for (const Ref part : parts) {
    if (const auto found = find_key(graph, graph.pairs(part), name)) return found;
  }
  return std::nullopt;
}

}  // namespace flambeau
