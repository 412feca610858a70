// The oldest forms, whose tensors come with the state that BUILD sets.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/checkpoint_builder.h"
#include "support/errors.h"

namespace flambeau::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::vector<float> kFour = {1, 2, 3, 4};

Checkpoint opened(const py::Code& value) {
  return CheckpointBuilder(value).storage("0", kFour).open();
}

/// `torch.FloatTensor()` with the state that PyTorch 0.1 gave it.
py::Code old_tensor(std::int64_t offset, std::int64_t size,
                    std::string_view type = "torch.FloatTensor") {
  return py::build(py::make(type), py::tuple({py::storage(), py::integer(offset),
                                              py::integers({size}), py::integers({1})}));
}

TEST(RebuildFromState, TypedTensor) {
  const Checkpoint checkpoint = opened(old_tensor(1, 3));
  const Tensor& tensor = checkpoint.tensor("");
  EXPECT_EQ(tensor.dtype(), DType::f32);
  EXPECT_EQ(tensor.to<float>(), (std::vector<float>{2, 3, 4}));
  EXPECT_EQ(checkpoint.root().kind(), Kind::tensor);
  EXPECT_EQ(checkpoint.root().type_name(), "torch.Tensor");
}

TEST(RebuildFromState, ViewIsChecked) {
  EXPECT_EQ(code_of([] { opened(old_tensor(2, 3)); }), ErrorCode::malformed_tensor);
  EXPECT_EQ(code_of([] { opened(py::build(py::make("torch.FloatTensor"), py::integer(5))); }),
            ErrorCode::malformed_tensor);
  EXPECT_EQ(code_of([] {
              opened(py::build(py::make("torch.FloatTensor"), py::integers({1, 2, 3, 4})));
            }),
            ErrorCode::malformed_tensor);
}

TEST(RebuildFromState, OtherStatesStayData) {
  const Checkpoint checkpoint = opened(py::build(py::make("torch.Tensor"), py::integers({1, 2})));
  EXPECT_TRUE(checkpoint.tensors().empty());
  EXPECT_EQ(checkpoint.root().kind(), Kind::object);
  EXPECT_EQ(checkpoint.root().state().size(), 2u);
}

TEST(RebuildFromState, NoStateMakesAnEmptyTensor) {
  const Checkpoint checkpoint = opened(py::make("torch.HalfTensor"));
  const Tensor& tensor = checkpoint.tensor("");
  EXPECT_EQ(tensor.dtype(), DType::f16);
  EXPECT_THAT(tensor.shape(), ElementsAre(0));
  EXPECT_TRUE(tensor.to<float>().empty());
}

TEST(RebuildFromState, DataAreNeverInvented) {
  for (const std::string_view name : {"torch.FloatTensor", "torch.Tensor", "torch.tensor.Tensor"}) {
    const auto error = error_of([&] { opened(py::call(name, {py::integer(6)})); });
    ASSERT_TRUE(error);
    EXPECT_EQ(error->code(), ErrorCode::malformed_tensor);
    EXPECT_THAT(error->what(), HasSubstr("its elements would be anything"));
  }
}

TEST(RebuildFromState, ArgumentsThatAreNoTupleLeaveTheCallAsData) {
  for (const std::string_view name : {"torch.FloatTensor", "torch.nn.parameter.Parameter"}) {
    for (const py::Code& args : {py::none(), py::integer(5), py::text("x"), py::list({})}) {
      const py::Code call = py::global(name) + args + "R";
      const Checkpoint checkpoint =
          opened(py::list({call, py::build(call, py::integers({1, 2, 3}))}));
      EXPECT_EQ(checkpoint.root()[0].kind(), Kind::object);
      EXPECT_EQ(checkpoint.root()[1].kind(), Kind::object);
      EXPECT_EQ(checkpoint.root()[1].state().size(), 3u);
      EXPECT_TRUE(checkpoint.tensors().empty());
    }
  }
}

TEST(RebuildFromState, ParameterOfThreeItems) {
  const auto parameter = [](const py::Code& state) {
    return py::build(py::make("torch.nn.parameter.Parameter", {py::tensor()}), state);
  };
  const Checkpoint checkpoint =
      opened(parameter(py::tuple({py::boolean(false), py::boolean(false), py::ordered_dict()})));
  EXPECT_TRUE(checkpoint.tensor("").is_parameter());
  EXPECT_FALSE(checkpoint.tensor("").requires_grad());
  EXPECT_EQ(checkpoint.tensor("").to<float>(), kFour);
  EXPECT_EQ(code_of([&] { opened(parameter(py::integers({1, 2}))); }), ErrorCode::malformed_tensor);
  EXPECT_EQ(code_of([&] {
              opened(parameter(py::integers({1, 2, 3})));
            }),
            ErrorCode::malformed_tensor);
}

TEST(RebuildFromState, ParameterOfFiveItemsHasItsDataInTheState) {
  const py::Code state =
      py::tuple({old_tensor(0, 2), py::none(), py::none(), py::boolean(true), py::ordered_dict()});
  const Checkpoint checkpoint =
      opened(py::build(py::make("torch.nn.parameter.Parameter", {py::tensor()}), state));
  EXPECT_TRUE(checkpoint.tensor("").requires_grad());
  EXPECT_EQ(checkpoint.tensor("").to<float>(), (std::vector<float>{1, 2}));
}

TEST(RebuildFromState, ParameterOfAnOldTensor) {
  const Checkpoint checkpoint =
      opened(py::build(py::make("torch.nn.parameter.Parameter", {old_tensor(1, 2)}),
                       py::tuple({py::boolean(true), py::boolean(false), py::none()})));
  EXPECT_EQ(checkpoint.tensor("").to<float>(), (std::vector<float>{2, 3}));
  EXPECT_TRUE(checkpoint.tensor("").is_parameter());
}

TEST(RebuildFromState, ManyOfThemAndNewOnesBetween) {
  std::vector<py::Code> items;
  for (std::int64_t i = 0; i < 300; ++i) {
    items.push_back(old_tensor(i % 4, 1));
    items.push_back(py::tensor({.offset = i % 4, .size = {1}}));
  }
  const Checkpoint checkpoint = opened(py::list(items));
  ASSERT_EQ(checkpoint.tensors().size(), 600u);
  for (std::size_t i = 0; i < 600; ++i) {
    EXPECT_EQ(checkpoint.tensors()[i].tensor.offset(), static_cast<std::int64_t>(i / 2 % 4));
    EXPECT_EQ(checkpoint.tensors()[i].name, std::to_string(i));
  }
}

}  // namespace
}  // namespace flambeau::testing
