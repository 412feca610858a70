#include "pickle/text_argument.h"

#include <cmath>
#include <limits>

#include "pickle/graph_text.h"

namespace flambeau {
namespace {

using namespace test;

std::string integer(std::string_view text, IntegerRule rule) {
  const auto read = read_integer_text(text, rule);
  return read ? decimal_of(to_twos_complement(*read)) : "refused";
}

std::string literal(std::string_view text) { return integer(text, IntegerRule::literal); }
std::string decimal(std::string_view text) { return integer(text, IntegerRule::decimal); }

TEST(IntegerText, IsReadAsIntWithBase0) {
  EXPECT_EQ(literal("5"), "5");
  EXPECT_EQ(literal("-5"), "-5");
  EXPECT_EQ(literal("+5"), "5");
  EXPECT_EQ(literal(" \t5\r\v\f"), "5");
  EXPECT_EQ(literal("1_000"), "1000");
  EXPECT_EQ(literal("0x10"), "16");
  EXPECT_EQ(literal("-0X_fF"), "-255");
  EXPECT_EQ(literal("0o17"), "15");
  EXPECT_EQ(literal("0b101"), "5");
  EXPECT_EQ(literal("-0"), "0");
  EXPECT_EQ(literal("000"), "0");
  EXPECT_EQ(literal("0_0"), "0");
  EXPECT_EQ(literal("1180591620717411303424"), "1180591620717411303424");
  EXPECT_EQ(literal("-0x80000000000000000"), "-147573952589676412928");
}

TEST(IntegerText, RefusesWhatIntRefuses) {
  for (const std::string_view text :
       {""sv,    " "sv,   "-"sv,   "--1"sv, "- 1"sv, "1 2"sv, "1__0"sv,
        "_1"sv,  "1_"sv,  "0x"sv,  "0x_"sv, "0xg"sv, "0o8"sv, "0b2"sv,
        "010"sv, "0_7"sv, "1.5"sv, "abc"sv, "1\0"sv, "1L"sv,  "\xd9\xa1"sv}) {
    EXPECT_EQ(literal(text), "refused") << text;
  }
}

TEST(IntegerText, DecimalAllowsZerosBeforeAndNoPrefix) {
  EXPECT_EQ(decimal("007"), "7");
  EXPECT_EQ(decimal("0x10"), "refused");
  EXPECT_EQ(decimal("0b1"), "refused");
}

TEST(IntegerText, CountsDigitsAsWritten) {
  const auto read = read_integer_text("-000_12", IntegerRule::decimal);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->digits, "00012");
  EXPECT_EQ(to_decimal(*read), "-12");
  EXPECT_EQ(to_decimal(*read_integer_text("-000", IntegerRule::decimal)), "0");
}

std::string real(std::string_view text) {
  const auto value = read_real_text(text);
  if (!value) return "refused";
  return std::isnan(*value) && std::signbit(*value) ? "-nan" : python_repr_real(*value);
}

TEST(RealText, IsReadAsFloat) {
  EXPECT_EQ(real("1.5"), "1.5");
  EXPECT_EQ(real(" -1.5\r"), "-1.5");
  EXPECT_EQ(real("+5."), "5.0");
  EXPECT_EQ(real(".5"), "0.5");
  EXPECT_EQ(real("1E5"), "100000.0");
  EXPECT_EQ(real("1e+05"), "100000.0");
  EXPECT_EQ(real("1e-5"), "1e-05");
  EXPECT_EQ(real("1_0.2_5"), "10.25");
  EXPECT_EQ(real("1_0e1_0"), "100000000000.0");
  EXPECT_EQ(real("nan"), "nan");
  EXPECT_EQ(real("-NaN"), "-nan");
  EXPECT_EQ(real("inf"), "inf");
  EXPECT_EQ(real("-Infinity"), "-inf");
  EXPECT_EQ(real("-0"), "-0.0");
}

TEST(RealText, RoundsToTheNearestDouble) {
  EXPECT_EQ(real("1.7976931348623157e308"), "1.7976931348623157e+308");
  EXPECT_EQ(real("1.7976931348623159e308"), "inf");
  EXPECT_EQ(real("1e999"), "inf");
  EXPECT_EQ(real("-1e999"), "-inf");
  EXPECT_EQ(real("1e-999"), "0.0");
  EXPECT_EQ(real("-1e-999"), "-0.0");
  EXPECT_EQ(real("2.4e-324"), "0.0");
  EXPECT_EQ(real("4.9e-324"), "5e-324");
  EXPECT_EQ(real("1e99999999999999999999"), "inf");
  EXPECT_EQ(real("1e-99999999999999999999"), "0.0");
  EXPECT_EQ(real("0e99999999999999999999"), "0.0");
  EXPECT_EQ(real(std::string(400, '1')), "inf");
  EXPECT_EQ(real("0." + std::string(400, '0') + "1e390"), "1e-11");
  EXPECT_EQ(real("0." + std::string(400, '0') + "1"), "0.0");
  EXPECT_EQ(real("1." + std::string(1'000'000, '3')), "1.3333333333333333");
}

TEST(RealText, RefusesWhatFloatRefuses) {
  for (const std::string_view text :
       {""sv,      "."sv,    "e5"sv,   "1e"sv,      "1e+"sv,    "1e+-5"sv, "1,5"sv,
        "0x1p3"sv, "1_.5"sv, "1._5"sv, "_1"sv,      "1_"sv,     "1__0"sv,  "1.5.5"sv,
        "++1"sv,   "+ 1"sv,  "1f"sv,   "infinit"sv, "nan(1)"sv, "1\0"sv}) {
    EXPECT_EQ(real(text), "refused") << text;
  }
}

TEST(Escapes, AreUndoneAsInBytesLiterals) {
  EXPECT_EQ(undo_escapes(R"(a\\\'\"\a\b\f\n\r\t\v)"), "a\\'\"\a\b\f\n\r\t\v");
  EXPECT_EQ(undo_escapes(R"(\x41\xfF)"), "A\xff");
  EXPECT_EQ(undo_escapes(R"(\101\7\08\400\777)"),
            "A\7\0"
            "8\0\xff"sv);
  EXPECT_EQ(undo_escapes(R"(\q\u1234\N{X})"), R"(\q\u1234\N{X})");
  EXPECT_EQ(undo_escapes(""), "");
  EXPECT_EQ(undo_escapes(R"(\x4)"), std::nullopt);
  EXPECT_EQ(undo_escapes(R"(\xg0)"), std::nullopt);
  EXPECT_EQ(undo_escapes("a\\"), std::nullopt);
}

TEST(Quotes, HaveToBeTheSameAtBothEnds) {
  EXPECT_EQ(strip_quotes("'a'"), "a");
  EXPECT_EQ(strip_quotes("\"\""), "");
  EXPECT_EQ(strip_quotes("'it's'"), "it's");
  for (const std::string_view text : {""sv, "'"sv, "a"sv, "'a\""sv, "aa"sv, "'a' "sv}) {
    EXPECT_EQ(strip_quotes(text), std::nullopt) << text;
  }
}

TEST(UnicodeEscapes, AreUndoneAsRawUnicodeEscape) {
  EXPECT_EQ(undo_unicode_escapes("a\xe9"), "a\u00e9");
  EXPECT_EQ(undo_unicode_escapes(R"(\u20ac\U0001F600)"), "\u20ac\U0001f600");
  EXPECT_EQ(undo_unicode_escapes(R"(\ud83d\ude00)"), "\xed\xa0\xbd\xed\xb8\x80");
  EXPECT_EQ(undo_unicode_escapes(R"(\\u20ac\\\u20ac)"), "\\\\u20ac\\\\\u20ac");
  EXPECT_EQ(undo_unicode_escapes(R"(\n\x41\)"), R"(\n\x41\)");
  for (const std::string_view text : {R"(\u)"sv, R"(\u12)"sv, R"(\u12g4)"sv, R"(\U0001f60)"sv,
                                      R"(\U00110000)"sv, R"(\Uffffffff)"sv}) {
    EXPECT_EQ(undo_unicode_escapes(text), std::nullopt) << text;
  }
}

TEST(Ascii, IsFoundAtEveryPlace) {
  for (std::size_t size = 0; size < 20; ++size) {
    std::string text(size, 'a');
    EXPECT_TRUE(is_ascii(text));
    for (char& c : text) {
      c = '\x80';
      EXPECT_FALSE(is_ascii(text)) << size;
      c = 'a';
    }
  }
}

TEST(StrictUtf8, HasNoSurrogates) {
  EXPECT_TRUE(is_strict_utf8("a\u00e9\U0001f600"));
  EXPECT_FALSE(is_strict_utf8("\xed\xa0\x80"));
  EXPECT_FALSE(is_strict_utf8("\xff"));
  EXPECT_FALSE(is_strict_utf8("\xc0\x80"));
}

}  // namespace
}  // namespace flambeau
