// What each opcode makes. What the machine refuses stands in vm_hostile_test.cc.
#include <bit>
#include <string>

#include "pickle/graph_text.h"

namespace flambeau {
namespace {

using namespace test;

TEST(Vm, PushesConstants) {
  EXPECT_EQ(graph("(N\x88\x89t."sv), "(None, True, False)");
  EXPECT_EQ(graph("I00\n."sv), "False");
  EXPECT_EQ(graph("I01\n."sv), "True");
}

TEST(Vm, PushesIntegers) {
  EXPECT_EQ(graph("(K\xffM\xff\xffJ\xff\xff\xff\xffI-7\nL8L\nL9\nt."sv),
            "(255, 65535, -1, -7, 8, 9)");
  EXPECT_EQ(graph("(I0\nI1\nt."sv), "(0, 1)");
}

TEST(Vm, PushesLongsOfAnySize) {
  EXPECT_EQ(graph("\x8a\x00."sv), "0");
  EXPECT_EQ(graph("\x8a\x01\xff."sv), "-1");
  EXPECT_EQ(graph("\x8a\x02\x00\xff."sv), "-256");
  EXPECT_EQ(graph("\x8a\x01\x80."sv), "-128");
  EXPECT_EQ(graph("\x8a\x08\0\0\0\0\0\0\0\x80."sv), "-9223372036854775808");
  EXPECT_EQ(graph("\x8a\x09\0\0\0\0\0\0\0\x80\0."sv), "9223372036854775808");
  EXPECT_EQ(graph("\x8a\x09\0\0\0\0\0\0\0\0\1."sv), "18446744073709551616");
  EXPECT_EQ(graph("\x8b\x0c\0\0\0\1\0\0\0\0\0\0\0\0\0\0\0."sv), "1");
  EXPECT_EQ(graph("I1180591620717411303424\n."sv), "1180591620717411303424");
  EXPECT_EQ(graph("L-0x8000000000000000L\n."sv), "-9223372036854775808");
}

TEST(Vm, KeepsLongBytesInThePickle) {
  const std::string_view pickle = "\x8a\x0a\1\2\3\4\5\6\7\x08\x09\0."sv;
  const Document document = parse(pickle);
  EXPECT_EQ(document.kind(document.root()), NodeKind::big_integer);
  EXPECT_EQ(document.text(document.root()).data(), pickle.data() + 2);
  EXPECT_EQ(document.text(document.root()).size(), 9u);
}

TEST(Vm, PushesFloatsWithAllTheirBits) {
  EXPECT_EQ(graph("F1.5\n."sv), "1.5");
  for (const std::uint64_t bits : {0x7ff0000000000001u, 0xfff8dead0000beefu, 0x8000000000000000u,
                                   std::uint64_t{1}, 0x3ff0000000000000u}) {
    std::string pickle = "G";
    for (int shift = 56; shift >= 0; shift -= 8) pickle += static_cast<char>(bits >> shift);
    const Document document = parse(pickle + ".");
    EXPECT_EQ(std::bit_cast<std::uint64_t>(document.real(document.root())), bits);
  }
}

TEST(Vm, PushesStrings) {
  EXPECT_EQ(graph("(X\3\0\0\0abc\x8c\2de\x8d\1\0\0\0\0\0\0\0fVgh\nt."sv),
            "('abc', 'de', 'f', 'gh')");
  EXPECT_EQ(graph("V\\u20ac\xe9\n."sv), "'\u20ac\u00e9'");
  EXPECT_EQ(graph("V\\ud800\n."sv), R"('\ud800')");
}

TEST(Vm, KeepsLoneSurrogates) {
  const Document document = parse("\x8c\x06\xed\xa0\x80\xed\xbf\xbf."sv);
  EXPECT_EQ(document.text(document.root()), "\xed\xa0\x80\xed\xbf\xbf");
}

TEST(Vm, PushesPython2Strings) {
  EXPECT_EQ(graph("(S'a\\x00'\nS\"b\"\nT\2\0\0\0c\xffU\1dt."sv),
            R"((p2'a\x00', p2'b', p2'c\xff', p2'd'))");
}

TEST(Vm, PushesBytes) {
  EXPECT_EQ(graph("(C\1aB\1\0\0\0b\x8e\1\0\0\0\0\0\0\0c\x96\1\0\0\0\0\0\0\0dt."sv),
            "(b'a', b'b', b'c', bytearray(b'd'))");
}

TEST(Vm, UndoesEscapes) {
  const Document document = parse("(Vab\nV\\u0041\nS'x'\nS'\\x41'\nt."sv);
  const auto items = document.items(document.root());
  for (const auto& [i, text] : {std::pair(0, "ab"), {1, "A"}, {2, "x"}, {3, "A"}}) {
    EXPECT_EQ(document.text(items[static_cast<std::size_t>(i)]), text);
  }
}

TEST(Vm, MakesTuples) {
  EXPECT_EQ(graph(")."sv), "()");
  EXPECT_EQ(graph("(t."sv), "()");
  EXPECT_EQ(graph("K\1\x85."sv), "(1)");
  EXPECT_EQ(graph("K\1K\2\x86."sv), "(1, 2)");
  EXPECT_EQ(graph("K\1K\2K\3\x87."sv), "(1, 2, 3)");
  EXPECT_EQ(graph("(K\1K\2K\3K\4t."sv), "(1, 2, 3, 4)");
}

TEST(Vm, MakesLists) {
  EXPECT_EQ(graph("]."sv), "[]");
  EXPECT_EQ(graph("(l."sv), "[]");
  EXPECT_EQ(graph("(K\1K\2l."sv), "[1, 2]");
  EXPECT_EQ(graph("]K\1a(K\2K\3eK\4a(e."sv), "[1, 2, 3, 4]");
}

TEST(Vm, MakesLongListsByAnyBatches) {
  for (const int batch : {1, 3, 1000}) {
    std::string pickle = "]";
    for (int i = 0; i < 3000; i += batch) {
      pickle += "(";
      for (int j = i; j < i + batch; ++j) pickle += fmt::format("I{}\n", j);
      pickle += "e";
    }
    const Document document = parse(pickle + ".");
    const auto items = document.items(document.root());
    ASSERT_EQ(items.size(), 3000u) << batch;
    for (int i = 2; i < 3000; ++i)
      ASSERT_EQ(document.integer(items[static_cast<std::size_t>(i)]), i);
  }
}

TEST(Vm, MakesDicts) {
  EXPECT_EQ(graph("}."sv), "{}");
  EXPECT_EQ(graph("(d."sv), "{}");
  EXPECT_EQ(graph("(K\1K\2d."sv), "{1: 2}");
  EXPECT_EQ(graph("}K\1K\2s(K\3K\4K\5K\6u(u."sv), "{1: 2, 3: 4, 5: 6}");
}

TEST(Vm, MakesSets) {
  EXPECT_EQ(graph("\x8f."sv), "set()");
  EXPECT_EQ(graph("\x8f(K\1K\2\x90(K\3\x90(\x90."sv), "set(1, 2, 3)");
  EXPECT_EQ(graph("(K\1K\2\x91."sv), "frozenset(1, 2)");
  EXPECT_EQ(graph("(\x91."sv), "frozenset()");
}

TEST(Vm, PopsValuesAndMarks) {
  EXPECT_EQ(graph("K\1K\2"
                  "0."sv),
            "1");
  EXPECT_EQ(graph("K\1("
                  "0."sv),
            "1");
  EXPECT_EQ(graph("K\1(K\2K\3"
                  "1."sv),
            "1");
  EXPECT_EQ(graph("(K\1((K\2"
                  "11t."sv),
            "(1)");
  EXPECT_EQ(graph("K\1"
                  "2\x86."sv),
            "(1, 1)");
}

TEST(Vm, TakesOneValueFromTheMemoManyTimes) {
  EXPECT_EQ(graph("]q\0h\0\x86."sv), "(&1 [], *1)");
  EXPECT_EQ(graph("]p7\ng7\n\x86."sv), "(&1 [], *1)");
  EXPECT_EQ(graph("]r\0\1\0\0j\0\1\0\0\x86."sv), "(&1 [], *1)");
  EXPECT_EQ(graph("]\x94h\0\x86."sv), "(&1 [], *1)");
}

TEST(Vm, KeepsIdentityOfStringsAndTuples) {
  EXPECT_EQ(graph("(\x8c\1aq\0h\0\x8c\1at."sv), "(&1 'a', *1, 'a')");
  EXPECT_EQ(graph("()q\0h\0)t."sv), "(&1 (), *1, ())");
}

TEST(Vm, OverwritesMemoEntries) { EXPECT_EQ(graph("(K\1q\0K\2q\0h\0t."sv), "(1, 2, 2)"); }

TEST(Vm, MemoizesUnderTheNumberOfEntries) {
  // The first MEMOIZE takes 0; BINPUT 5 makes a second entry; the next MEMOIZE takes 2.
  EXPECT_EQ(graph("(K\x0a\x94K\x0bq\5K\x0c\x94h\0h\5h\2t."sv), "(10, 11, 12, 10, 11, 12)");
  // An index in use is overwritten: one entry, under 1, so that MEMOIZE takes 1 again.
  EXPECT_EQ(graph("(K\x0aq\1K\x0b\x94h\1t."sv), "(10, 11, 11)");
}

TEST(Vm, AddsToAContainerAfterItWasNoted) {
  EXPECT_EQ(graph("]q\0}q\1K\1h\0s0h\0K\7a0h\1."sv), "{1: [7]}");
}

TEST(Vm, MakesCycles) {
  EXPECT_EQ(graph("]q\0h\0a."sv), "&1 [*1]");
  EXPECT_EQ(graph("}q\0K\1h\0s."sv), "&1 {1: *1}");
  // A tuple that holds itself through a list, as CPython's pickler writes it.
  EXPECT_EQ(graph("]q\0h\0\x85q\1"
                  "a0h\1."sv),
            "&1 ([*1])");
  EXPECT_EQ(graph("(]q\0(h\0K\1K\2K\3tq\1"
                  "aK\1K\2K\3"
                  "1h\1."sv),
            "&1 ([*1], 1, 2, 3)");
}

TEST(Vm, NamesGlobals) {
  EXPECT_EQ(graph("cmod.sub\nClass.method\n."sv), "mod.sub.Class.method");
  EXPECT_EQ(graph("\x8c\3mod\x8c\1n\x93."sv), "mod.n");
  EXPECT_EQ(graph("U\3modS'n'\n\x93."sv), "mod.n");
  EXPECT_EQ(graph("cm\xc3\xa9\r\nn\r\n."sv), "m\u00e9\r.n\r");
}

TEST(Vm, MakesOneNodeOfOneGlobal) {
  const Document document = parse("(cm\nn\n\x8c\1m\x8c\1n\x93(im\nn\ncm\no\nt."sv);
  const auto items = document.items(document.root());
  EXPECT_EQ(items[0], items[1]);
  EXPECT_EQ(document.callable(items[2]), items[0]);
  EXPECT_NE(items[3], items[0]);
  EXPECT_EQ(document.global_count(), 2u);
  EXPECT_EQ(document.global_ordinal(items[3]), 1u);
  EXPECT_EQ(document.global_name(1).name, "o");
}

TEST(Vm, KeepsCallsAsObjects) {
  EXPECT_EQ(graph("cm\nf\nK\1\x85R."sv), "call(m.f, (1))");
  EXPECT_EQ(graph("cm\nC\n)\x81."sv), "new(m.C, ())");
  EXPECT_EQ(graph("cm\nC\n)}\x8c\1kK\1s\x92."sv), "new_ex(m.C, ())[keywords {'k': 1}]");
  EXPECT_EQ(graph("(K\1K\2im\nC\n."sv), "inst(m.C, (1, 2))");
  EXPECT_EQ(graph("(cm\nC\nK\1o."sv), "inst(m.C, (1))");
  EXPECT_EQ(graph("(cm\nC\no."sv), "inst(m.C, ())");
  EXPECT_EQ(graph("cm\nf\n)R)R."sv), "call(call(m.f, ()), ())");
}

TEST(Vm, KeepsWhateverStandsAsArgument) {
  EXPECT_EQ(graph("cm\nEnum\nK\1R."sv), "call(m.Enum, 1)");
  EXPECT_EQ(graph("K\1)R."sv), "call(1, ())");
}

TEST(Vm, GivesObjectsItemsAndState) {
  EXPECT_EQ(graph("cm\nC\n)\x81K\1a(K\2K\3eK\4K\5s(K\6K\7u}b."sv),
            "new(m.C, ())[list 1, 2, 3][dict 4: 5, 6: 7][state {}]");
  EXPECT_EQ(graph("cm\nC\n)\x81Nb."sv), "new(m.C, ())[state None]");
  EXPECT_EQ(graph("cm\nC\n)\x81q\0h\0\x85"
                  "b."sv),
            "&1 new(m.C, ())[state (*1)]");
}

TEST(Vm, KeepsItemsOfUnknownClassesAsTheyCame) {
  EXPECT_EQ(graph("cm\nC\n)\x81(K\1K\2K\1K\3]Nu."sv), "new(m.C, ())[dict 1: 2, 1: 3, []: None]");
}

TEST(Vm, KeepsPersistentIdsAndExtensions) {
  EXPECT_EQ(graph("Pan id\n."sv), "id('an id')");
  EXPECT_EQ(graph("P\n."sv), "id('')");
  EXPECT_EQ(graph("K\1\x85Q."sv), "id((1))");
  EXPECT_EQ(graph("K\1Q2\x86."sv), "(&1 id(1), *1)");
  EXPECT_EQ(graph("(\x82\1\x83\1\1\x84\1\1\1\1t."sv), "(ext(1), ext(257), ext(16843009))");
}

TEST(Vm, TellsWhatTheDocumentIs) {
  const Document document = parse("\x80\x02K\1]K\2a.and more"sv);
  EXPECT_EQ(document.source_size(), 9u);
  EXPECT_EQ(document.left_on_stack(), 1u);
  EXPECT_EQ(document.protocol(), 2);
  EXPECT_EQ(document.node_count(), 1u);
  EXPECT_EQ(parse("(N."sv).left_on_stack(), 1u);
  EXPECT_EQ(parse("N."sv).left_on_stack(), 0u);
}

TEST(Vm, TellsTheHighestProtocol) {
  EXPECT_EQ(parse("N."sv).protocol(), 0);
  EXPECT_EQ(parse("]."sv).protocol(), 1);
  EXPECT_EQ(parse("\x80\x00\x8c\0."sv).protocol(), 4);
  EXPECT_EQ(parse("\x80\x05N."sv).protocol(), 5);
  EXPECT_EQ(parse("\x80\x04N\x80\x03."sv).protocol(), 4);
}

TEST(Vm, TakesFramesThatFit) {
  EXPECT_EQ(graph("\x80\4\x95\2\0\0\0\0\0\0\0N."sv), "None");
  EXPECT_EQ(graph("\x95\0\0\0\0\0\0\0\0N."sv), "None");
  // Nested, and ending within an opcode.
  EXPECT_EQ(graph("\x95\x0b\0\0\0\0\0\0\0\x95\1\0\0\0\0\0\0\0K\1."sv), "1");
}

TEST(Vm, KeepsTheOwnerOfThePickle) {
  auto owner = std::make_shared<std::string>(
      "\x8c\3"
      "abc."sv);
  std::optional<Document> document =
      parse_pickle(as_bytes(*owner), {.limits = {}, .where = "p", .owner = owner});
  EXPECT_EQ(owner.use_count(), 2);
  EXPECT_EQ(document->text(document->root()).data(), owner->data() + 2);
  document.reset();
  EXPECT_EQ(owner.use_count(), 1);
}

TEST(Vm, LeavesRoomForNotes) {
  Document document = parse("K\1Q\x8c\1a\x86."sv);
  const Ref id = document.items(document.root())[0];
  EXPECT_EQ(document.tag(id), 0);
  document.annotate(id, 0xbeef);
  document.set_row(id, 0xfffffff0);
  EXPECT_EQ(document.tag(id), 0xbeef);
  EXPECT_EQ(document.row(id), 0xfffffff0);
  EXPECT_EQ(document.integer(document.persistent_id(id)), 1);
}

}  // namespace
}  // namespace flambeau
