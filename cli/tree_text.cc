// A stack of open containers; each knows which children are left. A container whose children are
// all short leaves stands on one line. Everything is done twice: a rehearsal that prints nothing
// finds out which objects are met again, so that only these get a mark.
#include "tree_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "leaf.h"
#include "text.h"

namespace flambeau::cli {
namespace {

constexpr std::size_t kUsualWidth = 100;
// Longer containers show this many items, deeper ones none, unless all is asked for.
constexpr std::size_t kMostItems = 24;
constexpr std::size_t kMostLevels = 40;
constexpr std::size_t kLongestText = 120;
constexpr std::size_t kLongestKey = 60;
// Levels beyond it are not indented further: a nest of a million lists would be a terabyte of
// blanks.
constexpr std::size_t kDeepestIndent = 60;

struct Child {
  std::string label;
  Value value;
};

// How a container begins and ends.
struct Brackets {
  std::string open;
  std::string_view close;
};

Brackets brackets_of(Value value) {
  switch (value.kind()) {
    case Kind::list: return {"[", "]"};
    case Kind::tuple: return {"(", ")"};
    case Kind::set:
    case Kind::dict: return {"{", "}"};
    case Kind::frozenset: return {"frozenset(", ")"};
    case Kind::ordered_dict: return {"OrderedDict(", ")"};
    case Kind::size: return {"torch.Size(", ")"};
    case Kind::tensor:
      return {describe_tensor(value.as_tensor().value_or(Tensor()), "tensor").append(" ("), ")"};
    case Kind::persistent: return {"persistent id (", ")"};
    case Kind::object: return {fmt::format("<{}", escaped(value.type_name())), ">"};
    case Kind::missing:
    case Kind::none:
    case Kind::boolean:
    case Kind::integer:
    case Kind::real:
    case Kind::complex:
    case Kind::string:
    case Kind::bytes:
    case Kind::bytearray:
    case Kind::global:
    case Kind::dtype:
    case Kind::device:
    case Kind::layout:
    case Kind::storage: return {};
  }
  return {};
}

// The children of one container, in the pickle's order: arguments, items, attributes.
class Children {
 public:
  explicit Children(Value container) : elements_(container.elements()), items_(container.items()) {
    const bool is_object = container.kind() == Kind::object;
    if (is_object) add_construction(container);
    if (container.kind() == Kind::persistent) singles_.push_back({"", container.persistent_id()});
    if (const Value state = container.state()) add_state(state);
    element_ = elements_.begin();
    item_ = items_.begin();
    attribute_ = attributes_.begin();
  }

  std::size_t count() const noexcept {
    return singles_.size() + elements_.size() + items_.size() + attributes_.size();
  }
  bool done() const noexcept { return taken_ == count(); }
  std::size_t taken() const noexcept { return taken_; }

  Child next() {
    const std::size_t at = taken_++;
    if (at < singles_.size()) return singles_[at];
    if (element_ != elements_.end()) return {"", *element_++};
    if (item_ != items_.end()) {
      const auto [key, value] = *item_++;
      return {key_text(key).append(": "), value};
    }
    const auto [key, value] = *attribute_++;
    return {fmt::format(".{}: ", escaped(key.as_string().value_or(""))), value};
  }

 private:
  static std::string key_text(Value key) {
    return leaf_text(key, kLongestKey)
        .value_or(fitted(escaped(repr(key, kLongestKey)), kLongestKey));
  }

  void add_construction(Value object) {
    if (object.callable().kind() != Kind::global) add_single("callable: ", object.callable());
    if (object.args().size() > 0) add_single("args: ", object.args());
    if (object.kwargs()) add_single("kwargs: ", object.kwargs());
  }

  void add_single(std::string_view label, Value value) {
    singles_.push_back({std::string(label), value});
  }

  // A state that is a dict of names reads as attributes.
  void add_state(Value state) {
    const auto items = state.items();
    const bool named =
        state.kind() == Kind::dict && std::all_of(items.begin(), items.end(), [](const auto& item) {
          return item.first.kind() == Kind::string;
        });
    if (!named) return add_single("state: ", state);
    attributes_ = items;
  }

  std::vector<Child> singles_;
  Value::Elements elements_;
  Value::Items items_;
  Value::Items attributes_;
  Value::Elements::Iterator element_;
  Value::Items::Iterator item_;
  Value::Items::Iterator attribute_;
  std::size_t taken_ = 0;
};

class TreePrinter {
 public:
  TreePrinter(Output& out, const TreeTextOptions& options)
      : out_(out), all_(options.all), width_(options.width == 0 ? kUsualWidth : options.width) {}

