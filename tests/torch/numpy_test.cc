// numpy arrays and scalars inside checkpoints.
#include "torch/numpy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/bytes.h"
#include "support/checkpoint_builder.h"
#include "support/errors.h"

namespace flambeau::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

py::Code dtype(std::string_view code, std::string_view order = "<") {
  return py::build(py::call("numpy.dtype", {py::text(code), py::boolean(false), py::boolean(true)}),
                   py::tuple({py::integer(3), py::text(order), py::none(), py::none(), py::none(),
                              py::integer(-1), py::integer(-1), py::integer(0)}));
}

struct Array {
  py::Integers shape = {2, 3};
  py::Code type = dtype("i2");
  bool fortran = false;
  py::Code content = py::bytes(std::string("\1\0\2\0\3\0\4\0\5\0\6\0", 12));
  std::string module = "numpy.core.multiarray";
};

py::Code reconstruct(const Array& array) {
  return py::build(py::call(array.module + "._reconstruct",
                            {py::global("numpy.ndarray"), py::integers({0}), py::bytes("b")}),
                   py::tuple({py::integer(1), py::integers(array.shape), array.type,
                              py::boolean(array.fortran), array.content}));
}

std::optional<Tensor> array_of(const py::Code& value) {
  return root_value(open_value(value)).as_tensor();
}

std::vector<std::int16_t> elements(const py::Code& value) {
  const auto tensor = array_of(value);
  return tensor ? tensor->to<std::int16_t>() : std::vector<std::int16_t>{-1};
}

