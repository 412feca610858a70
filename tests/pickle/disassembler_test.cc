#include <string>

#include "flambeau/pickle.h"
#include "pickle/graph_text.h"

namespace flambeau {
namespace {

using namespace test;

std::string dis(std::string_view pickle) { return disassemble(as_bytes(pickle)); }

/// The lines before the fault, then its code and message.
std::string broken(std::string_view pickle, const Limits& limits = {}) {
  std::string text;
  const auto error = error_of([&] {
    disassemble(
        as_bytes(pickle), [&](std::string_view line) { text.append(line).append("\n"); }, "p",
        limits);
  });
  if (!error) return "accepted";
  return text + fmt::format("{}+{}: {}", to_string(error->code()), error->offset().value_or(9999),
                            error->message());
}

TEST(Disassemble, PrintsWhatPickletoolsPrints) {
  EXPECT_EQ(dis("(lp0\nI1\naI01\naL2L\naF0.5\naS'a'\np1\naVb\np2\na(dp3\ng1\nNsa."sv),
            "    0: (    MARK\n"
            "    1: l        LIST       (MARK at 0)\n"
            "    2: p    PUT        0\n"
            "    5: I    INT        1\n"
            "    8: a    APPEND\n"
            "    9: I    INT        True\n"
            "   13: a    APPEND\n"
            "   14: L    LONG       2\n"
            "   18: a    APPEND\n"
            "   19: F    FLOAT      0.5\n"
            "   24: a    APPEND\n"
            "   25: S    STRING     'a'\n"
            "   30: p    PUT        1\n"
            "   33: a    APPEND\n"
            "   34: V    UNICODE    'b'\n"
            "   37: p    PUT        2\n"
            "   40: a    APPEND\n"
            "   41: (    MARK\n"
            "   42: d        DICT       (MARK at 41)\n"
            "   43: p    PUT        3\n"
            "   46: g    GET        1\n"
            "   49: N    NONE\n"
            "   50: s    SETITEM\n"
            "   51: a    APPEND\n"
            "   52: .    STOP\n"
            "highest protocol among opcodes = 0\n");
}

TEST(Disassemble, PrintsProtocol4) {
  EXPECT_EQ(
      dis("\x80\4\x95\x13\0\0\0\0\0\0\0\x8c\1m\x94\x8c\1n\x93\x94)\x81\x94}(C\1a\x8a\1\xffub."sv),
      "    0: \\x80 PROTO      4\n"
      "    2: \\x95 FRAME      19\n"
      "   11: \\x8c SHORT_BINUNICODE 'm'\n"
      "   14: \\x94 MEMOIZE    (as 0)\n"
      "   15: \\x8c SHORT_BINUNICODE 'n'\n"
      "   18: \\x93 STACK_GLOBAL\n"
      "   19: \\x94 MEMOIZE    (as 1)\n"
      "   20: )    EMPTY_TUPLE\n"
      "   21: \\x81 NEWOBJ\n"
      "   22: \\x94 MEMOIZE    (as 2)\n"
      "   23: }    EMPTY_DICT\n"
      "   24: (    MARK\n"
      "   25: C        SHORT_BINBYTES b'a'\n"
      "   28: \\x8a     LONG1      -1\n"
      "   31: u        SETITEMS   (MARK at 24)\n"
      "   32: b    BUILD\n"
      "   33: .    STOP\n"
      "highest protocol among opcodes = 4\n");
}

TEST(Disassemble, PrintsOtherArguments) {
  EXPECT_EQ(dis("cmod\nna\\x6de\n0U\1\xe9"
                "0\x96\1\0\0\0\0\0\0\0'0G\x3f\xb9\x99\x99\x99\x99\x99\x9a"
                "0Pid\n0\x84\1\0\0\0."sv),
            "    0: c    GLOBAL     'mod name'\n"
            "   13: 0    POP\n"
            "   14: U    SHORT_BINSTRING '\u00e9'\n"
            "   17: 0    POP\n"
            "   18: \\x96 BYTEARRAY8 bytearray(b\"\\'\")\n"
            "   28: 0    POP\n"
            "   29: G    BINFLOAT   0.1\n"
            "   38: 0    POP\n"
            "   39: P    PERSID     'id'\n"
            "   43: 0    POP\n"
            "   44: \\x84 EXT4       1\n"
            "   49: .    STOP\n"
            "highest protocol among opcodes = 5\n");
}

TEST(Disassemble, SeesMarksThatPopTakes) {
  EXPECT_EQ(dis("N(N(01."sv),
            "    0: N    NONE\n"
            "    1: (    MARK\n"
            "    2: N        NONE\n"
            "    3: (        MARK\n"
            "    4: 0            POP        (MARK at 3)\n"
            "    5: 1        POP_MARK   (MARK at 1)\n"
            "    6: .    STOP\n"
            "highest protocol among opcodes = 1\n");
}

TEST(Disassemble, PrintsNumbersAsPickletoolsReadsThem) {
  // Booleans of INT in GET and PUT, decimal numbers with zeros before, frames above 2^63.
  EXPECT_EQ(dis("Np00\n0\x95\xff\xff\xff\xff\xff\xff\xff\xffI007\n0S'\n0g0\n."sv),
            "    0: N    NONE\n"
            "    1: p    PUT        False\n"
            "    5: 0    POP\n"
            "    6: \\x95 FRAME      18446744073709551615\n"
            "   15: I    INT        7\n"
            "   20: 0    POP\n"
            "   21: S    STRING     ''\n"
            "   24: 0    POP\n"
            "   25: g    GET        0\n"
            "   28: .    STOP\n"
            "highest protocol among opcodes = 4\n");
}

TEST(Disassemble, TakesMemoKeysOfAnySize) {
  EXPECT_EQ(dis("Np-1\np99999999999999999999\nr\xff\xff\xff\xff"
                "0g-1\n0g99999999999999999999\n0j\xff\xff\xff\xff."sv),
            "    0: N    NONE\n"
            "    1: p    PUT        -1\n"
            "    5: p    PUT        99999999999999999999\n"
            "   27: r    LONG_BINPUT 4294967295\n"
            "   32: 0    POP\n"
            "   33: g    GET        -1\n"
            "   37: 0    POP\n"
            "   38: g    GET        99999999999999999999\n"
            "   60: 0    POP\n"
            "   61: j    LONG_BINGET 4294967295\n"
            "   66: .    STOP\n"
            "highest protocol among opcodes = 1\n");
}

TEST(Disassemble, StopsAtStopAndTellsTheSize) {
  EXPECT_EQ(disassemble(as_bytes("N.N."sv), [](std::string_view) {}), 2u);
}

TEST(DisassembleRefuses, MissingMarks) {
  EXPECT_EQ(broken("]t."sv),
            "    0: ]    EMPTY_LIST\n"
            "    1: t    TUPLE      no MARK exists on stack\n"
            "malformed_pickle+1: TUPLE: no MARK exists on stack");
  EXPECT_EQ(broken("(\x85t."sv),
            "    0: (    MARK\n"
            "    1: \\x85     TUPLE1\n"
            "malformed_pickle+2: TUPLE: the mark was taken off the stack before");
}

TEST(DisassembleRefuses, WrongUseOfTheMemo) {
  EXPECT_EQ(broken("Nq\0q\0."sv),
            "    0: N    NONE\n"
            "    1: q    BINPUT     0\n"
            "    3: q    BINPUT     0\n"
            "malformed_pickle+3: BINPUT: memo key 0 already defined");
  EXPECT_EQ(broken("Nq\1\x94."sv),
            "    0: N    NONE\n"
            "    1: q    BINPUT     1\n"
            "    3: \\x94 MEMOIZE    (as 1)\n"
            "malformed_pickle+3: MEMOIZE: memo key None already defined");
  EXPECT_EQ(broken("q\0."sv),
            "    0: q    BINPUT     0\n"
            "malformed_pickle+0: BINPUT: stack is empty -- can't store into memo");
  EXPECT_EQ(broken("(p0\n."sv),
            "    0: (    MARK\n"
            "    1: p        PUT        0\n"
            "malformed_pickle+1: PUT: can't store markobject in the memo");
  EXPECT_EQ(broken("h\7."sv),
            "    0: h    BINGET     7\n"
            "malformed_pickle+0: BINGET: memo key 7 has never been stored into");
}

TEST(DisassembleRefuses, AStackThatIsTooSmallOrTooLarge) {
  EXPECT_EQ(broken("N\x86."sv),
            "    0: N    NONE\n"
            "    1: \\x86 TUPLE2\n"
            "malformed_pickle+1: TUPLE2: tries to pop 2 items from stack with only 1 items");
  EXPECT_EQ(broken("NI1\n."sv),
            "    0: N    NONE\n"
            "    1: I    INT        1\n"
            "    4: .    STOP\n"
            "highest protocol among opcodes = 0\n"
            "malformed_pickle+4: STOP: 1 left on the stack, None on top");
}

TEST(DisassembleRefuses, LinesThatPickletoolsCannotRead) {
  EXPECT_EQ(broken("I0x10\n."sv), "malformed_pickle+0: INT: the line is no decimal integer");
  EXPECT_EQ(broken("F1,5\n."sv), "malformed_pickle+0: FLOAT: the line is no float");
  EXPECT_EQ(broken("Sabc\n."sv), "malformed_pickle+0: STRING: the line is not in quotes");
  EXPECT_EQ(broken("S'abc\n."sv), "malformed_pickle+0: STRING: the line is not in quotes");
  EXPECT_EQ(broken("S'\\x4'\n."sv), "malformed_pickle+0: STRING: an escape is cut");
  EXPECT_EQ(broken("S'\xe9'\n."sv), "malformed_pickle+0: STRING: the text is not ASCII");
  EXPECT_EQ(broken("cm\n\xc3\xa9\n."sv), "malformed_pickle+0: GLOBAL: the text is not ASCII");
  EXPECT_EQ(broken("V\\u12\n."sv),
            "malformed_pickle+0: UNICODE: an escape is cut, or above U+10FFFF");
  EXPECT_EQ(broken("\x8c\1\xff."sv), "malformed_pickle+0: SHORT_BINUNICODE: the text is not UTF-8");
}

TEST(DisassembleRefuses, WhatTheDecoderRefuses) {
  EXPECT_EQ(broken("N\xff"sv), "    0: N    NONE\nmalformed_pickle+1: byte 0xff is no opcode");
  EXPECT_EQ(broken("N"sv), "    0: N    NONE\ntruncated+1: the pickle ends without STOP");
}

TEST(DisassembleLimits, DigitsOfIntegers) {
  const Limits limits{.max_integer_digits = 3};
  EXPECT_EQ(broken("I1000\n.", limits), "limit+0: INT: the integer has over 3 digits");
  EXPECT_EQ(broken("\x8a\2\xe8\3.", limits), "limit+0: LONG1: the integer has over 3 digits");
  EXPECT_EQ(broken("\x8a\2\x19\xfc.", limits), "accepted");  // -999
  EXPECT_EQ(broken("L-999L\n.", limits), "accepted");
  const std::string large = "\x8b\x40\x42\x0f\0"s + std::string(1'000'000, '\1') + ".";
  EXPECT_EQ(broken(large), "limit+0: LONG4: the integer has over 4300 digits");
}

TEST(DisassembleLimits, SizeOfThePickle) {
  EXPECT_EQ(broken("NN", {.max_pickle_size = 1}),
            "    0: N    NONE\nlimit+1: the pickle is larger than max_pickle_size");
}

}  // namespace
}  // namespace flambeau
