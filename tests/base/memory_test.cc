// Bytes as text and numbers, and runs of elements that never move.
#include <gtest/gtest.h>

#include <string>

#include "base/arena.h"
#include "base/bytes.h"
#include "base/endian.h"

namespace flambeau::testing {
namespace {

TEST(Bytes, AreTextAndBack) {
  const std::string text("a\0b", 3);
  EXPECT_EQ(as_bytes(text).size(), 3u);
  EXPECT_EQ(as_bytes(text)[2], std::byte{'b'});
  EXPECT_EQ(as_text(as_bytes(text)), text);
  EXPECT_EQ(as_text({}), "");
}

TEST(Endian, HasBothOrdersAtAnyAddress) {
  const Bytes bytes = as_bytes("x\1\2\3\4\5\6\7\10");
  EXPECT_EQ(load_le<std::uint32_t>(bytes.data() + 1), 0x04030201u);
  EXPECT_EQ(load_be<std::uint32_t>(bytes.data() + 1), 0x01020304u);
  EXPECT_EQ(load_le<std::uint64_t>(bytes.data() + 1), 0x0807060504030201u);
  EXPECT_EQ(load_be<std::uint16_t>(bytes.data() + 2), 0x0203u);
  EXPECT_EQ(load_be<std::uint8_t>(bytes.data() + 2), 2u);
}

TEST(Endian, StoresWhatItLoads) {
  std::byte raw[9] = {};
  store_le(raw + 1, std::uint64_t{0x0807060504030201});
  EXPECT_EQ(as_text({raw + 1, 8}), "\1\2\3\4\5\6\7\10");
  EXPECT_EQ(raw[0], std::byte{0});
}

TEST(Endian, SwapsEveryWidth) {
  EXPECT_EQ(byte_swap(std::uint8_t{0x12}), 0x12u);
  EXPECT_EQ(byte_swap(std::uint16_t{0x1234}), 0x3412u);
  EXPECT_EQ(byte_swap(std::uint32_t{0x12345678}), 0x78563412u);
  EXPECT_EQ(byte_swap(std::uint64_t{1}), 0x0100000000000000u);
}

TEST(Arena, GivesRunsThatKeepTheirPlace) {
  Arena<int> arena;
  std::vector<std::span<int>> runs;
  for (std::size_t size = 0; size < 3000; ++size) {
    runs.push_back(arena.take(size));
    std::fill(runs.back().begin(), runs.back().end(), static_cast<int>(size));
  }
  for (std::size_t size = 0; size < runs.size(); ++size) {
    ASSERT_EQ(runs[size].size(), size);
    for (const int number : runs[size]) ASSERT_EQ(number, static_cast<int>(size));
  }
}

TEST(Arena, TakesARunThatIsLargerThanItsPieces) {
  Arena<char> arena;
  const auto small = arena.take(10);
  const auto large = arena.take(5'000'000);
  EXPECT_EQ(large.size(), 5'000'000u);
  small[9] = 'a';
  large.back() = 'b';
  EXPECT_EQ(small[9], 'a');
}

}  // namespace
}  // namespace flambeau::testing