TEST(NumpyArray, RowMajor) {
  const auto tensor = array_of(reconstruct({}));
  ASSERT_TRUE(tensor);
  EXPECT_EQ(tensor->dtype(), DType::i16);
  EXPECT_THAT(tensor->shape(), ElementsAre(2, 3));
  EXPECT_THAT(tensor->strides(), ElementsAre(3, 1));
  EXPECT_THAT(tensor->to<std::int16_t>(), ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_THAT(tensor->as<std::int16_t>(), ElementsAre(1, 2, 3, 4, 5, 6)) << "its copy is aligned";
}

TEST(NumpyArray, OutlivesTheCheckpoint) {
  std::optional<Tensor> tensor;
  {
    const Checkpoint checkpoint = open_value(reconstruct({}));
    tensor = checkpoint.root().as_tensor();
  }
  EXPECT_THAT(tensor->to<std::int16_t>(), ElementsAre(1, 2, 3, 4, 5, 6));
}

TEST(NumpyArray, ColumnMajor) {
  EXPECT_THAT(elements(reconstruct({.fortran = true})), ElementsAre(1, 3, 5, 2, 4, 6));
}

TEST(NumpyArray, BigEndian) {
  EXPECT_THAT(elements(reconstruct({.type = dtype("i2", ">")})),
              ElementsAre(0x100, 0x200, 0x300, 0x400, 0x500, 0x600));
  const auto bytes =
      array_of(reconstruct({.shape = {3}, .type = dtype("u1", "|"), .content = py::bytes("abc")}));
  EXPECT_FALSE(bytes->is_byte_swapped());
}

TEST(NumpyArray, NewModuleNames) {
  EXPECT_THAT(elements(reconstruct({.module = "numpy._core.multiarray"})),
              ElementsAre(1, 2, 3, 4, 5, 6));
}

TEST(NumpyArray, FromPython2) {
  EXPECT_THAT(
      elements(reconstruct({.shape = {2}, .content = py::byte_string(std::string("\1\0\2\0", 4))})),
      ElementsAre(1, 2));
  EXPECT_THAT(elements(reconstruct({.shape = {1}, .content = py::byte_string("ab")})),
              ElementsAre(0x6261))
      << "bytes that happen to be text";
  EXPECT_THAT(elements(reconstruct({.shape = {1}, .content = py::byte_string("\xff\xfe")})),
              ElementsAre(-257));
}

TEST(NumpyArray, FromBytesOfProtocol2) {
  const py::Code content =
      py::call("_codecs.encode", {py::text(std::string("\xc3\xbf\0", 3)), py::text("latin1")});
  EXPECT_THAT(elements(reconstruct({.shape = {1}, .content = content})), ElementsAre(0xff));
}

py::Code frombuffer(const py::Code& content, std::string_view order) {
  return py::call("numpy.core.numeric._frombuffer",
                  {content, dtype("i2"), py::integers({2, 2}), py::text(order)});
}

TEST(NumpyArray, FromBuffer) {
  const std::string eight("\1\0\2\0\3\0\4\0", 8);
  EXPECT_THAT(elements(frombuffer(py::bytes(eight), "C")), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(elements(frombuffer(py::bytes(eight), "F")), ElementsAre(1, 3, 2, 4));
  const py::Code array = py::call("__builtin__.bytearray", {py::bytes(eight)});
  EXPECT_THAT(elements(frombuffer(array, "C")), ElementsAre(1, 2, 3, 4));
  EXPECT_EQ(code_of([&] { elements(frombuffer(py::bytes("abc"), "C")); }),
            ErrorCode::malformed_tensor);
}

TEST(NumpyArray, EveryTypeThatADtypeHas) {
  const std::pair<std::string_view, DType> codes[] = {
      {"b1", DType::boolean}, {"i1", DType::i8},  {"i4", DType::i32}, {"i8", DType::i64},
      {"u1", DType::u8},      {"u2", DType::u16}, {"u4", DType::u32}, {"u8", DType::u64},
      {"f2", DType::f16},     {"f4", DType::f32}, {"f8", DType::f64}, {"c8", DType::c64},
      {"c16", DType::c128}};
  for (const auto& [code, type] : codes) {
    const auto tensor =
        array_of(reconstruct({.shape = {1},
                              .type = dtype(code),
                              .content = py::bytes(std::string(item_size(type), '\0'))}));
    ASSERT_TRUE(tensor) << code;
    EXPECT_EQ(tensor->dtype(), type);
  }
}

TEST(NumpyArray, OtherTypesStayData) {
  for (const std::string_view code : {"O8", "V4", "U3", "S3", "M8", "f16"}) {
    EXPECT_FALSE(array_of(reconstruct({.type = dtype(code)}))) << code;
  }
  EXPECT_FALSE(array_of(reconstruct({.type = py::text("i2")})));
  EXPECT_FALSE(array_of(reconstruct({.type = py::call("numpy.dtype", {})})));
  EXPECT_FALSE(array_of(reconstruct({.content = py::list({})})));
  EXPECT_FALSE(array_of(py::call("numpy.core.multiarray._reconstruct", {})));
  EXPECT_FALSE(array_of(py::call("numpy.core.numeric._frombuffer", {py::bytes("")})));
  EXPECT_FALSE(array_of(py::call("numpy.core.multiarray.other", {})));
  EXPECT_FALSE(array_of(py::integer(5)));
}

TEST(NumpyArray, SizesMustFit) {
  const auto refuses = [](const py::Integers& shape) {
    return code_of([&] { array_of(reconstruct({.shape = shape})); }) == ErrorCode::malformed_tensor;
  };
  EXPECT_TRUE(refuses({2, 4}));
  EXPECT_TRUE(refuses({5}));
  EXPECT_TRUE(refuses({}));
  EXPECT_TRUE(refuses({-6}));
  EXPECT_TRUE(refuses({(std::int64_t{1} << 62) + 6})) << "times 2 it wraps to 12";
  EXPECT_TRUE(refuses({std::int64_t{1} << 32, std::int64_t{1} << 32}));
  EXPECT_FALSE(array_of(reconstruct({.shape = py::Integers(2000, 1)}))) << "too many dimensions";
}

TEST(NumpyArray, NoElements) {
  const auto tensor = array_of(reconstruct(
      {.shape = {0, std::int64_t{1} << 62, std::int64_t{1} << 62}, .content = py::bytes("")}));
  ASSERT_TRUE(tensor);
  EXPECT_THAT(tensor->to<std::int16_t>(), IsEmpty());
}

py::Code scalar(const py::Code& type, std::string_view content) {
  return py::call("numpy.core.multiarray.scalar", {type, py::bytes(content)});
}

Checkpoint scalar_file(std::string_view code, std::string_view content) {
  return open_value(scalar(dtype(code), content));
}

TEST(NumpyScalar, IsTheValueItHolds) {
  EXPECT_EQ(root_value(scalar_file("i2", std::string_view("\xfe\xff", 2))).as_int(), -2);
  EXPECT_EQ(root_value(scalar_file("u1", "\x07")).as_int(), 7);
  EXPECT_EQ(root_value(scalar_file("f8", std::string_view("\0\0\0\0\0\0\xf8\x3f", 8))).as_double(),
            1.5);
  EXPECT_EQ(root_value(scalar_file("b1", "\x01")).as_bool(), true);
  const std::string_view complex("\0\0\x80\x3f\0\0\0\x40", 8);
  EXPECT_EQ(root_value(scalar_file("c8", complex)).as_complex(), std::complex<double>(1, 2));
}

TEST(NumpyScalar, AnswersToItsOwnKindOnly) {
  const Checkpoint real = scalar_file("f8", std::string_view("\0\0\0\0\0\0\xf8\x3f", 8));
  EXPECT_FALSE(real.root().as_int());
  EXPECT_FALSE(real.root().as_bool());
  EXPECT_FALSE(real.root().as_tensor()) << "a scalar is no array";
  EXPECT_EQ(real.root().as_complex(), std::complex<double>(1.5));
  const Checkpoint integer = scalar_file("i1", "\x05");
  EXPECT_EQ(integer.root().as_double(), 5.0);
  EXPECT_FALSE(integer.root().as_bool());
  const Checkpoint complex = scalar_file("c8", std::string_view("\0\0\0\0\0\0\0\0", 8));
  EXPECT_FALSE(complex.root().as_double());
}

TEST(NumpyScalar, IntegersThatDoNotFitAreNone) {
  const Checkpoint checkpoint = scalar_file("u8", "\xff\xff\xff\xff\xff\xff\xff\xff");
  EXPECT_FALSE(checkpoint.root().as_int());
  EXPECT_EQ(checkpoint.root().as_double(), 18446744073709551615.0);
  const Checkpoint most =
      scalar_file("u8", std::string_view("\xff\xff\xff\xff\xff\xff\xff\x7f", 8));
  EXPECT_EQ(most.root().as_int(), std::numeric_limits<std::int64_t>::max());
}

TEST(NumpyScalar, DamagedOnesHaveNoValue) {
  const Checkpoint checkpoint = scalar_file("f8", "abc");
  EXPECT_FALSE(checkpoint.root().as_double());
  EXPECT_FALSE(checkpoint.root().as_int());
  EXPECT_FALSE(checkpoint.root().as_complex());
  EXPECT_FALSE(root_value(open_value(py::call("numpy.core.multiarray.scalar", {}))).as_int());
  EXPECT_FALSE(root_value(open_value(scalar(py::none(), "abcd"))).as_int());
  EXPECT_FALSE(root_value(open_value(scalar(dtype("U1"), "abcd"))).as_int());
}

TEST(NumpyScalar, AsKeyOfADict) {
  const Checkpoint checkpoint =
      open_value(py::dict({{scalar(dtype("i1"), "\x05"), py::text("five")},
                           {scalar(dtype("i8"), "damaged"), py::text("none")}}));
  EXPECT_EQ(checkpoint.root()[5].as_string(), "five");
  EXPECT_FALSE(checkpoint.root()[6]);
}

TEST(NumpyArray, InADeviceTensorOfOldReleases) {
  for (const std::string_view function :
       {"torch._utils._rebuild_device_tensor_from_numpy", "torch._utils._rebuild_xla_tensor"}) {
    const Checkpoint checkpoint =
        open_value(py::call(function, {reconstruct({}), py::global("torch.int32"),
                                       py::text("xla:0"), py::boolean(false)}));
    const Tensor& tensor = checkpoint.tensor("");
    EXPECT_EQ(tensor.dtype(), DType::i32);
    EXPECT_EQ(tensor.device(), "xla:0");
    EXPECT_THAT(tensor.to<std::int32_t>(), ElementsAre(1, 2, 3, 4, 5, 6));
  }
  EXPECT_EQ(code_of([] {
              open_value(py::call("torch._utils._rebuild_xla_tensor",
                                  {reconstruct({.shape = {7}}), py::global("torch.int32"),
                                   py::text("xla:0"), py::boolean(false)}));
            }),
            ErrorCode::malformed_tensor);
}

}  // namespace
}  // namespace flambeau::testing
