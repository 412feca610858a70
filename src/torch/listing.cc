// A depth-first walk with its own stack. A container is entered at every path that leads to it,
// never inside itself; the stack marks where each one ends, so that the path is known. Containers
// shared by shared containers multiply without end, so past a budget of visits or of bytes the walk
// starts over and enters each container once.
#include "torch/listing.h"

#include <algorithm>

#include "base/fail.h"
#include "io/pages.h"

namespace flambeau {
namespace {

constexpr std::uint64_t kFreeVisits = 250'000;
constexpr std::uint64_t kVisitsPerNode = 16;
/// The mark of a container's end on the stack.
constexpr std::uint32_t kEnd = UINT32_MAX - 1;

}  // namespace

std::uint64_t most_visits(const Graph& graph) noexcept {
  return kFreeVisits + kVisitsPerNode * graph.document().node_count();
}

Listing::Listing(const Graph& graph, std::string_view prefix)
    : graph_(graph),
      prefix_(prefix),
      rows_(page_memory()),
      last_steps_(page_memory()),
      pending_(page_memory()),
      names_(page_memory()) {
  walk(false);
  if (!pending_.empty()) walk(true);
  pending_.clear();
  pending_.shrink_to_fit();
  closed_ = {};
}

/// Both passes are this walk; the first one stops at its budgets, in the second one a container
/// stays closed for good. A list that many lists hold has a row for each of its tensors in each of
/// them, and a nest a name for each depth, so rows and names count.
void Listing::walk(bool first_paths_only) {
  const Document& document = graph_.document();
  const std::uint64_t most_visits = flambeau::most_visits(graph_);
  const std::uint64_t most_bytes = text_budget(graph_);
  first_paths_only_ = first_paths_only;
  visits_ = 0;
  next_tensor_ = 0;
  bytes_ = 0;
  rows_.clear();
  rows_.reserve(graph_.tensor_count());
  last_steps_.clear();
  last_steps_.reserve(graph_.tensor_count());
  entered_.clear();
  pending_.assign(1, {graph_.within(document.root()), kNoParent, {}});
  closed_.assign(document.node_count(), false);
  while (!pending_.empty() && bytes_ <= most_bytes &&
         (first_paths_only || visits_ <= most_visits)) {
    step();
  }
  if (first_paths_only && bytes_ > most_bytes) {
    fail(ErrorCode::limit, {}, "the names of the tensors take more than {} bytes", most_bytes);
  }
}

void Listing::step() {
  const Pending at = pending_.back();
  pending_.pop_back();
  if (at.parent == kEnd) {
    closed_[bits_of(at.value)] = first_paths_only_;
  } else if (graph_.kind(at.value) == Kind::tensor) {
    add_row(at);
  } else if (enter(at)) {
    push_children(at.value, static_cast<std::uint32_t>(entered_.size() - 1));
  }
}

/// Below its end mark, everything on the stack belongs to the container.
bool Listing::enter(const Pending& at) {
  if (!is_node(at.value) || closed_[bits_of(at.value)]) return false;
  ++visits_;
  closed_[bits_of(at.value)] = true;
  pending_.push_back({at.value, kEnd, {}});
  const bool is_root = at.parent == kNoParent;
  entered_.push_back({at.parent, at.step, is_root ? prefix_ : std::string_view(), is_root});
  return true;
}

/// Tensors before the first container are rows at once. From there on the children that may lead to
/// tensors wait, the first one on top.
void Listing::push_children(Ref container, std::uint32_t entered) {
  const auto first = static_cast<std::ptrdiff_t>(pending_.size());
  bool has_waiting = false;
  for_each_child(graph_, container, [&](const Step& step, Ref child) {
    if (!is_node(child)) return;
    const Kind kind = graph_.kind(child);
    if (kind == Kind::tensor && !has_waiting) {
      add_row({child, entered, step});
    } else if (kind == Kind::tensor || is_container(kind)) {
      has_waiting = true;
      pending_.push_back({child, entered, step});
    }
  });
  std::reverse(pending_.begin() + first, pending_.end());
}

/// Tensors come in the order of the table in nearly every file, so the next row is the hint.
void Listing::add_row(const Pending& at) {
  const std::size_t tensor = *graph_.tensor_row(at.value, next_tensor_);
  next_tensor_ = tensor + 1;
  const std::string_view name = at.parent == kNoParent ? prefix_ : name_of(at.parent, at.step);
  rows_.push_back({name, graph_.tensor_at(tensor)});
  last_steps_.push_back({at.parent, at.step});
  bytes_ += sizeof(NamedTensor) + sizeof(LastStep);
}

/// The container's name and the step's, joined. Text keys of the root are names as they stand.
std::string_view Listing::name_of(std::uint32_t parent, const Step& step) {
  const bool at_root = is_nameless(parent);
  const bool is_text = (step.kind() == StepKind::key || step.kind() == StepKind::attribute) &&
                       graph_.kind(step.key()) == Kind::string;
  if (at_root && is_text) return graph_.text(step.key());
  const std::string_view prefix = container_name(parent);
  scratch_.assign(prefix);
  if (!at_root) scratch_ += '.';
  append_name(graph_, step, scratch_);
  return keep(scratch_);
}

/// Climbs to the nearest container with a name, then spells downwards.
std::string_view Listing::container_name(std::uint32_t entered) {
  unspelled_.clear();
  std::uint32_t at = entered;
  for (; !entered_[at].is_spelled; at = entered_[at].parent) unspelled_.push_back(at);
  if (unspelled_.empty()) return entered_[entered].name;
  bool at_root = is_nameless(at);
  scratch_.assign(entered_[at].name);
  for (auto next = unspelled_.rbegin(); next != unspelled_.rend(); ++next) {
    if (!at_root) scratch_ += '.';
    at_root = false;
    append_name(graph_, entered_[*next].step, scratch_);
  }
  entered_[entered].name = keep(scratch_);
  entered_[entered].is_spelled = true;
  return entered_[entered].name;
}

std::string_view Listing::keep(std::string_view name) {
  bytes_ += name.size();
  const auto copy = names_.take(name.size());
  std::copy(name.begin(), name.end(), copy.begin());
  return {copy.data(), copy.size()};
}

/// Paths are asked for one by one, so each is spelled from its steps.
std::string Listing::path(std::size_t index) const {
  const LastStep& last = last_steps_[index];
  std::vector<Step> steps = {last.step};
  for (std::uint32_t at = last.parent; at != kNoParent; at = entered_[at].parent) {
    steps.push_back(entered_[at].step);
  }
  std::string path;
  for (auto step = steps.rbegin(); step != steps.rend(); ++step) append_path(graph_, *step, path);
  return path;
}

}  // namespace flambeau
