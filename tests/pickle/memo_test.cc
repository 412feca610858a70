#include "pickle/memo.h"

#include <gtest/gtest.h>

namespace flambeau {
namespace {

using IntMemo = Memo<int, -1>;

int value_at(const IntMemo& memo, std::uint64_t index) {
  const int* value = memo.find(index);
  return value == nullptr ? -1 : *value;
}

TEST(Memo, CountsUp) {
  IntMemo memo;
  for (int i = 0; i < 100; ++i) memo.put(static_cast<std::uint64_t>(i), i, 0);
  EXPECT_EQ(memo.count(), 100u);
  EXPECT_EQ(value_at(memo, 99), 99);
  EXPECT_EQ(memo.find(100), nullptr);
}

TEST(Memo, LeavesHoles) {
  IntMemo memo;
  memo.put(5, 50, 1000);
  EXPECT_EQ(memo.count(), 1u);
  EXPECT_EQ(memo.find(4), nullptr);
  memo.put(2, 20, 1000);
  memo.put(2, 21, 1000);
  EXPECT_EQ(memo.count(), 2u);
  EXPECT_EQ(value_at(memo, 2), 21);
  EXPECT_EQ(value_at(memo, 5), 50);
}

TEST(Memo, KeepsFarNumbersInAMap) {
  IntMemo memo;
  memo.put(UINT64_MAX, 1, 10);
  memo.put(1'000'000, 2, 10);
  EXPECT_EQ(memo.count(), 2u);
  EXPECT_EQ(value_at(memo, UINT64_MAX), 1);
  memo.put(UINT64_MAX, 3, 10);
  EXPECT_EQ(memo.count(), 2u);
  EXPECT_EQ(value_at(memo, UINT64_MAX), 3);
  EXPECT_EQ(memo.find(7), nullptr);
}

TEST(Memo, MovesANumberThatIsNoLongerFar) {
  IntMemo memo;
  memo.put(100, 1, 10);
  memo.put(0, 5, 11);
  memo.put(100, 2, 500);
  EXPECT_EQ(memo.count(), 2u);
  EXPECT_EQ(value_at(memo, 100), 2);
  EXPECT_EQ(value_at(memo, 0), 5);
  // A far number that the vector reaches only later is still found.
  memo.put(400, 3, 10);
  memo.put(450, 4, 460);
  EXPECT_EQ(value_at(memo, 400), 3);
  EXPECT_EQ(memo.count(), 4u);
  memo.put(400, 6, 470);
  EXPECT_EQ(value_at(memo, 400), 6);
  EXPECT_EQ(memo.count(), 4u);
}

}  // namespace
}  // namespace flambeau
