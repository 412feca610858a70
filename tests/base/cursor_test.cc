// The bounds of the cursor, and the numbers it reads.
#include "base/cursor.h"

#include <gtest/gtest.h>

#include "support/errors.h"

namespace flambeau::testing {
namespace {

Cursor over(std::string_view text, std::uint64_t base = 0) {
  return Cursor(as_bytes(text), "archive", base);
}

TEST(Cursor, ReadsNumbersLeastSignificantByteFirst) {
  Cursor cursor = over("\1\2\3\4\5\6\7\10\11\12\13\14\15\16\17");
  EXPECT_EQ(cursor.read_le<std::uint8_t>("a"), 0x01u);
  EXPECT_EQ(cursor.read_le<std::uint16_t>("b"), 0x0302u);
  EXPECT_EQ(cursor.read_le<std::uint32_t>("c"), 0x07060504u);
  EXPECT_EQ(cursor.read_le<std::uint64_t>("d"), 0x0f0e0d0c0b0a0908u);
  EXPECT_EQ(cursor.remaining(), 0u);
}

TEST(Cursor, TakesAndSkips) {
  Cursor cursor = over("0123456789", 100);
  cursor.skip(3, "start");
  EXPECT_EQ(as_text(cursor.take(4, "middle")), "3456");
  EXPECT_EQ(cursor.remaining(), 3u);
  EXPECT_EQ(cursor.offset(), 107u);
  EXPECT_EQ(cursor.take(0, "nothing").size(), 0u);
  EXPECT_EQ(as_text(cursor.take(3, "end")), "789");
}

TEST(Cursor, NamesWhatIsNotThere) {
  Cursor cursor = over("0123456789", 0x100);
  cursor.skip(8, "start");
  EXPECT_EQ(message_of([&] { cursor.read_le<std::uint32_t>("entry count"); }),
            "archive+0x108: entry count needs 4 bytes, 2 are left");
  EXPECT_EQ(code_of([&] { cursor.take(3, "name"); }), ErrorCode::truncated);
  EXPECT_EQ(code_of([&] { cursor.skip(UINT64_MAX, "name"); }), ErrorCode::truncated);
  // A refusal moves nothing.
  EXPECT_EQ(as_text(cursor.take(2, "rest")), "89");
}

TEST(Cursor, FailsWithTheCodeOfItsFormat) {
  Cursor cursor({}, "data.pkl", 0, ErrorCode::malformed_pickle);
  EXPECT_EQ(code_of([&] { cursor.read_le<std::uint8_t>("opcode"); }), ErrorCode::malformed_pickle);
}

}  // namespace
}  // namespace flambeau::testing
