// `to_string(tensor)` against what PyTorch printed, and the cases that PyTorch has no tensor for.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>

#include "tensor/number_format.h"
#include "tensor/print_cases.h"

namespace flambeau {
namespace {

using testing::error_of;
using testing::quantized_of;
using testing::storage_of;
using testing::tensor_of;
using testing::view_of;
using testing::whole_of;

TEST(Print, AsPyTorchPrints) {
  // FLAMBEAU_PRINT_CASES names another file of the same form: longer, or with another seed.
  const char* other = std::getenv("FLAMBEAU_PRINT_CASES");
  const std::string path = other ? other : FLAMBEAU_TEST_DATA "/print_cases.txt";
  const auto cases = testing::read_print_cases(path);
  ASSERT_GE(cases.size(), 700u) << path;
  for (const auto& one : cases) {
    EXPECT_EQ(to_string(one.tensor, one.options), one.expected) << one.header;
  }
}

TEST(Print, DevicesOtherThanTheCpuAreNamed) {
  const Tensor tensor(DType::f32, {2}, storage_of(std::vector<float>{1, 2}, "cuda:0"));
  EXPECT_EQ(to_string(tensor), "tensor([1., 2.], device='cuda:0')");
  EXPECT_EQ(to_string(tensor.slice(0, 2)), "tensor([], device='cuda:0')");
  const Tensor sparse =
      whole_of(TensorKind::sparse_coo, DType::f32, {4},
               {{"indices", tensor_of<std::int64_t>({1, 2}, {0, 3})}, {"values", tensor}});
  EXPECT_EQ(to_string(sparse),
            "tensor(indices=tensor([[0, 3]]),\n"
            "       values=tensor([1., 2.]),\n"
            "       device='cuda:0', size=(4,), nnz=2, layout=torch.sparse_coo)");
}

TEST(Print, TypesThatPyTorchPrintsNoElementOf) {
  const Storage bytes = testing::storage_of_bytes({1, 2, 255, 0});
  EXPECT_EQ(to_string(Tensor(DType::bits8, {4}, bytes)),
            "tensor([  1,   2, 255,   0], dtype=torch.bits8)");
  EXPECT_EQ(to_string(Tensor(DType::bits16, {2}, bytes)), "tensor([513, 255], dtype=torch.bits16)");
  EXPECT_EQ(to_string(Tensor(DType::i3, {4}, bytes)),
            "tensor([  1,   2, 255,   0], dtype=torch.int3)");
}

TEST(Print, JaggedNestedTensors) {
  const Tensor values = tensor_of<float>({3, 2}, {1, 2, 3, 4, 5, 6});
  const Tensor offsets = tensor_of<std::int64_t>({3}, {0, 2, 3});
  const Tensor whole =
      whole_of(TensorKind::nested, DType::f32, {}, {{"values", values}, {"offsets", offsets}});
  EXPECT_EQ(to_string(whole),
            "NestedTensor(size=(2, j1, 2), offsets=tensor([0, 2, 3]), contiguous=True)");
  TensorRecord record = whole_of(TensorKind::nested, DType::f32, {},
                                 {{"values", values}, {"offsets", offsets}, {"lengths", offsets}})
                            .record();
  record.requires_grad = true;
  EXPECT_EQ(to_string(tensor_of(std::move(record))),
            "NestedTensor(size=(2, j1, 2), offsets=tensor([0, 2, 3]), requires_grad=True, "
            "contiguous=False)");
}

TEST(Print, SubclassesNameTheirParts) {
  const Tensor inner = tensor_of<double>({2}, {1, 2});
  EXPECT_EQ(to_string(whole_of(TensorKind::subclass, DType::f64, {2, 2},
                               {{"data", inner}, {"scale", inner}})),
            "subclass(..., size=(2, 2), dtype=torch.float64, parts=(data, scale))");
}

TEST(Print, BigTensorsAreReadAtTheirEdgesOnly) {
  const Tensor huge = view_of(DType::i64, {std::int64_t{1} << 62}, {0}, 0,
                              storage_of(std::vector<std::int64_t>{7}));
  EXPECT_EQ(to_string(huge), "tensor([7, 7, 7,  ..., 7, 7, 7])");
}

TEST(Print, ShapesThatFoldingDoesNotMakeSmall) {
  const Tensor wide = view_of(DType::u8, std::vector<std::int64_t>(20, 6),
                              std::vector<std::int64_t>(20, 0), 0, testing::storage_of_bytes({1}));
  const auto [code, message] = error_of([&] { to_string(wide); });
  EXPECT_EQ(code, ErrorCode::limit);
  EXPECT_TRUE(message.ends_with("cannot be folded to fewer than 1000000 elements")) << message;
}

TEST(Print, ManyDimensionsNeedNoRecursion) {
  const std::vector<std::int64_t> ones(100000, 1);
  const std::string text =
      to_string(view_of(DType::u8, ones, ones, 0, testing::storage_of_bytes({9})));
  EXPECT_EQ(text.substr(100000, 20), "[[[[[[[9]]]]]]]]]]]]");
}

TEST(Print, WholesWithoutTheirParts) {
  const auto message = [](const Tensor& tensor) {
    const auto [code, text] = error_of([&] { to_string(tensor); });
    EXPECT_EQ(code, ErrorCode::malformed_tensor);
    return text;
  };
  EXPECT_EQ(message(whole_of(TensorKind::sparse_csc, DType::f32, {2}, {})),
            "a sparse_csc tensor has no ccol_indices");
  EXPECT_EQ(message(whole_of(TensorKind::nested, DType::f32, {}, {})),
            "a nested tensor has no sizes");
}

TEST(Print, NestedComponentsAreCheckedAgainstTheBuffer) {
  const auto message = [](std::vector<std::int64_t> sizes, std::vector<std::int64_t> offsets) {
    const auto rows = static_cast<std::int64_t>(sizes.size());
    const std::vector<std::int64_t> ones(sizes.size(), 1);
    const auto count = static_cast<std::int64_t>(offsets.size());
    const Tensor nested =
        whole_of(TensorKind::nested, DType::f32, {},
                 {{"buffer", tensor_of<float>({4}, {1, 2, 3, 4})},
                  {"sizes", tensor_of<std::int64_t>({rows, 1}, sizes)},
                  {"strides", tensor_of<std::int64_t>({rows, 1}, ones)},
                  {"storage_offsets", tensor_of<std::int64_t>({count}, offsets)}});
    return error_of([&] { to_string(nested); }).second;
  };
  EXPECT_EQ(message({2, 2}, {0, 2}), "no error");
  EXPECT_EQ(message({2, 3}, {0, 2}),
            "float32 view of shape [3], strides [1], offset 2 needs 20 bytes of a storage of 16");
  EXPECT_EQ(message({2, 2}, {0, -1}), "storage offset -1 is negative");
  EXPECT_EQ(message({2, 2, 2}, {0, 2}), "3 sizes, 3 strides and 2 offsets of a nested tensor");
}

TEST(Print, PerChannelQuantizedTensorsWithoutScales) {
  const Tensor integers = tensor_of<std::int8_t>({0, 2}, {}, DType::qi8);
  EXPECT_EQ(
      error_of([&] {
        to_string(quantized_of(integers, {"per_channel_affine", 1, 0, 0}));
      }),
      std::pair(ErrorCode::malformed_tensor, std::string("a quantized tensor has no scales")));
}

TEST(Print, QuantizedTensorsWithoutAQuantizer) {
  TensorRecord record = tensor_of<std::int8_t>({0}, {}, DType::qi8).record();
  record.kind = TensorKind::quantized;
  EXPECT_EQ(
      error_of([&] { to_string(tensor_of(record)); }),
      std::pair(ErrorCode::malformed_tensor, std::string("a quantized tensor has no quantizer")));
}

TEST(Print, NegativePrecision) {
  PrintOptions options;
  options.precision = -1;
  EXPECT_EQ(error_of([&] { to_string(tensor_of<float>({1}, {1}), options); }).first,
            ErrorCode::usage);
}

TEST(Numbers, AsPythonWritesThem) {
  EXPECT_EQ(python_float(1), "1.0");
  EXPECT_EQ(python_float(0.1), "0.1");
  EXPECT_EQ(python_float(-0.0), "-0.0");
  EXPECT_EQ(python_float(1e-5), "1e-05");
  EXPECT_EQ(python_float(0.0001), "0.0001");
  EXPECT_EQ(python_float(1e15), "1000000000000000.0");
  EXPECT_EQ(python_float(1e16), "1e+16");
  EXPECT_EQ(python_float(1.5e300), "1.5e+300");
  EXPECT_EQ(python_float(5e-324), "5e-324");
  EXPECT_EQ(python_float(INFINITY), "inf");
  EXPECT_EQ(python_float(-INFINITY), "-inf");
  EXPECT_EQ(python_float(-NAN), "nan");
  EXPECT_EQ(python_tuple(std::vector<std::int64_t>{}), "()");
  EXPECT_EQ(python_tuple(std::vector<std::int64_t>{3}), "(3,)");
  EXPECT_EQ(python_tuple(std::vector<std::int64_t>{3, 4}), "(3, 4)");
}

}  // namespace
}  // namespace flambeau
