// The refusals of the decoder, out of the way of its loop, and the public reader around it.
//
// The rules are those of CPython's C unpickler (`_Unpickler_Read`, `_Unpickler_Readline`): a line
// without end and an argument that is cut are refused, lengths of BINSTRING and LONG4 are signed.
#include "pickle/decoder.h"

#include "base/fail.h"

namespace flambeau {

void Decoder::check_limit(const Instruction& ins) const {
  if (limited_) {
    fail(ErrorCode::limit, {where_, ins.offset}, "the pickle goes on behind max_pickle_size {}",
         end_ - begin_);
  }
}

void Decoder::fail_at_end(const Instruction& ins) const {
  check_limit(ins);
  fail(ErrorCode::truncated, {where_, ins.offset}, "the pickle ends without STOP");
}

void Decoder::fail_unknown(const Instruction& ins) const {
  fail(ErrorCode::malformed_pickle, {where_, ins.offset}, "byte 0x{:02x} is no opcode",
       static_cast<unsigned>(ins.op));
}

void Decoder::fail_negative(const Instruction& ins, std::int64_t length) const {
  fail(ErrorCode::malformed_pickle, {where_, ins.offset}, "{} has a length of {} bytes",
       to_string(ins.op), length);
}

void Decoder::fail_unended(const Instruction& ins) const {
  check_limit(ins);
  fail(ErrorCode::truncated, {where_, ins.offset}, "{} needs a line, which has no end",
       to_string(ins.op));
}

void Decoder::fail_truncated(const Instruction& ins, std::uint64_t size) const {
  check_limit(ins);
  fail(ErrorCode::truncated, {where_, ins.offset}, "{} needs {} bytes, {} are left",
       to_string(ins.op), size, remaining());
}

InstructionReader::InstructionReader(std::span<const std::byte> pickle,
                                     std::string_view where) noexcept
    : pickle_(pickle), where_(where) {}

bool InstructionReader::next(Instruction& ins) {
  if (stopped_) return false;
  Decoder decoder(pickle_, where_, UINT64_MAX, position_);
  decoder.decode(ins);
  position_ = static_cast<std::size_t>(decoder.offset());
  stopped_ = ins.op == Opcode::STOP;
  return true;
}

}  // namespace flambeau
