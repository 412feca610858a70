#include "pickle/decoder.h"

#include <bit>
#include <string>
#include <vector>

#include "pickle/graph_text.h"

namespace flambeau {
namespace {

using namespace test;

Instruction decode_one(std::string_view bytes) {
  Decoder decoder(as_bytes(bytes), "p");
  Instruction ins;
  decoder.decode(ins);
  EXPECT_EQ(decoder.remaining(), 0u) << to_string(ins.op);
  return ins;
}

std::string decoding_error(std::string_view bytes) {
  const auto error = error_of([&] { decode_one(bytes); });
  if (!error) return "none";
  return fmt::format("{}: {}", to_string(error->code()), error->message());
}

TEST(Decoder, ReadsIntegersOfEveryWidth) {
  EXPECT_EQ(decode_one("K\xff"sv).integer, 255);
  EXPECT_EQ(decode_one("M\x01\xff"sv).integer, 0xff01);
  EXPECT_EQ(decode_one("J\xfe\xff\xff\xff"sv).integer, -2);
  EXPECT_EQ(decode_one("r\xfe\xff\xff\xff"sv).integer, 0xfffffffe);
  EXPECT_EQ(decode_one("\x84\x00\x00\x00\x80"sv).integer, -2147483648);
  EXPECT_EQ(decode_one("\x95\xff\xff\xff\xff\xff\xff\xff\xff"sv).integer, -1);
}

TEST(Decoder, ReadsFloatsWithAllTheirBits) {
  const double value = decode_one("G\x7f\xf0\x00\x00\x00\x00\x00\x01"sv).real;
  EXPECT_EQ(std::bit_cast<std::uint64_t>(value), 0x7ff0000000000001u);
}

TEST(Decoder, ReadsCountedTexts) {
  EXPECT_EQ(decode_one("U\x02"
                       "ab"sv)
                .text,
            "ab");
  EXPECT_EQ(decode_one("X\x01\x00\x00\x00z"sv).text, "z");
  EXPECT_EQ(decode_one("\x8e\x03\x00\x00\x00\x00\x00\x00\x00"
                       "a\0b"sv)
                .text,
            "a\0b"sv);
  EXPECT_EQ(decode_one("\x8a\x00"sv).text, "");
  EXPECT_EQ(decode_one("\x8b\x01\x00\x00\x00\x80"sv).text, "\x80");
}

TEST(Decoder, ReadsLinesAsTheyStand) {
  EXPECT_EQ(decode_one("I 0x10\r\n"sv).text, " 0x10\r");
  EXPECT_EQ(decode_one("S'a\\n'\n"sv).text, "'a\\n'");
  const Instruction global = decode_one("cmod\nname\n"sv);
  EXPECT_EQ(global.text, "mod");
  EXPECT_EQ(global.name, "name");
}

TEST(Decoder, Refuses188BytesThatAreNoOpcode) {
  int refused = 0;
  for (int byte = 0; byte < 256; ++byte) {
    // Long enough for every argument, and with line ends.
    const std::string pickle =
        std::string(1, static_cast<char>(byte)) + std::string(9, '\0') + "\n\n";
    Decoder decoder(as_bytes(pickle), "p");
    Instruction ins;
    const auto error = error_of([&] { decoder.decode(ins); });
    if (!error) continue;
    EXPECT_EQ(error->code(), ErrorCode::malformed_pickle);
    EXPECT_EQ(error->message(), fmt::format("byte 0x{:02x} is no opcode", byte));
    ++refused;
  }
  EXPECT_EQ(refused, 188);
}

TEST(Decoder, RefusesAnUnknownByteInTheMiddleAtItsPlace) {
  EXPECT_EQ(refusal("N0\xff."sv), "malformed_pickle+2");
}

TEST(Decoder, RefusesEveryPrefixOfAnInstruction) {
  const std::vector<std::string> instructions = {
      "K\1"s,
      "M\1\1"s,
      "J\1\1\1\1"s,
      "r\1\1\1\1"s,
      "\x95\1\1\1\1\1\1\1\1"s,
      "G\1\1\1\1\1\1\1\1"s,
      "\x8a\2xy"s,
      "\x8b\2\0\0\0xy"s,
      "U\2xy"s,
      "T\2\0\0\0xy"s,
      "C\2xy"s,
      "B\2\0\0\0xy"s,
      "\x8e\2\0\0\0\0\0\0\0xy"s,
      "\x96\2\0\0\0\0\0\0\0xy"s,
      "\x8c\2xy"s,
      "X\2\0\0\0xy"s,
      "\x8d\2\0\0\0\0\0\0\0xy"s,
      "I1\n"s,
      "L1L\n"s,
      "F1\n"s,
      "S'a'\n"s,
      "Pid\n"s,
      "Va\n"s,
      "cm\nn\n"s,
      "im\nn\n"s,
  };
  for (const std::string& whole : instructions) {
    EXPECT_EQ(decoding_error(whole), "none") << whole;
    for (std::size_t size = 0; size < whole.size(); ++size) {
      EXPECT_EQ(decoding_error(whole.substr(0, size)).substr(0, 9), "truncated")
          << to_string(Opcode{static_cast<std::uint8_t>(whole[0])}) << " cut at " << size;
    }
  }
}

TEST(Decoder, SaysWhatIsMissing) {
  EXPECT_EQ(decoding_error(""), "truncated: the pickle ends without STOP");
  EXPECT_EQ(decoding_error("M\x01"sv), "truncated: BININT2 needs 2 bytes, 1 are left");
  EXPECT_EQ(decoding_error("X\x05\x00\x00\x00xy"sv),
            "truncated: BINUNICODE needs 5 bytes, 2 are left");
  EXPECT_EQ(decoding_error("cmod\nname"sv), "truncated: GLOBAL needs a line, which has no end");
}

TEST(Decoder, RefusesLengthsThatNoPickleHas) {
  EXPECT_EQ(decoding_error("X\xff\xff\xff\xff"sv),
            "truncated: BINUNICODE needs 4294967295 bytes, 0 are left");
  for (const char high : {'\x10', '\x80', '\xff'}) {
    std::string pickle("\x8d\xff\xff\xff\xff\xff\xff\xff\xff");
    pickle.back() = high;
    EXPECT_EQ(decoding_error(pickle).substr(0, 9), "truncated");
  }
  EXPECT_EQ(decoding_error("T\xff\xff\xff\xff"sv),
            "malformed_pickle: BINSTRING has a length of -1 bytes");
  EXPECT_EQ(decoding_error("\x8b\x00\x00\x00\x80"sv),
            "malformed_pickle: LONG4 has a length of -2147483648 bytes");
  EXPECT_EQ(decoding_error("\x8b\xff\xff\xff\x7f"sv),
            "truncated: LONG4 needs 2147483647 bytes, 0 are left");
}

TEST(Decoder, StopsAtTheLimit) {
  Decoder decoder(as_bytes("NNN."sv), "p", 2);
  Instruction ins;
  decoder.decode(ins);
  decoder.decode(ins);
  const auto error = error_of([&] { decoder.decode(ins); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), ErrorCode::limit);
  EXPECT_EQ(error->offset(), 2u);
  // Also in the middle of an argument and of a line.
  for (const std::string_view pickle : {"J\1\0\0\0."sv, "X\1\0\0\0a."sv, "I1234\n."sv}) {
    Decoder cut(as_bytes(pickle), "p", 3);
    const auto cut_error = error_of([&] { cut.decode(ins); });
    ASSERT_TRUE(cut_error);
    EXPECT_EQ(cut_error->code(), ErrorCode::limit);
  }
}

TEST(InstructionReader, GivesEachInstructionUpToStop) {
  const std::string_view pickle = "\x80\x02]K\x05\x61.rest"sv;
  InstructionReader reader(as_bytes(pickle));
  std::string seen;
  for (Instruction ins; reader.next(ins);) {
    seen += fmt::format("{} {} ", ins.offset, to_string(ins.op));
  }
  EXPECT_EQ(seen, "0 PROTO 2 EMPTY_LIST 3 BININT1 5 APPEND 6 STOP ");
  EXPECT_EQ(reader.offset(), 7u);
  Instruction ins;
  EXPECT_FALSE(reader.next(ins));
}

TEST(InstructionReader, NamesThePlaceOfAFault) {
  InstructionReader reader(as_bytes("N\xff"sv), "model.pt: data.pkl");
  Instruction ins;
  EXPECT_TRUE(reader.next(ins));
  const auto error = error_of([&] { reader.next(ins); });
  ASSERT_TRUE(error);
  EXPECT_STREQ(error->what(), "model.pt: data.pkl+0x1: byte 0xff is no opcode");
}

}  // namespace
}  // namespace flambeau
