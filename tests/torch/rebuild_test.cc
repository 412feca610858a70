// The strided forms of tensors: what each call makes, and what is refused.
#include "torch/rebuild.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/checkpoint_builder.h"
#include "support/errors.h"

namespace flambeau::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::int64_t kHuge = std::int64_t{1} << 62;
constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
const std::vector<float> kFour = {1, 2, 3, 4};

Tensor opened(const py::Code& value) {
  return root_tensor(CheckpointBuilder(value).storage("0", kFour).open());
}

std::optional<ErrorCode> refused(const py::Code& value) {
  return code_of([&] { opened(value); });
}

Tensor view(std::int64_t offset, py::Integers size, py::Integers stride) {
  return opened(
      py::tensor({.offset = offset, .size = std::move(size), .stride = std::move(stride)}));
}

bool fits(std::int64_t offset, py::Integers size, py::Integers stride) {
  try {
    view(offset, std::move(size), std::move(stride));
    return true;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::malformed_tensor);
    return false;
  }
}

TEST(Rebuild, TensorV2) {
  const Tensor tensor =
      opened(py::tensor({.offset = 0, .size = {2, 2}, .stride = {1, 2}, .requires_grad = true}));
  EXPECT_EQ(tensor.kind(), TensorKind::strided);
  EXPECT_EQ(tensor.dtype(), DType::f32);
  EXPECT_THAT(tensor.shape(), ElementsAre(2, 2));
  EXPECT_THAT(tensor.strides(), ElementsAre(1, 2));
  EXPECT_TRUE(tensor.requires_grad());
  EXPECT_FALSE(tensor.is_parameter());
  EXPECT_EQ(tensor.storage().key(), "0");
  EXPECT_EQ(tensor.storage().size(), 16u);
  EXPECT_EQ(tensor.to<float>(), (std::vector<float>{1, 3, 2, 4}));
}

TEST(Rebuild, OldestFormHasFourArguments) {
  const Tensor tensor =
      opened(py::call("torch._utils._rebuild_tensor",
                      {py::storage(), py::integer(1), py::integers({3}), py::integers({1})}));
  EXPECT_EQ(tensor.to<float>(), (std::vector<float>{2, 3, 4}));
  EXPECT_FALSE(tensor.requires_grad());
}

TEST(Rebuild, HooksMayBeAnything) {
  const auto with_hooks = [](const py::Code& hooks) {
    return py::call("torch._utils._rebuild_tensor_v2",
                    {py::storage(), py::integer(0), py::integers({4}), py::integers({1}),
                     py::boolean(false), hooks});
  };
  EXPECT_EQ(opened(with_hooks(py::none())).numel(), 4);
  EXPECT_EQ(
      opened(with_hooks(py::ordered_dict({{py::integer(0), py::global("os.system")}}))).numel(), 4);
}

TEST(Rebuild, ExtentIsExact) {
  EXPECT_TRUE(fits(0, {4}, {1}));
  EXPECT_FALSE(fits(0, {5}, {1}));
  EXPECT_FALSE(fits(1, {4}, {1}));
  EXPECT_TRUE(fits(1, {3}, {1}));
  EXPECT_TRUE(fits(0, {2}, {3}));
  EXPECT_FALSE(fits(0, {2}, {4}));
  EXPECT_TRUE(fits(0, {2, 2}, {2, 1}));
  EXPECT_FALSE(fits(0, {2, 2}, {3, 1}));
  EXPECT_TRUE(fits(3, {}, {})) << "a scalar at the last element";
  EXPECT_FALSE(fits(4, {}, {})) << "a scalar behind it";
}

TEST(Rebuild, StrideAlongOneElementDoesNotMatter) {
  EXPECT_TRUE(fits(0, {1, 4}, {kMax, 1}));
  EXPECT_TRUE(fits(3, {1, 1}, {kMax, kMax}));
}

