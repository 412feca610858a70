// The rows of opcodes.def as constants: what follows an opcode byte, and what the opcode does to
// the stack.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "flambeau/pickle.h"

namespace flambeau {

/// What follows the opcode byte, as pickletools names it (`ArgumentDescriptor`): counted texts and
/// bytes end in the size of their count, lines in `nl`. The lines stand last.
enum class Argument : std::uint8_t {
  none,
  uint1,
  uint2,
  int4,
  uint4,
  uint8,
  float8,
  long1,
  long4,
  string1,
  string4,
  bytes1,
  bytes4,
  bytes8,
  bytearray8,
  unicodestring1,
  unicodestring4,
  unicodestring8,
  decimalnl_short,
  decimalnl_long,
  floatnl,
  stringnl,
  stringnl_noescape,
  stringnl_noescape_pair,
  unicodestringnl,
};

/// One row of opcodes.def.
struct OpcodeRow {
  std::string_view name;
  std::string_view argument_name;
  Argument argument;
  /// What it takes from the stack and what it puts there, in pickletools' words.
  std::string_view before;
  std::string_view after;
  /// One line for docs/pickle.md.
  std::string_view meaning;
  std::uint8_t byte = 0;
  /// The first protocol that has the opcode.
  std::uint8_t protocol = 0;
};

/// All rows, in the order of the table.
inline constexpr std::array kOpcodeRows = {
#define FLAMBEAU_OPCODE(name, byte, argument, protocol, before, after, meaning) \
  OpcodeRow{#name, #argument, Argument::argument, before, after, meaning, byte, protocol},
#include "flambeau/opcodes.def"
#undef FLAMBEAU_OPCODE
};

/// Bytes of the unsigned count before a text or bytes; 0 where there is none, or a signed one.
constexpr int size_of_count(Argument argument) noexcept {
  using enum Argument;
  switch (argument) {
    case long1:
    case string1:
    case bytes1:
    case unicodestring1: return 1;
    case bytes4:
    case unicodestring4: return 4;
    case bytes8:
    case bytearray8:
    case unicodestring8: return 8;
    case none:
    case uint1:
    case uint2:
    case int4:
    case uint4:
    case uint8:
    case float8:
    case long4:
    case string4:
    case decimalnl_short:
    case decimalnl_long:
    case floatnl:
    case stringnl:
    case stringnl_noescape:
    case stringnl_noescape_pair:
    case unicodestringnl: return 0;
  }
  return 0;
}

/// Whether the argument is a line, or two.
constexpr bool is_line(Argument argument) noexcept { return argument >= Argument::decimalnl_short; }

/// The row of an opcode.
const OpcodeRow& row_of(Opcode op) noexcept;
/// What follows it.
Argument argument_of(Opcode op) noexcept;

}  // namespace flambeau
