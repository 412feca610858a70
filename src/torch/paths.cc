// Spelling of steps, and the search for a value by name or path. The search keeps a list of the
// places that a part of the text leads to; it never recurses, and looks at no place twice.
#include "torch/paths.h"

#include <algorithm>
#include <set>
#include <utility>

#include "pickle/repr.h"

namespace flambeau {
namespace {

/// A key that is neither text nor a small integer, as Python writes it.
std::string key_repr(const Graph& graph, Ref key) {
  // Never cut, or two keys could look alike; half of the largest size, as sums are compared with
  // it.
  return repr(Value(&graph, key), std::string::npos / 2);
}

}  // namespace

/// Text keys stand as they are, dots included: names are for people, paths are exact.
void append_name(const Graph& graph, const Step& step, std::string& out) {
  switch (step.kind()) {
    case StepKind::root: return;
    case StepKind::key:
    case StepKind::attribute:
      if (graph.kind(step.key()) == Kind::string) {
        out += graph.text(step.key());
      } else {
        out += key_repr(graph, step.key());
      }
      return;
    case StepKind::position: out += std::to_string(step.index()); return;
    case StepKind::argument: out += "(" + std::to_string(step.index()) + ")"; return;
    case StepKind::state: out += "(state)"; return;
  }
}

/// What Python has no expression for (an argument, a state of another form) has brackets of its
/// own.
void append_path(const Graph& graph, const Step& step, std::string& out) {
  switch (step.kind()) {
    case StepKind::root: return;
    case StepKind::key: out += "[" + key_repr(graph, step.key()) + "]"; return;
    case StepKind::attribute:
      out += ".";
      append_name(graph, step, out);
      return;
    case StepKind::position: out += "[" + std::to_string(step.index()) + "]"; return;
    case StepKind::argument: out += "(" + std::to_string(step.index()) + ")"; return;
    case StepKind::state: out += ".(state)"; return;
  }
}

bool is_container(Kind kind) noexcept {
  return kind == Kind::list || kind == Kind::tuple || kind == Kind::set ||
         kind == Kind::frozenset || kind == Kind::dict || kind == Kind::ordered_dict ||
         kind == Kind::object;
}

namespace {

/// None counts: it is the missing half of a pair of dict and slots.
bool has_text_keys(const Graph& graph, Ref ref) {
  const Kind kind = graph.kind(ref);
  if (kind == Kind::none) return true;
  if (kind != Kind::dict && kind != Kind::ordered_dict) return false;
  const auto pairs = graph.pairs(ref);
  for (std::size_t i = 0; i < pairs.size(); i += 2) {
    if (graph.kind(pairs[i]) != Kind::string) return false;
  }
  return true;
}

}  // namespace

/// `(None, None)` would give no attribute, so the second half must be there.
bool is_named_state(const Graph& graph, Ref state) noexcept {
  if (graph.kind(state) != Kind::tuple) {
    return graph.kind(state) != Kind::none && has_text_keys(graph, state);
  }
  const auto parts = graph.elements(state);
  return parts.size() == 2 && has_text_keys(graph, parts[0]) && has_text_keys(graph, parts[1]) &&
         graph.kind(parts[1]) != Kind::none;
}

namespace {

/// A value that the first `used` characters of the wanted text lead to.
struct Reached {
  Ref value;
  std::size_t used;
  std::string path;
};

/// How far `part` brings the text; nothing where it does not fit there. A name's parts are followed
/// by a dot or the end.
struct Advance {
  std::size_t used;
  bool complete;
};
std::optional<Advance> advance(std::string_view text, std::size_t used, std::string_view part,
                               bool as_name) {
  if (!text.substr(used).starts_with(part)) return std::nullopt;
  const std::size_t next = used + part.size();
  if (next == text.size()) return Advance{next, true};
  if (!as_name) return Advance{next, false};
  if (text[next] != '.') return std::nullopt;
  return Advance{next + 1, false};
}

/// Depth does not matter: what is reached and not yet followed lies in a list.
std::vector<Found> search(const Graph& graph, std::string_view text, bool as_name) {
  std::vector<Found> found;
  std::vector<Reached> open = {{graph.within(graph.document().root()), 0, {}}};
  // The same value with the same rest of the text leads to the same places: cycles end here.
  std::set<std::pair<std::uint32_t, std::size_t>> seen;
  std::string part;
  while (!open.empty()) {
    const Reached at = std::move(open.back());
    open.pop_back();
    if (!seen.emplace(bits_of(at.value), at.used).second) continue;
    for_each_child(graph, at.value, [&](const Step& step, Ref child) {
      part.clear();
      as_name ? append_name(graph, step, part) : append_path(graph, step, part);
      const auto next = advance(text, at.used, part, as_name);
      if (!next) return;
      std::string path = at.path;
      append_path(graph, step, path);
      if (next->complete) {
        found.push_back({child, std::move(path)});
      } else {
        open.push_back({child, next->used, std::move(path)});
      }
    });
  }
  return found;
}

}  // namespace

/// Names first, as for tensors; a text that is a name is never looked up as a path.
std::vector<Found> find_values(const Graph& graph, std::string_view name_or_path) {
  if (name_or_path.empty()) return {{graph.document().root(), {}}};
  auto found = search(graph, name_or_path, true);
  if (found.empty()) found = search(graph, name_or_path, false);
  return found;
}

}  // namespace flambeau
