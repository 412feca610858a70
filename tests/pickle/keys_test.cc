#include "pickle/keys.h"

#include <chrono>
#include <string>

#include "pickle/graph_text.h"

namespace flambeau {
namespace {

using namespace test;

std::string long_text(std::string_view text) {
  return "\x8c"s + static_cast<char>(text.size()) + std::string(text);
}

TEST(Keys, KeepThePlaceOfTheFirstAndTheValueOfTheLast) {
  EXPECT_EQ(graph("}(K\1K\x0aK\2K\x0bK\1K\x0cu."sv), "{1: 12, 2: 11}");
  EXPECT_EQ(graph("}K\1K\x0asK\2K\x0bsK\1K\x0cs."sv), "{1: 12, 2: 11}");
  EXPECT_EQ(graph("(K\1K\x0aK\1K\x0b"
                  "d."sv),
            "{1: 11}");
}

TEST(Keys, AreCountedWhereADictRepeatsThem) {
  EXPECT_EQ(parse("}(K\1NK\1NK\1Nu."sv).duplicate_keys(), 1u);
  EXPECT_EQ(parse("}(K\1NK\2Nu."sv).duplicate_keys(), 0u);
  EXPECT_EQ(parse("\x8f(K\1K\1\x90."sv).duplicate_keys(), 0u);
  EXPECT_EQ(parse("(}(K\1NK\1Nu}(K\1NK\1Nul."sv).duplicate_keys(), 2u);
}

TEST(Keys, OfNumbersAreEqualByValue) {
  EXPECT_EQ(graph("}(K\1K\x0aG\x3f\xf0\0\0\0\0\0\0K\x0b\x88K\x0cu."sv), "{1: 12}");
  EXPECT_EQ(graph("}(\x89K\x0aK\0K\x0bG\x80\0\0\0\0\0\0\0K\x0cu."sv), "{False: 12}");
  EXPECT_EQ(graph("}(J\xff\xff\xff\xffK\x0a\x8a\1\xffK\x0bu."sv), "{-1: 11}");
  EXPECT_EQ(graph("}(J\xff\xff\xff\xffNJ\xfe\xff\xff\xffNu."sv), "{-1: None, -2: None}");
  // Beyond 30 bits, integers are nodes.
  EXPECT_EQ(graph("}(J\xff\xff\xff\x7fNI2147483647\nNu."sv), "{2147483647: None}");
}

TEST(Keys, OfLargeNumbersAreEqualByValue) {
  // 2^64 as a float and as an integer, and 2^64 + 1.
  EXPECT_EQ(
      graph("}(G\x43\xf0\0\0\0\0\0\0K\1I18446744073709551616\nK\2I18446744073709551617\nK\3u."sv),
      "{1.8446744073709552e+19: 2, 18446744073709551617: 3}");
  // -2^63 as a float and as an integer; 2^63 does not fit 64 bits.
  EXPECT_EQ(graph("}(G\xc3\xe0\0\0\0\0\0\0K\1I-9223372036854775808\nK\2u."sv),
            "{-9.223372036854776e+18: 2}");
  EXPECT_EQ(graph("}(G\x43\xe0\0\0\0\0\0\0K\1I9223372036854775808\nK\2u."sv),
            "{9.223372036854776e+18: 2}");
  EXPECT_EQ(graph("}(G\x7f\xf0\0\0\0\0\0\0K\1G\x7f\xf0\0\0\0\0\0\0K\2u."sv), "{inf: 2}");
}

TEST(Keys, OfNanAreEqualByIdentity) {
  EXPECT_EQ(graph("}(G\x7f\xf8\0\0\0\0\0\0K\1G\x7f\xf8\0\0\0\0\0\0K\2u."sv), "{nan: 1, nan: 2}");
  EXPECT_EQ(graph("}(G\x7f\xf8\0\0\0\0\0\0q\0K\1h\0K\2u."sv), "{nan: 2}");
}

TEST(Keys, OfTextAreNotThoseOfBytes) {
  EXPECT_EQ(graph("}(\x8c\1aK\1C\1aK\2\x8c\1aK\3u."sv), "{'a': 3, b'a': 2}");
  EXPECT_EQ(graph("}(\x8c\0K\1C\0K\2\x8c\0K\3u."sv), "{'': 3, b'': 2}");
}

TEST(Keys, OfPython2StringsAreTheTextThatTheyMayBe) {
  EXPECT_EQ(graph("}(U\1aK\1\x8c\1aK\2C\1aK\3u."sv), "{p2'a': 2, b'a': 3}");
}

TEST(Keys, OfTuplesAreEqualByTheirItems) {
  EXPECT_EQ(graph("}(K\1\x8c\1a\x86K\1G\x3f\xf0\0\0\0\0\0\0\x8c\1a\x86K\2K\1\x8c\1b\x86K\3u."sv),
            "{(1, 'a'): 2, (1, 'b'): 3}");
  EXPECT_EQ(graph("}()K\1)K\2)\x85K\3)\x85K\4u."sv), "{(): 2, (()): 4}");
  EXPECT_EQ(graph("}(K\1\x85K\1(K\1\x91K\2u."sv), "{(1): 1, frozenset(1): 2}");
  EXPECT_EQ(graph("}(G\x7f\xf8\0\0\0\0\0\0q\0\x85K\1h\0\x85K\2G\x7f\xf8\0\0\0\0\0\0\x85K\3u."sv),
            "{(nan): 2, (nan): 3}");
  EXPECT_EQ(graph("}(\x8c\1a\x85K\1C\1a\x85K\2U\1a\x85K\3N\x85K\4N\x85K\5u."sv),
            "{('a'): 3, (b'a'): 2, (None): 5}");
  EXPECT_EQ(graph("}(I18446744073709551617\n\x85K\1I18446744073709551617\n\x85K\2u."sv),
            "{(18446744073709551617): 2}");
}

TEST(Keys, OfFrozensetsAreEqualInAnyOrder) {
  EXPECT_EQ(graph("}((K\1K\2\x91K\1(K\2K\1K\2\x91K\2(K\1K\3\x91K\3u."sv),
            "{frozenset(1, 2): 2, frozenset(1, 3): 3}");
  EXPECT_EQ(graph("}((\x91K\1(\x91K\2u."sv), "{frozenset(): 2}");
}

TEST(Keys, OfObjectsAreEqualByIdentity) {
  EXPECT_EQ(graph("}(cm\nn\n)RK\1cm\nn\n)RK\2u."sv), "{call(m.n, ()): 1, call(m.n, ()): 2}");
  EXPECT_EQ(graph("}(cm\nn\n)Rq\0K\1h\0K\2u."sv), "{call(m.n, ()): 2}");
  EXPECT_EQ(graph("}(cm\nn\nK\1cm\nn\nK\2u."sv), "{m.n: 2}");
  EXPECT_EQ(graph("}(K\1QK\1K\1QK\2u."sv), "{id(1): 1, id(1): 2}");
  EXPECT_EQ(graph("}(\x82\1K\1\x83\1\0K\2u."sv), "{ext(1): 2}");
  EXPECT_EQ(graph("}(NK\1NK\2u."sv), "{None: 2}");
}

TEST(Keys, OfSetsAreKeptOnce) {
  EXPECT_EQ(graph("\x8f(K\1\x88K\2K\1\x90(K\2K\3\x90."sv), "set(1, 2, 3)");
  EXPECT_EQ(graph("(K\1\x88K\2\x91."sv), "frozenset(1, 2)");
}

TEST(Keys, OfAnOrderedDictAreKeptOnce) {
  const std::string ordered = "ccollections\nOrderedDict\n";
  EXPECT_EQ(graph(ordered + ")R(K\1K\x0aK\2K\x0bK\1K\x0cu."),
            "call(collections.OrderedDict, ())[dict 1: 12, 2: 11]");
  EXPECT_EQ(graph(ordered + ")\x81K\1K\x0asK\1K\x0cs."),
            "new(collections.OrderedDict, ())[dict 1: 12]");
  EXPECT_EQ(parse(ordered + ")R(K\1NK\1Nu.").duplicate_keys(), 1u);
}

/// A dict of many keys goes another way than one of few.
TEST(Keys, OfALargeDictBehaveTheSame) {
  std::string pickle = "}(";
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 1000; ++i) {
      const std::string digits = fmt::format("{}", i);
      pickle +=
          long_text("a key of some length " + digits) + fmt::format("I{}\n", round * 1000 + i);
      pickle += fmt::format("I{}\nN", i + 10);
      pickle += fmt::format("F{}.5\nN", i) + long_text(digits) + "\x85N";
    }
  }
  pickle += "u.";
  const Document document = parse(pickle);
  const auto items = document.items(document.root());
  ASSERT_EQ(items.size(), 2u * 4000);
  EXPECT_EQ(document.duplicate_keys(), 1u);
  EXPECT_EQ(document.text(items[0]), "a key of some length 0");
  EXPECT_EQ(document.integer(items[1]), 1000);
  EXPECT_EQ(document.integer(items[2]), 10);
  EXPECT_EQ(document.real(items[4]), 0.5);
  EXPECT_EQ(document.text(items[8 * 999]), "a key of some length 999");
  EXPECT_EQ(document.integer(items[8 * 999 + 1]), 1999);
}

