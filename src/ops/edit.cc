// First all names are looked up in the checkpoint's own graph, then all changes are made to the
// draft's copy of it, one container at a time: whatever is dropped or renamed, the other names
// still mean what they meant.
#include "flambeau/edit.h"

#include <fmt/format.h>

#include <algorithm>
#include <compare>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/fail.h"
#include "flambeau/checkpoint.h"
#include "pickle/repr.h"
#include "torch/draft.h"
#include "torch/entries.h"

namespace flambeau {
namespace {

/// A run of references that can be changed: of the items of a list, tuple, set or dict, or what an
/// object has beside its arguments.
struct Place {
  enum class Run {
    items,
    list_items,
    dict_items,
    state,
  };
  Ref node;
  Run run;
  /// Whether the run is the arguments of a call, which must stay as many.
  bool is_arguments = false;
  /// Whether it is the elements of a set, which Python has to hash.
  bool is_set = false;

  auto operator<=>(const Place&) const = default;
};

/// What changes in one place. Entries are known by their key's node or by their position.
struct Changes {
  std::set<std::uint32_t> dropped;
  std::map<std::uint32_t, Ref> renamed;
  std::map<std::uint32_t, Ref> set;
  /// Keys and values that go behind the others.
  std::vector<std::pair<Ref, Ref>> added;
};

/// An entry that a name leads to.
struct Target {
  Place place;
  std::uint32_t operand;
  Step step;
  std::string path;
  std::size_t container_name_size;
  std::size_t container_path_size;
};

/// The innermost container that a new name can be an entry of, and what of the name is left.
struct Parent {
  Ref container = kNone;
  std::string path{};
  std::string rest{};
  bool rest_is_path = false;
  bool is_ambiguous = false;
};

/// A name of `rename` or `set` and what it leads to.
struct Wanted {
  std::string_view name;
  std::optional<Target> target{};
  /// Paths of the entries, where there is more than one.
  std::vector<std::string> others{};
  Parent parent{};
};

class Editor {
 public:
  Editor(Draft& draft, const Edits& edits)
      : draft_(draft), state_(draft.state()), graph_(*state_.base), edits_(edits) {}

  EditReport run();

 private:
  void look_up();
  void visit(const GraphEntry& entry);
  bool takes_entry(Ref container, char path_start) const;
  void consider_parent(Wanted& wanted, Ref container, std::string_view name, std::string_view path);
  Place place_of(const GraphEntry& entry);
  Place attribute_place(Ref state, Ref key);
  bool has_key(Ref mapping, Ref key);
  const Target& only(const Wanted& wanted) const;

  void plan_rename(const Wanted& wanted, std::string_view new_name);
  void plan_set(const Wanted& wanted, std::string_view literal);
  void plan_new(const Wanted& wanted, Ref value);
  Place mapping_of(Ref container) const;
  Ref key_for(std::string_view rest, bool is_path, bool as_integer);
  Object subscript(std::string_view rest);
  std::string text_of(Ref key) const;
  bool has_integer_keys(Ref container) const;

  std::vector<Ref> read(const Place& place) const;
  void write(const Place& place, std::span<const Ref> run);
  std::vector<Ref> changed(const Place& place, const Changes& changes) const;
  void check_renamed(std::span<const Ref> run, std::size_t width, const Changes& changes) const;
  bool is_same_key(Ref a, Ref b) const;