TEST(Rebuild, EmptyViewsMayStandAnywhere) {
  EXPECT_TRUE(fits(kMax, {0}, {1}));
  EXPECT_TRUE(fits(0, {0, kHuge, kHuge}, {1, 1, 1})) << "no elements, whatever the other sizes";
  EXPECT_TRUE(fits(0, {kHuge, kHuge, 0}, {1, 1, 1}));
  EXPECT_THAT(view(0, {0, kHuge, kHuge}, {1, 1, 1}).to<float>(), IsEmpty());
}

TEST(Rebuild, NegativeNumbersAreRefused) {
  EXPECT_FALSE(fits(-1, {1}, {1}));
  EXPECT_FALSE(fits(0, {-1}, {1}));
  EXPECT_FALSE(fits(0, {0, -1}, {1, 1}));
  EXPECT_FALSE(fits(0, {2}, {-1}));
  EXPECT_FALSE(fits(3, {2}, {-1})) << "in bounds, but PyTorch has no such tensors";
}

TEST(Rebuild, NumbersThatOverflowAreRefused) {
  EXPECT_FALSE(fits(kHuge, {1}, {1})) << "times 4 it wraps to 0";
  EXPECT_FALSE(fits(kMax, {1}, {1}));
  EXPECT_FALSE(fits(0, {kHuge, 4}, {0, 0})) << "the number of elements wraps to 0";
  EXPECT_FALSE(fits(0, {kHuge + 1}, {1}));
  EXPECT_FALSE(fits(0, {3}, {kMax})) << "the last place wraps to -2";
  EXPECT_FALSE(fits(0, {2, 2}, {kMax, kMax}));
  EXPECT_FALSE(fits(kMax, {2}, {kMax}));
}

TEST(Rebuild, StrideZeroRepeatsAndIsNotMaterialisedWithoutEnd) {
  const Tensor few = view(1, {3}, {0});
  EXPECT_EQ(few.to<float>(), (std::vector<float>{2, 2, 2}));
  const Tensor many = view(0, {kHuge / 4}, {0});
  EXPECT_EQ(many.numel(), kHuge / 4);
  EXPECT_EQ(code_of([&] { many.to<float>(); }), ErrorCode::limit);
  EXPECT_EQ(code_of([&] { many.contiguous(); }), ErrorCode::limit);
}

TEST(Rebuild, OverlappingStridesAreRead) {
  EXPECT_EQ(view(0, {3, 2}, {1, 1}).to<float>(), (std::vector<float>{1, 2, 2, 3, 3, 4}));
}

TEST(Rebuild, SizesAndStridesMustAgree) {
  EXPECT_FALSE(fits(0, {2, 2}, {1}));
  EXPECT_FALSE(fits(0, {}, {1}));
}

TEST(Rebuild, NoStrideMeansContiguous) {
  const auto call = [](const py::Integers& size) {
    return py::call("torch._utils._rebuild_tensor",
                    {py::storage(), py::integer(0), py::integers(size), py::none()});
  };
  EXPECT_THAT(opened(call({2, 2})).strides(), ElementsAre(2, 1));
  EXPECT_EQ(refused(call({2, 3})), ErrorCode::malformed_tensor);
  EXPECT_EQ(refused(call({0, kHuge, kHuge})), ErrorCode::malformed_tensor);
}

py::Code with_metadata(const py::Code& metadata, std::string type = "torch.ComplexFloatStorage") {
  return py::call(
      "torch._utils._rebuild_tensor_v2",
      {py::storage({.type = std::move(type), .numel = 2}), py::integer(0), py::integers({2}),
       py::integers({1}), py::boolean(false), py::ordered_dict(), metadata});
}

