#include "pickle/repr.h"

#include <cmath>
#include <limits>

#include "pickle/graph_text.h"

namespace flambeau {
namespace {

using namespace test;

TEST(ReprText, ChoosesQuotes) {
  EXPECT_EQ(python_repr_text(""), "''");
  EXPECT_EQ(python_repr_text("a"), "'a'");
  EXPECT_EQ(python_repr_text("it's"), "\"it's\"");
  EXPECT_EQ(python_repr_text("\"q\""), "'\"q\"'");
  EXPECT_EQ(python_repr_text("it's \"q\""), "'it\\'s \"q\"'");
}

TEST(ReprText, EscapesWhatIsNotPrintable) {
  EXPECT_EQ(python_repr_text("\\\t\n\r"), R"('\\\t\n\r')");
  EXPECT_EQ(python_repr_text("\0\x1f\x7f"sv), R"('\x00\x1f\x7f')");
  EXPECT_EQ(python_repr_text("\u0080\u00a0\u00ad"), R"('\x80\xa0\xad')");
  EXPECT_EQ(python_repr_text("\u2028\u3000\ue000\uffff"), R"('\u2028\u3000\ue000\uffff')");
  EXPECT_EQ(python_repr_text("\xed\xa0\x80"), R"('\ud800')");
  EXPECT_EQ(python_repr_text("\U000e0001\U0010ffff"), R"('\U000e0001\U0010ffff')");
}

TEST(ReprText, LeavesWhatIsPrintable) {
  EXPECT_EQ(python_repr_text("na\u00efve \u20ac \u4e2d \U0001f600 \u0301"),
            "'na\u00efve \u20ac \u4e2d \U0001f600 \u0301'");
}

TEST(ReprText, ShowsStrayBytes) { EXPECT_EQ(python_repr_text("a\xff"), R"('a\xff')"); }

TEST(ReprBytes, EscapesAllButPrintableAscii) {
  EXPECT_EQ(python_repr_bytes("\0a\xff'\\\n"sv), R"(b"\x00a\xff'\\\n")");
  EXPECT_EQ(python_repr_bytes("'\""), R"(b'\'"')");
  EXPECT_EQ(python_repr_bytes(""), "b''");
}

TEST(ReprBytes, OfBytearrayEscapesSingleQuotesAlways) {
  EXPECT_EQ(python_repr_bytearray("it's"), R"(bytearray(b"it\'s"))");
  EXPECT_EQ(python_repr_bytearray("a\"b"), R"(bytearray(b'a"b'))");
}

TEST(ReprReal, WritesTheShortestDigits) {
  EXPECT_EQ(python_repr_real(0.1), "0.1");
  EXPECT_EQ(python_repr_real(1.0 / 3), "0.3333333333333333");
  EXPECT_EQ(python_repr_real(100), "100.0");
  EXPECT_EQ(python_repr_real(-2.5), "-2.5");
  EXPECT_EQ(python_repr_real(123456789.125), "123456789.125");
  EXPECT_EQ(python_repr_real(5e-324), "5e-324");
  EXPECT_EQ(python_repr_real(std::numeric_limits<double>::max()), "1.7976931348623157e+308");
}

TEST(ReprReal, WritesAnExponentWhereCPythonDoes) {
  EXPECT_EQ(python_repr_real(1e15), "1000000000000000.0");
  EXPECT_EQ(python_repr_real(9999999999999998), "9999999999999998.0");
  EXPECT_EQ(python_repr_real(1e16), "1e+16");
  EXPECT_EQ(python_repr_real(1.5e16), "1.5e+16");
  EXPECT_EQ(python_repr_real(1e100), "1e+100");
  EXPECT_EQ(python_repr_real(0.0001), "0.0001");
  EXPECT_EQ(python_repr_real(0.00012345), "0.00012345");
  EXPECT_EQ(python_repr_real(0.00001), "1e-05");
  EXPECT_EQ(python_repr_real(-1.25e-7), "-1.25e-07");
}

TEST(ReprReal, WritesSpecialValues) {
  EXPECT_EQ(python_repr_real(0.0), "0.0");
  EXPECT_EQ(python_repr_real(-0.0), "-0.0");
  EXPECT_EQ(python_repr_real(std::numeric_limits<double>::infinity()), "inf");
  EXPECT_EQ(python_repr_real(-std::numeric_limits<double>::infinity()), "-inf");
  EXPECT_EQ(python_repr_real(std::nan("")), "nan");
  EXPECT_EQ(python_repr_real(-std::nan("")), "nan");
}

}  // namespace
}  // namespace flambeau