  void print(Value root) {
    out_.discard(true);
    print_once(root);
    out_.discard(false);
    rehearsing_ = false;
    print_once(root);
  }

 private:
  struct Level {
    Children children;
    std::string_view close;
  };
  // What is known about an object: met once, met again, or already given a mark.
  struct Meeting {
    bool again = false;
    std::size_t mark = 0;
  };

  void print_once(Value root) {
    met_last_.clear();
    print_value("", root);
    while (!levels_.empty()) step();
  }

  void step() {
    Level& level = levels_.back();
    if (level.children.done()) {
      const std::string_view close = level.close;
      levels_.pop_back();
      indent();
      out_.append(close);
      return end_line();
    }
    if (!all_ && level.children.taken() == kMostItems && level.children.count() > kMostItems + 1) {
      return fold(level);
    }
    const Child child = level.children.next();
    print_value(child.label, child.value);
  }

  // The rest of a long container but its last item.
  void fold(Level& level) {
    indent();
    out_.print("… {} more", grouped(level.children.count() - kMostItems - 1));
    end_line();
    while (level.children.taken() + 1 < level.children.count()) level.children.next();
  }

  void indent() { out_.put(' ', 2 * std::min(levels_.size(), kDeepestIndent)); }
  void end_line() { out_.append(levels_.empty() ? "\n" : ",\n"); }

  void print_value(std::string_view label, Value value) {
    indent();
    out_.append(label);
    const std::size_t longest = all_ ? std::string::npos : kLongestText;
    if (const auto text = leaf_text(value, longest)) {
      out_.append(*text);
      return end_line();
    }
    if (mark(value)) return end_line();
    print_container(label, value);
  }

  // Prints `&1` or `*1` where the object is met more than once; true for the latter.
  bool mark(Value value) {
    const bool is_new = met_last_.try_emplace(value.id(), true).second;
    Meeting& meeting = meetings_[value.id()];
    if (rehearsing_) {
      meeting.again = meeting.again || !is_new;
    } else if (meeting.again) {
      if (is_new) meeting.mark = ++marks_;
      out_.print("{}{}{}", is_new ? '&' : '*', meeting.mark, is_new ? " " : "");
    }
    return !is_new;
  }

  void print_container(std::string_view label, Value value) {
    Brackets brackets = brackets_of(value);
    Children children(value);
    const bool folded = !all_ && levels_.size() >= kMostLevels && children.count() > 0;
    if (folded) {
      out_.print("{}… {}{}", brackets.open, counted(children.count(), "item"), brackets.close);
      return end_line();
    }
    if (const auto line = one_line(label.size(), value, brackets)) {
      out_.append(*line);
      return end_line();
    }
    out_.append(brackets.open);
    out_.put('\n');
    levels_.push_back({std::move(children), brackets.close});
  }

  // The container on one line; nothing where a child is no leaf or the line is too long.
  std::optional<std::string> one_line(std::size_t label_size, Value value,
                                      const Brackets& brackets) const {
    const std::size_t used = 2 * std::min(levels_.size(), kDeepestIndent) + label_size;
    const std::size_t room = std::max(width_, used + 24) - used;
    const bool is_object = value.kind() == Kind::object;
    std::string line = brackets.open;
    Children children(value);
    if (children.count() > room) return std::nullopt;
    while (!children.done()) {
      if (children.taken() > 0) line += ", ";
      if (children.taken() == 0 && is_object) line += ' ';
      const Child child = children.next();
      const auto text = leaf_text(child.value, room);
      if (!text) return std::nullopt;
      line.append(child.label).append(*text);
      if (columns(line) > room) return std::nullopt;
    }
    if (value.kind() == Kind::tuple && children.count() == 1) line += ',';
    return line.append(brackets.close);
  }

  Output& out_;
  bool all_;
  std::size_t width_;
  bool rehearsing_ = true;
  std::vector<Level> levels_;
  std::unordered_map<std::uint32_t, Meeting> meetings_;
  std::unordered_map<std::uint32_t, bool> met_last_;
  std::size_t marks_ = 0;
};

}  // namespace

void write_tree_text(Output& out, Value root, const TreeTextOptions& options) {
  TreePrinter(out, options).print(root);
}

}  // namespace flambeau::cli