TEST(Rebuild, ConjugateAndNegativeBits) {
  using Complex = std::complex<float>;
  const py::Code conj = py::dict({{py::text("conj"), py::boolean(true)}});
  EXPECT_EQ(opened(with_metadata(conj)).to<Complex>(), (std::vector<Complex>{{1, -2}, {3, -4}}));
  const py::Code both =
      py::dict({{py::text("neg"), py::boolean(true)}, {py::text("conj"), py::boolean(true)}});
  const Tensor tensor = opened(with_metadata(both));
  EXPECT_TRUE(tensor.is_conj());
  EXPECT_TRUE(tensor.is_neg());
  EXPECT_EQ(tensor.to<Complex>(), (std::vector<Complex>{{-1, 2}, {-3, 4}}));
  const py::Code neg = py::ordered_dict({{py::text("neg"), py::boolean(true)}});
  EXPECT_EQ(opened(with_metadata(neg, "torch.FloatStorage")).to<float>(),
            (std::vector<float>{-1, -2}));
}

TEST(Rebuild, MetadataThatSaysNothing) {
  for (const py::Code& metadata :
       {py::none(), py::dict({}), py::dict({{py::text("conj"), py::boolean(false)}}),
        py::dict({{py::text("future"), py::boolean(true)}})}) {
    const Tensor tensor = opened(with_metadata(metadata));
    EXPECT_FALSE(tensor.is_conj());
    EXPECT_FALSE(tensor.is_neg());
  }
}

TEST(Rebuild, MetadataThatIsWrong) {
  EXPECT_EQ(refused(with_metadata(py::integer(5))), ErrorCode::malformed_tensor);
  const py::Code conj = py::dict({{py::text("conj"), py::boolean(true)}});
  EXPECT_EQ(refused(with_metadata(conj, "torch.FloatStorage")), ErrorCode::malformed_tensor)
      << "the conjugate of a real tensor";
}

py::Code v3(std::string_view dtype, std::int64_t offset, std::int64_t size,
            std::vector<py::Code> more = {}) {
  std::vector<py::Code> args = {py::storage({.type = "torch.storage.UntypedStorage", .numel = 16}),
                                py::integer(offset),
                                py::integers({size}),
                                py::integers({1}),
                                py::boolean(true),
                                py::ordered_dict(),
                                py::global(dtype)};
  for (const py::Code& each : more) args.push_back(each);
  return py::call("torch._utils._rebuild_tensor_v3", args);
}

TEST(Rebuild, TensorV3CountsItsOffsetInElements) {
  const Tensor tensor = opened(v3("torch.uint16", 7, 1));
  EXPECT_EQ(tensor.dtype(), DType::u16);
  EXPECT_EQ(tensor.offset(), 7);
  EXPECT_TRUE(tensor.requires_grad());
  EXPECT_EQ(tensor.to<std::uint16_t>(), (std::vector<std::uint16_t>{0x4080}));
  EXPECT_EQ(refused(v3("torch.uint16", 8, 1)), ErrorCode::malformed_tensor);
  EXPECT_EQ(refused(v3("torch.uint64", 1, 2)), ErrorCode::malformed_tensor);
  EXPECT_EQ(opened(v3("torch.float8_e4m3fn", 15, 1)).numel(), 1);
}

TEST(Rebuild, TensorV3IsCheckedAsV2) {
  const py::Code neg = py::dict({{py::text("neg"), py::boolean(true)}});
  EXPECT_TRUE(opened(v3("torch.complex32", 0, 4, {neg})).is_neg());
  const py::Code conj = py::dict({{py::text("conj"), py::boolean(true)}});
  EXPECT_TRUE(opened(v3("torch.complex32", 0, 4, {conj})).is_conj());
  EXPECT_EQ(refused(v3("torch.uint8", 0, 4, {conj})), ErrorCode::malformed_tensor);
  EXPECT_EQ(refused(v3("torch.uint8", 0, 4, {neg, neg})), ErrorCode::malformed_tensor);
  EXPECT_EQ(refused(v3("torch.nonsense", 0, 4)), ErrorCode::malformed_tensor);
  EXPECT_EQ(refused(py::call("torch._utils._rebuild_tensor_v3",
                             {py::tensor(), py::integer(0), py::integers({1}), py::integers({1}),
                              py::boolean(false), py::none(), py::global("torch.uint8")})),
            ErrorCode::malformed_tensor);
}

