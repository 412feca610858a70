// What the comparison with Python (tests/oracle/test_edit.py) does not show: errors, names that
// shared containers give, graphs that are made to be slow.
#include "flambeau/edit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "flambeau/checkpoint.h"
#include "flambeau/save.h"
#include "support/errors.h"

namespace flambeau {
namespace {

using testing::code_of;
using ::testing::ElementsAre;

std::string loaded_text(const std::vector<std::byte>& bytes) {
  const Checkpoint checkpoint = Checkpoint::from_memory(bytes);
  return repr(checkpoint.root(), 1000);
}

/// A draft of a checkpoint of the graph that `make` builds.
class Loaded {
 public:
  template <typename Make>
  explicit Loaded(Make make) {
    Draft graph;
    graph.set_root(make(graph));
    save(*append_to(bytes_), graph);
    checkpoint_.emplace(Checkpoint::from_memory(bytes_));
    draft_.emplace(*checkpoint_);
  }
  Draft& draft() { return *draft_; }
  /// The root as Python would write it after the draft was saved.
  std::string saved() {
    std::vector<std::byte> bytes;
    save(*append_to(bytes), *draft_);
    return loaded_text(bytes);
  }

 private:
  std::vector<std::byte> bytes_;
  std::optional<Checkpoint> checkpoint_;
  std::optional<Draft> draft_;
};

Object three(Draft& draft) { return draft.dict({{"a", 1}, {"b", 2}, {"c", 3}}); }

TEST(Edit, ChangesDoNotDisturbEachOther) {
  Loaded loaded(three);
  const EditReport report =
      edit(loaded.draft(), {.drop = {"a", "x*"}, .rename = {{"b", "a"}}, .set = {{"b", "'two'"}}});
  EXPECT_EQ(loaded.saved(), "{'a': 'two', 'c': 3}");
  EXPECT_EQ(report.dropped, 1u);
  EXPECT_EQ(report.renamed, 1u);
  EXPECT_EQ(report.set, 1u);
  EXPECT_THAT(report.unmatched, ElementsAre("x*"));
  EXPECT_TRUE(report.added.empty());
}

TEST(Edit, AnErrorLeavesTheDraftAsItWas) {
  Loaded loaded(three);
  const auto code = [&](const Edits& edits) {
    return code_of([&] { edit(loaded.draft(), edits); });
  };
  EXPECT_EQ(code({.drop = {"a"}, .rename = {{"b", "c"}}}), ErrorCode::exists);
  EXPECT_EQ(code({.drop = {"a"}, .rename = {{"x", "y"}}}), ErrorCode::not_found);
  EXPECT_EQ(code({.drop = {"a"}, .set = {{"b", "two"}}}), ErrorCode::usage);
  EXPECT_EQ(loaded.saved(), "{'a': 1, 'b': 2, 'c': 3}");
  Draft empty;
  EXPECT_EQ(code_of([&] { edit(empty, {}); }), ErrorCode::usage);
}

TEST(Edit, AContainerThatIsSharedChangesOnce) {
  const auto make = [](Draft& draft) {
    const Object shared = three(draft);
    return draft.dict({{"one", shared}, {"two", shared}, {"of", draft.tuple({1, 2, 3})}});
  };
  Loaded loaded(make);
  const EditReport report = edit(loaded.draft(), {.drop = {"*.a", "of.1"}});
  EXPECT_EQ(report.dropped, 2u);
  const auto root = loaded.draft().root();
  EXPECT_EQ(root.find("one"), root.find("two"));
  EXPECT_EQ(root.find("one")->size(), 2u);
  EXPECT_EQ(root.find("of")->size(), 2u);
  EXPECT_EQ(code_of([&] {
              edit(loaded.draft(), {.rename = {{"one.b", "two.b"}}});
            }),
            ErrorCode::usage);
}

TEST(Edit, WhatIsBelowADroppedEntryGoesWithIt) {
  const auto make = [](Draft& draft) {
    const Object shared = three(draft);
    return draft.dict({{"one", shared}, {"once", shared}, {"other", shared}});
  };
  Loaded loaded(make);
  const EditReport report = edit(loaded.draft(), {.drop = {"one*"}});
  EXPECT_EQ(report.dropped, 1u);
  EXPECT_EQ(loaded.draft().root().find("once")->size(), 3u);
}

TEST(Edit, SetsTakeWhatCanBeHashed) {
  Loaded loaded([](Draft& draft) { return draft.dict({{"s", draft.set({1})}}); });
  EXPECT_EQ(code_of([&] { edit(loaded.draft(), {.set = {{"s.0", "[]"}}}); }), ErrorCode::usage);
  edit(loaded.draft(), {.set = {{"s.0", "(2, 3)"}}});
  EXPECT_EQ(loaded.draft().root().find("s")->kind(), Kind::set);
  edit(loaded.draft(), {.set = {{"s", "{(2, 3)}"}}});
  EXPECT_EQ(loaded.saved(), "{'s': <set of 1>}");
}

/// Each name of a nest is as long as it is deep.
TEST(Edit, NamesOfDeepNestsAreBounded) {
  const auto nest = [](int depth) {
    return [depth](Draft& draft) {
      Object inner = draft.list({draft.dict({{"k", 1}})});
      for (int i = 0; i < depth; ++i) inner = draft.list({inner});
      return draft.dict({{"deep", inner}, {"flat", 2}});
    };
  };
  const Edits edits = {.drop = {"flat"}, .set = {{"deep", "0"}}};
  Loaded loaded(nest(5000));
  EXPECT_EQ(edit(loaded.draft(), edits).dropped, 1u);
  EXPECT_EQ(loaded.saved(), "{'deep': 0}");
  Loaded deeper(nest(50'000));
  EXPECT_EQ(code_of([&] { edit(deeper.draft(), edits); }), ErrorCode::limit);
}

TEST(Edit, ContainersThatMultiplyAreEnteredOnce) {
  const auto make = [](Draft& draft) {
    Object list = draft.list({draft.dict({{"k", 1}})});
    for (int i = 0; i < 60; ++i) list = draft.list({list, list});
    return list;
  };
  Loaded loaded(make);
  EXPECT_EQ(edit(loaded.draft(), {.drop = {"*.k"}}).dropped, 1u);
}

TEST(Literal, NestsAsDeepAsItLikes) {
  Draft draft;
  const std::string open(100'000, '[');
  EXPECT_EQ(draft.parse(open + std::string(100'000, ']')).size(), 1u);
  EXPECT_EQ(code_of([&] { draft.parse(open); }), ErrorCode::usage);
}

TEST(Literal, IntegersOfAnySize) {
  Draft draft;
  EXPECT_EQ(draft.integer("-0"), draft.make(0));
  EXPECT_EQ(code_of([&] { draft.integer("1.5"); }), ErrorCode::usage);
  EXPECT_EQ(code_of([&] { draft.integer(std::string(5000, '1')); }), ErrorCode::limit);
  draft.set_root(draft.parse("[0xffffffffffffffffffff, -9223372036854775809]"));
  std::vector<std::byte> bytes;
  save(*append_to(bytes), draft);
  EXPECT_EQ(loaded_text(bytes), "[1208925819614629174706175, -9223372036854775809]");
}

TEST(Literal, OneLetterIsOneObject) {
  Draft draft;
  EXPECT_EQ(draft.string("a"), draft.parse("'a'"));
  EXPECT_EQ(draft.string("é"), draft.string("é"));
  EXPECT_EQ(draft.string(""), draft.string(""));
  EXPECT_NE(draft.string("Ā"), draft.string("Ā"));
  EXPECT_NE(draft.string("ab"), draft.string("ab"));
}

}  // namespace
}  // namespace flambeau
