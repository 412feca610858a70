// Escapes for the terminal, widths, numbers in words, Python's float repr.
#include "text.h"

#include <gtest/gtest.h>

#include <limits>

namespace flambeau::cli {
namespace {

TEST(CodePoints, AreTakenOneByOne) {
  const CodePoint two = next_code_point("é!");
  EXPECT_EQ(two.value, U'é');
  EXPECT_EQ(two.size, 2U);
  EXPECT_TRUE(two.valid);
  EXPECT_EQ(next_code_point("🙂").value, U'🙂');
  EXPECT_EQ(next_code_point("\xed\xa0\x80").value, char32_t{0xD800});
}

TEST(CodePoints, BytesThatAreNotUtf8StandForThemselves) {
  for (const std::string_view bad : {"\x80", "\xc0\x80", "\xe2\x82", "\xf5\x80\x80\x80", "\xff",
                                     "\xe0\x80\x80", "\xf4\x90\x80\x80", "\xc3("}) {
    const CodePoint code = next_code_point(bad);
    EXPECT_FALSE(code.valid) << bad;
    EXPECT_EQ(code.size, 1U);
    EXPECT_EQ(code.value, static_cast<unsigned char>(bad[0]));
  }
}

TEST(Escaped, ShowsWhatATerminalWouldObey) {
  EXPECT_EQ(escaped("plain žluť 🙂"), "plain žluť 🙂");
  EXPECT_EQ(escaped("a\x1b[31m"), "a\\x1b[31m");
  EXPECT_EQ(escaped("line\nend\ttab\r"), "line\\nend\\ttab\\r");
  EXPECT_EQ(escaped("\x7f\xc2\x9b"), "\\x7f\\x9b");
  EXPECT_EQ(escaped("\u202e\u2066\u2028\ufeff"), "\\u202e\\u2066\\u2028\\ufeff");
  EXPECT_EQ(escaped("\xed\xb2\x80"), "\\udc80");
  EXPECT_EQ(escaped("\xff"), "\\xff");
  EXPECT_EQ(escaped(std::string_view("nul\0", 4)), "nul\\x00");
}

TEST(Fitted, CutsAtColumns) {
  EXPECT_EQ(fitted("žluť", 4), "žluť");
  EXPECT_EQ(fitted("žluťoučký", 4), "žlu…");
  EXPECT_EQ(fitted("anything", 0), "anything");
  EXPECT_EQ(columns("žlu…"), 4U);
  EXPECT_EQ(fitted_tail("žluťoučký", 4), "…čký");
  EXPECT_EQ(fitted_tail("žluť", 4), "žluť");
}

TEST(FloatRepr, IsPythons) {
  EXPECT_EQ(float_repr(1.0), "1.0");
  EXPECT_EQ(float_repr(-0.0), "-0.0");
  EXPECT_EQ(float_repr(0.1), "0.1");
  EXPECT_EQ(float_repr(1e-05), "1e-05");
  EXPECT_EQ(float_repr(0.0001), "0.0001");
  EXPECT_EQ(float_repr(1e15), "1000000000000000.0");
  EXPECT_EQ(float_repr(9999999999999998.0), "9999999999999998.0");
  EXPECT_EQ(float_repr(1e16), "1e+16");
  EXPECT_EQ(float_repr(1.7976931348623157e308), "1.7976931348623157e+308");
  EXPECT_EQ(float_repr(5e-324), "5e-324");
  EXPECT_EQ(float_repr(std::numeric_limits<double>::quiet_NaN()), "nan");
  EXPECT_EQ(float_repr(-std::numeric_limits<double>::infinity()), "-inf");
}

TEST(Numbers, ReadWell) {
  EXPECT_EQ(grouped(999), "999");
  EXPECT_EQ(grouped(1234567), "1,234,567");
  EXPECT_EQ(counted(1, "tensor"), "1 tensor");
  EXPECT_EQ(counted(2000, "tensor"), "2,000 tensors");
  EXPECT_EQ(human_size(0), "0 bytes");
  EXPECT_EQ(human_size(1023), "1,023 bytes");
  EXPECT_EQ(human_size(1536), "1.5 KiB");
  EXPECT_EQ(human_size((1U << 20) - 1), "1.0 MiB");
  EXPECT_EQ(human_size(std::numeric_limits<std::uint64_t>::max()), "16.0 EiB");
  EXPECT_EQ(full_size(12), "12 bytes");
  EXPECT_EQ(full_size(2048), "2,048 bytes (2.0 KiB)");
}

}  // namespace
}  // namespace flambeau::cli
