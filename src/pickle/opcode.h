// The rows of opcodes.def as constants: what follows an opcode byte, and what the opcode does to
// the stack.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "flambeau/pickle.h"

namespace flambeau {

/// What follows the opcode byte, as pickletools names it (`ArgumentDescriptor`): counted texts and
/// bytes end in the size of their count, lines in `nl`.
enum class Argument : std::uint8_t {
  unknown,  ///< the byte is no opcode
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
  std::string_view argument;
  /// What it takes from the stack and what it puts there, in pickletools' words.
  std::string_view before;
  std::string_view after;
  std::string_view meaning;
  std::uint8_t byte = 0;
  std::uint8_t protocol = 0;
};

/// All rows, in the order of the table.
inline constexpr std::array kOpcodeRows = {
#define FLAMBEAU_OPCODE(name, byte, argument, protocol, before, after, meaning) \
  OpcodeRow{#name, #argument, before, after, meaning, byte, protocol},
#include "flambeau/opcodes.def"
#undef FLAMBEAU_OPCODE
};

/// What follows each of the 256 bytes.
inline constexpr std::array<Argument, 256> kArguments = [] {
  std::array<Argument, 256> arguments{};
#define FLAMBEAU_OPCODE(name, byte, argument, protocol, before, after, meaning) \
  arguments[byte] = Argument::argument;
#include "flambeau/opcodes.def"
#undef FLAMBEAU_OPCODE
  return arguments;
}();

/// The row of an opcode.
const OpcodeRow& row_of(Opcode op) noexcept;

}  // namespace flambeau