TEST(Keys, OfALargeSetBehaveTheSame) {
  std::string pickle = "\x8f(";
  for (int i = 0; i < 3000; ++i) pickle += fmt::format("I{}\n", 2 + i % 1500);
  const Document document = parse(pickle + "\x90.");
  const auto items = document.items(document.root());
  ASSERT_EQ(items.size(), 1500u);
  for (std::size_t i = 0; i < items.size(); ++i) {
    EXPECT_EQ(document.integer(items[i]), static_cast<std::int64_t>(i) + 2);
  }
}

TEST(Keys, ThatCPythonHashesAlikeTakeNoLonger) {
  // Multiples of 2^61 - 1 all have the hash 0 in CPython; quadratic time would be minutes here.
  std::string pickle = "}(";
  for (std::int64_t i = 0; i < 200'000; ++i) {
    const std::string digits = i < 4 ? fmt::format("{}", i * ((std::int64_t{1} << 61) - 1))
                                     : fmt::format("0x{:x}{:016x}", i, i);
    pickle += "I" + digits + "\nN";
  }
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(parse(pickle + "u.").duplicate_keys(), 0u);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
}

TEST(Keys, OfOneLongTextInManyTuplesAreReadOnce) {
  // 100,000 tuples that hold one text of a megabyte: 100 GB if each hashed it.
  const std::string text(1'000'000, 'x');
  std::string pickle = "X\x40\x42\x0f\0"s + text + "q\0}("s;
  for (int i = 2; i < 100'000; ++i) pickle += fmt::format("h{}I{}\n\x86N", '\0', i);
  const auto start = std::chrono::steady_clock::now();
  const Document document = parse(pickle + "u.");
  EXPECT_EQ(document.items(document.root()).size(), 2u * 99'998);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
}

}  // namespace
}  // namespace flambeau
