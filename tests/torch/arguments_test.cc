// Types and counts of rebuild arguments, right and wrong, by way of the forms that take them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/checkpoint_builder.h"
#include "support/errors.h"

namespace flambeau::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::string_view kV2 = "torch._utils._rebuild_tensor_v2";
const std::vector<float> kFour = {1, 2, 3, 4};

/// The arguments of a sound `_rebuild_tensor_v2` call, one of which a test makes wrong.
std::vector<py::Code> sound() {
  return {py::storage(),     py::integer(0),     py::integers({2}),
          py::integers({1}), py::boolean(false), py::ordered_dict()};
}

Checkpoint open_call(const std::vector<py::Code>& args, const OpenOptions& options = {}) {
  return CheckpointBuilder(py::call(kV2, args)).storage("0", kFour).open(options);
}

/// The message for a call whose argument `i` is `value`.
std::string refusal(std::size_t i, const py::Code& value) {
  auto args = sound();
  args[i] = value;
  const auto error = error_of([&] { open_call(args); });
  if (!error) return {};
  EXPECT_EQ(error->code(), ErrorCode::malformed_tensor);
  EXPECT_EQ(error->where(), "test.pt: archive/data.pkl");
  return error->message();
}

TEST(Arguments, CountIsChecked) {
  auto args = sound();
  args.resize(3);
  EXPECT_THAT(message_of([&] { open_call(args); }),
              HasSubstr("_rebuild_tensor_v2: 3 arguments, 4 to 7 are wanted"));
  args = sound();
  args.resize(8, py::none());
  EXPECT_EQ(code_of([&] { open_call(args); }), ErrorCode::malformed_tensor);
}

TEST(Arguments, EachTypeIsChecked) {
  EXPECT_EQ(refusal(0, py::none()),
            "_rebuild_tensor_v2: argument 0 (storage) is none, a storage is wanted");
  EXPECT_EQ(refusal(0, py::tensor()),
            "_rebuild_tensor_v2: argument 0 (storage) is tensor, a storage is wanted");
  EXPECT_EQ(refusal(1, py::text("0")),
            "_rebuild_tensor_v2: argument 1 (storage_offset) is string, an integer of 64 bits is "
            "wanted");
  EXPECT_EQ(refusal(1, py::real(0)),
            "_rebuild_tensor_v2: argument 1 (storage_offset) is real, an integer of 64 bits is "
            "wanted");
  EXPECT_EQ(refusal(2, py::integer(2)),
            "_rebuild_tensor_v2: argument 2 (size) is integer, a tuple of integers is wanted");
  EXPECT_EQ(refusal(2, py::tuple({py::text("2")})),
            "_rebuild_tensor_v2: argument 2 (size) is tuple, a tuple of integers of 64 bits is "
            "wanted");
  EXPECT_EQ(refusal(3, py::text("1")),
            "_rebuild_tensor_v2: argument 3 (stride) is string, a tuple of integers is wanted");
  EXPECT_EQ(refusal(4, py::integer(1)),
            "_rebuild_tensor_v2: argument 4 (requires_grad) is integer, a boolean is wanted");
}

TEST(Arguments, NumbersOfMoreThan64BitsAreRefused) {
  const std::string huge = py::big_integer(std::string("\0\0\0\0\0\0\0\0\1", 9));
  EXPECT_THAT(refusal(1, huge), HasSubstr("an integer of 64 bits is wanted"));
  EXPECT_THAT(refusal(2, py::tuple({huge})), HasSubstr("a tuple of integers of 64 bits"));
}

TEST(Arguments, BooleansCountAsIntegersAndAnySequenceAsAShape) {
  auto args = sound();
  args[1] = py::boolean(true);
  args[2] = py::list({py::integer(2)});
  args[3] = py::call("torch.Size", {py::integers({1})});
  const Checkpoint checkpoint = open_call(args);
  EXPECT_EQ(checkpoint.tensor("").to<float>(), (std::vector<float>{2, 3}));
  args[2] = py::tuple({py::boolean(true)});
  EXPECT_THAT(root_tensor(open_call(args)).shape(), ElementsAre(1));
}

TEST(Arguments, DimensionsHaveALimit) {
  auto args = sound();
  args[2] = py::integers(py::Integers(65, 1));
  args[3] = py::integers(py::Integers(65, 1));
  EXPECT_EQ(root_tensor(open_call(args)).ndim(), 65u) << "PyTorch opens these";
  const OpenOptions few{.limits = {.max_dimensions = 64}};
  EXPECT_EQ(code_of([&] { open_call(args, few); }), ErrorCode::limit);
  args[2] = py::integers(py::Integers(100'000, 1));
  EXPECT_THAT(message_of([&] { open_call(args); }),
              HasSubstr("100000 dimensions, the limit is 1024"));
}

TEST(Arguments, NoTupleOfArgumentsLeavesTheCallAsData) {
  const Checkpoint checkpoint = open_value(py::global(kV2) + py::list({py::integer(1)}) + "R");
  EXPECT_EQ(checkpoint.root().kind(), Kind::object);
  EXPECT_EQ(checkpoint.root().args().kind(), Kind::list);
}

TEST(Arguments, TextRealAndDtypeAreChecked) {
  const auto meta = [](const py::Code& dtype) {
    return py::call("torch._utils._rebuild_meta_tensor_no_storage",
                    {dtype, py::integers({2}), py::integers({1}), py::boolean(false)});
  };
  EXPECT_THAT(message_of([&] { open_value(meta(py::text("float32"))); }),
              HasSubstr("argument 0 (dtype) is string, a dtype is wanted"));
  EXPECT_THAT(message_of([&] { open_value(meta(py::global("torch.float33"))); }),
              HasSubstr("argument 0 (dtype) is global, a dtype is wanted"));
  const py::Code on_device =
      py::call("torch._utils._rebuild_device_tensor_from_cpu_tensor",
               {py::tensor(), py::global("torch.float32"), py::integer(3), py::boolean(false)});
  EXPECT_THAT(message_of([&] { CheckpointBuilder(on_device).storage("0", kFour).open(); }),
              HasSubstr("argument 2 (device) is integer, text is wanted"));
}

}  // namespace
}  // namespace flambeau::testing
