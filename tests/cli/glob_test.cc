// Patterns, held against what Python's fnmatch.fnmatchcase gives for the same pairs.
#include "glob.h"

#include <gtest/gtest.h>

#include <string>

namespace flambeau::cli {
namespace {

TEST(Glob, StarTakesAnythingDotsAmongThem) {
  EXPECT_TRUE(matches("*", ""));
  EXPECT_TRUE(matches("encoder.*.weight", "encoder.layers.0.weight"));
  EXPECT_FALSE(matches("encoder.*.weight", "encoder.weight"));
  EXPECT_TRUE(matches("*a*b*c", "xxaxxbxxbc"));
  EXPECT_FALSE(matches("*a*b*c", "xxaxxbxxb"));
  EXPECT_TRUE(matches("**", "anything"));
  EXPECT_FALSE(matches("", "a"));
  EXPECT_TRUE(matches("", ""));
}

TEST(Glob, QuestionMarkTakesOneCharacter) {
  EXPECT_TRUE(matches("l?yer", "layer"));
  EXPECT_FALSE(matches("l?yer", "lyer"));
  EXPECT_TRUE(matches("?", "ž"));
  EXPECT_FALSE(matches("?", "žž"));
  EXPECT_TRUE(matches("?", "\xff"));
}

TEST(Glob, CaseMatters) { EXPECT_FALSE(matches("Layer", "layer")); }

TEST(Glob, Sets) {
  EXPECT_TRUE(matches("[abc]", "b"));
  EXPECT_FALSE(matches("[abc]", "d"));
  EXPECT_TRUE(matches("[a-c]x", "cx"));
  EXPECT_FALSE(matches("[c-a]x", "bx"));
  EXPECT_TRUE(matches("[!a-c]", "d"));
  EXPECT_FALSE(matches("[!a-c]", "a"));
  EXPECT_TRUE(matches("[]]", "]"));
  EXPECT_TRUE(matches("[!]]", "a"));
  EXPECT_FALSE(matches("[!]]", "]"));
  EXPECT_TRUE(matches("[a-]", "-"));
  EXPECT_TRUE(matches("[á-ž]", "é"));
  EXPECT_FALSE(matches("[!a]", ""));
}

TEST(Glob, ABracketWithoutItsPartnerIsItself) {
  EXPECT_TRUE(matches("a[b", "a[b"));
  EXPECT_TRUE(matches("[", "["));
  EXPECT_TRUE(matches("[!", "[!"));
  EXPECT_TRUE(matches("[]", "[]"));
  EXPECT_FALSE(matches("[", "a"));
}

TEST(Glob, ManyStarsTakeNoExponentialTime) {
  std::string pattern;
  for (int i = 0; i < 200; ++i) pattern += "a*";
  EXPECT_FALSE(matches(pattern + "b", std::string(5000, 'a')));
}

}  // namespace
}  // namespace flambeau::cli
