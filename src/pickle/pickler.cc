// The walk that `save` of Modules/_pickle.c makes by recursion, with a stack of its own. A value
// without parts is written at once; one with parts is opened, gets a place on the stack, and is
// closed when its parts are through.
//
//   list   ] put [items]                        tuple    parts · TUPLEn · put
//   dict   } put [pairs]                        object   callable · args · REDUCE · put
//   set    EMPTY_SET put [items]                         [list items] [dict items] state · BUILD
//
// Three values are made anew by Python whenever they are needed, so that the memo never finds
// them: empty tuples, ids of storages, and the arguments of an object that is met inside itself,
// with the tuples and calls in them; what these hold may be objects of their own (dicts, lists).
#include "pickle/pickler.h"

#include <algorithm>
#include <utility>

#include "base/fail.h"
#include "pickle/document_builder.h"
#include "pickle/emitter.h"

namespace flambeau {
namespace {

/// Items between a mark and the opcode that takes them (BATCHSIZE of Modules/_pickle.c).
constexpr std::uint64_t kBatch = 1000;
constexpr std::size_t kSingle = 1;
constexpr std::size_t kPair = 2;

/// What a value that is being written does next.
enum class Phase : std::uint8_t {
  items,     ///< of a list, tuple, dict, set or frozenset
  callable,  ///< of an object, and so on to `build`
  args,
  kwargs,
  call,
  list_items,
  dict_items,
  state,
  build,
  id,  ///< of a persistent node
};

struct Frame {
  Ref ref;
  Phase phase;
  /// A tuple or a call that the memo must not give, nor be asked for.
  bool is_fresh = false;
  /// References of the items that are through.
  std::uint64_t next = 0;
};

/// How the items of a container go into it.
struct Batches {
  /// For a batch of one item: of an object always, of a list or dict where there is no other.
  Opcode one;
  Opcode many;
  std::size_t width;
  bool of_object;
  /// Dicts and sets end in an empty batch where the last one is full.
  bool closes_empty;
};
constexpr Batches kListItems = {Opcode::APPEND, Opcode::APPENDS, kSingle, false, false};
constexpr Batches kDictItems = {Opcode::SETITEM, Opcode::SETITEMS, kPair, false, true};
/// MARK stands for "none": a set of one element has a mark, too.
constexpr Batches kSetItems = {Opcode::MARK, Opcode::ADDITEMS, kSingle, false, true};
constexpr Batches kObjectListItems = {Opcode::APPEND, Opcode::APPENDS, kSingle, true, false};
constexpr Batches kObjectDictItems = {Opcode::SETITEM, Opcode::SETITEMS, kPair, true, false};

class Pickler final : public PickleWriter {
 public:
  Pickler(const Document& document, const PicklerOptions& options)
      : document_(document),
        limits_(options.limits),
        hooks_(options.hooks != nullptr ? *options.hooks : no_hooks_),
        out_(options.protocol == 0 ? std::max(document.protocol(), kLowestWritten)
                                   : options.protocol,
             options.expected_size, options.memory),
        memo_(document.node_count(), kNotInMemo),
        in_progress_(document.node_count()) {}

  ByteBuffer run() {
    save(document_.root());
    while (!frames_.empty()) step();
    return out_.finish();
  }

  Emitter& out() noexcept override { return out_; }
  void value(Ref leaf) override { save(leaf); }
  void outside(Ref node) override { save_outside(node); }

 private:
  static constexpr std::uint32_t kNotInMemo = UINT32_MAX;

  bool is_in_memo(Ref ref) const noexcept { return memo_[bits_of(ref)] != kNotInMemo; }
  void put(Ref ref) { memo_[bits_of(ref)] = out_.put(); }
  void get(Ref ref) { out_.get(memo_[bits_of(ref)]); }

  /// Writes a value, or begins to: its parts come by `step`.
  void save(Ref ref);
  void save_constant(Ref ref);
  void save_text(Ref ref, NodeKind kind);
  void save_global(Ref ref);
  void save_name(Ref name, std::string_view text);
  void save_persistent(Ref ref);
  void save_outside(Ref ref);
  void open(Ref ref, NodeKind kind);
  void open_tuple(Ref ref, bool is_fresh);
  void count_repetition(std::uint64_t count);
  void open_object(Ref ref, bool is_fresh);
  bool is_made_anew(Ref ref, NodeKind kind) const noexcept;
  void push(Ref ref, Phase phase) { frames_.push_back({ref, phase}); }

