// Patterns, held against what Python's fnmatch.fnmatchcase gives for the same pairs.
#include "flambeau/checkpoint.h"

#include <gtest/gtest.h>

#include <string>

namespace flambeau {
namespace {

TEST(NameMatches, StarTakesAnythingDotsAmongThem) {
  EXPECT_TRUE(name_matches("*", ""));
  EXPECT_TRUE(name_matches("encoder.*.weight", "encoder.layers.0.weight"));
  EXPECT_FALSE(name_matches("encoder.*.weight", "encoder.weight"));
  EXPECT_TRUE(name_matches("*a*b*c", "xxaxxbxxbc"));
  EXPECT_FALSE(name_matches("*a*b*c", "xxaxxbxxb"));
  EXPECT_TRUE(name_matches("**", "anything"));
  EXPECT_FALSE(name_matches("", "a"));
  EXPECT_TRUE(name_matches("", ""));
}

TEST(NameMatches, QuestionMarkTakesOneCharacter) {
  EXPECT_TRUE(name_matches("l?yer", "layer"));
  EXPECT_FALSE(name_matches("l?yer", "lyer"));
  EXPECT_TRUE(name_matches("?", "ž"));
  EXPECT_FALSE(name_matches("?", "žž"));
  EXPECT_TRUE(name_matches("?", "\xff"));
}

TEST(NameMatches, CaseMatters) { EXPECT_FALSE(name_matches("Layer", "layer")); }

TEST(NameMatches, Sets) {
  EXPECT_TRUE(name_matches("[abc]", "b"));
  EXPECT_FALSE(name_matches("[abc]", "d"));
  EXPECT_TRUE(name_matches("[a-c]x", "cx"));
  EXPECT_FALSE(name_matches("[c-a]x", "bx"));
  EXPECT_TRUE(name_matches("[!a-c]", "d"));
  EXPECT_FALSE(name_matches("[!a-c]", "a"));
  EXPECT_TRUE(name_matches("[]]", "]"));
  EXPECT_TRUE(name_matches("[!]]", "a"));
  EXPECT_FALSE(name_matches("[!]]", "]"));
  EXPECT_TRUE(name_matches("[a-]", "-"));
  EXPECT_TRUE(name_matches("[á-ž]", "é"));
  EXPECT_FALSE(name_matches("[!a]", ""));
}

TEST(NameMatches, ABracketWithoutItsPartnerIsItself) {
  EXPECT_TRUE(name_matches("a[b", "a[b"));
  EXPECT_TRUE(name_matches("[", "["));
  EXPECT_TRUE(name_matches("[!", "[!"));
  EXPECT_TRUE(name_matches("[]", "[]"));
  EXPECT_FALSE(name_matches("[", "a"));
}

TEST(NameMatches, ManyStarsTakeNoExponentialTime) {
  std::string pattern;
  for (int i = 0; i < 200; ++i) pattern += "a*";
  EXPECT_FALSE(name_matches(pattern + "b", std::string(5000, 'a')));
}

}  // namespace
}  // namespace flambeau