TEST(Rebuild, V2OverAnUntypedStorageHasBytes) {
  const Tensor tensor = opened(
      py::tensor({.storage = {.type = "torch.storage.UntypedStorage", .numel = 16}, .size = {16}}));
  EXPECT_EQ(tensor.dtype(), DType::u8);
  EXPECT_EQ(tensor.to<int>()[2], 0x80);
}

TEST(Rebuild, ParametersKeepTheirTensor) {
  const Tensor tensor = opened(py::call("torch._utils._rebuild_parameter",
                                        {py::tensor(), py::boolean(true), py::ordered_dict()}));
  EXPECT_TRUE(tensor.is_parameter());
  EXPECT_TRUE(tensor.requires_grad());
  EXPECT_EQ(tensor.to<float>(), kFour);
  const py::Code inner = py::call("torch._utils._rebuild_parameter",
                                  {py::tensor(), py::boolean(true), py::ordered_dict()});
  EXPECT_TRUE(opened(py::call("torch._utils._rebuild_parameter",
                              {inner, py::boolean(false), py::ordered_dict()}))
                  .is_parameter())
      << "a parameter of a parameter";
  EXPECT_EQ(refused(py::call("torch._utils._rebuild_parameter",
                             {py::integer(5), py::boolean(true), py::ordered_dict()})),
            ErrorCode::malformed_tensor);
  EXPECT_EQ(refused(py::call("torch._utils._rebuild_parameter",
                             {py::tensor(), py::integer(1), py::ordered_dict()})),
            ErrorCode::malformed_tensor);
}

TEST(Rebuild, ParameterWithStateHasAttributes) {
  const Checkpoint checkpoint =
      CheckpointBuilder(py::call("torch._utils._rebuild_parameter_with_state",
                                 {py::tensor(), py::boolean(false), py::ordered_dict(),
                                  py::dict({{py::text("tag"), py::integer(7)}})}))
          .storage("0", kFour)
          .open();
  EXPECT_TRUE(checkpoint.tensor("").is_parameter());
  EXPECT_FALSE(checkpoint.tensor("").requires_grad());
  EXPECT_EQ(checkpoint.root().kind(), Kind::tensor);
  EXPECT_EQ(checkpoint.root()["tag"].as_int(), 7);
  EXPECT_EQ(checkpoint.root().type_name(), "torch.nn.parameter.Parameter");
}

TEST(Rebuild, ParameterClassCalledDirectly) {
  const Tensor plain = opened(py::call("torch.nn.parameter.Parameter", {py::tensor()}));
  EXPECT_TRUE(plain.is_parameter());
  EXPECT_TRUE(plain.requires_grad()) << "the default";
  const Tensor frozen =
      opened(py::call("torch.nn.parameter.Parameter", {py::tensor(), py::boolean(false)}));
  EXPECT_FALSE(frozen.requires_grad());
}

