// Arithmetic at the edges, where unchecked arithmetic wraps.
#include "base/checked.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace flambeau::testing {
namespace {

TEST(CheckedAdd, GivesNothingWhereTheSumWraps) {
  EXPECT_EQ(checked_add<std::uint64_t>(2, 3), 5u);
  EXPECT_EQ(checked_add<std::uint64_t>(UINT64_MAX, 0), UINT64_MAX);
  EXPECT_EQ(checked_add<std::uint64_t>(UINT64_MAX, 1), std::nullopt);
  EXPECT_EQ(checked_add<std::int64_t>(INT64_MAX, 1), std::nullopt);
  EXPECT_EQ(checked_add<std::int64_t>(INT64_MIN, -1), std::nullopt);
  EXPECT_EQ(checked_add<std::int64_t>(INT64_MIN, INT64_MAX), -1);
  EXPECT_EQ(checked_add<std::uint8_t>(200, 56), std::nullopt);
}

TEST(CheckedMul, GivesNothingWhereTheProductWraps) {
  constexpr std::uint64_t kHalf = std::uint64_t{1} << 32;
  EXPECT_EQ(checked_mul<std::uint64_t>(kHalf, kHalf - 1), UINT64_MAX - kHalf + 1);
  EXPECT_EQ(checked_mul<std::uint64_t>(kHalf, kHalf), std::nullopt);
  EXPECT_EQ(checked_mul<std::uint64_t>(UINT64_MAX, 0), 0u);
  EXPECT_EQ(checked_mul<std::int64_t>(INT64_MIN, -1), std::nullopt);
  EXPECT_EQ(checked_mul<std::int64_t>(0x4000000000000001, 4), std::nullopt);
}

TEST(Fits, NeverWraps) {
  EXPECT_TRUE(fits(0, 10, 10));
  EXPECT_TRUE(fits(10, 0, 10));
  EXPECT_FALSE(fits(11, 0, 10));
  EXPECT_FALSE(fits(1, 10, 10));
  EXPECT_FALSE(fits(UINT64_MAX, 2, 10));
  EXPECT_FALSE(fits(2, UINT64_MAX, 10));
  EXPECT_TRUE(fits(0, UINT64_MAX, UINT64_MAX));
}

}  // namespace
}  // namespace flambeau::testing
