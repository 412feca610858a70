// The nearest name to a mistyped one.
#include "suggest.h"

#include <gtest/gtest.h>

#include <vector>

namespace flambeau::cli {
namespace {

const std::vector<std::string_view> kNames = {"ls", "tree", "show", "dis", "info", "get", "help"};

TEST(Nearest, FindsOneMistake) {
  EXPECT_EQ(nearest("lss", kNames), "ls");
  EXPECT_EQ(nearest("tere", kNames), "tree");
  EXPECT_EQ(nearest("shwo", kNames), "show");
  EXPECT_EQ(nearest("nfo", kNames), "info");
  EXPECT_EQ(nearest("gat", kNames), "get");
}

TEST(Nearest, TheNameItselfIsNearest) { EXPECT_EQ(nearest("dis", kNames), "dis"); }

TEST(Nearest, FarIsNothing) {
  EXPECT_EQ(nearest("frobnicate", kNames), "");
  EXPECT_EQ(nearest("", kNames), "");
  EXPECT_EQ(nearest("xx", kNames), "");
  EXPECT_EQ(nearest("anything", {}), "");
}

TEST(Nearest, TheFirstOfEquals) {
  const std::vector<std::string_view> names = {"layer1", "layer2"};
  EXPECT_EQ(nearest("layer3", names), "layer1");
}

}  // namespace
}  // namespace flambeau::cli
