// Each function is one of the `save_…` functions of Modules/_pickle.c. Frames are laid out as
// `_Pickler_Write`, `_Pickler_CloseFrame` and `_Pickler_write_bytes` do it: a frame begins with the
// first byte that needs one, ends at the first boundary from 64 KiB on, and loses its header when
// less than four bytes came into it.
#include "pickle/emitter.h"

#include <bit>

#include "base/fail.h"
#include "pickle/bigint.h"
#include "pickle/repr.h"

namespace flambeau {

Emitter::Emitter(int protocol, std::size_t expected_size, std::pmr::memory_resource* memory)
    : out_(memory), protocol_(protocol) {
  out_.reserve(expected_size);
  if (protocol < kLowestWritten || protocol > kHighestWritten) {
    fail(ErrorCode::unsupported, {}, "pickles of protocol {} are not written, {} to {} are",
         protocol, kLowestWritten, kHighestWritten);
  }
  if (protocol >= 2) with_argument(Opcode::PROTO, static_cast<std::uint8_t>(protocol));
  framing_ = protocol >= 4;
}

void Emitter::boolean(bool value) {
  if (protocol_ >= 2) return op(value ? Opcode::NEWTRUE : Opcode::NEWFALSE);
  op(Opcode::INT);
  text(value ? "01\n" : "00\n");
}

void Emitter::integer(std::int64_t value) {
  if (value >= 0 && value <= UINT8_MAX) {
    with_argument(Opcode::BININT1, static_cast<std::uint8_t>(value));
  } else if (value >= 0 && value <= UINT16_MAX) {
    with_argument(Opcode::BININT2, static_cast<std::uint16_t>(value));
  } else if (value >= INT32_MIN && value <= INT32_MAX) {
    with_argument(Opcode::BININT, static_cast<std::uint32_t>(value));
  } else if (protocol_ < 2) {
    long_line(fmt::format("{}", value));
  } else {
    std::byte stored[sizeof value];
    store_le(stored, static_cast<std::uint64_t>(value));
    counted<std::uint8_t>(Opcode::LONG1, minimal_twos_complement(as_text(stored)));
  }
}

void Emitter::big_integer(std::string_view twos_complement, std::uint64_t max_digits) {
  if (protocol_ < 2) {
    if (fewest_decimal_digits(twos_complement.size()) > max_digits) {
      fail(ErrorCode::limit, {}, "protocol 1 spells integers in decimal, of which one has over {}",
           max_digits);
    }
    long_line(decimal_of(twos_complement));
  } else if (twos_complement.size() <= UINT8_MAX) {
    counted<std::uint8_t>(Opcode::LONG1, twos_complement);
  } else {
    if (twos_complement.size() > INT32_MAX) {
      fail(ErrorCode::limit, {}, "an integer of {} bytes", twos_complement.size());
    }
    counted<std::uint32_t>(Opcode::LONG4, twos_complement);
  }
}

void Emitter::long_line(std::string_view decimal) {
  op(Opcode::LONG);
  text(decimal);
  text("L\n");
}

/// Big-endian, unlike all else.
void Emitter::real(double value) {
  std::byte* const at = claim(1 + sizeof value);
  *at = byte_of(Opcode::BINFLOAT);
  store_be(at + 1, std::bit_cast<std::uint64_t>(value));
}

void Emitter::text(std::string_view text) {
  std::byte* const to = claim(text.size());
  if (!text.empty()) std::memcpy(to, text.data(), text.size());
}

template <std::unsigned_integral T>
void Emitter::counted(Opcode op, std::string_view text) {
  const bool had_frames = framing_;
  if (text.size() >= kFrameTarget) {
    close_frame();
    framing_ = false;
  }
  with_argument(op, static_cast<T>(text.size()));
  this->text(text);
  framing_ = had_frames;
}

void Emitter::check_size(std::string_view text) const {
  if (text.size() <= UINT32_MAX || protocol_ >= 4) return;
  fail(ErrorCode::limit, {}, "a text of {} bytes, which protocol {} has no opcode for", text.size(),
       protocol_);
}

void Emitter::string(std::string_view text) {
  check_size(text);
  if (protocol_ >= 4 && text.size() <= UINT8_MAX) {
    counted<std::uint8_t>(Opcode::SHORT_BINUNICODE, text);
  } else if (text.size() <= UINT32_MAX) {
    counted<std::uint32_t>(Opcode::BINUNICODE, text);
  } else {
    counted<std::uint64_t>(Opcode::BINUNICODE8, text);
  }
}

/// There is no opcode for 4 GiB of it in any protocol.
void Emitter::byte_string(std::string_view text) {
  if (text.size() <= UINT8_MAX) {
    counted<std::uint8_t>(Opcode::SHORT_BINSTRING, text);
  } else if (text.size() <= INT32_MAX) {
    counted<std::uint32_t>(Opcode::BINSTRING, text);
  } else {
    fail(ErrorCode::limit, {}, "a Python 2 string of {} bytes", text.size());
  }
}

void Emitter::bytes(std::string_view text) {
  check_size(text);
  if (text.size() <= UINT8_MAX) {
    counted<std::uint8_t>(Opcode::SHORT_BINBYTES, text);
  } else if (text.size() <= UINT32_MAX) {
    counted<std::uint32_t>(Opcode::BINBYTES, text);
  } else {
    counted<std::uint64_t>(Opcode::BINBYTES8, text);
  }
}

void Emitter::bytearray(std::string_view text) { counted<std::uint64_t>(Opcode::BYTEARRAY8, text); }

void Emitter::global(std::string_view module, std::string_view name) {
  op(Opcode::GLOBAL);
  text(module);
  text("\n");
  text(name);
  text("\n");
}

void Emitter::extension(std::int64_t code) {
  if (code <= UINT8_MAX) {
    with_argument(Opcode::EXT1, static_cast<std::uint8_t>(code));
  } else if (code <= UINT16_MAX) {
    with_argument(Opcode::EXT2, static_cast<std::uint16_t>(code));
  } else {
    with_argument(Opcode::EXT4, static_cast<std::uint32_t>(code));
  }
}

void Emitter::open_frame() {
  frame_start_ = out_.size();
  out_.reserve(kFrameHeader);
  out_.advance(kFrameHeader);
}

void Emitter::close_frame() noexcept {
  if (frame_start_ == kNoFrame) return;
  const std::uint64_t size = frame_size();
  if (size >= kLeastFrame) {
    std::byte* const header = out_.data() + frame_start_;
    *header = byte_of(Opcode::FRAME);
    store_le(header + 1, size);
  } else {
    out_.erase(frame_start_, kFrameHeader);
  }
  frame_start_ = kNoFrame;
}

ByteBuffer Emitter::finish() {
  op(Opcode::STOP);
  close_frame();
  return std::move(out_);
}

}  // namespace flambeau
