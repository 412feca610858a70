// The buffer of standard output: blocks, rehearsals, and writes that fail.
#include "output.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>

#include "support.h"

namespace flambeau::cli {
namespace {

TEST(Output, NumbersAndText) {
  const std::string text = written([](Output& out) {
    out.append("n=");
    out.number(std::numeric_limits<std::int64_t>::min());
    out.put(' ', 3);
    out.print("{:>4}|", 7);
  });
  EXPECT_EQ(text, "n=-9223372036854775808      7|");
}

TEST(Output, EverythingComesOutInOrderAcrossBlocks) {
  std::string expected;
  const std::string text = written([&](Output& out) {
    for (int i = 0; i < 400'000; ++i) {
      out.number(i);
      out.put(',');
      expected += std::to_string(i) + ",";
    }
  });
  EXPECT_EQ(text, expected);
}

TEST(Output, ARehearsalLeavesNoTrace) {
  const std::string text = written([](Output& out) {
    out.append("before ");
    out.discard(true);
    out.append(std::string(5'000'000, 'x'));
    out.discard(false);
    out.append("after");
  });
  EXPECT_EQ(text, "before after");
}

TEST(Output, DropForgetsAndEndsARehearsal) {
  const std::string text = written([](Output& out) {
    out.discard(true);
    out.append("never");
    out.drop();
    out.append("dropped");
    out.drop();
    out.append("kept");
  });
  EXPECT_EQ(text, "kept");
}

}  // namespace
}  // namespace flambeau::cli
