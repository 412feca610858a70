// Writes the opcodes of one pickle, spelled as CPython's C pickler spells them
// (Modules/_pickle.c): which of several opcodes an integer or a text gets, memo numbers, frames.
//
//   Emitter out(2);                   // PROTO 2
//   out.op(Opcode::EMPTY_LIST);
//   out.put();                        // BINPUT 0
//   out.integer(7);
//   out.op(Opcode::APPEND);
//   ByteBuffer pickle = out.finish(); // STOP
//
// What belongs together, and what may be named again, is for the caller to know.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <string_view>

#include "base/byte_buffer.h"
#include "base/endian.h"
#include "flambeau/pickle.h"

namespace flambeau {

/// The protocols that can be written. 0 is text throughout, in which persistent ids are lines.
inline constexpr int kLowestWritten = 1;
inline constexpr int kHighestWritten = 5;

class Emitter {
 public:
  /// Error: `unsupported` for protocols other than 1 to 5.
  explicit Emitter(int protocol, std::size_t expected_size = 0,
                   std::pmr::memory_resource* memory = std::pmr::get_default_resource());

  int protocol() const noexcept { return protocol_; }

  void op(Opcode op) { *claim(1) = byte_of(op); }
  void boolean(bool value);
  void integer(std::int64_t value);
  /// An integer of more than 64 bits, as its minimal two's complement. Error: `limit` at protocol
  /// 1, which spells it in decimal, beyond `max_digits` digits.
  void big_integer(std::string_view twos_complement, std::uint64_t max_digits);
  void real(double value);
  /// UTF-8. Error: `limit` for 4 GiB and more below protocol 4, as for the three below.
  void string(std::string_view text);
  /// A Python 2 string.
  void byte_string(std::string_view text);
  /// From protocol 3 on.
  void bytes(std::string_view text);
  /// From protocol 5 on.
  void bytearray(std::string_view text);
  /// GLOBAL, the form of a class before protocol 4.
  void global(std::string_view module, std::string_view name);
  /// EXT1, EXT2 or EXT4.
  void extension(std::int64_t code);

  /// Before and after the items of a tuple that has some: up to three need no mark from protocol 2
  /// on.
  void begin_tuple(std::size_t count) {
    if (has_mark(count)) op(Opcode::MARK);
  }
  void end_tuple(std::size_t count) {
    constexpr Opcode kBySize[] = {Opcode::TUPLE1, Opcode::TUPLE2, Opcode::TUPLE3};
    op(has_mark(count) ? Opcode::TUPLE : kBySize[count - 1]);
  }
  /// Instead of `end_tuple`: takes the items off the stack again.
  void drop_tuple(std::size_t count) {
    if (has_mark(count)) return op(Opcode::POP_MARK);
    for (std::size_t i = 0; i < count; ++i) op(Opcode::POP);
  }

  /// Notes the value on top in the memo and gives its number.
  std::uint32_t put() {
    const std::uint32_t index = memo_count_++;
    if (protocol_ >= 4) {
      op(Opcode::MEMOIZE);
    } else {
      with_index(Opcode::BINPUT, Opcode::LONG_BINPUT, index);
    }
    return index;
  }
  void get(std::uint32_t index) { with_index(Opcode::BINGET, Opcode::LONG_BINGET, index); }
  /// Where a value begins: a frame of 64 KiB ends there.
  void boundary() {
    if (frame_start_ != kNoFrame && frame_size() >= kFrameTarget) close_frame();
  }

  /// Writes STOP and gives the pickle away.
  ByteBuffer finish();

 private:
  // Of Modules/_pickle.c: FRAME_SIZE_TARGET, FRAME_SIZE_MIN, FRAME_HEADER_SIZE.
  static constexpr std::size_t kFrameTarget = std::size_t{64} << 10;
  static constexpr std::size_t kLeastFrame = 4;
  static constexpr std::size_t kFrameHeader = 9;
  static constexpr std::size_t kNoFrame = SIZE_MAX;

  static std::byte byte_of(Opcode op) noexcept { return static_cast<std::byte>(op); }

  bool has_mark(std::size_t count) const noexcept { return count > 3 || protocol_ < 2; }
  /// Room for the next bytes, in a frame where there are frames.
  std::byte* claim(std::size_t count) {
    if (framing_ && frame_start_ == kNoFrame) open_frame();
    std::byte* const room = out_.reserve(count);
    out_.advance(count);
    return room;
  }
  template <std::unsigned_integral T>
  void with_argument(Opcode op, T argument) {
    std::byte* const at = claim(1 + sizeof argument);
    *at = byte_of(op);
    store_le(at + 1, argument);
  }
  void with_index(Opcode narrow, Opcode wide, std::uint32_t index) {
    if (index < 256) {
      with_argument(narrow, static_cast<std::uint8_t>(index));
    } else {
      with_argument(wide, index);
    }
  }
  /// Writes the opcode and the size of a text, and the text, which stands outside of frames where
  /// it is large.
  template <std::unsigned_integral T>
  void counted(Opcode op, std::string_view text);
  void text(std::string_view text);
  void check_size(std::string_view text) const;
  void long_line(std::string_view decimal);
  std::size_t frame_size() const noexcept { return out_.size() - frame_start_ - kFrameHeader; }
  void open_frame();
  void close_frame() noexcept;

  ByteBuffer out_;
  int protocol_;
  std::uint32_t memo_count_ = 0;
  bool framing_ = false;
  std::size_t frame_start_ = kNoFrame;
};

}  // namespace flambeau
