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
#include <type_traits>

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

  /// Bytes read so far.
  std::uint64_t offset() const noexcept { return static_cast<std::uint64_t>(next_ - begin_); }
  /// Bytes that may still be read.
  std::uint64_t remaining() const noexcept { return static_cast<std::uint64_t>(end_ - next_); }

  /// Reads one instruction and moves behind it. Must not be called again after STOP.
  void decode(Instruction& ins) {
    decode(ins, [](auto) { return true; });
  }

  /// The same, and gives the opcode to `use` as a constant (`std::integral_constant`), so that what
  /// `use` does with it is chosen by the same jump that chose how to read. Returns what `use` does.
  template <typename Use>
  [[gnu::always_inline]] bool decode(Instruction& ins, Use&& use) {
    ins.offset = offset();
    if (next_ == end_) [[unlikely]]
      fail_at_end(position(ins));
    ins.op = Opcode{static_cast<std::uint8_t>(*next_++)};
    switch (ins.op) {
#define FLAMBEAU_OPCODE(name, byte, argument, protocol, before, after, meaning) \
  case Opcode::name:                                                            \
    read<Argument::argument>(ins);                                              \
    return use(std::integral_constant<Opcode, Opcode::name>());
#include "flambeau/opcodes.def"
#undef FLAMBEAU_OPCODE
    }
    fail_unknown(position(ins));
  }

 private:
  /// Reads the argument of an opcode. All but one of the lines vanish when it is compiled.
  template <Argument kind>
  [[gnu::always_inline]] void read(Instruction& ins) {
    using enum Argument;
    if constexpr (kind == uint1) ins.integer = number<std::uint8_t>(ins);
    if constexpr (kind == uint2) ins.integer = number<std::uint16_t>(ins);
    if constexpr (kind == uint4) ins.integer = number<std::uint32_t>(ins);
    if constexpr (kind == uint8)
      ins.integer = static_cast<std::int64_t>(number<std::uint64_t>(ins));
    if constexpr (kind == int4) ins.integer = signed_number(ins);
    if constexpr (kind == float8) ins.real = real(ins);
    if constexpr (size_of_count(kind) == 1) ins.text = take(number<std::uint8_t>(ins), ins);
    if constexpr (size_of_count(kind) == 4) ins.text = take(number<std::uint32_t>(ins), ins);
    if constexpr (size_of_count(kind) == 8) ins.text = take(number<std::uint64_t>(ins), ins);
    if constexpr (kind == long4 || kind == string4) ins.text = take(length(ins), ins);
    if constexpr (is_line(kind)) ins.text = line(ins);
    if constexpr (kind == stringnl_noescape_pair) ins.name = line(ins);
  }

  /// The next bytes as a little-endian number.
  template <std::unsigned_integral T>
  [[gnu::always_inline]] T number(const Instruction& ins) {
    if (remaining() < sizeof(T)) [[unlikely]]
      fail_truncated(position(ins), sizeof(T));
    const T value = load_le<T>(next_);
    next_ += sizeof(T);
    return value;
  }

  [[gnu::always_inline]] std::int32_t signed_number(const Instruction& ins) {
    return static_cast<std::int32_t>(number<std::uint32_t>(ins));
  }

  /// BINFLOAT is the one big-endian argument.
  [[gnu::always_inline]] double real(const Instruction& ins) {
    return std::bit_cast<double>(byte_swap(number<std::uint64_t>(ins)));
  }

  /// A length of four bytes that was signed in Python 2 and still is.
  [[gnu::always_inline]] std::uint64_t length(const Instruction& ins) {
    const std::int32_t length = signed_number(ins);
    if (length < 0) [[unlikely]]
      fail_negative(position(ins), length);
    return static_cast<std::uint64_t>(length);
  }

  /// The next `size` bytes, which are compared with what is left before anything else is done.
  [[gnu::always_inline]] std::string_view take(std::uint64_t size, const Instruction& ins) {
    if (remaining() < size) [[unlikely]]
      fail_truncated(position(ins), size);
    const std::string_view text = as_text({next_, static_cast<std::size_t>(size)});
    next_ += size;
    return text;
  }

  /// Up to the next line end, which is passed over.
  [[gnu::always_inline]] std::string_view line(const Instruction& ins) {
    const void* end = next_ == end_ ? nullptr : std::memchr(next_, '\n', remaining());
    if (end == nullptr) [[unlikely]]
      fail_unended(position(ins));
    const std::string_view text = as_text({next_, static_cast<const std::byte*>(end)});
    next_ += text.size() + 1;
    return text;
  }

  /// What a refusal tells, copied so that a decoder on the stack can live in registers.
  struct Position {
    std::string_view where;
    std::uint64_t offset;
    std::uint64_t left;
    Opcode op;
    bool limited;
  };
  Position position(const Instruction& ins) const noexcept {
    return {where_, ins.offset, remaining(), ins.op, limited_};
  }
  [[noreturn, gnu::cold]] static void fail_at_end(Position at);
  [[noreturn, gnu::cold]] static void fail_unknown(Position at);
  [[noreturn, gnu::cold]] static void fail_negative(Position at, std::int64_t length);
  [[noreturn, gnu::cold]] static void fail_unended(Position at);
  [[noreturn, gnu::cold]] static void fail_truncated(Position at, std::uint64_t size);
  static void check_limit(Position at);

  const std::byte* begin_;
  const std::byte* next_;
  const std::byte* end_;
  std::string_view where_;
  /// Whether `end_` is where the limit cut the bytes.
  bool limited_;
};

}  // namespace flambeau