TEST(Rebuild, MetaTensorsHaveAShapeOnly) {
  const auto meta = [](py::Integers size, py::Integers stride) {
    return py::call(
        "torch._utils._rebuild_meta_tensor_no_storage",
        {py::global("torch.float64"), py::integers(size), py::integers(stride), py::boolean(true)});
  };
  const Tensor tensor = root_tensor(open_value(meta({3, 4}, {1, 3})));
  EXPECT_EQ(tensor.kind(), TensorKind::meta);
  EXPECT_EQ(tensor.device(), "meta");
  EXPECT_THAT(tensor.shape(), ElementsAre(3, 4));
  EXPECT_THAT(tensor.strides(), ElementsAre(1, 3));
  EXPECT_EQ(tensor.nbytes(), 96u);
  EXPECT_TRUE(tensor.requires_grad());
  EXPECT_EQ(code_of([&] { tensor.to<double>(); }), ErrorCode::unsupported);
  EXPECT_EQ(root_tensor(open_value(meta({kHuge / 4}, {1}))).numel(), kHuge / 4);
  EXPECT_EQ(refused(meta({-1}, {1})), ErrorCode::malformed_tensor);
  EXPECT_EQ(refused(meta({2}, {-1})), ErrorCode::malformed_tensor);
  EXPECT_EQ(refused(meta({kHuge, 4}, {0, 0})), ErrorCode::malformed_tensor);
  EXPECT_EQ(refused(meta({3}, {1, 1})), ErrorCode::malformed_tensor);
}

py::Code from_cpu(const py::Code& data, std::string_view dtype) {
  return py::call("torch._utils._rebuild_device_tensor_from_cpu_tensor",
                  {data, py::global(dtype), py::text("xla:1"), py::boolean(true)});
}

TEST(Rebuild, DeviceTensorsAreReadFromTheirCpuCopy) {
  const Tensor tensor = opened(from_cpu(py::tensor(), "torch.float32"));
  EXPECT_EQ(tensor.device(), "xla:1");
  EXPECT_TRUE(tensor.requires_grad());
  EXPECT_EQ(tensor.to<float>(), kFour);
  const Tensor narrowed = opened(from_cpu(py::tensor(), "torch.bfloat16"));
  EXPECT_EQ(narrowed.dtype(), DType::bf16);
  EXPECT_EQ(narrowed.to<float>(), kFour);
  const Tensor widened = opened(from_cpu(from_cpu(py::tensor(), "torch.float64"), "torch.float32"));
  EXPECT_EQ(widened.dtype(), DType::f32);
  EXPECT_EQ(widened.to<float>(), kFour);
  for (const std::string_view dtype :
       {"torch.float16", "torch.float64", "torch.int32", "torch.int64"}) {
    EXPECT_EQ(opened(from_cpu(py::tensor(), dtype)).to<float>(), kFour) << dtype;
  }
  EXPECT_EQ(refused(from_cpu(py::tensor(), "torch.complex64")), ErrorCode::unsupported);
  EXPECT_EQ(refused(from_cpu(py::integer(1), "torch.float32")), ErrorCode::malformed_tensor);
}

TEST(Rebuild, UnknownRebuildFunctionsAreNamed) {
  const auto error =
      error_of([] { open_value(py::call("torch._utils._rebuild_tensor_v4", {py::integer(1)})); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), ErrorCode::unsupported);
  EXPECT_THAT(error->what(), HasSubstr("torch._utils._rebuild_tensor_v4"));
  EXPECT_EQ(root_value(open_value(py::call("torch._utils._other", {}))).kind(), Kind::object);
}

/// Of the opcode that makes the object, not of its arguments or of what follows.
TEST(Rebuild, ErrorsSayWhereTheCallStands) {
  const py::Code sound = py::tensor({.size = {4}, .stride = {1}});
  const py::Code beyond = py::tensor({.size = {5}, .stride = {1}});
  const py::Code strange = py::persistent(py::tuple({py::text("storage"), py::text("1")}));
  const auto offset_of = [](const py::Code& value) {
    return error_of([&] { opened(value); })->offset();
  };
  const std::size_t start = py::dump({}).size() - 1;  // PROTO before it, STOP behind it
  EXPECT_EQ(offset_of(beyond), start + beyond.size() - 1);
  const py::Code list = py::list({sound, beyond, sound});
  EXPECT_EQ(offset_of(list),
            start + std::string_view("](").size() + sound.size() + beyond.size() - 1);
  EXPECT_EQ(offset_of(strange), start + strange.size() - 1);
}

}  // namespace
}  // namespace flambeau::testing
