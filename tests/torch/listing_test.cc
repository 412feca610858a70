// Names and paths of tensors: how they are spelled, in which order, and how often.
#include "torch/listing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "support/checkpoint_builder.h"
#include "support/errors.h"

namespace flambeau::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Checkpoint opened(const py::Code& value) {
  return CheckpointBuilder(value).storage("0", std::vector<float>{1, 2, 3, 4}).open();
}

std::vector<std::string> names(const Checkpoint& checkpoint) {
  std::vector<std::string> names;
  for (const NamedTensor& each : checkpoint.tensors()) names.emplace_back(each.name);
  return names;
}

std::vector<std::string> paths(const Checkpoint& checkpoint) {
  std::vector<std::string> paths;
  for (std::size_t i = 0; i < checkpoint.tensors().size(); ++i) paths.push_back(checkpoint.path(i));
  return paths;
}

const py::Code kTensor = py::tensor();

TEST(Listing, RootTensorHasNoName) {
  const Checkpoint checkpoint = opened(kTensor);
  EXPECT_THAT(names(checkpoint), ElementsAre(""));
  EXPECT_THAT(paths(checkpoint), ElementsAre(""));
}

TEST(Listing, NoTensors) {
  EXPECT_THAT(names(opened(py::integer(5))), IsEmpty());
  EXPECT_THAT(names(opened(py::dict({{py::text("a"), py::none()}}))), IsEmpty());
  EXPECT_THAT(names(opened(py::storage())), IsEmpty()) << "a storage is no tensor";
}

TEST(Listing, KeysAndPlacesJoinedWithDots) {
  const Checkpoint checkpoint = opened(py::dict(
      {{py::text("model"), py::ordered_dict({{py::text("layer.0.weight"), kTensor}})},
       {py::text("state"), py::dict({{py::integer(0), py::dict({{py::text("avg"), kTensor}})}})},
       {py::text("list"), py::list({kTensor, py::tuple({py::none(), kTensor})})}}));
  EXPECT_THAT(names(checkpoint),
              ElementsAre("model.layer.0.weight", "state.0.avg", "list.0", "list.1.1"));
  EXPECT_THAT(paths(checkpoint), ElementsAre("['model']['layer.0.weight']", "['state'][0]['avg']",
                                             "['list'][0]", "['list'][1][1]"));
}

TEST(Listing, KeysThatAreNoTextStandAsPythonWritesThem) {
  const Checkpoint checkpoint = opened(py::dict({
      {py::integer(-3), kTensor},
      {py::none(), kTensor},
      {py::boolean(true), kTensor},
      {py::real(0.5), kTensor},
      {py::bytes("b"), kTensor},
      {py::integers({1, 2}), kTensor},
      {py::big_integer(std::string("\0\0\0\0\0\0\0\0\1", 9)), kTensor},
      {py::global("torch.float16"), kTensor},
  }));
  EXPECT_THAT(names(checkpoint), ElementsAre("-3", "None", "True", "0.5", "b'b'", "(1, 2)",
                                             "18446744073709551616", "torch.float16"));
  EXPECT_THAT(paths(checkpoint),
              ElementsAre("[-3]", "[None]", "[True]", "[0.5]", "[b'b']", "[(1, 2)]",
                          "[18446744073709551616]", "[torch.float16]"));
}

TEST(Listing, TextKeysAreQuotedInPathsOnly) {
  const Checkpoint checkpoint = opened(py::dict({
      {py::text("it's"), kTensor},
      {py::text("new\nline"), kTensor},
      {py::text(""), py::dict({{py::text(""), kTensor}})},
      {py::byte_string("old"), kTensor},
  }));
  EXPECT_THAT(names(checkpoint), ElementsAre("it's", "new\nline", ".", "old"));
  EXPECT_THAT(paths(checkpoint),
              ElementsAre("[\"it's\"]", "['new\\nline']", "['']['']", "['old']"));
}

