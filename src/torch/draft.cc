// New objects are nodes of a document that is still open. Tensors are nodes of the kind `outside`,
// which become calls when the pickle is written: 16 bytes each until then.
#include "torch/draft.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/fail.h"
#include "pickle/text_argument.h"

namespace flambeau {
namespace {

constexpr std::size_t kPair = 2;

[[noreturn]] void refuse(std::string_view what) { fail(ErrorCode::usage, {}, "{}", what); }

ParseOptions builder_options() {
  ParseOptions options;
  options.where = "draft";
  return options;
}

/// Of one character up to U+00FF, or empty: CPython has each of these texts once.
bool is_single(std::string_view text) noexcept {
  constexpr unsigned char kLastLead = 0xc3;
  return text.size() < 2 ||
         (text.size() == 2 && static_cast<unsigned char>(text[0]) <= kLastLead && !is_ascii(text));
}

/// The literals that a file's own ids name, so that new ids can name the same objects.
void adopt_literals(const Graph& graph, TensorNames& names) {
  const Document& document = graph.document();
  const auto adopt = [&](Name name, std::string_view text, Ref node) {
    if (names[name] == kNone && document.is(node, NodeKind::string) &&
        document.text(node) == text) {
      names.adopt(name, node);
    }
  };
  for (std::uint32_t i = 0; i < document.node_count(); ++i) {
    if (graph.form(node_ref(i)) != Form::storage) continue;
    const auto id = document.items(document.persistent_id(node_ref(i)));
    adopt(Name::storage, "storage", id[0]);
    adopt(Name::cpu, "cpu", id[3]);
    adopt(Name::mps, "mps", id[3]);
    adopt(Name::meta, "meta", id[3]);
  }
}

}  // namespace

Draft::State::State() : builder(builder_options(), step) { names.prepare(builder); }

Draft::State::State(std::shared_ptr<const Graph> graph, SavedForm saved)
    : base(std::move(graph)),
      form(std::move(saved)),
      protocol(std::max(base->document().protocol(), kLowestWritten)),
      builder(Document(base->document(), base), builder_options(), step),
      root(base->document().root()) {
  adopt_literals(*base, names);
  names.prepare(builder);
}

Ref Draft::State::text(std::string_view text) {
  if (!is_single(text)) return builder.add_decoded_text(NodeKind::string, text);
  if (!knows_singles) adopt_singles();
  const auto [place, is_new] = singles.try_emplace(std::string(text), kNone);
  if (is_new) place->second = builder.add_decoded_text(NodeKind::string, text);
  return place->second;
}

/// Keys of storages are made anew by each save, and are no program's texts.
void Draft::State::adopt_singles() {
  knows_singles = true;
  if (base == nullptr) return;
  const Document& nodes = base->document();
  std::unordered_set<std::uint32_t> keys;
  for (std::uint32_t i = 0; i < nodes.node_count(); ++i) {
    if (base->form(node_ref(i)) != Form::storage) continue;
    keys.insert(bits_of(nodes.items(nodes.persistent_id(node_ref(i)))[2]));
  }
  for (std::uint32_t i = 0; i < nodes.node_count(); ++i) {
    const Ref node = node_ref(i);
    if (!nodes.is(node, NodeKind::string) || !is_single(nodes.text(node))) continue;
    if (!keys.contains(i)) singles.try_emplace(std::string(nodes.text(node)), node);
  }
}

void Draft::State::settle(Ref container) {
  if (unsettled.erase(bits_of(container)) > 0) builder.unite(container);
}

void Draft::State::settle_all() {
  for (const std::uint32_t container : unsettled) builder.unite(node_ref(container));
  unsettled.clear();
}

const Document& Draft::State::seal() {
  settle_all();
  return builder.seal(root, protocol);
}

Draft::Draft() : state_(std::make_unique<State>()) {}
Draft::~Draft() = default;

Object Draft::root() { return object(state_->root); }
void Draft::set_root(const Item& root) { state_->root = ref(root); }

/// Nodes of a copy have the numbers of the original.
Object Draft::object(Value value) {
  if (!value || value.graph() != state_->base.get()) refuse("the value is of another graph");
  return object(value.ref());
}

Ref Draft::ref(const Item& item) {
  struct Visitor {
    Draft& draft;
    DocumentBuilder& builder;
    Ref operator()(std::monostate) const { return kNone; }
    Ref operator()(bool value) const { return boolean_ref(value); }
    Ref operator()(std::int64_t value) const { return builder.add_integer(value); }
    Ref operator()(double value) const { return builder.add_real(value); }
    Ref operator()(std::string_view text) const { return draft.state_->text(text); }
    Ref operator()(const Tensor& tensor) const {
      State& state = *draft.state_;
      const bool wants_swapped = state.form.is_big_endian;
      if (item_size(tensor.dtype()) > 1 && tensor.is_byte_swapped() != wants_swapped) {
        fail(ErrorCode::unsupported, {},
             "the elements stand in the other byte order than the file's: make them contiguous()");
      }
      state.names.prepare(builder, tensor);
      state.tensors.push_back(tensor);
      return builder.add_outside(static_cast<std::uint32_t>(state.tensors.size() - 1));
    }
    Ref operator()(Object object) const {
      if (object.draft_ != &draft) refuse("the object is of another draft");
      return object.ref_;
    }
  };
  return std::visit(Visitor{*this, state_->builder}, item.value_);
}

std::vector<Ref> Draft::refs(std::span<const Item> items) {
  std::vector<Ref> refs;
  refs.reserve(items.size());
  for (const Item& item : items) refs.push_back(ref(item));
  return refs;
}

std::vector<Ref> Draft::refs(std::span<const Entry> entries) {
  std::vector<Ref> refs;
  refs.reserve(entries.size() * kPair);
  for (const auto& [key, value] : entries) {
    refs.push_back(checked_key(ref(key)));
    refs.push_back(ref(value));
  }
  return refs;
}

Ref Draft::checked_key(Ref key) {
  if (!state_->builder.is_hashable(key)) refuse("lists, dicts and sets cannot be keys or elements");
  return key;
}

Object Draft::make(const Item& item) { return object(ref(item)); }

Object Draft::literal(std::string_view text) {
  if (const auto name = state_->names.literal(text)) return object(*name);
  const auto found = state_->literals.find(text);
  if (found != state_->literals.end()) return object(found->second);
  return object(state_->literals.emplace(std::string(text), ref(text)).first->second);
}

/// Before protocol 3 bytes are text that is encoded again: each byte a character.
Object Draft::bytes(std::span<const std::byte> content) {
  const std::string_view text = as_text(content);
  DocumentBuilder& builder = state_->builder;
  if (state_->protocol >= 3) return object(builder.add_decoded_text(NodeKind::bytes, text));
  if (text.empty()) return call(builtin("bytes"));
  return call(global("_codecs", "encode"),
              {std::string_view(*decode_byte_string("latin1", text)), literal("latin1")});
}

Object Draft::integer(std::string_view digits) {
  const auto integer = read_integer_text(digits, IntegerRule::decimal);
  if (!integer) refuse("this is no integer");
  if (integer->digits.size() > Limits{}.max_integer_digits) {
    fail(ErrorCode::limit, {}, "an integer of {} digits, {} are allowed", integer->digits.size(),
         Limits{}.max_integer_digits);
  }
  return object(state_->builder.add_decoded_long(to_twos_complement(*integer)));
}

Object Draft::builtin(std::string_view name) {
  return global(state_->protocol >= 3 ? "builtins" : "__builtin__", name);
}

Object Draft::complex(std::complex<double> value) {
  return call(builtin("complex"), {value.real(), value.imag()});
}

Object Draft::list(std::span<const Item> items) {
  const std::vector<Ref> refs = this->refs(items);
  const Ref list = state_->builder.add_empty(NodeKind::list);
  if (!refs.empty()) state_->builder.append(list, refs);
  return object(list);
}

Object Draft::tuple(std::span<const Item> items) {
  return object(state_->builder.add_tuple(refs(items)));
}

/// Before protocol 4 a set is a call with a list.
Object Draft::set(std::span<const Item> elements) {
  std::vector<Ref> refs = this->refs(elements);
  for (const Ref element : refs) checked_key(element);
  DocumentBuilder& builder = state_->builder;
  const Ref set = builder.add_empty(state_->protocol >= 4 ? NodeKind::set : NodeKind::list);
  if (state_->protocol >= 4) {
    if (!refs.empty()) builder.add_to_set(set, refs);
    builder.unite(set);
    return object(set);
  }
  if (!refs.empty()) builder.append(set, refs);
  return call(builtin("set"), {object(set)});
}

Object Draft::dict(std::span<const Entry> entries) {
  const std::vector<Ref> pairs = refs(entries);
  const Ref dict = state_->builder.add_empty(NodeKind::dict);
  if (!pairs.empty()) state_->builder.set_items(dict, pairs);
  if (pairs.size() > kPair) state_->builder.unite(dict);
  return object(dict);
}

Object Draft::ordered_dict(std::span<const Entry> entries) {
  const std::vector<Ref> pairs = refs(entries);
  const Object dict = call(global("collections", "OrderedDict"));
  if (!pairs.empty()) state_->builder.set_items(dict.ref_, pairs);
  if (pairs.size() > kPair) state_->builder.unite(dict.ref_);
  return dict;
}

Object Draft::size(std::span<const std::int64_t> shape) {
  const std::vector<Item> items(shape.begin(), shape.end());
  return call(global("torch", "Size"), {tuple(items)});
}

Object Draft::dtype(DType dtype) { return global("torch", to_string(dtype)); }

/// `torch.device('cuda', 1)`.
Object Draft::device(std::string_view device) {
  const Object type = global("torch", "device");
  const auto colon = device.find(':');
  if (colon == std::string_view::npos) return call(type, {device});
  std::int64_t index = 0;
  const std::string_view digits = device.substr(colon + 1);
  const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), index);
  if (code != std::errc() || end != digits.data() + digits.size()) refuse("this is no device");
  return call(type, {device.substr(0, colon), index});
}

Object Draft::global(std::string_view module, std::string_view name) {
  if (module.empty() || name.empty() || module.find('\n') != std::string_view::npos ||
      name.find('\n') != std::string_view::npos) {
    refuse("a class has a module and a name");
  }
  return object(state_->builder.add_named_global(module, name));
}

Object Draft::call(Object callable, std::span<const Item> args) {
  const Ref tuple = state_->builder.add_tuple(refs(args));
  return object(state_->builder.add_object(CallForm::reduce, ref(callable), tuple));
}

Object Draft::instance(Object cls, std::span<const Item> args) {
  const Ref tuple = state_->builder.add_tuple(refs(args));
  return object(state_->builder.add_object(CallForm::newobj, ref(cls), tuple));
}

}  // namespace flambeau
