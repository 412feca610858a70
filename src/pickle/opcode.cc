// Finds rows of opcodes.def by their byte, by a table of 256 places that is made at compile time.
#include "pickle/opcode.h"

#include <cstddef>

namespace flambeau {
namespace {

/// 0, which is INT's row, also for bytes that are no opcode: the decoder lets none of them through.
constexpr std::array<std::uint8_t, 256> kRowOfByte = [] {
  std::array<std::uint8_t, 256> rows{};
  for (std::size_t i = 0; i < kOpcodeRows.size(); ++i) {
    rows[kOpcodeRows[i].byte] = static_cast<std::uint8_t>(i);
  }
  return rows;
}();

}  // namespace

const OpcodeRow& row_of(Opcode op) noexcept {
  return kOpcodeRows[kRowOfByte[static_cast<std::uint8_t>(op)]];
}

Argument argument_of(Opcode op) noexcept { return row_of(op).argument; }

std::string_view to_string(Opcode op) noexcept { return row_of(op).name; }

}  // namespace flambeau
