// Changes to the objects of a draft. A key that is set goes behind the others at once, and is
// united with its equals when somebody looks: setting a hundred thousand keys takes linear time.
#include <algorithm>
#include <utility>

#include "base/fail.h"
#include "torch/draft.h"

namespace flambeau {
namespace {

constexpr std::size_t kPair = 2;

[[noreturn]] void refuse(std::string_view what) { fail(ErrorCode::usage, {}, "{}", what); }

bool is_mapping(const Document& document, Ref ref) {
  const NodeKind kind = document.kind(ref);
  return kind == NodeKind::dict || kind == NodeKind::object;
}

/// Keys and values in turn.
std::span<const Ref> pairs_of(const Document& document, Ref ref) {
  if (document.is(ref, NodeKind::dict)) return document.items(ref);
  const ObjectExtra* extra = document.extra(ref);
  return extra == nullptr ? std::span<const Ref>() : std::span<const Ref>(extra->dict_items);
}

bool is_equal(const Document& document, Ref a, Ref b) {
  if (a == b) return true;
  const NodeKind kind = document.kind(a);
  if (document.kind(b) != kind) return false;
  if (kind == NodeKind::string) return document.text(a) == document.text(b);
  return kind == NodeKind::integer && document.integer(a) == document.integer(b);
}

}  // namespace

/// What an object needs of its draft.
struct ObjectAccess {
  Draft::State& state;
  Ref ref;

  const Document& document() const noexcept { return state.document(); }

