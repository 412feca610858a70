// Strings of any bytes as valid JSON, numbers, base64, nesting.
#include "json_writer.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "support.h"

namespace flambeau::cli {
namespace {

std::string json_string(std::string_view text) {
  return written([&](Output& out) { append_json_string(out, text); });
}

std::string json_real(double value) {
  return written([&](Output& out) { append_json_real(out, value); });
}

std::string base64(std::string_view text) {
  return written([&](Output& out) { JsonWriter(out).base64(std::as_bytes(std::span(text))); });
}

TEST(JsonString, PlainTextStaysAsItIs) {
  EXPECT_EQ(json_string(""), "\"\"");
  EXPECT_EQ(json_string("layer1.weight"), "\"layer1.weight\"");
  EXPECT_EQ(json_string("žluť 🙂"), "\"žluť 🙂\"");
}

TEST(JsonString, Escapes) {
  EXPECT_EQ(json_string("a\"b\\c"), R"("a\"b\\c")");
  EXPECT_EQ(json_string("\n\r\t\x01\x7f"), R"("\n\r\t\u0001\u007f")");
  EXPECT_EQ(json_string("\u009b\u202e"), R"("\u009b\u202e")");
}

TEST(JsonString, LoneSurrogatesAndBytesThatAreNotUtf8) {
  EXPECT_EQ(json_string("\xed\xa0\x80"), R"("\ud800")");
  EXPECT_EQ(json_string("a\xff\x80z"), R"("a\udcff\udc80z")");
  EXPECT_EQ(json_string("\xc3"), R"("\udcc3")");
}

TEST(JsonString, LongerThanTheBuffer) {
  const std::string text(std::size_t{3} << 20, 'x');
  EXPECT_EQ(json_string(text), "\"" + text + "\"");
}

TEST(JsonReal, ReadsBackOrIsAString) {
  EXPECT_EQ(json_real(0.1), "0.1");
  EXPECT_EQ(json_real(-2), "-2.0");
  EXPECT_EQ(json_real(1e300), "1e+300");
  EXPECT_EQ(json_real(std::numeric_limits<double>::quiet_NaN()), "\"nan\"");
  EXPECT_EQ(json_real(-std::numeric_limits<double>::infinity()), "\"-inf\"");
}

TEST(Base64, OfEveryRemainder) {
  EXPECT_EQ(base64(""), "\"\"");
  EXPECT_EQ(base64("f"), "\"Zg==\"");
  EXPECT_EQ(base64("fo"), "\"Zm8=\"");
  EXPECT_EQ(base64("foo"), "\"Zm9v\"");
  EXPECT_EQ(base64("foob\xff"), "\"Zm9vYv8=\"");
}

TEST(JsonWriter, PlacesCommasAndMeasuresDepth) {
  std::size_t deepest = 0;
  const std::string text = written([&](Output& out) {
    JsonWriter json(out);
    json.begin_object();
    json.key("a").begin_array();
    json.number(-1);
    json.boolean(true);
    json.null();
    json.raw().append("{\"by\":\"hand\"}");
    json.end_array();
    json.key("b").unsigned_number(std::numeric_limits<std::uint64_t>::max());
    json.note_depth(5);
    json.end_object();
    deepest = json.deepest();
  });
  EXPECT_EQ(text, R"({"a":[-1,true,null,{"by":"hand"}],"b":18446744073709551615})");
  EXPECT_EQ(deepest, 6U);
}

}  // namespace
}  // namespace flambeau::cli
