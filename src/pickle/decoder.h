// The one parser of pickle bytes. Disassembler, scanner and machine all take their instructions
// from `Decoder::decode`, which is inline: the machine's loop becomes two jumps for each opcode.
//
//   Decoder decoder(bytes, "data.pkl");
//   for (Instruction ins; decoder.decode(ins), ins.op != Opcode::STOP;) …
#pragma once

#include <algorithm>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "base/bytes.h"
#include "base/endian.h"
#include "flambeau/pickle.h"
#include "pickle/opcode.h"

namespace flambeau {

/// Walks over a pickle. Views the bytes and the name. Says nothing about what may follow what: it
/// only splits, and refuses bytes that are no opcode, lengths below 0 and arguments that are cut.
class Decoder {
 public:
  /// Not more than `max_size` bytes are looked at; a pickle that goes on is refused with `limit`.
  Decoder(Bytes pickle, std::string_view where, std::uint64_t max_size = UINT64_MAX,
          std::size_t position = 0) noexcept
      : begin_(pickle.data()),
        next_(begin_ + position),
        end_(begin_ + std::min<std::uint64_t>(pickle.size(), max_size)),
        where_(where),
        limited_(max_size < pickle.size()) {}

  std::uint64_t offset() const noexcept { return static_cast<std::uint64_t>(next_ - begin_); }
  std::uint64_t remaining() const noexcept { return static_cast<std::uint64_t>(end_ - next_); }

  /// Reads one instruction and moves behind it. Must not be called again after STOP.
  void decode(Instruction& ins) {
    ins.offset = offset();
    if (next_ == end_) [[unlikely]]
      fail_at_end(ins);
    const auto byte = static_cast<std::uint8_t>(*next_++);
    ins.op = Opcode{byte};
    switch (kArguments[byte]) {
      case Argument::none: return;
      case Argument::uint1: ins.integer = number<std::uint8_t>(ins); return;
      case Argument::uint2: ins.integer = number<std::uint16_t>(ins); return;
      case Argument::uint4: ins.integer = number<std::uint32_t>(ins); return;
      case Argument::int4: ins.integer = signed_number(ins); return;
      case Argument::uint8:
        ins.integer = static_cast<std::int64_t>(number<std::uint64_t>(ins));
        return;
      case Argument::float8: ins.real = real(ins); return;
      case Argument::long1:
      case Argument::string1:
      case Argument::bytes1:
      case Argument::unicodestring1: ins.text = take(number<std::uint8_t>(ins), ins); return;
      case Argument::bytes4:
      case Argument::unicodestring4: ins.text = take(number<std::uint32_t>(ins), ins); return;
      case Argument::long4:
      case Argument::string4: ins.text = take(length(ins), ins); return;
      case Argument::bytes8:
      case Argument::bytearray8:
      case Argument::unicodestring8: ins.text = take(number<std::uint64_t>(ins), ins); return;
      case Argument::decimalnl_short:
      case Argument::decimalnl_long:
      case Argument::floatnl:
      case Argument::stringnl:
      case Argument::stringnl_noescape:
      case Argument::unicodestringnl: ins.text = line(ins); return;
      case Argument::stringnl_noescape_pair:
        ins.text = line(ins);
        ins.name = line(ins);
        return;
      case Argument::unknown: fail_unknown(ins);
    }
  }

 private:
  template <std::unsigned_integral T>
  T number(const Instruction& ins) {
    if (remaining() < sizeof(T)) [[unlikely]]
      fail_truncated(ins, sizeof(T));
    const T value = load_le<T>(next_);
    next_ += sizeof(T);
    return value;
  }

  std::int32_t signed_number(const Instruction& ins) {
    return static_cast<std::int32_t>(number<std::uint32_t>(ins));
  }

  double real(const Instruction& ins) {
    return std::bit_cast<double>(byte_swap(number<std::uint64_t>(ins)));
  }

  std::uint64_t length(const Instruction& ins) {
    const std::int32_t length = signed_number(ins);
    if (length < 0) [[unlikely]]
      fail_negative(ins, length);
    return static_cast<std::uint64_t>(length);
  }

  std::string_view take(std::uint64_t size, const Instruction& ins) {
    if (remaining() < size) [[unlikely]]
      fail_truncated(ins, size);
    const std::string_view text = as_text({next_, static_cast<std::size_t>(size)});
    next_ += size;
    return text;
  }

  /// Up to the next line end, which is passed over.
  std::string_view line(const Instruction& ins) {
    const void* end = next_ == end_ ? nullptr : std::memchr(next_, '\n', remaining());
    if (end == nullptr) [[unlikely]]
      fail_unended(ins);
    const std::string_view text = as_text({next_, static_cast<const std::byte*>(end)});
    next_ += text.size() + 1;
    return text;
  }

  [[noreturn, gnu::cold]] void fail_at_end(const Instruction& ins) const;
  [[noreturn, gnu::cold]] void fail_unknown(const Instruction& ins) const;
  [[noreturn, gnu::cold]] void fail_negative(const Instruction& ins, std::int64_t length) const;
  [[noreturn, gnu::cold]] void fail_unended(const Instruction& ins) const;
  [[noreturn, gnu::cold]] void fail_truncated(const Instruction& ins, std::uint64_t size) const;
  /// Refuses with `limit` where it is the limit, not the pickle, that ends here.
  void check_limit(const Instruction& ins) const;

  const std::byte* begin_;
  const std::byte* next_;
  const std::byte* end_;
  std::string_view where_;
  bool limited_;
};

}  // namespace flambeau