TEST(Listing, ObjectsLeadOnByArgumentsItemsAndState) {
  const py::Code call =
      py::build(py::with_items(py::with_items(py::call("mine.F", {kTensor, py::none()}), {kTensor}),
                               py::Pairs{{py::text("k"), kTensor}}),
                py::dict({{py::text("attribute"), kTensor}}));
  EXPECT_THAT(names(opened(call)), ElementsAre("(0)", "0", "k", "attribute"));
  EXPECT_THAT(paths(opened(call)), ElementsAre("(0)", "[0]", "['k']", ".attribute"));
  const py::Code made = py::make("mine.Pair", {kTensor, kTensor});
  EXPECT_THAT(paths(opened(py::dict({{py::text("p"), made}}))),
              ElementsAre("['p'][0]", "['p'][1]"));
}

TEST(Listing, KeywordArgumentsAreKeys) {
  const py::Code object = py::global("mine.Keyword") + py::tuple({kTensor}) +
                          py::dict({{py::text("key"), kTensor}}) + "\x92";
  EXPECT_THAT(paths(opened(object)), ElementsAre("[0]", "['key']"));
}

TEST(Listing, StatesThatGiveNoAttributesByName) {
  const auto with_state = [](const py::Code& state) {
    return opened(py::build(py::make("mine.Class"), state));
  };
  EXPECT_THAT(names(with_state(py::list({kTensor}))), ElementsAre("(state).0"));
  EXPECT_THAT(paths(with_state(py::list({kTensor}))), ElementsAre(".(state)[0]"));
  EXPECT_THAT(paths(with_state(kTensor)), ElementsAre(".(state)"));
  EXPECT_THAT(paths(with_state(py::dict({{py::integer(1), kTensor}}))), ElementsAre(".(state)[1]"));
  EXPECT_THAT(paths(with_state(py::tuple({py::none(), kTensor}))), ElementsAre(".(state)[1]"));
  EXPECT_THAT(paths(with_state(py::tuple({py::dict({{py::text("a"), kTensor}}), py::none()}))),
              ElementsAre(".(state)[0]['a']"));
}

TEST(Listing, SlotsAreAttributes) {
  const py::Code state =
      py::tuple({py::dict({{py::text("a"), kTensor}}), py::dict({{py::text("b"), kTensor}})});
  EXPECT_THAT(paths(opened(py::build(py::make("mine.Class"), state))), ElementsAre(".a", ".b"));
  const py::Code slots_only = py::tuple({py::none(), py::dict({{py::text("b"), kTensor}})});
  EXPECT_THAT(paths(opened(py::build(py::make("mine.Class"), slots_only))), ElementsAre(".b"));
}

TEST(Listing, AttributesOfOrderedDictsComeAfterTheirKeys) {
  const py::Code dict = py::build(py::ordered_dict({{py::text("w"), kTensor}}),
                                  py::dict({{py::text("_buffer"), kTensor}}));
  EXPECT_THAT(names(opened(dict)), ElementsAre("w", "_buffer"));
  EXPECT_THAT(paths(opened(dict)), ElementsAre("['w']", "._buffer"));
}

TEST(Listing, MembersOfSetsHavePlaces) {
  const py::Code set = py::call("__builtin__.set", {py::list({kTensor, kTensor})});
  EXPECT_THAT(paths(opened(set)), ElementsAre("[0]", "[1]"));
}

TEST(Listing, TensorsAreNotEntered) {
  const py::Code parameter =
      py::call("torch._utils._rebuild_parameter_with_state",
               {kTensor, py::boolean(true), py::none(), py::dict({{py::text("inner"), kTensor}})});
  EXPECT_THAT(names(opened(py::list({parameter}))), ElementsAre("0"));
}

TEST(Listing, SharedTensorsHaveEveryName) {
  const Checkpoint checkpoint =
      opened(py::dict({{py::text("a"), py::put(0, kTensor)}, {py::text("b"), py::get(0)}}));
  EXPECT_THAT(names(checkpoint), ElementsAre("a", "b"));
  EXPECT_EQ(&checkpoint.tensors()[0].tensor.record(), &checkpoint.tensors()[1].tensor.record());
}