  Draft& draft_;
  Draft::State& state_;
  const Graph& graph_;
  const Edits& edits_;
  std::vector<bool> matched_;
  /// The path of what was dropped last: what is below it is gone with it.
  std::string dropped_path_;
  std::vector<Wanted> renames_;
  std::vector<Wanted> sets_;
  std::map<Place, Changes> changes_;
  std::unordered_map<std::uint32_t, std::unordered_set<std::uint32_t>> keys_of_;
  EditReport report_;
};

bool is_mapping(Kind kind) { return kind == Kind::dict || kind == Kind::ordered_dict; }

/// A state is the one item of its run.
std::uint32_t position_of(const Step& step) {
  return step.kind() == StepKind::state ? 0 : step.index();
}

bool is_below(std::string_view path, std::string_view container) {
  return !container.empty() && path.size() > container.size() && path.starts_with(container) &&
         std::string_view("[.(").find(path[container.size()]) != std::string_view::npos;
}

// ---- looking up

void Editor::look_up() {
  matched_.resize(edits_.drop.size());
  for (const auto& [name, new_name] : edits_.rename) renames_.push_back({name});
  for (const auto& [name, value] : edits_.set) sets_.push_back({name});
  for (Wanted& wanted : sets_) consider_parent(wanted, graph_.document().root(), {}, {});
  for_each_entry(graph_, [this](const GraphEntry& entry) { visit(entry); });
}

void Editor::visit(const GraphEntry& entry) {
  std::optional<Target> target;
  const auto find_target = [&]() -> const Target& {
    if (!target) {
      const bool has_key =
          entry.step.kind() == StepKind::key || entry.step.kind() == StepKind::attribute;
      target = Target{place_of(entry),
                      has_key ? bits_of(entry.step.key()) : position_of(entry.step),
                      entry.step,
                      std::string(entry.path),
                      entry.container_name_size,
                      entry.container_path_size};
    }
    return *target;
  };
  const bool is_gone = is_below(entry.path, dropped_path_);
  for (std::size_t i = 0; i < edits_.drop.size() && !is_gone; ++i) {
    if (!name_matches(edits_.drop[i], entry.name) && edits_.drop[i] != entry.path) continue;
    const Target& found = find_target();
    if (found.place.is_arguments || found.place.run == Place::Run::state) {
      fail(ErrorCode::usage, {}, "{} is an argument or the state of an object, which needs it",
           found.path);
    }
    matched_[i] = true;
    dropped_path_ = entry.path;
    if (changes_[found.place].dropped.insert(found.operand).second) ++report_.dropped;
  }
  const auto consider = [&](Wanted& wanted) {
    if (wanted.name != entry.name && wanted.name != entry.path) return;
    const Target& found = find_target();
    if (is_gone) {
      fail(ErrorCode::usage, {}, "'{}' is in {}, which is dropped", wanted.name, dropped_path_);
    }
    const bool is_known = wanted.target && wanted.target->place == found.place &&
                          wanted.target->operand == found.operand;
    if (wanted.target && !is_known) wanted.others.push_back(found.path);
    if (!wanted.target) wanted.target = found;
  };
  for (Wanted& wanted : renames_) consider(wanted);
  for (Wanted& wanted : sets_) {
    consider(wanted);
    consider_parent(wanted, entry.value, entry.name, entry.path);
  }
}

/// Whether a new entry can be written behind the container: a key in brackets, an attribute behind
/// a dot; a name leaves that open.
bool Editor::takes_entry(Ref container, char path_start) const {
  const Kind kind = graph_.kind(container);
  const bool has_names = kind == Kind::object && graph_.has_state(container) &&
                         is_named_state(graph_, graph_.state(container));
  const bool has_keys =
      is_mapping(kind) || (kind == Kind::object && !graph_.pairs(container).empty());
  if (path_start == '.') return has_names;
  return has_keys || (path_start != '[' && has_names);
}

/// The longest name that the new one begins with decides.
void Editor::consider_parent(Wanted& wanted, Ref container, std::string_view name,
                             std::string_view path) {
  const bool is_root = path.empty();
  std::string_view rest = wanted.name;
  const bool is_path = rest.starts_with('[') || rest.starts_with('.');
  const std::string_view prefix = is_path ? path : name;
  if (!rest.starts_with(prefix) || rest.size() == prefix.size()) return;
  rest.remove_prefix(prefix.size());
  if (!is_path && !is_root) {
    if (rest[0] != '.' || rest.size() == 1) return;
    rest.remove_prefix(1);
  }
  if (!takes_entry(container, is_path ? rest[0] : '\0')) return;
  Parent& parent = wanted.parent;
  const bool is_known = parent.container != kNone;
  if (is_known && (parent.rest.size() < rest.size() || parent.container == container)) return;
  const bool is_rival = is_known && parent.rest.size() == rest.size();
  parent = {container, std::string(path), std::string(rest), is_path, is_rival};
}

/// Whether the mapping's own keys have this node among them. Looked up in a set, since a whole
/// container may be dropped key by key.
bool Editor::has_key(Ref mapping, Ref key) {
  const auto [place, is_new] = keys_of_.try_emplace(bits_of(mapping));
  if (is_new) {
    const auto pairs = graph_.pairs(mapping);
    for (std::size_t i = 0; i < pairs.size(); i += 2) place->second.insert(bits_of(pairs[i]));
  }
  return place->second.contains(bits_of(key));
}

Place run_of_mapping(const Graph& graph, Ref mapping) {
  const bool is_dict = graph.document().is(mapping, NodeKind::dict);
  return {mapping, is_dict ? Place::Run::items : Place::Run::dict_items};
}

/// The dict of attributes that has the key, of a state that may be a pair of them.
Place Editor::attribute_place(Ref state, Ref key) {
  if (graph_.kind(state) != Kind::tuple) return run_of_mapping(graph_, state);
  const auto parts = graph_.elements(state);
  return run_of_mapping(graph_, has_key(parts[0], key) ? parts[0] : parts[1]);
}

/// Sets of protocols below 4 and torch.Size are calls: their elements stand in the argument.
Place Editor::place_of(const GraphEntry& entry) {
  const Document& document = graph_.document();
  const Ref container = entry.container;
  const bool is_object = document.is(container, NodeKind::object);
  switch (entry.step.kind()) {
    case StepKind::root: break;
    case StepKind::state: return {container, Place::Run::state};
    case StepKind::argument: return {document.args(container), Place::Run::items, true};
    case StepKind::attribute: return attribute_place(graph_.state(container), entry.step.key());
    case StepKind::key: {
      const ObjectExtra* extra = is_object ? document.extra(container) : nullptr;
      if (extra != nullptr && extra->kwargs && has_key(*extra->kwargs, entry.step.key())) {
        Place place = run_of_mapping(graph_, *extra->kwargs);
        place.is_arguments = true;
        return place;
      }
      return run_of_mapping(graph_, container);
    }
    case StepKind::position: {
      const Kind kind = graph_.kind(container);
      const bool is_set = kind == Kind::set || kind == Kind::frozenset;
      if (!is_object) return {container, Place::Run::items, false, is_set};
      const Ref args = document.args(container);
      if (graph_.form(container) != Form::none) {
        return {document.items(args)[0], Place::Run::items, false, is_set};
      }
      const auto items = document.items(args);
      const bool is_argument =
          entry.step.index() < items.size() && items[entry.step.index()] == entry.value;
      if (is_argument) return {args, Place::Run::items, true};
      return {container, Place::Run::list_items};
    }
  }
  return {container, Place::Run::items};
}

const Target& Editor::only(const Wanted& wanted) const {
  if (!wanted.others.empty()) {
    fail(ErrorCode::ambiguous, {}, "'{}' is {} and {}", wanted.name, wanted.target->path,
         fmt::join(wanted.others, " and "));
  }
  return *wanted.target;
}

// ---- planning

/// The one key that stands in the brackets.
Object Editor::subscript(std::string_view rest) {
  const auto key =
      unless(ErrorCode::usage, [&] { return draft_.parse(rest.substr(1, rest.size() - 2)); });
  if (!key) {
    fail(ErrorCode::not_found, {}, "nothing is named so that {} could stand behind it", rest);
  }
  return *key;
}

/// A key of the same sort as the others: an integer where they are integers.
Ref Editor::key_for(std::string_view rest, bool is_path, bool as_integer) {
  if (is_path && rest.starts_with('[') && rest.ends_with(']')) {
    const Ref key = subscript(rest).ref();
    if (!state_.builder.is_hashable(key)) fail(ErrorCode::usage, {}, "{} is no key", rest);
    return key;
  }
  if (is_path && rest.starts_with('.')) rest.remove_prefix(1);
  constexpr std::size_t kMostDigits = 18;
  const bool is_number = !rest.empty() && rest.size() <= kMostDigits &&
                         rest.find_first_not_of("0123456789") == std::string_view::npos &&
                         (rest.size() == 1 || rest[0] != '0');
  return as_integer && is_number ? draft_.integer(rest).ref() : draft_.string(rest).ref();
}

/// For messages.
std::string Editor::text_of(Ref key) const {
  const Document& document = state_.document();
  if (document.is(key, NodeKind::string)) return python_repr_text(document.text(key));
  if (document.is(key, NodeKind::integer)) return fmt::format("{}", document.integer(key));
  return std::string(describe(document.kind(key)));
}

bool Editor::has_integer_keys(Ref container) const {
  const auto pairs = graph_.pairs(container);
  for (std::size_t i = 0; i < pairs.size(); i += 2) {
    if (graph_.kind(pairs[i]) != Kind::integer) return false;
  }
  return !pairs.empty();
}

void Editor::plan_rename(const Wanted& wanted, std::string_view new_name) {
  if (!wanted.target) fail(ErrorCode::not_found, {}, "nothing is named '{}'", wanted.name);
  const Target& target = only(wanted);
  const bool has_key =
      target.step.kind() == StepKind::key || target.step.kind() == StepKind::attribute;
  if (!has_key || target.place.is_arguments) {
    fail(ErrorCode::usage, {}, "{} has no key that could be another", target.path);
  }
  const bool is_path =
      wanted.name == target.path && !new_name.empty() && (new_name[0] == '[' || new_name[0] == '.');
  const std::string_view prefix =
      is_path ? std::string_view(target.path).substr(0, target.container_path_size)
              : wanted.name.substr(0, wanted.name == target.path ? 0 : target.container_name_size);
  const bool needs_dot = !is_path && wanted.name != target.path && target.container_path_size > 0;
  std::string_view rest = new_name;
  const bool fits = rest.starts_with(prefix) && rest.size() > prefix.size() + (needs_dot ? 1 : 0) &&
                    (!needs_dot || rest[prefix.size()] == '.');
  if (!fits) {
    fail(ErrorCode::usage, {}, "'{}' does not begin with '{}{}': an entry stays in its container",
         new_name, prefix, needs_dot ? "." : "");
  }
  rest.remove_prefix(prefix.size() + (needs_dot ? 1 : 0));
  const bool was_integer =
      target.step.kind() == StepKind::key && graph_.kind(target.step.key()) == Kind::integer;
  changes_[target.place].renamed[target.operand] = key_for(rest, is_path, was_integer);
  ++report_.renamed;
}

void Editor::plan_set(const Wanted& wanted, std::string_view literal) {
  const Ref value = draft_.parse(literal).ref();
  ++report_.set;
  if (!wanted.target) return plan_new(wanted, value);
  const Target& target = only(wanted);
  // As Python's `del` and a new item: the entry comes last, with a key of its own.
  if (changes_[target.place].dropped.contains(target.operand)) return plan_new(wanted, value);
  if (target.place.is_set && !state_.builder.is_hashable(value)) {
    fail(ErrorCode::usage, {}, "lists, dicts and sets cannot be elements of the set at {}",
         target.path.substr(0, target.container_path_size));
  }
  changes_[target.place].set[target.operand] = value;
}

/// Where keys of a container stand: an object's are attributes.
Place Editor::mapping_of(Ref container) const {
  const bool has_names = graph_.kind(container) == Kind::object && graph_.has_state(container) &&
                         is_named_state(graph_, graph_.state(container));
  if (!has_names) return run_of_mapping(graph_, container);
  const Ref state = graph_.state(container);
  if (graph_.kind(state) != Kind::tuple) return run_of_mapping(graph_, state);
  const auto parts = graph_.elements(state);
  return run_of_mapping(graph_, graph_.kind(parts[0]) == Kind::none ? parts[1] : parts[0]);
}

void Editor::plan_new(const Wanted& wanted, Ref value) {
  const Parent& parent = wanted.parent;
  if (parent.container == kNone) {
    fail(ErrorCode::not_found, {}, "nothing is named '{}', and nothing can take that name",
         wanted.name);
  }
  if (parent.is_ambiguous) {
    fail(ErrorCode::ambiguous, {}, "'{}' could be a new entry of several containers", wanted.name);
  }
  const Ref key = key_for(parent.rest, parent.rest_is_path, has_integer_keys(parent.container));
  changes_[mapping_of(parent.container)].added.emplace_back(key, value);
  const bool is_attribute = takes_entry(parent.container, '.');
  report_.added.push_back(parent.rest_is_path ? parent.path + parent.rest
                          : is_attribute      ? parent.path + "." + parent.rest
                                              : parent.path + "[" + text_of(key) + "]");
}

// ---- changing

std::vector<Ref> Editor::read(const Place& place) const {
  state_.settle(place.node);
  const Document& document = state_.document();
  const ObjectExtra* extra = place.run == Place::Run::items ? nullptr : document.extra(place.node);
  switch (place.run) {
    case Place::Run::items: {
      const auto items = document.items(place.node);
      return {items.begin(), items.end()};
    }
    case Place::Run::dict_items: {
      // An OrderedDict made from a list of pairs has them in its arguments, and the graph has both.
      const bool is_joined = graph_.form(place.node) == Form::ordered_dict &&
                             !document.items(document.args(place.node)).empty();
      if (!is_joined) return extra == nullptr ? std::vector<Ref>() : extra->dict_items;
      const auto pairs = graph_.pairs(place.node);
      return {pairs.begin(), pairs.end()};
    }
    case Place::Run::list_items: return extra->list_items;
    case Place::Run::state: return {*extra->state};
  }
  return {};
}

void Editor::write(const Place& place, std::span<const Ref> run) {
  DocumentBuilder& builder = state_.builder;
  switch (place.run) {
    case Place::Run::items:
      builder.replace_items(place.node, run);
      if (place.is_set && !state_.document().is(place.node, NodeKind::list)) {
        builder.unite(place.node);
      }
      return;
    case Place::Run::list_items: return builder.replace_list_items(place.node, run);
    case Place::Run::state: return builder.replace_state(place.node, run[0]);
    case Place::Run::dict_items:
      if (graph_.form(place.node) == Form::ordered_dict) {
        builder.replace_args(place.node, builder.add_tuple({}));
      }
      return builder.replace_dict_items(place.node, run);
  }
}

/// Texts and integers, which are what new keys are made of.
bool Editor::is_same_key(Ref a, Ref b) const {
  const Document& document = state_.document();
  if (a == b) return true;
  if (document.kind(a) != document.kind(b)) return false;
  if (document.is(a, NodeKind::string)) return document.text(a) == document.text(b);
  return document.is(a, NodeKind::integer) && document.integer(a) == document.integer(b);
}

std::vector<Ref> Editor::changed(const Place& place, const Changes& changes) const {
  const bool has_keys =
      place.run == Place::Run::dict_items ||
      (place.run == Place::Run::items && state_.document().is(place.node, NodeKind::dict));
  const std::size_t width = has_keys ? 2 : 1;
  const std::vector<Ref> old = read(place);
  std::vector<Ref> run;
  run.reserve(old.size());
  for (std::size_t i = 0; i < old.size(); i += width) {
    const std::uint32_t operand = has_keys ? bits_of(old[i]) : static_cast<std::uint32_t>(i);
    const auto value = changes.set.find(operand);
    const bool is_set = value != changes.set.end();
    if (changes.dropped.contains(operand)) continue;
    const auto key = changes.renamed.find(operand);
    if (has_keys) run.push_back(key == changes.renamed.end() ? old[i] : key->second);
    run.push_back(is_set ? value->second : old[i + width - 1]);
  }
  check_renamed(run, width, changes);
  for (const auto& [key, value] : changes.added) {
    std::size_t at = 0;
    while (at < run.size() && !is_same_key(run[at], key)) at += width;
    if (at == run.size()) run.insert(run.end(), {key, value});
    run[at + 1] = value;
  }
  return run;
}

void Editor::check_renamed(std::span<const Ref> run, std::size_t width,
                           const Changes& changes) const {
  for (const auto& [operand, key] : changes.renamed) {
    std::size_t count = 0;
    for (std::size_t i = 0; i < run.size(); i += width) {
      if (is_same_key(run[i], key)) ++count;
    }
    if (count > 1) {
      fail(ErrorCode::exists, {}, "the key {} is there already", text_of(key));
    }
  }
}

EditReport Editor::run() {
  look_up();
  for (std::size_t i = 0; i < renames_.size(); ++i) {
    plan_rename(renames_[i], edits_.rename[i].second);
  }
  for (std::size_t i = 0; i < sets_.size(); ++i) plan_set(sets_[i], edits_.set[i].second);
  std::vector<std::pair<Place, std::vector<Ref>>> runs;
  for (const auto& [place, changes] : changes_) {
    runs.emplace_back(place, changed(place, changes));
  }
  // From here on nothing can fail but memory.
  for (const auto& [place, run] : runs) write(place, run);
  for (std::size_t i = 0; i < matched_.size(); ++i) {
    if (!matched_[i]) report_.unmatched.push_back(edits_.drop[i]);
  }
  return std::move(report_);
}

}  // namespace

EditReport edit(Draft& draft, const Edits& edits) {
  if (draft.state().base == nullptr) {
    fail(ErrorCode::usage, {}, "only drafts of checkpoints have names");
  }
  return Editor(draft, edits).run();
}

}  // namespace flambeau
