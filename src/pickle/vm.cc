// One switch over the opcodes, one line each; what an opcode may find is checked in the operand
// stack, the memo and the document builder. CPython's unpicklers are the specification (pickle.py:
// `_Unpickler`, Modules/_pickle.c): where the two differ, pickle.py decides how a line of text is
// read, and the C code what happens on the stack.
//
// Deliberately not done: out-of-band buffers, the extension registry, frames as units of reading (a
// frame must fit into the pickle; opcodes may cross its end, as in the C code).
#include "pickle/vm.h"

#include <algorithm>

#include "pickle/bigint.h"
#include "pickle/repr.h"

namespace flambeau {
namespace {

constexpr int kHighestProtocol = 5;
constexpr std::uint64_t kFrameHeader = 9;  // opcode and length
// About what CPython's pickler writes for each value that it notes; memory that is reserved and not
// touched costs nothing.
constexpr std::size_t kBytesPerMemoEntry = 8;
constexpr std::size_t kMostReserved = 1 << 22;

}  // namespace

Vm::Vm(Bytes pickle, const ParseOptions& options)
    : limits_(options.limits),
      pickle_(pickle),
      step_{options.where},
      stack_(step_),
      memo_(options.memory),
      document_(options, step_) {
  memo_.reserve(std::min(pickle.size() / kBytesPerMemoEntry, kMostReserved));
}

Document Vm::run() {
  // Both are local, and their addresses go nowhere: the loop keeps them in registers.
  Decoder decoder(pickle_, step_.where, limits_.max_pickle_size);
  Instruction ins;
  const auto execute_it = [&](auto op) {
    seen_[static_cast<std::uint8_t>(op())] = true;
    execute(op(), ins);
    return op() != Opcode::STOP;
  };
  while (decoder.decode(ins, execute_it)) {
  }
  return finish(decoder.offset());
}

std::uint64_t Vm::run_to(std::uint32_t ordinal) {
  Decoder decoder(pickle_, step_.where, limits_.max_pickle_size);
  Instruction ins;
  while (document_.node_count() <= ordinal) {
    decoder.decode(ins);
    execute(ins.op, ins);
  }
  return step_.offset;
}

[[gnu::always_inline]] inline void Vm::execute(Opcode op, const Instruction& ins) {
  step_.offset = ins.offset;
  step_.op = op;
  const auto index = static_cast<std::uint64_t>(ins.integer);
  switch (op) {
    case Opcode::STOP: stack_.top(); break;
    case Opcode::PROTO: check_protocol(ins.integer); break;
    case Opcode::FRAME: check_frame(index); break;
    case Opcode::MARK: stack_.mark(); break;
    case Opcode::POP: pop(); break;
    case Opcode::POP_MARK: stack_.close_mark(); break;
    case Opcode::DUP: stack_.push(stack_.top()); break;

    case Opcode::NONE: stack_.push(kNone); break;
    case Opcode::NEWTRUE: stack_.push(kTrue); break;
    case Opcode::NEWFALSE: stack_.push(kFalse); break;
    case Opcode::INT: push_boolean_or_integer(ins.text); break;
    case Opcode::LONG: push_long_line(ins.text); break;
    case Opcode::BININT:
    case Opcode::BININT1:
    case Opcode::BININT2: stack_.push(document_.add_integer(ins.integer)); break;
    case Opcode::LONG1:
    case Opcode::LONG4: stack_.push(document_.add_long(ins.text)); break;
    case Opcode::FLOAT: push_real_line(ins.text); break;
    case Opcode::BINFLOAT: stack_.push(document_.add_real(ins.real)); break;

    case Opcode::STRING: push_string_literal(ins.text); break;
    case Opcode::BINSTRING:
    case Opcode::SHORT_BINSTRING:
      stack_.push(document_.add_text(NodeKind::byte_string, ins.text));
      break;
    case Opcode::BINBYTES:
    case Opcode::SHORT_BINBYTES:
    case Opcode::BINBYTES8: stack_.push(document_.add_text(NodeKind::bytes, ins.text)); break;
    case Opcode::BYTEARRAY8: stack_.push(document_.add_text(NodeKind::bytearray, ins.text)); break;
    case Opcode::UNICODE: push_unicode_line(ins.text); break;
    case Opcode::SHORT_BINUNICODE:
    case Opcode::BINUNICODE:
    case Opcode::BINUNICODE8: stack_.push(document_.add_string(ins.text)); break;
    case Opcode::NEXT_BUFFER:
    case Opcode::READONLY_BUFFER: refuse(step_, "the pickle has no out-of-band buffers");

    case Opcode::EMPTY_LIST: stack_.push(document_.add_empty(NodeKind::list)); break;
    case Opcode::EMPTY_DICT: stack_.push(document_.add_empty(NodeKind::dict)); break;
    case Opcode::EMPTY_SET: stack_.push(document_.add_empty(NodeKind::set)); break;
    case Opcode::EMPTY_TUPLE: stack_.push(document_.add_tuple({})); break;
    case Opcode::TUPLE1: push_tuple(1); break;
    case Opcode::TUPLE2: push_tuple(2); break;
    case Opcode::TUPLE3: push_tuple(3); break;
    case Opcode::TUPLE: stack_.close_mark(document_.add_tuple(stack_.above_mark())); break;
    case Opcode::FROZENSET: stack_.close_mark(document_.add_frozenset(stack_.above_mark())); break;
    case Opcode::LIST: close_into(NodeKind::list); break;
    case Opcode::DICT: close_into(NodeKind::dict); break;
    case Opcode::APPEND: append_top(); break;
    case Opcode::APPENDS: append_from_mark(); break;
    case Opcode::SETITEM: set_top_item(); break;
    case Opcode::SETITEMS: set_items_from_mark(); break;
    case Opcode::ADDITEMS: add_items_from_mark(); break;

    case Opcode::GET: get(index_of_line(ins.text)); break;
    case Opcode::BINGET:
    case Opcode::LONG_BINGET: get(index); break;
    case Opcode::PUT: put(index_of_line(ins.text)); break;
    case Opcode::BINPUT:
    case Opcode::LONG_BINPUT: put(index); break;
    case Opcode::MEMOIZE: put(memo_.count()); break;

    case Opcode::GLOBAL: push_global(ins.text, ins.name); break;
    case Opcode::STACK_GLOBAL: push_global_from_stack(); break;
    case Opcode::EXT1:
    case Opcode::EXT2:
    case Opcode::EXT4: push_extension(ins.integer); break;
    case Opcode::PERSID: push_persistent_line(ins.text); break;
    case Opcode::BINPERSID: push_persistent_from_stack(); break;
    case Opcode::REDUCE: reduce(); break;
    case Opcode::NEWOBJ: make_instance(); break;
    case Opcode::NEWOBJ_EX: make_instance_with_kwargs(); break;
    case Opcode::INST: instantiate_global(ins.text, ins.name); break;
    case Opcode::OBJ: instantiate_from_mark(); break;
    case Opcode::BUILD: build(); break;
  }
}

Document Vm::finish(std::uint64_t size) {
  // Values below the result are left over: CPython drops them in silence, here they are counted.
  const Ref root = stack_.pop();
  return document_.finish(root, size, stack_.size(), highest_protocol());
}

int Vm::highest_protocol() const noexcept {
  int protocol = stated_protocol_;
  for (const OpcodeRow& row : kOpcodeRows) {
    if (seen_[row.byte]) protocol = std::max<int>(protocol, row.protocol);
  }
  return protocol;
}

/// The disassembler shows a PROTO of any number; an unpickler stops there.
void Vm::check_protocol(std::int64_t protocol) {
  if (protocol > kHighestProtocol) refuse(step_, "protocol {} is unknown", protocol);
  stated_protocol_ = std::max(stated_protocol_, static_cast<int>(protocol));
}

/// CPython reads a frame into memory at once, so that one which is cut fails here, not later.
void Vm::check_frame(std::uint64_t size) const {
  const std::uint64_t left = pickle_.size() - step_.offset - kFrameHeader;
  if (size > left) {
    fail(ErrorCode::truncated, step_.place(), "FRAME needs {} bytes, {} are left", size, left);
  }
}

/// Protocol 0 has no POP_MARK: its picklers drop a mark by POP.
void Vm::pop() {
  if (stack_.has_mark_on_top()) {
    stack_.close_mark();
  } else {
    stack_.pop();
  }
}

[[gnu::always_inline]] inline void Vm::get(std::uint64_t index) {
  const Ref* value = memo_.find(index);
  if (value == nullptr) [[unlikely]] {
    fail(ErrorCode::malformed_pickle, step_.place(), "{} {}: memo has {} entries, not this one",
         to_string(step_.op), index, memo_.count());
  }
  stack_.push(*value);
}

[[gnu::always_inline]] inline void Vm::put(std::uint64_t index) {
  memo_.put(index, stack_.top(), step_.offset);
}

/// `int(line)`, as GET and PUT read it. Numbers of more than 63 bits are refused.
std::uint64_t Vm::index_of_line(std::string_view line) const {
  const auto integer = read_integer_text(line, IntegerRule::decimal);
  if (!integer) refuse(step_, "the line is no integer");
  const std::string decimal = to_decimal(*integer);
  const auto index = decimal.size() < 20 ? to_int64(twos_complement_of(decimal)) : std::nullopt;
  if (!index || *index < 0) refuse(step_, "the line is no index of a memo");
  return static_cast<std::uint64_t>(*index);
}

/// Before protocol 2 there were no opcodes for booleans.
void Vm::push_boolean_or_integer(std::string_view line) {
  if (line == "00" || line == "01") {
    stack_.push(boolean_ref(line == "01"));
  } else {
    push_integer_text(line);
  }
}

/// The `L` is what Python 2 wrote behind a `long`.
void Vm::push_long_line(std::string_view line) {
  if (line.ends_with('L')) line.remove_suffix(1);
  push_integer_text(line);
}

void Vm::push_integer_text(std::string_view text) {
  const auto integer = read_integer_text(text, IntegerRule::literal);
  if (!integer) refuse(step_, "the line is no integer");
  if (integer->base == 10 && integer->digits.size() > limits_.max_integer_digits) {
    fail(ErrorCode::limit, step_.place(), "the integer has {} digits, max_integer_digits is {}",
         integer->digits.size(), limits_.max_integer_digits);
  }
  stack_.push(document_.add_decoded_long(to_twos_complement(*integer)));
}

void Vm::push_real_line(std::string_view line) {
  const auto value = read_real_text(line);
  if (!value) refuse(step_, "the line is no float");
  stack_.push(document_.add_real(*value));
}

/// A line without escapes is its own text; only others are copied.
void Vm::push_string_literal(std::string_view line) {
  const auto quoted = strip_quotes(line);
  if (!quoted) refuse(step_, "the line is not in quotes");
  const bool is_plain = quoted->find('\\') == std::string_view::npos;
  if (is_plain) return stack_.push(document_.add_text(NodeKind::byte_string, *quoted));
  const auto text = undo_escapes(*quoted);
  if (!text) refuse(step_, "an escape is cut");
  stack_.push(document_.add_decoded_text(NodeKind::byte_string, *text));
}

void Vm::push_unicode_line(std::string_view line) {
  const bool is_plain = is_ascii(line) && line.find('\\') == std::string_view::npos;
  if (is_plain) return stack_.push(document_.add_text(NodeKind::string, line));
  const auto text = undo_unicode_escapes(line);
  if (!text) refuse(step_, "an escape is cut, or above U+10FFFF");
  stack_.push(document_.add_decoded_text(NodeKind::string, *text));
}

inline void Vm::push_tuple(std::size_t count) {
  const Ref tuple = document_.add_tuple(stack_.last(count));
  stack_.replace(count, tuple);
}

void Vm::close_into(NodeKind container) {
  const std::span<const Ref> items = stack_.above_mark();
  const Ref made = document_.add_empty(container);
  if (container == NodeKind::list) {
    document_.append(made, items);
  } else {
    document_.set_items(made, items);
  }
  stack_.close_mark(made);
}

// The containers below stay where they are on the stack; only the items are dropped.

void Vm::append_top() {
  const std::span<const Ref> operands = stack_.last(2);
  document_.append(operands[0], operands.subspan(1));
  stack_.drop(1);
}

// Nothing above the mark is nothing to do, whatever stands below it.

void Vm::append_from_mark() {
  const Ref target = stack_.below_mark();
  const std::span<const Ref> items = stack_.above_mark();
  if (!items.empty()) document_.append(target, items);
  stack_.close_mark();
}

void Vm::set_top_item() {
  const std::span<const Ref> operands = stack_.last(3);
  document_.set_items(operands[0], operands.subspan(1));
  stack_.drop(2);
}

void Vm::set_items_from_mark() {
  const Ref target = stack_.below_mark();
  const std::span<const Ref> items = stack_.above_mark();
  if (!items.empty()) document_.set_items(target, items);
  stack_.close_mark();
}

void Vm::add_items_from_mark() {
  const Ref target = stack_.below_mark();
  const std::span<const Ref> items = stack_.above_mark();
  if (!items.empty()) document_.add_to_set(target, items);
  stack_.close_mark();
}

void Vm::push_global(std::string_view module, std::string_view name) {
  if (module.empty() || name.empty()) refuse(step_, "a name is empty");
  if (!is_strict_utf8(module) || !is_strict_utf8(name)) refuse(step_, "a name is not UTF-8");
  stack_.push(document_.add_global(module, name));
}

/// A Python 2 string will do, as it does for CPython, which has decoded it by then.
std::string_view Vm::name_operand(Ref operand) const {
  const NodeKind kind = document_.document().kind(operand);
  const bool is_text = kind == NodeKind::string || kind == NodeKind::byte_string;
  if (!is_text) refuse(step_, "needs two strings, finds {}", describe(kind));
  const std::string_view name = document_.document().text(operand);
  if (kind == NodeKind::byte_string && !is_strict_utf8(name)) refuse(step_, "a name is not UTF-8");
  return name;
}

void Vm::push_global_from_stack() {
  const std::span<const Ref> operands = stack_.last(2);
  const std::string_view module = name_operand(operands[0]);
  const std::string_view name = name_operand(operands[1]);
  stack_.replace(2, document_.add_global(module, name, {operands[0], operands[1]}));
}

void Vm::push_extension(std::int64_t code) {
  if (code <= 0) refuse(step_, "code {} is not above 0", code);
  stack_.push(document_.add_extension(code));
}

void Vm::push_persistent_line(std::string_view line) {
  if (!is_ascii(line)) refuse(step_, "the id is not ASCII");
  stack_.push(document_.add_persistent(document_.add_text(NodeKind::string, line)));
}

inline void Vm::push_persistent_from_stack() {
  const Ref id = stack_.top();
  stack_.replace(1, document_.add_persistent(id));
}

inline void Vm::reduce() {
  const std::span<const Ref> operands = stack_.last(2);
  stack_.replace(2, document_.add_object(CallForm::reduce, operands[0], operands[1]));
}

void Vm::make_instance() {
  const std::span<const Ref> operands = stack_.last(2);
  check_kind(operands[1], NodeKind::tuple);
  stack_.replace(2, document_.add_object(CallForm::newobj, operands[0], operands[1]));
}

void Vm::make_instance_with_kwargs() {
  const std::span<const Ref> operands = stack_.last(3);
  check_kind(operands[1], NodeKind::tuple);
  check_kind(operands[2], NodeKind::dict);
  stack_.replace(3, document_.add_object_with_kwargs(operands[0], operands[1], operands[2]));
}

void Vm::check_kind(Ref operand, NodeKind wanted) const {
  const NodeKind kind = document_.document().kind(operand);
  if (kind != wanted) refuse(step_, "needs {}, finds {}", describe(wanted), describe(kind));
}

/// INST and OBJ make a tuple of the arguments, which has no opcode of its own.
void Vm::instantiate_global(std::string_view module, std::string_view name) {
  if (module.empty() || name.empty()) refuse(step_, "a name is empty");
  if (!is_ascii(module) || !is_ascii(name)) refuse(step_, "a name is not ASCII");
  const Ref args = document_.add_tuple(stack_.above_mark());
  const Ref callable = document_.add_global(module, name);
  stack_.close_mark(document_.add_object(CallForm::inst, callable, args));
}

void Vm::instantiate_from_mark() {
  const std::span<const Ref> operands = stack_.above_mark();
  if (operands.empty()) refuse(step_, "no class above the mark");
  const Ref callable = operands[0];
  const Ref args = document_.add_tuple(operands.subspan(1));
  stack_.close_mark(document_.add_object(CallForm::inst, callable, args));
}

/// The object stays on the stack; what BUILD would do with it is for its class to know.
void Vm::build() {
  const std::span<const Ref> operands = stack_.last(2);
  document_.set_state(operands[0], operands[1]);
  stack_.drop(1);
}

Document parse_pickle(Bytes pickle, const ParseOptions& options) {
  return Vm(pickle, options).run();
}

std::uint64_t offset_of_node(Bytes pickle, const ParseOptions& options, std::uint32_t ordinal) {
  return Vm(pickle, options).run_to(ordinal);
}

}  // namespace flambeau
