// Low door: the pickle machine by itself (protocols 0 to 5; CPython's pickle.py and pickletools.py
// are the specification). Nothing is ever called, imported or resolved.
//
//   flambeau::InstructionReader reader(bytes, "data.pkl");
//   for (flambeau::Instruction ins; reader.next(ins);)
//     fmt::print("{:>6}: {}\n", ins.offset, flambeau::to_string(ins.op));
//   std::string text = flambeau::disassemble(bytes);   // what `python -m pickletools` prints
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "flambeau/limits.h"

namespace flambeau {

/// The opcodes, spelled as pickletools spells them; the value is the byte.
enum class Opcode : std::uint8_t {
#define FLAMBEAU_OPCODE(name, byte, argument, protocol, before, after, meaning) name = byte,
#include "flambeau/opcodes.def"
#undef FLAMBEAU_OPCODE
};

/// "BINPUT". The text lives forever.
std::string_view to_string(Opcode op) noexcept;

/// One decoded instruction. The views point into the decoded bytes. A field that the opcode has no
/// use for keeps what it had.
struct Instruction {
  Opcode op = Opcode::STOP;
  /// Where the opcode byte stands, in bytes from the start of the pickle.
  std::uint64_t offset = 0;
  /// Argument of BININT, BININT1, BININT2, the binary memo and extension opcodes and PROTO; the
  /// length of FRAME, whose 64 bits are unsigned.
  std::int64_t integer = 0;
  /// Argument of BINFLOAT.
  double real = 0;
  /// Bytes of a text or byte argument as they stand, without length or line end; the two's
  /// complement of LONG1 and LONG4; the module of GLOBAL and INST. The lines of protocol 0 (INT,
  /// LONG, FLOAT, STRING, UNICODE, GET, PUT, PERSID) are not interpreted: an unpickler and
  /// pickletools read some of them differently.
  std::string_view text;
  /// The name of GLOBAL and INST.
  std::string_view name;
};

/// Splits a pickle into instructions. Views the bytes and the name.
class InstructionReader {
 public:
  explicit InstructionReader(std::span<const std::byte> pickle,
                             std::string_view where = "pickle") noexcept;
  /// Decodes the next instruction; false once STOP was given.
  /// Errors, with the offset of the opcode: `truncated` where an argument or STOP is missing,
  /// `malformed_pickle` for a byte that is no opcode or an argument that its opcode cannot have.
  bool next(Instruction& ins);
  /// Where the next opcode stands.
  std::uint64_t offset() const noexcept { return position_; }

 private:
  std::span<const std::byte> pickle_;
  std::string_view where_;
  std::size_t position_ = 0;
  bool stopped_ = false;
};

/// Text of the pickle at the start of `pickle`, exactly as Python's `pickletools.dis` prints it.
/// Each line goes to `line` without its end as soon as it is known, so that a broken pickle shows
/// what it did before it broke. Errors: as `InstructionReader`, and `malformed_pickle` for what
/// `dis` refuses (stack underflow, a memo entry missing or defined twice, a stack not empty at
/// STOP). Returns the bytes that the pickle took.
std::uint64_t disassemble(std::span<const std::byte> pickle,
                          const std::function<void(std::string_view line)>& line,
                          std::string_view where = "pickle", const Limits& limits = {});
/// The same as one text, lines ended by `\n`.
std::string disassemble(std::span<const std::byte> pickle);

}  // namespace flambeau
