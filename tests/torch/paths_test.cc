// Values by name and by path.
#include "torch/paths.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/checkpoint_builder.h"
#include "support/errors.h"

namespace flambeau::testing {
namespace {

using ::testing::HasSubstr;

py::Code config() {
  return py::dict({
      {py::text("config"), py::dict({{py::text("lr"), py::real(0.5)},
                                     {py::text("a.b"), py::integer(1)},
                                     {py::text("a"), py::dict({{py::text("c"), py::integer(2)}})},
                                     {py::integer(0), py::text("zero")},
                                     {py::text(""), py::text("empty")}})},
      {py::text("list"), py::list({py::integer(10), py::list({py::integer(11)})})},
      {py::text("object"), py::build(py::call("mine.F", {py::integer(3)}),
                                     py::dict({{py::text("x"), py::integer(4)}}))},
      {py::text("odd"), py::build(py::make("mine.G"), py::list({py::integer(5)}))},
      {py::text("quote's"), py::integer(6)},
  });
}

const Checkpoint& file() {
  static const Checkpoint checkpoint = open_value(config());
  return checkpoint;
}

std::string found(std::string_view name_or_path) { return repr(file().value(name_or_path)); }

TEST(FindValues, ByName) {
  EXPECT_EQ(found("config.lr"), "0.5");
  EXPECT_EQ(found("config.a.b"), "1") << "the key has a dot in it";
  EXPECT_EQ(found("config.a.c"), "2");
  EXPECT_EQ(found("config.0"), "'zero'");
  EXPECT_EQ(found("config."), "'empty'");
  EXPECT_EQ(found("list.0"), "10");
  EXPECT_EQ(found("list.1.0"), "11");
  EXPECT_EQ(found("object.x"), "4");
  EXPECT_EQ(found("object.(0)"), "3");
  EXPECT_EQ(found("odd.(state).0"), "5");
}

TEST(FindValues, ByPath) {
  EXPECT_EQ(found("['config']['lr']"), "0.5");
  EXPECT_EQ(found("['config']['a.b']"), "1");
  EXPECT_EQ(found("['config'][0]"), "'zero'");
  EXPECT_EQ(found("['config']['']"), "'empty'");
  EXPECT_EQ(found("['list'][1][0]"), "11");
  EXPECT_EQ(found("['object'].x"), "4");
  EXPECT_EQ(found("['object'](0)"), "3");
  EXPECT_EQ(found("['odd'].(state)[0]"), "5");
  EXPECT_EQ(found("[\"quote's\"]"), "6");
}

TEST(FindValues, TheRoot) { EXPECT_EQ(file().value(""), file().root()); }

TEST(FindValues, WhatIsNotThere) {
  for (const std::string_view name :
       {"nothing", "config.nothing", "config.lr.", "config.lr.x", "list.2", "list.-1", "conf", ".",
        "['config", "['config']['lr']x", "[config]", "['list'][-1]", "['config'].lr",
        "object(0)"}) {
    EXPECT_FALSE(file().value(name)) << name;
  }
}

TEST(FindValues, NamesThatSeveralPathsShareAreAmbiguous) {
  const Checkpoint checkpoint =
      open_value(py::dict({{py::text("a.b"), py::integer(1)},
                           {py::text("a"), py::dict({{py::text("b"), py::integer(2)}})},
                           {py::text("0"), py::integer(3)},
                           {py::integer(0), py::integer(4)}}));
  const auto error = error_of([&] { checkpoint.value("a.b"); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), ErrorCode::ambiguous);
  EXPECT_THAT(error->what(), HasSubstr("['a.b']"));
  EXPECT_THAT(error->what(), HasSubstr("['a']['b']"));
  EXPECT_EQ(code_of([&] { checkpoint.value("0"); }), ErrorCode::ambiguous);
  EXPECT_EQ(checkpoint.value("['a.b']").as_int(), 1);
  EXPECT_EQ(checkpoint.value("['a']['b']").as_int(), 2);
  EXPECT_EQ(checkpoint.value("['0']").as_int(), 3);
  EXPECT_EQ(checkpoint.value("[0]").as_int(), 4);
}

TEST(FindValues, OneValueOnTwoWaysIsFoundOnce) {
  const Checkpoint checkpoint = open_value(
      py::dict({{py::text("a.b"), py::put(0, py::dict({{py::text("c"), py::integer(1)}}))},
                {py::text("a"), py::dict({{py::text("b"), py::get(0)}})}}));
  EXPECT_EQ(checkpoint.value("a.b.c").as_int(), 1);
}

TEST(FindValues, EndsInContainersInsideThemselves) {
  const py::Code self =
      py::put(0, "}") + "(" + py::text("") + py::get(0) + py::text("x") + py::get(0) + "u";
  const Checkpoint checkpoint = open_value(self);
  EXPECT_EQ(checkpoint.value("x.x.x"), checkpoint.root());
  EXPECT_EQ(checkpoint.value("..x"), checkpoint.root());
  EXPECT_FALSE(checkpoint.value("x.y"));
}

TEST(FindValues, NamesOfManyEmptyKeys) {
  const py::Code self = py::put(0, "}") + "(" + py::text("") + py::get(0) + "u";
  const Checkpoint checkpoint = open_value(self);
  EXPECT_EQ(checkpoint.value(std::string(5'000, '.')), checkpoint.root());
}

TEST(NamedState, IsADictOfTextKeysOrAPairOfThem) {
  const Checkpoint checkpoint = open_value(py::list({
      py::dict({{py::text("a"), py::none()}}),
      py::dict({}),
      py::ordered_dict({{py::text("a"), py::none()}}),
      py::tuple({py::none(), py::dict({})}),
      py::tuple({py::dict({}), py::dict({})}),
      py::none(),
      py::dict({{py::integer(1), py::none()}}),
      py::tuple({py::dict({}), py::none()}),
      py::tuple({py::none(), py::none()}),
      py::tuple({py::dict({}), py::dict({}), py::dict({})}),
      py::tuple({}),
      py::list({}),
      py::integer(5),
  }));
  const Graph& graph = *checkpoint.root().graph();
  for (std::int64_t i = 0; i < 13; ++i) {
    EXPECT_EQ(is_named_state(graph, checkpoint.root()[i].ref()), i < 5) << i;
  }
}

}  // namespace
}  // namespace flambeau::testing
