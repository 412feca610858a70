// UTF-8 with lone surrogates, escapes for the terminal, hexadecimal, case.
#include "base/text.h"

#include <gtest/gtest.h>

#include <string>

namespace flambeau::testing {
namespace {

TEST(DecodeUtf8, TakesEveryCodePointThatAppendWrites) {
  for (char32_t code = 0; code <= 0x10ffff; ++code) {
    std::string text;
    append_utf8(text, code);
    const auto decoded = decode_utf8(text + "rest");
    ASSERT_TRUE(decoded) << std::hex << static_cast<unsigned>(code);
    ASSERT_EQ(decoded->value, code);
    ASSERT_EQ(decoded->size, text.size());
  }
}

TEST(AppendUtf8, UsesTheShortestForm) {
  const auto size_of = [](char32_t code) {
    std::string text;
    append_utf8(text, code);
    return text.size();
  };
  EXPECT_EQ(size_of(0x7f), 1u);
  EXPECT_EQ(size_of(0x80), 2u);
  EXPECT_EQ(size_of(0x7ff), 2u);
  EXPECT_EQ(size_of(0x800), 3u);
  EXPECT_EQ(size_of(0xffff), 3u);
  EXPECT_EQ(size_of(0x10000), 4u);
}

TEST(DecodeUtf8, RefusesWhatIsMalformed) {
  for (const std::string text : {"",                  // nothing
                                 "\x80",              // a continuation alone
                                 "\xbf",              //
                                 "\xc0\x80",          // overlong
                                 "\xc1\xbf",          //
                                 "\xe0\x80\x80",      //
                                 "\xe0\x9f\xbf",      //
                                 "\xf0\x80\x80\x80",  //
                                 "\xf0\x8f\xbf\xbf",  //
                                 "\xf4\x90\x80\x80",  // above U+10FFFF
                                 "\xf5\x80\x80\x80",  //
                                 "\xff",              //
                                 "\xc3",              // cut off
                                 "\xe4\xb8",          //
                                 "\xf0\x9f\x98",      //
                                 "\xc3(",             // no continuation
                                 "\xe4\xb8(", "\xf0\x9f\x98("}) {
    EXPECT_FALSE(decode_utf8(text)) << escape_controls(text);
  }
}

TEST(IsUtf8, LooksAtAllOfTheText) {
  EXPECT_TRUE(is_utf8(""));
  EXPECT_TRUE(is_utf8("plain"));
  EXPECT_TRUE(is_utf8("gr\xc3\xbc\xc3\x9f \xe4\xb8\xad \xf0\x9f\x98\x80"));
  EXPECT_TRUE(is_utf8("\xed\xa0\x80"));  // a lone surrogate, as pickles have them
  EXPECT_FALSE(is_utf8("plain\xff"));
  EXPECT_FALSE(is_utf8("cut \xe4\xb8"));
}

TEST(EscapeControls, LeavesTextAlone) {
  const std::string text = "gr\xc3\xbc\xc3\x9f \xe4\xb8\xad \xf0\x9f\x98\x80 \\ \"~";
  EXPECT_EQ(escape_controls(text), text);
}

TEST(EscapeControls, ShowsWhatATerminalWouldObey) {
  EXPECT_EQ(escape_controls(std::string("a\0b", 3)), "a\\x00b");
  EXPECT_EQ(escape_controls("a\nb\rc\td"), "a\\nb\\rc\\td");
  EXPECT_EQ(escape_controls("\x1b[31m\x7f"), "\\x1b[31m\\x7f");
  EXPECT_EQ(escape_controls("\xc2\x85\xc2\x9f"), "\\x85\\x9f");  // C1 controls
  EXPECT_EQ(escape_controls("\xc2\xa0"), "\xc2\xa0");            // the first behind them
  EXPECT_EQ(escape_controls("\xe2\x80\xae\xe2\x81\xa6"), "\\u202e\\u2066");  // overrides
  EXPECT_EQ(escape_controls("\u061c\u200e\u200f\ufeff"), "\\u061c\\u200e\\u200f\\ufeff");  // marks
  EXPECT_EQ(escape_controls("\xe2\x80\xa8\xe2\x80\xa9"), "\\u2028\\u2029");  // line ends
  EXPECT_EQ(escape_controls("\xed\xa0\x80\xed\xbf\xbf"), "\\ud800\\udfff");  // surrogates
}

TEST(EscapeControls, ShowsBytesThatAreNoText) {
  EXPECT_EQ(escape_controls("\xff\x80z"), "\\xff\\x80z");
  EXPECT_EQ(escape_controls("\xe4\xb8"), "\\xe4\\xb8");
}

TEST(ToHex, HasNoLeadingZeros) {
  EXPECT_EQ(to_hex(0), "0x0");
  EXPECT_EQ(to_hex(0x1a2c), "0x1a2c");
  EXPECT_EQ(to_hex(UINT64_MAX), "0xffffffffffffffff");
}

TEST(EqualIgnoringCase, FoldsAsciiAlone) {
  EXPECT_TRUE(equal_ignoring_case("Data.PKL", "dATA.pkl"));
  EXPECT_TRUE(equal_ignoring_case("", ""));
  EXPECT_FALSE(equal_ignoring_case("data", "data2"));
  EXPECT_FALSE(equal_ignoring_case("[", "{"));
  EXPECT_FALSE(equal_ignoring_case("@", "`"));
  EXPECT_FALSE(equal_ignoring_case("\xc3\x84", "\xc3\xa4"));
}

}  // namespace
}  // namespace flambeau::testing