  /// Goes on with the value on top of the stack until it needs a part with parts, or is complete.
  void step();
  void step_container();
  void step_object();
  void close_tuple(const Frame& frame);
  void close_frozenset(Ref ref);
  void close_persistent();
  void save_args(Ref ref);
  void call(Ref ref);
  /// The next phase of the value on top of the stack.
  void begin(Phase phase) noexcept { frames_.back().phase = phase, frames_.back().next = 0; }
  bool is_args_of_known_object(Ref tuple) const noexcept;
  Opcode opcode_of(CallForm form) const;
  /// Writes items in batches; whether all of them are through.
  bool save_items(std::span<const Ref> items, const Batches& batches);
  /// Writes items without batches; whether all of them are through.
  bool save_parts(std::span<const Ref> items);
  const Batches& batches_of(NodeKind kind) const noexcept;
  void need(int protocol, NodeKind kind) const;

  const Document& document_;
  const Limits& limits_;
  PicklerHooks no_hooks_;
  PicklerHooks& hooks_;
  Emitter out_;
  /// By node; the number in the memo.
  std::vector<std::uint32_t> memo_;
  std::vector<Frame> frames_;
  /// Items of tuples that are written again.
  std::uint64_t repeated_ = 0;
  /// By node; objects that are on the stack, or have been.
  std::vector<bool> in_progress_;
};

void Pickler::save(Ref ref) {
  out_.boundary();
  if (!is_node(ref)) return save_constant(ref);
  const NodeKind kind = document_.kind(ref);
  const bool is_fresh = is_made_anew(ref, kind);
  if (is_in_memo(ref) && !is_fresh) return get(ref);
  switch (kind) {
    case NodeKind::none:
    case NodeKind::boolean:
    case NodeKind::integer: return out_.integer(document_.integer(ref));
    case NodeKind::big_integer:
      return out_.big_integer(document_.text(ref), limits_.max_integer_digits);
    case NodeKind::real: return out_.real(document_.real(ref));
    case NodeKind::string:
    case NodeKind::byte_string:
    case NodeKind::bytes:
    case NodeKind::bytearray: return save_text(ref, kind);
    case NodeKind::global: return save_global(ref);
    case NodeKind::extension: return out_.extension(document_.extension_code(ref));
    case NodeKind::persistent: return save_persistent(ref);
    case NodeKind::outside: return save_outside(ref);
    case NodeKind::tuple: return open_tuple(ref, is_fresh);
    case NodeKind::object: return open_object(ref, is_fresh);
    case NodeKind::list:
    case NodeKind::dict:
    case NodeKind::set:
    case NodeKind::frozenset: return open(ref, kind);
  }
}

void Pickler::save_constant(Ref ref) {
  if (ref == kNone) return out_.op(Opcode::NONE);
  if (ref == kTrue || ref == kFalse) return out_.boolean(ref == kTrue);
  out_.integer(document_.integer(ref));
}

void Pickler::save_text(Ref ref, NodeKind kind) {
  const std::string_view text = document_.text(ref);
  if (kind == NodeKind::string) {
    out_.string(hooks_.text_of(ref).value_or(text));
  } else if (kind == NodeKind::byte_string) {
    out_.byte_string(text);
  } else if (kind == NodeKind::bytes) {
    need(3, kind);
    out_.bytes(text);
  } else {
    need(5, kind);
    out_.bytearray(text);
  }
  put(ref);
}

/// From protocol 4 on module and name are texts like others, which the memo may know.
void Pickler::save_global(Ref ref) {
  const auto& [module, name] = document_.global(ref);
  if (out_.protocol() < 4) {
    out_.global(module, name);
  } else {
    const auto [module_text, name_text] = document_.global_texts(ref);
    save_name(module_text, module);
    save_name(name_text, name);
    out_.op(Opcode::STACK_GLOBAL);
  }
  put(ref);
}

void Pickler::save_name(Ref name, std::string_view text) {
  if (name != kNone) return save(name);
  out_.string(text);
  out_.put();
}

void Pickler::save_persistent(Ref ref) {
  hooks_.persistent(ref);
  if (hooks_.write_id(ref, *this)) return out_.op(Opcode::BINPERSID);
  push(ref, Phase::id);
  const Ref id = document_.persistent_id(ref);
  if (document_.is(id, NodeKind::tuple)) return open_tuple(id, true);
  save(id);
}

void Pickler::save_outside(Ref ref) {
  if (is_in_memo(ref)) return get(ref);
  hooks_.outside(ref, *this);
  put(ref);
}

void Pickler::open(Ref ref, NodeKind kind) {
  if (kind == NodeKind::frozenset) {
    need(4, kind);
    out_.op(Opcode::MARK);
  } else {
    if (kind == NodeKind::set) need(4, kind);
    out_.op(kind == NodeKind::list   ? Opcode::EMPTY_LIST
            : kind == NodeKind::dict ? Opcode::EMPTY_DICT
                                     : Opcode::EMPTY_SET);
    put(ref);
  }
  push(ref, Phase::items);
}

void Pickler::open_tuple(Ref ref, bool is_fresh) {
  const std::size_t count = document_.items(ref).size();
  if (count == 0) return out_.op(Opcode::EMPTY_TUPLE);
  if (is_fresh && is_in_memo(ref)) count_repetition(count);
  out_.begin_tuple(count);
  frames_.push_back({ref, Phase::items, is_fresh});
}

/// A node that refers to one long id a million times would make a pickle without measure.
void Pickler::count_repetition(std::uint64_t count) {
  constexpr std::uint64_t kFree = std::uint64_t{1} << 24;
  repeated_ += count;
  if (repeated_ / memo_.size() > limits_.max_expansion && repeated_ > kFree) {
    fail(ErrorCode::limit, {}, "ids and arguments are repeated to over {} times the graph",
         limits_.max_expansion);
  }
}

void Pickler::open_object(Ref ref, bool is_fresh) {
  const bool is_inside_itself = in_progress_[bits_of(ref)];
  in_progress_[bits_of(ref)] = true;
  frames_.push_back({ref, Phase::callable, is_fresh || is_inside_itself});
}

/// Within the arguments of an object that is met inside itself: a tuple, or a call and no more.
bool Pickler::is_made_anew(Ref ref, NodeKind kind) const noexcept {
  const bool can_be =
      kind == NodeKind::tuple || (kind == NodeKind::object && document_.extra(ref) == nullptr);
  if (!can_be || frames_.empty()) return false;
  const Frame& parent = frames_.back();
  if (parent.is_fresh) return parent.phase != Phase::state && parent.phase != Phase::build;
  return document_.is(parent.ref, NodeKind::tuple) && is_args_of_known_object(parent.ref);
}

void Pickler::step() {
  switch (frames_.back().phase) {
    case Phase::items: return step_container();
    case Phase::id: return close_persistent();
    case Phase::callable:
    case Phase::args:
    case Phase::kwargs:
    case Phase::call:
    case Phase::list_items:
    case Phase::dict_items:
    case Phase::state:
    case Phase::build: return step_object();
  }
}

void Pickler::step_container() {
  const Ref ref = frames_.back().ref;
  const NodeKind kind = document_.kind(ref);
  const std::span<const Ref> items = document_.items(ref);
  if (kind == NodeKind::tuple || kind == NodeKind::frozenset) {
    if (!save_parts(items)) return;
    const Frame frame = frames_.back();
    kind == NodeKind::tuple ? close_tuple(frame) : close_frozenset(ref);
  } else if (!save_items(items, batches_of(kind))) {
    return;
  }
  frames_.pop_back();
}

const Batches& Pickler::batches_of(NodeKind kind) const noexcept {
  return kind == NodeKind::list ? kListItems : kind == NodeKind::dict ? kDictItems : kSetItems;
}

bool Pickler::save_parts(std::span<const Ref> items) {
  const std::size_t depth = frames_.size();
  while (frames_[depth - 1].next < items.size()) {
    save(items[frames_[depth - 1].next++]);
    if (frames_.size() > depth) return false;
  }
  return true;
}

/// Whether a batch begins at reference `next`; the divisors are constants, so nothing is divided.
bool begins_batch(std::uint64_t next, std::size_t width) noexcept {
  return width == kPair ? next % (kBatch * kPair) == 0 : next % kBatch == 0;
}

/// Whether the batch that holds the item before `end` is one item without a mark.
bool is_bare(std::uint64_t end, std::uint64_t size, const Batches& batches) noexcept {
  if (batches.one == Opcode::MARK) return false;
  if (!batches.of_object) return size == batches.width;
  return end == size && begins_batch(end - batches.width, batches.width);
}

/// Every `next` comes by once, since a part that is put on the stack comes back to the next one.
bool Pickler::save_items(std::span<const Ref> items, const Batches& batches) {
  const std::size_t depth = frames_.size();
  const std::uint64_t size = items.size();
  for (;;) {
    const std::uint64_t next = frames_[depth - 1].next;
    const bool begins = begins_batch(next, batches.width);
    if (next > 0 && (begins || next == size)) {
      out_.op(is_bare(next, size, batches) ? batches.one : batches.many);
    }
    if (next == size) break;
    if (begins && !is_bare(next + batches.width, size, batches)) out_.op(Opcode::MARK);
    frames_[depth - 1].next = next + 1;
    save(items[next]);
    if (frames_.size() > depth) return false;
  }
  if (batches.closes_empty && size > 0 && begins_batch(size, batches.width)) {
    out_.op(Opcode::MARK);
    out_.op(batches.many);
  }
  return true;
}

/// A tuple that an item of its own has written meanwhile is dropped, and taken from the memo.
void Pickler::close_tuple(const Frame& frame) {
  const std::size_t count = document_.items(frame.ref).size();
  if (is_in_memo(frame.ref) && !frame.is_fresh && !is_args_of_known_object(frame.ref)) {
    out_.drop_tuple(count);
    return get(frame.ref);
  }
  out_.end_tuple(count);
  put(frame.ref);
}

/// Whether the tuple on top of the stack is for an object that has been met inside of it.
bool Pickler::is_args_of_known_object(Ref tuple) const noexcept {
  if (frames_.size() < 2) return false;
  const Frame& parent = frames_[frames_.size() - 2];
  return document_.is(parent.ref, NodeKind::object) && is_in_memo(parent.ref) &&
         document_.args(parent.ref) == tuple;
}

void Pickler::close_frozenset(Ref ref) {
  if (is_in_memo(ref)) {
    out_.op(Opcode::POP_MARK);
    return get(ref);
  }
  out_.op(Opcode::FROZENSET);
  put(ref);
}

void Pickler::close_persistent() {
  out_.op(Opcode::BINPERSID);
  frames_.pop_back();
}

/// One phase; the next one begins when what this one needs is through.
void Pickler::step_object() {
  Frame& frame = frames_.back();
  const Ref ref = frame.ref;
  const ObjectExtra* extra = document_.extra(ref);
  switch (frame.phase) {
    case Phase::callable:
      frame.phase = Phase::args;
      if (document_.call_form(ref) == CallForm::inst) out_.op(Opcode::MARK);
      return save(document_.callable(ref));
    case Phase::args: return save_args(ref);
    case Phase::kwargs: frame.phase = Phase::call; return save(*extra->kwargs);
    case Phase::call: return call(ref);
    case Phase::list_items:
      if (save_items(extra->list_items, kObjectListItems)) begin(Phase::dict_items);
      return;
    case Phase::dict_items:
      if (save_items(extra->dict_items, kObjectDictItems)) begin(Phase::state);
      return;
    case Phase::state:
      if (!extra->state) return frames_.pop_back();
      frame.phase = Phase::build;
      return save(*extra->state);
    case Phase::build: out_.op(Opcode::BUILD); return frames_.pop_back();
    case Phase::items:
    case Phase::id: return;
  }
}

/// OBJ takes arguments from the mark on, the others a tuple.
void Pickler::save_args(Ref ref) {
  const Ref args = document_.args(ref);
  if (document_.call_form(ref) == CallForm::inst) {
    if (save_parts(document_.items(args))) begin(Phase::call);
    return;
  }
  const bool has_kwargs = document_.call_form(ref) == CallForm::newobj_ex;
  begin(has_kwargs ? Phase::kwargs : Phase::call);
  save(args);
}

/// An object that has been met inside of its own arguments is dropped, and taken from the memo.
void Pickler::call(Ref ref) {
  out_.op(opcode_of(document_.call_form(ref)));
  const bool is_remade = frames_.back().is_fresh && document_.extra(ref) == nullptr;
  if (is_in_memo(ref) && !is_remade) {
    out_.op(Opcode::POP);
    get(ref);
    return frames_.pop_back();
  }
  put(ref);
  if (document_.extra(ref) == nullptr) return frames_.pop_back();
  begin(Phase::list_items);
}

Opcode Pickler::opcode_of(CallForm form) const {
  switch (form) {
    case CallForm::reduce: return Opcode::REDUCE;
    case CallForm::newobj: need(2, NodeKind::object); return Opcode::NEWOBJ;
    case CallForm::newobj_ex: need(4, NodeKind::object); return Opcode::NEWOBJ_EX;
    case CallForm::inst: return Opcode::OBJ;
  }
  return Opcode::REDUCE;
}

void Pickler::need(int protocol, NodeKind kind) const {
  if (out_.protocol() >= protocol) return;
  fail(ErrorCode::unsupported, {}, "protocol {} has no opcode for {} of this form", out_.protocol(),
       describe(kind));
}

}  // namespace

ByteBuffer write_pickle(const Document& document, const PicklerOptions& options) {
  return Pickler(document, options).run();
}

}  // namespace flambeau