  std::span<const Ref> pairs() const {
    if (!is_node(ref) || !is_mapping(document(), ref)) refuse("this is no dict");
    state.settle(ref);
    return pairs_of(document(), ref);
  }
  void replace_pairs(std::span<const Ref> pairs) const {
    if (document().is(ref, NodeKind::dict)) return state.builder.replace_items(ref, pairs);
    state.builder.replace_dict_items(ref, pairs);
  }
  /// Where the key stands among the references; their number where it does not.
  std::size_t position(Ref key) const {
    const auto pairs = this->pairs();
    std::size_t at = 0;
    while (at < pairs.size() && !is_equal(document(), pairs[at], key)) at += kPair;
    return at;
  }
  std::span<const Ref> items() const {
    if (!document().is(ref, NodeKind::list)) refuse("this is no list");
    return document().items(ref);
  }
  std::vector<Ref> items_up_to(std::size_t index) const {
    const auto items = this->items();
    if (index > items.size()) refuse("the list is shorter");
    return {items.begin(), items.end()};
  }
};

namespace {

template <typename Iterator>
auto offset_by(Iterator begin, std::size_t count) {
  return begin + static_cast<std::ptrdiff_t>(count);
}

}  // namespace

Kind Object::kind() const noexcept {
  if (draft_ == nullptr) return Kind::missing;
  const Document& document = draft_->state().document();
  const auto form = is_node(ref_) ? static_cast<Form>(document.tag(ref_) & 0xff) : Form::none;
  if (form != Form::none) return kKindOfForm[static_cast<std::size_t>(form)];
  if (document.is(ref_, NodeKind::object) &&
      document.callable(ref_) == draft_->state().names[Name::ordered_dict]) {
    return Kind::ordered_dict;
  }
  return kKindOfNode[static_cast<std::size_t>(document.kind(ref_))];
}

ObjectAccess Object::access() const {
  if (draft_ == nullptr) refuse("there is no object");
  return {draft_->state(), ref_};
}

std::size_t Object::size() const {
  const ObjectAccess self = access();
  const NodeKind kind = self.document().kind(ref_);
  if (kind == NodeKind::list || kind == NodeKind::tuple) return self.document().items(ref_).size();
  return self.pairs().size() / kPair;
}

Object Object::set(const Item& key, const Item& value) const {
  const ObjectAccess self = access();
  if (!is_node(ref_) || !is_mapping(self.document(), ref_)) refuse("this is no dict");
  const Ref pair[] = {draft_->checked_key(draft_->ref(key)), draft_->ref(value)};
  self.state.builder.set_items(ref_, pair);
  self.state.unsettled.insert(bits_of(ref_));
  return *this;
}

std::optional<Object> Object::find(const Item& key) const {
  const ObjectAccess self = access();
  const std::size_t at = self.position(draft_->ref(key));
  const auto pairs = self.pairs();
  if (at == pairs.size()) return std::nullopt;
  return Object(draft_, pairs[at + 1]);
}

bool Object::erase(const Item& key) const {
  const ObjectAccess self = access();
  const std::size_t at = self.position(draft_->ref(key));
  const auto pairs = self.pairs();
  if (at == pairs.size()) return false;
  std::vector<Ref> kept(pairs.begin(), pairs.end());
  kept.erase(offset_by(kept.begin(), at), offset_by(kept.begin(), at + kPair));
  self.replace_pairs(kept);
  return true;
}

bool Object::rename(const Item& key, const Item& new_key) const {
  const ObjectAccess self = access();
  const std::size_t at = self.position(draft_->ref(key));
  const Ref renamed = draft_->checked_key(draft_->ref(new_key));
  const std::size_t taken = self.position(renamed);
  const auto pairs = self.pairs();
  if (at == pairs.size()) return false;
  if (taken != pairs.size() && taken != at) {
    fail(ErrorCode::exists, {}, "the dict has the new key already");
  }
  std::vector<Ref> changed(pairs.begin(), pairs.end());
  changed[at] = renamed;
  self.replace_pairs(changed);
  return true;
}

Object Object::append(const Item& value) const {
  const ObjectAccess self = access();
  self.items();
  const Ref item[] = {draft_->ref(value)};
  self.state.builder.append(ref_, item);
  return *this;
}

Object Object::insert(std::size_t index, const Item& value) const {
  const ObjectAccess self = access();
  std::vector<Ref> items = self.items_up_to(index);
  items.insert(offset_by(items.begin(), index), draft_->ref(value));
  self.state.builder.replace_items(ref_, items);
  return *this;
}

Object Object::replace(std::size_t index, const Item& value) const {
  const ObjectAccess self = access();
  const NodeKind kind = self.document().kind(ref_);
  if (kind != NodeKind::list && kind != NodeKind::tuple) refuse("this is no list and no tuple");
  const auto items = self.document().items(ref_);
  if (index >= items.size()) refuse("there is no such item");
  std::vector<Ref> changed(items.begin(), items.end());
  changed[index] = draft_->ref(value);
  self.state.builder.replace_items(ref_, changed);
  return *this;
}

Object Object::erase(std::size_t index) const {
  const ObjectAccess self = access();
  std::vector<Ref> items = self.items_up_to(index + 1);
  items.erase(offset_by(items.begin(), index));
  self.state.builder.replace_items(ref_, items);
  return *this;
}

Object Object::at(std::size_t index) const {
  const ObjectAccess self = access();
  const NodeKind kind = self.document().kind(ref_);
  if (kind != NodeKind::list && kind != NodeKind::tuple) refuse("this is no list and no tuple");
  const auto items = self.document().items(ref_);
  if (index >= items.size()) refuse("there is no such item");
  return {draft_, items[index]};
}

Object Object::set_state(const Item& state) const {
  const ObjectAccess self = access();
  if (!self.document().is(ref_, NodeKind::object)) refuse("this is no instance of a class");
  self.state.builder.replace_state(ref_, draft_->ref(state));
  return *this;
}

std::optional<Object> Object::state() const {
  const ObjectAccess self = access();
  if (!self.document().is(ref_, NodeKind::object)) return std::nullopt;
  const ObjectExtra* extra = self.document().extra(ref_);
  if (extra == nullptr || !extra->state) return std::nullopt;
  return Object(draft_, *extra->state);
}

}  // namespace flambeau
