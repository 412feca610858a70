// The walk over a graph, each node once.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/checkpoint_builder.h"
#include "support/errors.h"

namespace flambeau::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> steps(const Value& root) {
  std::vector<std::string> steps;
  for (const auto& [path, value] : walk(root)) {
    steps.push_back(path + " " + std::string(to_string(value.kind())));
  }
  return steps;
}

TEST(Walk, NothingFromTheNullValue) { EXPECT_THAT(walk(Value()), IsEmpty()); }

TEST(Walk, DepthFirstInThePicklesOrder) {
  const Checkpoint checkpoint =
      open_value(py::dict({{py::text("a"), py::list({py::integer(1), py::tuple({py::none()})})},
                           {py::text("b"), py::build(py::call("mine.F", {py::boolean(true)}),
                                                     py::dict({{py::text("x"), py::real(1)}}))}}));
  EXPECT_THAT(steps(checkpoint.root()),
              ElementsAre(" dict", "['a'] list", "['a'][0] integer", "['a'][1] tuple",
                          "['a'][1][0] none", "['b'] object", "['b'](0) boolean", "['b'].x real"));
  EXPECT_THAT(steps(checkpoint.root()["a"]),
              ElementsAre(" list", "[0] integer", "[1] tuple", "[1][0] none"))
      << "paths begin where the walk does";
}

TEST(Walk, SharedNodesComeOnceAndValuesWithoutIdentityEachTime) {
  const Checkpoint checkpoint = open_value(
      py::list({py::put(0, py::list({})), py::get(0), py::put(1, py::text("s")), py::get(1)}));
  EXPECT_THAT(steps(checkpoint.root()),
              ElementsAre(" list", "[0] list", "[2] string", "[3] string"));
}

TEST(Walk, EndsInContainersInsideThemselves) {
  const py::Code self = py::put(0, "]") + "(" + py::get(0) + py::integer(1) + "e";
  EXPECT_THAT(steps(root_value(open_value(py::integer(1)))), ElementsAre(" integer"));
  const Checkpoint checkpoint = open_value(self);
  EXPECT_THAT(steps(checkpoint.root()), ElementsAre(" list", "[1] integer"));
}

TEST(Walk, TensorsEndIt) {
  CheckpointBuilder file(py::list({py::tensor()}));
  const Checkpoint checkpoint = file.storage("0", std::vector<float>(4)).open();
  EXPECT_THAT(steps(checkpoint.root()), ElementsAre(" list", "[0] tensor"));
}

TEST(Walk, DepthHasALimit) {
  const auto nest = [](std::size_t depth) {
    return std::string(depth, ']') + py::integer(1) + std::string(depth, 'a');
  };
  const OpenOptions options{.limits = {.json_depth = 50}};
  const Checkpoint deep = open_value(nest(50), options);
  EXPECT_EQ(walk(deep.root()).size(), 51u);
  const Checkpoint deeper = open_value(nest(51), options);
  EXPECT_EQ(code_of([&] { walk(deeper.root()); }), ErrorCode::limit);
}

TEST(Walk, PathsHaveALimit) {
  // 300 paths of a megabyte each, of a pickle that is little larger than one of them.
  std::vector<py::Code> items(300, py::integer(1));
  const std::string key(std::size_t{1} << 20, 'k');
  const Checkpoint checkpoint = open_value(py::dict({{py::text(key), py::list(items)}}));
  EXPECT_EQ(code_of([&] { walk(checkpoint.root()); }), ErrorCode::limit);
}

}  // namespace
}  // namespace flambeau::testing
