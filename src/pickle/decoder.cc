// The refusals of the decoder, out of the way of its loop, and the public reader around it.
//
// The rules are those of CPython's C unpickler (`_Unpickler_Read`, `_Unpickler_Readline`): a line
// without end and an argument that is cut are refused, lengths of BINSTRING and LONG4 are signed.
#include "pickle/decoder.h"

#include "base/fail.h"

namespace flambeau {

/// Refuses with `limit` where it is the limit, not the pickle, that ends here.
void Decoder::check_limit(Position at) {
  if (at.limited) {
    fail(ErrorCode::limit, {at.where, at.offset}, "the pickle is larger than max_pickle_size");
  }
}

void Decoder::fail_at_end(Position at) {
  check_limit(at);
  fail(ErrorCode::truncated, {at.where, at.offset}, "the pickle ends without STOP");
}

void Decoder::fail_unknown(Position at) {
  fail(ErrorCode::malformed_pickle, {at.where, at.offset}, "byte 0x{:02x} is no opcode",
       static_cast<unsigned>(at.op));
}

void Decoder::fail_negative(Position at, std::int64_t length) {
  fail(ErrorCode::malformed_pickle, {at.where, at.offset}, "{} has a length of {} bytes",
       to_string(at.op), length);
}

void Decoder::fail_unended(Position at) {
  check_limit(at);
  fail(ErrorCode::truncated, {at.where, at.offset}, "{} needs a line, which has no end",
       to_string(at.op));
}

void Decoder::fail_truncated(Position at, std::uint64_t size) {
  check_limit(at);
  fail(ErrorCode::truncated, {at.where, at.offset}, "{} needs {} bytes, {} are left",
       to_string(at.op), size, at.left);
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
