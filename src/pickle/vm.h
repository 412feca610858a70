// The pickle machine: runs instructions over an operand stack and a memo, and builds a document.
// Nothing is called: REDUCE and its kin become nodes that say what would be.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "pickle/decoder.h"
#include "pickle/document.h"
#include "pickle/document_builder.h"
#include "pickle/memo.h"
#include "pickle/operand_stack.h"
#include "pickle/step.h"
#include "pickle/text_argument.h"

namespace flambeau {

/// For one pickle, once: make it, `run` it. Views the bytes and the options.
class Vm {
 public:
  Vm(Bytes pickle, const ParseOptions& options);
  Vm(const Vm&) = delete;
  Vm& operator=(const Vm&) = delete;

  /// Runs to STOP. `parse_pickle` says what it refuses.
  Document run();
  /// Runs until node `ordinal` is there. The offset of the instruction that made it.
  std::uint64_t run_to(std::uint32_t ordinal);

 private:
  /// A reference that no value has.
  static constexpr Ref kAbsent{kConstantBit | 3};

  /// What the opcode does; the caller gives it as a constant, so that the switch is none.
  void execute(Opcode op, const Instruction& ins);
  /// The result of a pickle that took `size` bytes.
  Document finish(std::uint64_t size);
  int highest_protocol() const noexcept;

  // Stack and memo. POP takes a value or a mark.
  void pop();
  void get(std::uint64_t index);
  void put(std::uint64_t index);

  // Containers: made of what stands above the mark, or filled from the top or from the mark.
  void close_into(NodeKind container);
  void append_top();
  void append_from_mark();
  void set_top_item();
  void set_items_from_mark();
  void add_items_from_mark();
  void push_tuple(std::size_t count);

  // The lines of protocol 0, read as pickle.py reads them.
  void push_boolean_or_integer(std::string_view line);
  void push_long_line(std::string_view line);
  void push_integer_text(std::string_view text);
  void push_real_line(std::string_view line);
  void push_string_literal(std::string_view line);
  void push_unicode_line(std::string_view line);

  // Classes, functions and what stands outside the pickle.
  void push_global(std::string_view module, std::string_view name);
  void push_global_from_stack();
  void push_extension(std::int64_t code);
  void push_persistent_line(std::string_view line);
  void push_persistent_from_stack();

  // Calls that are not made.
  void reduce();
  void make_instance();
  void make_instance_with_kwargs();
  void instantiate_global(std::string_view module, std::string_view name);
  void instantiate_from_mark();
  void build();

  // What an instruction may find.
  void check_protocol(std::int64_t protocol);
  void check_kind(Ref operand, NodeKind wanted) const;
  void check_frame(std::uint64_t size) const;
  std::uint64_t index_of_line(std::string_view line) const;
  std::string_view name_operand(Ref operand) const;

  const Limits& limits_;
  Bytes pickle_;
  CurrentStep step_;
  OperandStack stack_;
  Memo<Ref, kAbsent> memo_;
  DocumentBuilder document_;
  /// The opcodes that occurred, by byte; a store is cheaper than a maximum.
  std::array<bool, 256> seen_{};
  int stated_protocol_ = 0;
};

}  // namespace flambeau
