// What the machine refuses, with the place; and that no pickle makes it recurse, or allocate by a
// number.
#include <sys/mman.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <string>

#include "pickle/graph_text.h"
#include "pickle/opcode.h"

namespace flambeau {
namespace {

using namespace test;

long peak_kib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

std::string little(std::uint64_t value, std::size_t size) {
  std::string bytes;
  for (std::size_t i = 0; i < size; ++i) bytes += static_cast<char>(value >> (8 * i));
  return bytes;
}

TEST(VmRefuses, PicklesWithoutEnd) {
  EXPECT_EQ(refusal(""), "truncated+0");
  EXPECT_EQ(refusal("N"sv), "truncated+1");
  EXPECT_EQ(refusal("."sv), "malformed_pickle+0");
  EXPECT_EQ(refusal("(."sv), "malformed_pickle+1");
  EXPECT_EQ(refusal("N(."sv), "malformed_pickle+2");
  EXPECT_EQ(message("N(."sv), "STOP: needs 1 on the stack, 0 are there above the mark");
}

TEST(VmRefuses, UnknownProtocols) {
  EXPECT_EQ(refusal("\x80\x05N."sv), "accepted");
  for (const char protocol : {'\x06', '\x63', '\xff'}) {
    const std::string pickle = "\x80"s + protocol + "N.";
    EXPECT_EQ(refusal(pickle), "malformed_pickle+0");
  }
  EXPECT_EQ(message("\x80\x63N."sv), "PROTO: protocol 99 is unknown");
}

TEST(VmRefuses, FramesThatReachBeyondThePickle) {
  EXPECT_EQ(refusal("\x80\4\x95\3\0\0\0\0\0\0\0N."sv), "truncated+2");
  EXPECT_EQ(message("\x95\xff\xff\xff\xff\xff\xff\xff\xffN."sv),
            "FRAME needs 18446744073709551615 bytes, 2 are left");
  EXPECT_EQ(refusal("\x95\0\0\0\0\0\0\0\x80N."sv), "truncated+0");
}

TEST(VmRefuses, LinesThatAreNoNumbers) {
  for (const std::string_view line : {""sv, "abc"sv, "010"sv, "1_"sv, "1\0"sv, "L"sv}) {
    EXPECT_EQ(refusal("I" + std::string(line) + "\n."), "malformed_pickle+0") << line;
    EXPECT_EQ(refusal("L" + std::string(line) + "\n."), "malformed_pickle+0") << line;
  }
  EXPECT_EQ(refusal("NF1,5\n."sv), "malformed_pickle+1");
}

TEST(VmRefuses, BrokenStringLiterals) {
  EXPECT_EQ(refusal("Sabc\n."sv), "malformed_pickle+0");
  EXPECT_EQ(refusal("S'abc\"\n."sv), "malformed_pickle+0");
  EXPECT_EQ(refusal("S'\\x4'\n."sv), "malformed_pickle+0");
  EXPECT_EQ(refusal("S'\\'\n."sv), "malformed_pickle+0");
  EXPECT_EQ(refusal("V\\u12\n."sv), "malformed_pickle+0");
  EXPECT_EQ(refusal("V\\U00110000\n."sv), "malformed_pickle+0");
}

TEST(VmRefuses, TextThatIsNotUtf8) {
  for (const std::string_view text : {"\xc0\x80"sv, "\xf4\x90\x80\x80"sv, "\xe2\x82"sv, "\xff"sv}) {
    const std::string pickle = "\x8c"s + static_cast<char>(text.size()) + std::string(text) + ".";
    EXPECT_EQ(refusal(pickle), "malformed_pickle+0");
  }
}

TEST(VmRefuses, NamesThatNoModuleHas) {
  EXPECT_EQ(refusal("c\nname\n."sv), "malformed_pickle+0");
  EXPECT_EQ(refusal("cmod\n\n."sv), "malformed_pickle+0");
  EXPECT_EQ(refusal("c\xff\nname\n."sv), "malformed_pickle+0");
  EXPECT_EQ(refusal("cmod\n\xed\xa0\x80\n."sv), "malformed_pickle+0");
  EXPECT_EQ(refusal("(imod\n\n."sv), "malformed_pickle+1");
  EXPECT_EQ(refusal("(im\xc3\xa9\nn\n."sv), "malformed_pickle+1");
  EXPECT_EQ(refusal("P\xc3\xa9\n."sv), "malformed_pickle+0");
}

TEST(VmRefuses, NamesThatAreNoStrings) {
  for (const std::string_view operand : {"K\1"sv, "N"sv, "C\1m"sv, ")"sv, "cm\nn\n"sv}) {
    EXPECT_EQ(refusal(std::string(operand) + "\x8c\1n\x93."),
              "malformed_pickle+"s + std::to_string(operand.size() + 3));
    EXPECT_EQ(refusal("\x8c\1n" + std::string(operand) + "\x93.").substr(0, 16),
              "malformed_pickle");
  }
  EXPECT_EQ(message("U\1\xff\x8c\1n\x93."sv), "STACK_GLOBAL: a name is not UTF-8");
  EXPECT_EQ(message("K\1\x8c\1n\x93."sv), "STACK_GLOBAL: needs two strings, finds an int");
}

TEST(VmRefuses, BuffersAndExtensionsThatAreNotThere) {
  EXPECT_EQ(refusal("\x97."sv), "malformed_pickle+0");
  EXPECT_EQ(refusal("C\1a\x98."sv), "malformed_pickle+3");
  EXPECT_EQ(refusal("\x82\0."sv), "malformed_pickle+0");
  EXPECT_EQ(refusal("\x83\0\0."sv), "malformed_pickle+0");
  EXPECT_EQ(refusal("\x84\xff\xff\xff\xff."sv), "malformed_pickle+0");
  EXPECT_EQ(refusal("\x84\xff\xff\xff\x7f."sv), "accepted");
}

/// Each opcode that looks at the stack, with one value less than it needs, or without its mark.
TEST(VmRefuses, EveryUnderflow) {
  int checked = 0;
  for (const OpcodeRow& row : kOpcodeRows) {
    const bool puts = row.name.ends_with("PUT");
    if (row.before.empty() && !puts) continue;
    ++checked;
    const bool has_mark = row.before.find("mark") != std::string_view::npos;
    const bool takes_one = puts || has_mark;
    const auto spaces = std::count(row.before.begin(), row.before.end(), ' ');
    const std::string few(takes_one ? 0 : static_cast<std::size_t>(spaces), 'N');
    const std::string op = std::string(1, static_cast<char>(row.byte)) + "0\n0\n";
    EXPECT_EQ(refusal(few + op).substr(0, 16), "malformed_pickle") << row.name;
    // What stands below a mark is out of reach. POP takes the mark.
    if (has_mark || row.name == "POP") continue;
    EXPECT_EQ(refusal("NNN(" + few + op).substr(0, 16), "malformed_pickle") << row.name;
  }
  EXPECT_EQ(checked, 29);
}

TEST(VmRefuses, MarksThatAreMissing) {
  for (const char op :
       "tldeu\x90\x91"
       "1o"sv) {
    EXPECT_EQ(message("]]]"s + op + ".").substr(message("]]]"s + op + ".").find(':')),
              ": no mark on the stack");
  }
  EXPECT_EQ(message("(e."sv), "APPENDS: needs 1 on the stack, 0 are there above the mark");
  EXPECT_EQ(message("](((e."sv), "APPENDS: needs 1 on the stack, 0 are there above the mark");
  EXPECT_EQ(message("(o."sv), "OBJ: no class above the mark");
}

TEST(VmRefuses, MemoEntriesThatAreMissing) {
  EXPECT_EQ(message("h\0."sv), "BINGET 0: memo has 0 entries, not this one");
  EXPECT_EQ(message("]q\1h\0."sv), "BINGET 0: memo has 1 entries, not this one");
  EXPECT_EQ(refusal("j\xff\xff\xff\xff."sv), "malformed_pickle+0");
  for (const std::string_view line : {"-1"sv, "99999999999999999999"sv, "abc"sv, ""sv, "0x0"sv}) {
    EXPECT_EQ(refusal("g" + std::string(line) + "\n."), "malformed_pickle+0") << line;
    EXPECT_EQ(refusal("]p" + std::string(line) + "\n."), "malformed_pickle+1") << line;
  }
  EXPECT_EQ(refusal("]p000000000000000000000001\ng1\n."sv), "accepted");
}

TEST(VmRefuses, ToNoteAMark) {
  EXPECT_EQ(refusal("(q\0."sv), "malformed_pickle+1");
  EXPECT_EQ(refusal("(\x94."sv), "malformed_pickle+1");
  EXPECT_EQ(refusal("(2."sv), "malformed_pickle+1");
}

TEST(VmRefuses, ToAppendToWhatIsNoList) {
  for (const std::string_view target : {")"sv, "}"sv, "N"sv, "cm\nn\n"sv, "K\1Q"sv, "\x8f"sv}) {
    EXPECT_EQ(refusal(std::string(target) + "K\1a.").substr(0, 16), "malformed_pickle");
    EXPECT_EQ(refusal(std::string(target) + "(K\1e.").substr(0, 16), "malformed_pickle");
    EXPECT_EQ(refusal(std::string(target) + "(e."), "accepted");
  }
  EXPECT_EQ(message(")K\1a."sv), "APPEND: needs a list, finds a tuple");
}

TEST(VmRefuses, ToSetItemsOfWhatIsNoDict) {
  for (const std::string_view target :
       {"]"sv, ")"sv, "N"sv, "cm\nn\n"sv, "K\1Q"sv, "\x96\0\0\0\0\0\0\0\0"sv}) {
    EXPECT_EQ(refusal(std::string(target) + "NK\1s.").substr(0, 16), "malformed_pickle");
    EXPECT_EQ(refusal(std::string(target) + "(NK\1u.").substr(0, 16), "malformed_pickle");
    EXPECT_EQ(refusal(std::string(target) + "(u."), "accepted");
  }
  EXPECT_EQ(message("}(K\1u."sv), "SETITEMS: a key without a value");
  EXPECT_EQ(message("(K\1d."sv), "DICT: a key without a value");
}

TEST(VmRefuses, ToAddToWhatIsNoSet) {
  EXPECT_EQ(message("](K\1\x90."sv), "ADDITEMS: needs a set, finds a list");
  EXPECT_EQ(message("(\x91(K\1\x90."sv), "ADDITEMS: needs a set, finds a frozenset");
  EXPECT_EQ(refusal("cm\nn\n)\x81(K\1\x90."sv), "malformed_pickle+10");
}

TEST(VmRefuses, UnhashableKeys) {
  EXPECT_EQ(message("}]Ns."sv), "SETITEM: a list is unhashable, or holds what is");
  EXPECT_EQ(message("}}Ns."sv), "SETITEM: a dict is unhashable, or holds what is");
  EXPECT_EQ(message("\x8f(\x8f\x90."sv), "ADDITEMS: a set is unhashable, or holds what is");
  EXPECT_EQ(message("(\x96\0\0\0\0\0\0\0\0\x91."sv),
            "FROZENSET: a bytearray is unhashable, or holds what is");
  EXPECT_EQ(message("}K\1]\x86\x85Ns."sv), "SETITEM: a tuple is unhashable, or holds what is");
  EXPECT_EQ(refusal("ccollections\nOrderedDict\n)R]Ns."sv), "malformed_pickle+29");
  EXPECT_EQ(refusal("}(\x91Ns."sv), "accepted");
}

TEST(VmRefuses, StatesOfWhatHasNone) {
  for (const std::string_view target :
       {"K\1"sv, "]"sv, "}"sv, "N"sv, "cm\nn\n"sv, "K\1Q"sv, "\x82\1"sv, ")"sv}) {
    EXPECT_EQ(refusal(std::string(target) + "}b.").substr(0, 16), "malformed_pickle");
  }
  EXPECT_EQ(message("cm\nn\n}b."sv), "BUILD: needs an object, finds a class or function");
}

TEST(VmRefuses, ASecondState) {
  EXPECT_EQ(refusal("cm\nn\n)\x81}b}b."sv), "unsupported+10");
  EXPECT_EQ(refusal("cm\nn\n)\x81Nb}b."sv), "unsupported+10");
}

TEST(VmRefuses, NewObjectsWithWrongOperands) {
  EXPECT_EQ(message("cm\nn\n]\x81."sv), "NEWOBJ: needs a tuple, finds a list");
  EXPECT_EQ(message("cm\nn\n]}\x92."sv), "NEWOBJ_EX: needs a tuple, finds a list");
  EXPECT_EQ(message("cm\nn\n))\x92."sv), "NEWOBJ_EX: needs a dict, finds a tuple");
}

TEST(VmLimits, SizeOfThePickle) {
  EXPECT_EQ(refusal("N0N."sv, {.max_pickle_size = 4}), "accepted");
  EXPECT_EQ(refusal("N0N."sv, {.max_pickle_size = 3}), "limit+3");
  EXPECT_EQ(refusal("N.and much more"sv, {.max_pickle_size = 2}), "accepted");
}

TEST(VmLimits, Nodes) {
  const std::string lists = std::string(100, ']') + ".";
  EXPECT_EQ(refusal(lists, {.max_nodes = 100}), "accepted");
  EXPECT_EQ(refusal(lists, {.max_nodes = 99}), "limit+99");
  EXPECT_EQ(refusal(lists, {.max_nodes = 1}), "limit+1");
  EXPECT_EQ(refusal(lists, {.max_nodes = 0}), "limit+0");
  const std::string many = std::string(50'000, ']') + ".";
  EXPECT_EQ(refusal(many, {.max_nodes = 49'999}), "limit+49999");
  EXPECT_EQ(refusal(many, {.max_nodes = 16'384}), "limit+16384");
  EXPECT_EQ(message(many, {.max_nodes = 20'000}), "the graph has more than max_nodes 20000 nodes");
}

TEST(VmLimits, DigitsOfIntegers) {
  const std::string digits(4300, '7');
  EXPECT_EQ(refusal("I" + digits + "\n."), "accepted");
  EXPECT_EQ(refusal("I" + digits + "7\n."), "limit+0");
  EXPECT_EQ(refusal("L" + digits + "7L\n."), "limit+0");
  EXPECT_EQ(refusal("I12345\n.", {.max_integer_digits = 4}), "limit+0");
  EXPECT_EQ(refusal("I0x" + std::string(2'000'000, 'f') + "\n."), "accepted");
  EXPECT_EQ(refusal("L" + std::string(2'000'000, '1') + "L\n."), "limit+0");
}

TEST(VmMemory, IsNotTouchedByATextOfFourGigabytes) {
  // A text of 4 GiB is only looked at, so that it needs address space, not memory.
  const std::size_t size = (std::size_t{1} << 32) + 64;
  void* memory = mmap(nullptr, size, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  auto* bytes = static_cast<char*>(memory);
  const std::string head = "\x8e" + little(size - 10, 8);
  head.copy(bytes, head.size());
  bytes[size - 1] = '.';
  {
    const Document document = parse({bytes, size});
    EXPECT_EQ(document.kind(document.root()), NodeKind::bytes);
    EXPECT_EQ(document.text(document.root()).size(), size - 10);
    EXPECT_EQ(document.text(document.root()).data(), bytes + 9);
  }
  munmap(memory, size);
}

TEST(VmMemory, IsNotAllocatedByAStatedNumber) {
  const long before = peak_kib();
  EXPECT_EQ(refusal("\x8d" + little(std::uint64_t{1} << 60, 8)), "truncated+0");
  EXPECT_EQ(refusal("\x8b" + little(0x7fffffff, 4)), "truncated+0");
  EXPECT_EQ(graph("]r" + little(0xffffffff, 4) + "0j" + little(0xffffffff, 4) + "."), "[]");
  EXPECT_EQ(graph("]p9223372036854775807\n0g9223372036854775807\n."sv), "[]");
  EXPECT_LT(peak_kib() - before, 4096);
}

TEST(VmMemory, StaysLinearWithManyMemoEntries) {
  constexpr int kTimes = 3'000'000;
  const std::string pickle = "]" + std::string(kTimes, '\x94') + ".";
  EXPECT_EQ(parse(pickle).node_count(), 1u);
}

TEST(VmTime, IsLinearInMarks) {
  std::string pickle;
  for (int i = 0; i < 100'000; ++i) pickle += "(((N1t";
  pickle += ".";
  EXPECT_EQ(parse(pickle).left_on_stack(), 2u * 100'000 - 1);
}

/// A value nested `depth` times by the bytes put before and after it.
std::string nest(std::size_t depth, std::string_view before, std::string_view after) {
  std::string pickle;
  pickle.reserve(depth * (before.size() + after.size()) + 2);
  for (std::size_t i = 0; i < depth; ++i) pickle += before;
  pickle += 'N';
  for (std::size_t i = 0; i < depth; ++i) pickle += after;
  return pickle += '.';
}

TEST(VmNesting, DoesNotRecurse) {
  constexpr std::size_t kDepth = 1'000'000;
  EXPECT_EQ(parse(nest(kDepth, "]", "a")).node_count(), kDepth);
  EXPECT_EQ(parse(nest(kDepth, "", "\x85")).node_count(), kDepth);
  EXPECT_EQ(parse(nest(kDepth, "(", "t")).node_count(), kDepth);
  EXPECT_EQ(parse(nest(kDepth, "}K\1", "s")).node_count(), kDepth);
  EXPECT_EQ(parse(nest(kDepth, "", "Q")).node_count(), kDepth);
  EXPECT_EQ(parse(nest(kDepth, "cm\nf\n", "R")).node_count(), kDepth + 1);
  EXPECT_EQ(parse(nest(kDepth, "cm\nf\n)\x81", "b")).node_count(), 2 * kDepth + 1);
  EXPECT_EQ(parse(nest(kDepth, "(", "\x91")).node_count(), kDepth);
}

TEST(VmNesting, OfTuplesAsAKeyDoesNotRecurse) {
  constexpr std::size_t kDepth = 1'000'000;
  std::string pickle = "}" + nest(kDepth, "", "\x85");
  pickle.back() = 'K';
  EXPECT_EQ(parse(pickle + "\1s.").node_count(), kDepth + 1);
}

TEST(VmNesting, OfTenMillionLists) {
  constexpr std::size_t kDepth = 10'000'000;
  EXPECT_EQ(parse(nest(kDepth, "]", "a")).node_count(), kDepth);
  EXPECT_EQ(parse(nest(kDepth, "", "\x85")).node_count(), kDepth);
}

TEST(VmBombs, StayAsSmallAsTheirPickle) {
  std::string lists = "]q\0"s;
  std::string tuples = ")q\0000"s;
  for (int i = 1; i < 65; ++i) {
    const char before = static_cast<char>(i - 1);
    const char now = static_cast<char>(i);
    lists += "](h"s + before + "h" + before + "eq" + now;
    tuples += "h"s + before + "h" + before + "\x86q" + now + "0";
  }
  EXPECT_EQ(parse(lists + ".").node_count(), 65u);
  // As a key, a tuple of 2^64 leaves is looked at once for each of its 65 nodes, and one that is
  // made in the same way once more is found equal.
  const std::string as_key = tuples + "h\x40K\1s";
  EXPECT_EQ(parse("}" + as_key + ".").node_count(), 66u);
  const Document twice = parse("}" + as_key + as_key + ".");
  EXPECT_EQ(twice.node_count(), 131u);
  EXPECT_EQ(twice.items(twice.root()).size(), 2u);
}

}  // namespace
}  // namespace flambeau
