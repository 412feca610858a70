// Steps through a graph: which values a container leads to, and how names and paths spell the way.
//
//   name  model.layers.0.weight            keys joined with "."
//   path  ['model'].layers[0]['weight']    the Python expression after the loaded object
//
// Order and spelling follow the pickle: arguments, list items, dict items, state.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "torch/graph.h"

namespace flambeau {

enum class StepKind : std::uint8_t {
  root,
  key,        ///< of a dict or an object's dict items: `['k']`, `[0]`
  position,   ///< in a list, tuple, set, or among a NEWOBJ's arguments: `[i]`
  attribute,  ///< in a state that is a dict of names: `.k`
  argument,   ///< of a call: `(i)`
  state,      ///< a state of any other form: `.(state)`
};

class Step {
 public:
  Step() noexcept = default;
  /// `key` or `attribute`.
  Step(StepKind kind, Ref key) noexcept : kind_(kind), operand_(bits_of(key)) {}
  /// `position` or `argument`.
  Step(StepKind kind, std::uint32_t index) noexcept : kind_(kind), operand_(index) {}

  StepKind kind() const noexcept { return kind_; }
  Ref key() const noexcept { return Ref{operand_}; }
  std::uint32_t index() const noexcept { return operand_; }

 private:
  StepKind kind_ = StepKind::root;
  std::uint32_t operand_ = 0;
};

/// The step's part of a name, without the dot before it.
void append_name(const Graph& graph, const Step& step, std::string& out);
/// The step's part of a path.
void append_path(const Graph& graph, const Step& step, std::string& out);

/// Whether the value may lead to others.
bool is_container(Kind kind) noexcept;

/// Whether a state gives attributes by name: a dict with text keys, or a pair of such dicts or
/// Nones.
bool is_named_state(const Graph& graph, Ref state) noexcept;

namespace paths {

template <typename Visit>
void visit_pairs(std::span<const Ref> pairs, StepKind kind, Visit& visit) {
  for (std::size_t i = 0; i + 1 < pairs.size(); i += 2) visit(Step(kind, pairs[i]), pairs[i + 1]);
}

template <typename Visit>
void visit_sequence(std::span<const Ref> items, StepKind kind, Visit& visit) {
  std::uint32_t i = 0;
  for (const Ref item : items) visit(Step(kind, i++), item);
}

template <typename Visit>
void visit_state(const Graph& graph, Ref ref, Visit& visit) {
  if (!graph.has_state(ref)) return;
  const Ref state = graph.state(ref);
  if (!is_named_state(graph, state)) {
    visit(Step(StepKind::state, kNone), state);
  } else if (graph.kind(state) == Kind::tuple) {
    for (const Ref part : graph.elements(state)) {
      visit_pairs(graph.pairs(part), StepKind::attribute, visit);
    }
  } else {
    visit_pairs(graph.pairs(state), StepKind::attribute, visit);
  }
}

}  // namespace paths

/// Calls `visit(step, child)` for each value that `ref` leads to, in the pickle's order. Tensors
/// lead to nothing; calls that tell the type of a value stand for that value.
template <typename Visit>
void for_each_child(const Graph& graph, Ref ref, Visit visit_value) {
  const auto visit = [&](const Step& step, Ref child) { visit_value(step, graph.within(child)); };
  const Kind kind = graph.kind(ref);
  if (kind == Kind::object) {
    const Document& document = graph.document();
    const bool is_new = document.call_form(ref) == CallForm::newobj ||
                        document.call_form(ref) == CallForm::newobj_ex;
    paths::visit_sequence(graph.elements(document.args(ref)),
                          is_new ? StepKind::position : StepKind::argument, visit);
    const ObjectExtra* extra = document.extra(ref);
    if (extra != nullptr && extra->kwargs) {
      paths::visit_pairs(graph.pairs(*extra->kwargs), StepKind::key, visit);
    }
  }
  if (!is_container(kind)) return;
  paths::visit_sequence(graph.elements(ref), StepKind::position, visit);
  paths::visit_pairs(graph.pairs(ref), StepKind::key, visit);
  paths::visit_state(graph, ref, visit);
}

/// The values that a name or a path leads to from the root: at most one for a path, several for a
/// name that keys with dots in them make ambiguous. `path` says how each is reached.
struct Found {
  Ref value;
  std::string path;
};
std::vector<Found> find_values(const Graph& graph, std::string_view name_or_path);

}  // namespace flambeau