TEST(Listing, SharedContainersAreEnteredAtEveryPath) {
  const Checkpoint checkpoint = opened(
      py::dict({{py::text("a"), py::put(0, py::list({kTensor}))}, {py::text("b"), py::get(0)}}));
  EXPECT_THAT(names(checkpoint), ElementsAre("a.0", "b.0"));
  EXPECT_FALSE(checkpoint.first_paths_only());
}

TEST(Listing, ContainersInsideThemselvesEndThere) {
  const py::Code self = py::put(0, "]") + "(" + py::get(0) + kTensor + "e";
  EXPECT_THAT(names(opened(self)), ElementsAre("1"));
  const py::Code ring = py::put(0, "}") + "(" + py::text("next") +
                        py::dict({{py::text("back"), py::get(0)}, {py::text("t"), kTensor}}) + "u";
  EXPECT_THAT(paths(opened(ring)), ElementsAre("['next']['t']"));
}

/// Each list holds the one before it twice: 2^n paths.
py::Code doubling(unsigned levels) {
  std::vector<py::Code> items = {py::put(0, py::list({kTensor}))};
  for (unsigned i = 0; i < levels; ++i) {
    items.push_back(py::put(i + 1, py::list({py::get(i), py::get(i)})));
  }
  return py::list(items);
}

TEST(Listing, PathsThatMultiplyAreGivenOnce) {
  const Checkpoint few = opened(doubling(10));
  EXPECT_FALSE(few.first_paths_only());
  EXPECT_EQ(few.tensors().size(), 2047u);
  const Checkpoint many = opened(doubling(64));
  EXPECT_TRUE(many.first_paths_only());
  EXPECT_THAT(names(many), ElementsAre("0.0"));
}

/// A long list that many lists hold: few containers are entered, and yet the rows multiply.
TEST(Listing, RowsThatMultiplyAreGivenOnce) {
  std::vector<py::Code> items = {py::put(0, kTensor)};
  std::vector<py::Code> shared(30'000, py::get(0));
  items.push_back(py::put(1, py::list(shared)));
  for (int i = 0; i < 30'000; ++i) items.push_back(py::get(1));
  const Checkpoint checkpoint = opened(py::list(items));
  EXPECT_TRUE(checkpoint.first_paths_only());
  EXPECT_EQ(checkpoint.tensors().size(), 30'001u);
}

/// `[[[…[tensor]…]]]`, or with a tensor at each level.
py::Code nest(std::size_t depth, bool tensor_at_each_level) {
  py::Code value = tensor_at_each_level ? py::hold(0, kTensor) : "";
  for (std::size_t i = 0; i < depth; ++i) value += tensor_at_each_level ? "](" + py::get(0) : "](";
  value += tensor_at_each_level ? py::get(0) : kTensor;
  value += std::string(depth, 'e');
  return value;
}

TEST(Listing, DeepNestsAreWalkedWithoutRecursion) {
  const Checkpoint checkpoint = opened(nest(1'000'000, false));
  ASSERT_EQ(checkpoint.tensors().size(), 1u);
  EXPECT_EQ(checkpoint.tensors()[0].name.size(), 1'999'999u);
  EXPECT_EQ(checkpoint.path(0).size(), 3'000'000u);
}

TEST(Listing, TimeGrowsWithTheDepth) {
  const auto seconds = [](std::size_t depth) {
    const auto start = std::chrono::steady_clock::now();
    opened(nest(depth, false));
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  seconds(100'000);
  const double small = seconds(100'000);
  EXPECT_LT(seconds(1'000'000), 40 * small + 0.5) << "ten times the depth";
}

TEST(Listing, NamesThatGrowWithTheDepthHitALimit) {
  EXPECT_EQ(opened(nest(1000, true)).first_paths_only(), false);
  EXPECT_EQ(code_of([] { opened(nest(60'000, true)); }), ErrorCode::limit);
}

}  // namespace
}  // namespace flambeau::testing
