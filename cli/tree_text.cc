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
// What a line has for text however deep it is indented.
constexpr std::size_t kLeastRoom = 24;
constexpr std::string_view kObjectEnd = ">";

struct Child {
  std::string label;
  Value value;
};

// How a container begins and ends.
struct Brackets {
  std::string open;
  std::string_view close;
};

// Python's own brackets where it has some, `<Class …>` for objects of classes.
Brackets brackets_of(Value value) {
  switch (value.kind()) {
    case Kind::list: return {"[", "]"};
    case Kind::tuple: return {"(", ")"};
    case Kind::dict: return {"{", "}"};
    case Kind::set: return {"set({", "})"};
    case Kind::frozenset: return {"frozenset({", "})"};
    case Kind::ordered_dict: return {"OrderedDict({", "})"};
    case Kind::size: return {"torch.Size([", "])"};
    case Kind::tensor:
      return {describe_tensor(value.as_tensor().value_or(Tensor()), "tensor").append(" ("), ")"};
    case Kind::persistent: return {"persistent id (", ")"};
    case Kind::object: return {fmt::format("<{}", escaped(value.type_name())), kObjectEnd};
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

  // Singles, elements, items and attributes are one sequence, taken in this order.
  std::size_t count() const noexcept {
    return singles_.size() + elements_.size() + items_.size() + attributes_.size();
  }
  bool done() const noexcept { return taken_ == count(); }
  std::size_t taken() const noexcept { return taken_; }

  // Made one at a time: labels of a million items are never there together.
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

// How often each container is met on a walk that enters each once.
class Meetings {
 public:
  explicit Meetings(Value root) {
    std::vector<Value> left = {root};
    while (!left.empty()) {
      const Value value = left.back();
      left.pop_back();
      if (is_leaf(value) || ++counts_[value.id()] > 1) continue;
      for (Children children(value); !children.done();) left.push_back(children.next().value);
    }
  }
  bool is_shared(Value value) const { return counts_.at(value.id()) > 1; }

 private:
  std::unordered_map<std::uint32_t, std::size_t> counts_;
};

class TreePrinter {
 public:
  TreePrinter(Output& out, Value root, const TreeTextOptions& options)
      : out_(out),
        meetings_(root),
        all_(options.all),
        width_(options.width == 0 ? kUsualWidth : options.width) {
    print_value({"", root});
    while (!levels_.empty()) step();
    out_.put('\n');
  }

 private:
  struct Level {
    Children children;
    std::string_view close;
    bool is_tuple;
  };

  std::size_t indent() const noexcept { return 2 * std::min(levels_.size(), kDeepestIndent); }

  // Line ends are written before lines, not after them: a leaf may still join the last one.
  void start_line() {
    if (is_first_) {
      is_first_ = false;
      return;
    }
    out_.put('\n');
    out_.put(' ', indent());
    column_ = 0;
  }

  // A comma behind the last item, too, as Python code is laid out.
  void end_item() {
    if (!levels_.empty()) out_.put(',');
  }

  // One child of the innermost open container, or its end.
  void step() {
    Level& level = levels_.back();
    if (level.children.done()) {
      const std::string_view close = level.close;
      levels_.pop_back();
      start_line();
      out_.append(close);
      return end_item();
    }
    const std::size_t count = level.children.count();
    if (!all_ && level.children.taken() == kMostItems && count > kMostItems + 1) {
      return fold(level.children);
    }
    print_value(level.children.next());
  }

  // The rest of a long container but its last item.
  void fold(Children& children) {
    start_line();
    out_.print("… {} more", grouped(children.count() - kMostItems - 1));
    end_item();
    while (children.taken() + 1 < children.count()) children.next();
  }

  void print_value(const Child& child) {
    const std::size_t longest = all_ ? std::string::npos : kLongestText;
    if (const auto text = leaf_text(child.value, longest)) return print_leaf(child.label, *text);
    start_line();
    out_.append(child.label);
    if (mark(child.value)) return end_item();
    print_container(child);
  }

  // Leaves without a label share lines.
  void print_leaf(std::string_view label, std::string_view text) {
    const std::size_t size = columns(text) + 1;
    const bool joins = label.empty() && column_ > 0 && column_ + 1 + size <= width_;
    if (joins) {
      out_.put(' ');
      column_ += 1 + size;
    } else {
      start_line();
      column_ = label.empty() ? indent() + size : 0;
    }
    out_.append(label);
    out_.append(text);
    end_item();
  }

  // Prints `&1` or `*1` where the object is met more than once; true for the latter.
  bool mark(Value value) {
    if (!meetings_.is_shared(value)) return false;
    const auto [at, is_new] = marks_.try_emplace(value.id(), marks_.size() + 1);
    out_.print("{}{}{}", is_new ? '&' : '*', at->second, is_new ? " " : "");
    return !is_new;
  }

  // On one line, folded to a count where it is too deep, or opened.
  void print_container(const Child& child) {
    const Brackets brackets = brackets_of(child.value);
    Children children(child.value);
    if (!all_ && levels_.size() >= kMostLevels && children.count() > 0) {
      out_.print("{}… {}{}", brackets.open, counted(children.count(), "item"), brackets.close);
      return end_item();
    }
    const std::size_t used = indent() + child.label.size();
    if (const auto line = one_line(child.value, std::max(width_, used + kLeastRoom) - used)) {
      out_.append(*line);
      return end_item();
    }
    out_.append(brackets.open);
    levels_.push_back({std::move(children), brackets.close, false});
  }

  // The container with all that is in it; nothing where that is longer than `room`, or where
  // something in it needs a mark.
  std::optional<std::string> one_line(Value value, std::size_t room) const {
    std::string line;
    std::vector<Level> open;
    const auto enter = [&](Value container) {
      const Brackets brackets = brackets_of(container);
      line.append(brackets.open);
      open.push_back({Children(container), brackets.close, container.kind() == Kind::tuple});
      return open.back().children.count() <= room;
    };
    if (!enter(value)) return std::nullopt;
    while (!open.empty()) {
      if (columns(line) > room) return std::nullopt;
      Children& children = open.back().children;
      if (children.done()) {
        if (children.count() == 1 && open.back().is_tuple) line += ',';
        line.append(open.back().close);
        open.pop_back();
        continue;
      }
      if (children.taken() > 0) line += ", ";
      if (children.taken() == 0 && open.back().close == kObjectEnd) line += ' ';
      const Child child = children.next();
      line.append(child.label);
      if (const auto text = leaf_text(child.value, room)) {
        line.append(*text);
      } else if (meetings_.is_shared(child.value) || !enter(child.value)) {
        return std::nullopt;
      }
    }
    return line;
  }

  Output& out_;
  Meetings meetings_;
  bool all_;
  std::size_t width_;
  std::vector<Level> levels_;
  std::unordered_map<std::uint32_t, std::size_t> marks_;
  bool is_first_ = true;
  // Where the line stands on which further leaves may follow; 0 for none.
  std::size_t column_ = 0;
};

}  // namespace

void write_tree_text(Output& out, Value root, const TreeTextOptions& options) {
  TreePrinter(out, root, options);
}

}  // namespace flambeau::cli
