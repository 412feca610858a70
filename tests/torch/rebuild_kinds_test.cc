// The forms whose elements stand in several tensors: quantized, sparse, nested, jagged, subclasses.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/checkpoint_builder.h"
#include "support/errors.h"

namespace flambeau::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// A file whose storage "i" has sixteen int64 0, 1, 2, …, "f" sixteen floats, "d" doubles, and "q"
/// sixteen bytes.
Checkpoint opened(const py::Code& value) {
  std::vector<std::int64_t> integers(16);
  for (std::size_t i = 0; i < 16; ++i) integers[i] = static_cast<std::int64_t>(i);
  return CheckpointBuilder(value)
      .storage("i", integers)
      .storage("f", std::vector<float>(integers.begin(), integers.end()))
      .storage("d", std::vector<double>(integers.begin(), integers.end()))
      .storage("q", std::vector<std::int8_t>(integers.begin(), integers.end()))
      .open();
}

std::optional<ErrorCode> refused(const py::Code& value) {
  return code_of([&] { opened(value); });
}

py::Integers contiguous(const py::Integers& size) {
  py::Integers stride(size.size(), 1);
  for (std::size_t i = size.size(); i-- > 1;) stride[i - 1] = stride[i] * size[i];
  return stride;
}

py::Code part(std::string key, std::string type, const py::Integers& size, std::int64_t offset) {
  return py::tensor({.storage = {.type = std::move(type), .key = std::move(key), .numel = 16},
                     .offset = offset,
                     .size = size,
                     .stride = contiguous(size)});
}
py::Code longs(const py::Integers& size, std::int64_t offset = 0) {
  return part("i", "torch.LongStorage", size, offset);
}
py::Code floats(const py::Integers& size, std::int64_t offset = 0) {
  return part("f", "torch.FloatStorage", size, offset);
}
py::Code doubles(const py::Integers& size, std::int64_t offset = 0) {
  return part("d", "torch.DoubleStorage", size, offset);
}

// ---- quantized

py::Code quantized(const py::Code& parameters, const py::Integers& size = {2, 3},
                   std::string type = "torch.QInt8Storage") {
  return py::call("torch._utils._rebuild_qtensor",
                  {py::storage({.type = std::move(type), .key = "q", .numel = 16}), py::integer(0),
                   py::integers(size), py::integers(contiguous(size)), parameters,
                   py::boolean(false), py::ordered_dict()});
}

py::Code per_tensor(double scale, std::int64_t zero_point) {
  return py::tuple(
      {py::global("torch.per_tensor_affine"), py::real(scale), py::integer(zero_point)});
}

py::Code per_channel(const py::Code& scales, const py::Code& zero_points, std::int64_t axis) {
  return py::tuple(
      {py::global("torch.per_channel_affine"), scales, zero_points, py::integer(axis)});
}

TEST(RebuildQuantized, PerTensor) {
  const Tensor tensor = root_tensor(opened(quantized(per_tensor(0.5, 1))));
  EXPECT_EQ(tensor.kind(), TensorKind::quantized);
  EXPECT_EQ(tensor.dtype(), DType::qi8);
  ASSERT_NE(tensor.quantizer(), nullptr);
  EXPECT_EQ(tensor.quantizer()->scheme, "per_tensor_affine");
  EXPECT_EQ(tensor.quantizer()->scale, 0.5);
  EXPECT_EQ(tensor.quantizer()->zero_point, 1);
  EXPECT_FALSE(tensor.quantizer()->axis);
  EXPECT_EQ(tensor.to<float>(), (std::vector<float>{-0.5, 0, 0.5, 1, 1.5, 2}));
  EXPECT_EQ(tensor.to<std::int8_t>(), (std::vector<std::int8_t>{0, 1, 2, 3, 4, 5}));
}

TEST(RebuildQuantized, ScalesThatPyTorchTakesAreKept) {
  for (const double scale : {0.0, -1.0, std::numeric_limits<double>::infinity()}) {
    EXPECT_EQ(root_tensor(opened(quantized(per_tensor(scale, 0)))).quantizer()->scale, scale);
  }
  EXPECT_EQ(
      root_tensor(opened(quantized(per_tensor(1, std::int64_t{1} << 40)))).quantizer()->zero_point,
      std::int64_t{1} << 40);
  const py::Code integer_scale =
      py::tuple({py::global("torch.per_tensor_affine"), py::integer(2), py::integer(0)});
  EXPECT_EQ(root_tensor(opened(quantized(integer_scale))).quantizer()->scale, 2);
}

TEST(RebuildQuantized, PerChannel) {
  const Tensor tensor = root_tensor(opened(quantized(per_channel(doubles({2}, 1), longs({2}), 0))));
  EXPECT_EQ(tensor.quantizer()->scheme, "per_channel_affine");
  EXPECT_EQ(tensor.quantizer()->axis, 0);
  ASSERT_EQ(tensor.parts().size(), 2u);
  EXPECT_EQ(tensor.parts()[0].first, "scales");
  EXPECT_EQ(tensor.parts()[1].first, "zero_points");
  EXPECT_EQ(tensor.to<float>(), (std::vector<float>{0, 1, 2, 4, 6, 8}));
  EXPECT_EQ(
      root_tensor(opened(quantized(per_channel(floats({3}), floats({3}), 1)))).quantizer()->axis,
      1);
}

TEST(RebuildQuantized, OldFilesListTheirChannels) {
  const py::Code scales = py::list({py::real(0.5), py::real(2)});
  const py::Code zero_points = py::list({py::integer(0), py::integer(1)});
  const Tensor tensor = root_tensor(opened(quantized(per_channel(scales, zero_points, 0))));
  EXPECT_EQ(tensor.find_part("scales")->dtype(), DType::f64);
  EXPECT_EQ(tensor.find_part("zero_points")->dtype(), DType::i64);
  EXPECT_EQ(tensor.to<float>(), (std::vector<float>{0, 0.5, 1, 4, 6, 8}));
  EXPECT_EQ(refused(quantized(per_channel(scales, py::list({py::integer(0)}), 0))),
            ErrorCode::malformed_tensor);
  EXPECT_EQ(refused(quantized(per_channel(py::list({py::text("1"), py::real(2)}), zero_points, 0))),
            ErrorCode::malformed_tensor);
}

TEST(RebuildQuantized, ChannelsMustFit) {
  EXPECT_EQ(refused(quantized(per_channel(doubles({2}), longs({2}), -1))),
            ErrorCode::malformed_tensor);
  EXPECT_EQ(refused(quantized(per_channel(doubles({2}), longs({2}), 2))),
            ErrorCode::malformed_tensor);
  EXPECT_EQ(refused(quantized(per_channel(doubles({3}), longs({2}), 0))),
            ErrorCode::malformed_tensor);
  EXPECT_EQ(refused(quantized(per_channel(doubles({2}), longs({1}), 0))),
            ErrorCode::malformed_tensor);
  EXPECT_EQ(refused(quantized(per_channel(doubles({2, 1}), longs({2}), 0))),
            ErrorCode::malformed_tensor);
  EXPECT_EQ(refused(quantized(per_channel(py::real(1), longs({2}), 0))),
            ErrorCode::malformed_tensor);
}

TEST(RebuildQuantized, SchemesAndTypesAreChecked) {
  EXPECT_EQ(refused(quantized(
                py::tuple({py::global("torch.per_row_affine"), py::real(1), py::integer(0)}))),
            ErrorCode::malformed_tensor);
  EXPECT_EQ(
      refused(quantized(py::tuple({py::text("per_tensor_affine"), py::real(1), py::integer(0)}))),
      ErrorCode::malformed_tensor);
  EXPECT_EQ(refused(quantized(py::tuple({py::global("torch.per_tensor_affine"), py::real(1)}))),
            ErrorCode::malformed_tensor);
  EXPECT_EQ(refused(quantized(
                py::tuple({py::global("torch.per_tensor_affine"), py::text("1"), py::integer(0)}))),
            ErrorCode::malformed_tensor);
  EXPECT_EQ(refused(quantized(py::none())), ErrorCode::malformed_tensor);
  EXPECT_EQ(refused(quantized(per_tensor(1, 0), {2}, "torch.CharStorage")),
            ErrorCode::malformed_tensor)
      << "a storage that is not quantized";
  EXPECT_EQ(refused(py::call("torch._utils._rebuild_qtensor", {py::none()})),
            ErrorCode::malformed_tensor);
  EXPECT_EQ(
      refused(py::call("torch._utils._rebuild_qtensor", std::vector<py::Code>(7, py::none()))),
      ErrorCode::malformed_tensor);
}

TEST(RebuildQuantized, PackedRowsEndWithTheirByte) {
  const auto packed = [](const py::Integers& size) {
    return quantized(per_tensor(1, 0), size, "torch.QUInt4x2Storage");
  };
  const Tensor tensor = root_tensor(opened(packed({5, 5})));
  EXPECT_EQ(tensor.nbytes(), 15u) << "five rows of three bytes";
  EXPECT_EQ(root_tensor(opened(packed({2, 16}))).nbytes(), 16u);
  EXPECT_EQ(refused(packed({2, 17})), ErrorCode::malformed_tensor);
  EXPECT_EQ(refused(packed({6, 5})), ErrorCode::malformed_tensor);
}

// ---- sparse

py::Code sparse(std::string_view layout, const std::vector<py::Code>& data,
                std::string_view function = "torch._utils._rebuild_sparse_tensor") {
  return py::call(
      function, {py::call("torch.serialization._get_layout", {py::text(layout)}), py::tuple(data)});
}

py::Code size(const py::Integers& sizes) { return py::call("torch.Size", {py::integers(sizes)}); }

TEST(RebuildSparse, Coo) {
  const Tensor tensor = root_tensor(opened(
      sparse("torch.sparse_coo", {longs({1, 3}), floats({3}), size({5}), py::boolean(true)})));
  EXPECT_EQ(tensor.kind(), TensorKind::sparse_coo);
  EXPECT_EQ(tensor.dtype(), DType::f32);
  EXPECT_THAT(tensor.shape(), ElementsAre(5));
  EXPECT_EQ(tensor.is_coalesced(), true);
  EXPECT_EQ(tensor.find_part("indices")->to<std::int64_t>(), (std::vector<std::int64_t>{0, 1, 2}));
  EXPECT_EQ(tensor.find_part("values")->to<float>(), (std::vector<float>{0, 1, 2}));
  EXPECT_NO_THROW(validate(tensor));
}

TEST(RebuildSparse, CooWithoutWordOnItsOrder) {
  for (const auto& data : {std::vector<py::Code>{longs({1, 3}), floats({3}), size({5})},
                           {longs({1, 3}), floats({3}), size({5}), py::none()}}) {
    EXPECT_FALSE(root_tensor(opened(sparse("torch.sparse_coo", data))).is_coalesced());
  }
}

TEST(RebuildSparse, CooWithDenseDimensions) {
  const auto coo = [](const py::Code& indices, const py::Code& values, const py::Integers& sizes) {
    return sparse("torch.sparse_coo", {indices, values, size(sizes), py::boolean(false)});
  };
  EXPECT_THAT(root_tensor(opened(coo(longs({2, 2}), floats({2, 3}), {4, 4, 3}))).shape(),
              ElementsAre(4, 4, 3));
  EXPECT_EQ(refused(coo(longs({2, 2}), floats({2, 3}), {4, 4, 2})), ErrorCode::malformed_tensor);
  EXPECT_EQ(refused(coo(longs({2, 2}), floats({2, 3}), {4, 3})), ErrorCode::malformed_tensor);
  EXPECT_EQ(refused(coo(longs({2, 2}), floats({3, 3}), {4, 4, 3})), ErrorCode::malformed_tensor);
  EXPECT_EQ(refused(coo(longs({4}), floats({4}), {4})), ErrorCode::malformed_tensor);
  EXPECT_EQ(refused(coo(longs({1, 1}), floats({}), {4})), ErrorCode::malformed_tensor);
  EXPECT_EQ(refused(coo(floats({1, 2}), floats({2}), {4})), ErrorCode::malformed_tensor)
      << "indices that are no integers";
  EXPECT_EQ(refused(coo(longs({1, 2}), floats({2}), {-4})), ErrorCode::malformed_tensor);
  EXPECT_EQ(refused(coo(py::integer(1), floats({2}), {4})), ErrorCode::malformed_tensor);
  EXPECT_EQ(refused(coo(longs({1, 2}), py::none(), {4})), ErrorCode::malformed_tensor);
}

TEST(RebuildSparse, CooIndicesAreCheckedByValidate) {
  const auto coo = [](const py::Code& indices, std::int64_t length, bool coalesced) {
    return root_tensor(opened(sparse(
        "torch.sparse_coo", {indices, floats({3}), size({length}), py::boolean(coalesced)})));
  };
  EXPECT_EQ(code_of([&] { validate(coo(longs({1, 3}), 2, false)); }), ErrorCode::malformed_tensor);
  const py::Code same = py::tensor(
      {.storage = {"torch.LongStorage", "i", "cpu", 16}, .size = {1, 3}, .stride = {0, 0}});
  EXPECT_NO_THROW(validate(coo(same, 1, false)));
  EXPECT_EQ(code_of([&] { validate(coo(same, 1, true)); }), ErrorCode::malformed_tensor)
      << "the file lies about its order";
}

struct Compressed {
  std::string_view layout;
  TensorKind kind;
  std::string_view compressed;
  std::string_view plain;
  bool blocked;
};
constexpr Compressed kCompressed[] = {
    {"torch.sparse_csr", TensorKind::sparse_csr, "crow_indices", "col_indices", false},
    {"torch.sparse_csc", TensorKind::sparse_csc, "ccol_indices", "row_indices", false},
    {"torch.sparse_bsr", TensorKind::sparse_bsr, "crow_indices", "col_indices", true},
    {"torch.sparse_bsc", TensorKind::sparse_bsc, "ccol_indices", "row_indices", true},
};

TEST(RebuildSparse, CompressedLayouts) {
  for (const Compressed& each : kCompressed) {
    const py::Integers values = each.blocked ? py::Integers{2, 2, 2} : py::Integers{2};
    const py::Integers whole = each.blocked ? py::Integers{4, 4} : py::Integers{2, 2};
    const Tensor tensor = root_tensor(
        opened(sparse(each.layout, {longs({3}), longs({2}), floats(values), size(whole)})));
    EXPECT_EQ(tensor.kind(), each.kind);
    ASSERT_EQ(tensor.parts().size(), 3u);
    EXPECT_EQ(tensor.parts()[0].first, each.compressed);
    EXPECT_EQ(tensor.parts()[1].first, each.plain);
    EXPECT_EQ(tensor.parts()[2].first, "values");
    EXPECT_NO_THROW(validate(tensor)) << each.layout;
  }
}

TEST(RebuildSparse, CompressedPartsMustFit) {
  for (const Compressed& each : kCompressed) {
    const py::Integers good = each.blocked ? py::Integers{2, 2, 2} : py::Integers{2};
    const py::Integers bad = each.blocked ? py::Integers{2} : py::Integers{2, 2, 2};
    const auto refuses = [&](const std::vector<py::Code>& data) {
      return refused(sparse(each.layout, data)) == ErrorCode::malformed_tensor;
    };
    EXPECT_TRUE(refuses({longs({3}), longs({2}), floats(bad), size({4, 4})})) << each.layout;
    EXPECT_TRUE(refuses({longs({3}), longs({2}), floats(good), size({4})}));
    EXPECT_TRUE(refuses({longs({3}), longs({2}), floats(good), size({-4, 4})}));
    EXPECT_TRUE(refuses({longs({}), longs({2}), floats(good), size({4, 4})}));
    EXPECT_TRUE(refuses({longs({3}), longs({2, 1}), floats(good), size({4, 4})}));
    EXPECT_TRUE(refuses({floats({3}), longs({2}), floats(good), size({4, 4})}));
    EXPECT_TRUE(refuses({longs({3}), floats({2}), floats(good), size({4, 4})}));
    EXPECT_TRUE(refuses({longs({3}), longs({2}), floats(good)}));
    EXPECT_TRUE(refuses({longs({3}), longs({2}), py::none(), size({4, 4})}));
  }
}

TEST(RebuildSparse, CompressedIndicesAreCheckedByValidate) {
  const auto csr = [](const py::Code& rows, const py::Code& columns, const py::Integers& whole) {
    return root_tensor(
        opened(sparse("torch.sparse_csr", {rows, columns, floats({2}), size(whole)})));
  };
  const auto refuses = [&](const py::Code& rows, const py::Code& columns,
                           const py::Integers& whole) {
    return code_of([&] { validate(csr(rows, columns, whole)); }) == ErrorCode::malformed_tensor;
  };
  EXPECT_NO_THROW(validate(csr(longs({3}), longs({2}), {2, 2})));
  EXPECT_TRUE(refuses(longs({3}, 1), longs({2}), {2, 2})) << "the first offset is 1";
  EXPECT_TRUE(refuses(longs({2}), longs({2}), {1, 2})) << "the last offset is 1, of 2 values";
  EXPECT_TRUE(refuses(longs({3}), longs({2}), {3, 2})) << "offsets for two rows of three";
  EXPECT_TRUE(refuses(longs({3}), longs({2}, 1), {2, 2})) << "column 2 of 2";
}

TEST(RebuildSparse, OldFunctionOf113) {
  EXPECT_EQ(root_tensor(opened(sparse("torch.sparse_csr",
                                      {longs({3}), longs({2}), floats({2}), size({2, 2})},
                                      "torch._utils._rebuild_sparse_csr_tensor")))
                .kind(),
            TensorKind::sparse_csr);
}

TEST(RebuildSparse, LayoutsAreChecked) {
  EXPECT_EQ(refused(sparse("torch.strided", {longs({1, 3}), floats({3}), size({5})})),
            ErrorCode::malformed_tensor);
  EXPECT_EQ(refused(sparse("torch.sparse_new", {longs({1, 3}), floats({3}), size({5})})),
            ErrorCode::malformed_tensor);
  EXPECT_EQ(refused(py::call("torch._utils._rebuild_sparse_tensor",
                             {py::text("torch.sparse_coo"), py::tuple({})})),
            ErrorCode::malformed_tensor);
  EXPECT_EQ(
      refused(py::call("torch._utils._rebuild_sparse_tensor",
                       {py::call("torch.serialization._get_layout", {py::text("torch.sparse_coo")}),
                        py::list({})})),
      ErrorCode::malformed_tensor);
}

// ---- nested and jagged

py::Code nested(const std::vector<py::Code>& parts) {
  return py::call("torch._utils._rebuild_nested_tensor", parts);
}

TEST(RebuildNested, FourParts) {
  const Tensor tensor = root_tensor(
      opened(nested({floats({16}), longs({2, 1}, 1), longs({2, 1}, 1), longs({2}, 1)})));
  EXPECT_EQ(tensor.kind(), TensorKind::nested);
  EXPECT_FALSE(tensor.has_shape());
  EXPECT_EQ(tensor.numel(), 16);
  EXPECT_EQ(tensor.parts()[0].first, "buffer");
  EXPECT_EQ(tensor.parts()[3].first, "storage_offsets");
  EXPECT_NO_THROW(validate(tensor));
}

TEST(RebuildNested, PartsMustFit) {
  const auto refuses = [](const std::vector<py::Code>& parts) {
    return refused(nested(parts)) == ErrorCode::malformed_tensor;
  };
  EXPECT_TRUE(refuses({floats({4, 4}), longs({2, 1}), longs({2, 1}), longs({2})}));
  EXPECT_TRUE(refuses({floats({16}), longs({2, 1}), longs({2, 2}), longs({2})}));
  EXPECT_TRUE(refuses({floats({16}), longs({2, 1}), longs({2, 1}), longs({3})}));
  EXPECT_TRUE(refuses({floats({16}), longs({2, 1}), longs({2, 1}), longs({2, 1})}));
  EXPECT_TRUE(refuses({floats({16}), floats({2, 1}), longs({2, 1}), longs({2})}));
  EXPECT_TRUE(refuses({floats({16}), longs({2, 1}), longs({2, 1}), doubles({2})}));
  EXPECT_TRUE(refuses({py::none(), longs({2, 1}), longs({2, 1}), longs({2})}));
  EXPECT_TRUE(refuses({floats({16}), longs({2, 1}), longs({2, 1})}));
}

TEST(RebuildNested, ConstituentsAreCheckedByValidate) {
  const Tensor tensor =
      root_tensor(opened(nested({floats({4}), longs({1, 1}, 3), longs({1, 1}, 2), longs({1}, 0)})));
  EXPECT_EQ(code_of([&] { validate(tensor); }), ErrorCode::malformed_tensor)
      << "three elements two apart need five";
}

constexpr std::string_view kJagged = "torch.nested._internal.nested_tensor._rebuild_njt";

TEST(RebuildJagged, FromADictOfParts) {
  const py::Code parts = py::dict({{py::text("values"), floats({5, 2})},
                                   {py::text("offsets"), longs({3})},
                                   {py::text("lengths"), py::none()},
                                   {py::text("_ragged_idx"), py::integer(1)},
                                   {py::text("requires_grad"), py::boolean(true)}});
  const Tensor tensor = root_tensor(opened(py::call(kJagged, {parts})));
  EXPECT_EQ(tensor.kind(), TensorKind::nested);
  EXPECT_FALSE(tensor.has_shape());
  EXPECT_TRUE(tensor.requires_grad());
  ASSERT_EQ(tensor.parts().size(), 2u) << "None is no part";
  EXPECT_EQ(tensor.parts()[0].first, "values");
  EXPECT_EQ(tensor.parts()[1].first, "offsets");
}

TEST(RebuildJagged, FromValuesAndOffsets) {
  const Tensor tensor = root_tensor(opened(
      py::call("torch.nested._internal.nested_tensor.NestedTensor", {floats({5, 2}), longs({3})})));
  EXPECT_EQ(tensor.kind(), TensorKind::nested);
  EXPECT_EQ(tensor.parts().size(), 2u);
}

TEST(RebuildJagged, NeedsValues) {
  EXPECT_EQ(refused(py::call(kJagged, {py::dict({{py::text("offsets"), longs({3})}})})),
            ErrorCode::malformed_tensor);
  EXPECT_EQ(refused(py::call(kJagged, {py::none(), longs({3})})), ErrorCode::malformed_tensor);
  EXPECT_EQ(refused(py::call(kJagged, {})), ErrorCode::malformed_tensor);
}

// ---- subclasses

py::Code from_type(std::string_view function, const std::vector<py::Code>& args,
                   std::string_view type, const py::Code& state) {
  return py::call("torch._tensor._rebuild_from_type_v2",
                  {py::global(function), py::global(type), py::tuple(args), state});
}

std::vector<py::Code> plain_args() {
  return {py::storage({.key = "f", .numel = 16}),
          py::integer(0),
          py::integers({3}),
          py::integers({1}),
          py::boolean(false),
          py::ordered_dict()};
}

TEST(RebuildFromType, PlainTensorWithAttributes) {
  const Checkpoint checkpoint =
      opened(from_type("torch._utils._rebuild_tensor_v2", plain_args(), "torch.Tensor",
                       py::dict({{py::text("tag"), py::text("x")}})));
  EXPECT_EQ(checkpoint.tensor("").kind(), TensorKind::strided);
  EXPECT_EQ(checkpoint.root()["tag"].as_string(), "x");
  EXPECT_EQ(checkpoint.root().type_name(), "torch.Tensor");
}

TEST(RebuildFromType, SubclassWrapsItsBase) {
  const Checkpoint checkpoint =
      opened(from_type("torch._utils._rebuild_tensor_v2", plain_args(), "mine.Fancy", py::none()));
  const Tensor& tensor = checkpoint.tensor("");
  EXPECT_EQ(tensor.kind(), TensorKind::subclass);
  EXPECT_THAT(tensor.shape(), ElementsAre(3));
  ASSERT_NE(tensor.find_part("base"), nullptr);
  EXPECT_EQ(tensor.find_part("base")->to<float>(), (std::vector<float>{0, 1, 2}));
  EXPECT_EQ(checkpoint.root().type_name(), "mine.Fancy");
  EXPECT_FALSE(checkpoint.root().state());
}

TEST(RebuildFromType, ParametersOfSubclassesSayItInTheirState) {
  const py::Code state = py::dict({{py::text("_is_param"), py::boolean(true)}});
  EXPECT_TRUE(root_tensor(opened(from_type("torch._utils._rebuild_tensor_v2", plain_args(),
                                           "mine.Fancy", state)))
                  .is_parameter());
  EXPECT_TRUE(root_tensor(opened(from_type("torch._utils._rebuild_tensor_v2", plain_args(),
                                           "torch.nn.parameter.Parameter", py::none())))
                  .is_parameter());
}

std::vector<py::Code> wrapper_args(const py::Integers& sizes = {4, 4}) {
  return {py::global("mine.Distributed"),
          py::global("torch.float32"),
          py::integers(sizes),
          py::integers(contiguous(sizes)),
          py::integer(0),
          py::call("torch.serialization._get_layout", {py::text("torch.strided")}),
          py::call("torch.device", {py::text("cuda"), py::integer(1)}),
          py::boolean(true)};
}

py::Code wrapper(const py::Code& state) {
  return from_type("torch._utils._rebuild_wrapper_subclass", wrapper_args(), "mine.Distributed",
                   state);
}

TEST(RebuildFromType, WrappersFindTheirInnerTensors) {
  const py::Code state = py::dict({{py::text("_spec"), py::text("row")},
                                   {py::text("_local_tensor"), floats({2, 4})},
                                   {py::integer(5), floats({1})}});
  const Tensor tensor = root_tensor(opened(wrapper(state)));
  EXPECT_EQ(tensor.kind(), TensorKind::subclass);
  EXPECT_EQ(tensor.device(), "cuda:1");
  EXPECT_TRUE(tensor.requires_grad());
  EXPECT_THAT(tensor.shape(), ElementsAre(4, 4));
  ASSERT_EQ(tensor.parts().size(), 1u);
  EXPECT_EQ(tensor.parts()[0].first, "_local_tensor");
  EXPECT_EQ(tensor.nbytes(), 32u);
}

TEST(RebuildFromType, ShardsAreInnerTensors) {
  const auto shard = [](const py::Code& tensor) {
    return py::build(py::make("torch.distributed.Shard"),
                     py::dict({{py::text("tensor"), tensor}, {py::text("metadata"), py::none()}}));
  };
  const py::Code state =
      py::tuple({py::list({shard(floats({2})), py::integer(0), shard(longs({1}))}),
                 py::text("metadata"), py::dict({{py::text("extra"), floats({1})}})});
  const Tensor tensor = root_tensor(opened(wrapper(state)));
  ASSERT_EQ(tensor.parts().size(), 3u);
  EXPECT_EQ(tensor.parts()[0].first, "local_shards.0");
  EXPECT_EQ(tensor.parts()[1].first, "local_shards.2");
  EXPECT_EQ(tensor.parts()[2].first, "extra");
}

TEST(RebuildFromType, WrapperAlone) {
  const Tensor tensor =
      root_tensor(opened(py::call("torch._utils._rebuild_wrapper_subclass", wrapper_args())));
  EXPECT_EQ(tensor.kind(), TensorKind::subclass);
  EXPECT_TRUE(tensor.parts().empty());
  const auto broken = [](std::size_t i, const py::Code& value) {
    auto args = wrapper_args();
    args[i] = value;
    return refused(py::call("torch._utils._rebuild_wrapper_subclass", args));
  };
  EXPECT_EQ(broken(1, py::none()), ErrorCode::malformed_tensor);
  EXPECT_EQ(broken(2, py::integers({-1})), ErrorCode::malformed_tensor);
  EXPECT_EQ(broken(7, py::none()), ErrorCode::malformed_tensor);
}

TEST(RebuildFromType, UnknownFunctionsStayData) {
  const Checkpoint checkpoint =
      opened(from_type("mine.make_tensor", plain_args(), "mine.Fancy", py::none()));
  EXPECT_TRUE(checkpoint.tensors().empty());
  EXPECT_EQ(checkpoint.root().kind(), Kind::object);
}

TEST(RebuildFromType, ItselfAsFunctionIsData) {
  const py::Code inner =
      py::tuple({py::global("torch._utils._rebuild_tensor_v2"), py::global("torch.Tensor"),
                 py::tuple(plain_args()), py::none()});
  const Checkpoint checkpoint = opened(py::call("torch._tensor._rebuild_from_type_v2",
                                                {py::global("torch._tensor._rebuild_from_type_v2"),
                                                 py::global("torch.Tensor"), inner, py::none()}));
  EXPECT_TRUE(checkpoint.tensors().empty());
}

TEST(RebuildFromType, ArgumentsAreChecked) {
  EXPECT_EQ(refused(py::call("torch._tensor._rebuild_from_type_v2", {py::none()})),
            ErrorCode::malformed_tensor);
  EXPECT_EQ(
      refused(from_type("torch._utils._rebuild_tensor_v2", {py::none()}, "mine.Fancy", py::none())),
      ErrorCode::malformed_tensor);
  const Checkpoint odd =
      opened(py::call("torch._tensor._rebuild_from_type_v2",
                      {py::text("_rebuild_tensor_v2"), py::none(), py::tuple({}), py::none()}));
  EXPECT_EQ(odd.root().kind(), Kind::object) << "a function that is no global";
}

/// Each wrapper holds the one before it twice: parts of parts that only a walk which knows what it
/// has seen gets through.
TEST(RebuildFromType, SharedPartsOfPartsDoNotMultiply) {
  std::vector<py::Code> items = {py::put(0, floats({2}))};
  for (unsigned i = 0; i < 60; ++i) {
    const py::Code state = py::dict({{py::text("a"), py::get(i)}, {py::text("b"), py::get(i)}});
    items.push_back(py::put(i + 1, wrapper(state)));
  }
  const Checkpoint checkpoint = opened(py::list(items));
  ASSERT_EQ(checkpoint.tensors().size(), 61u);
  EXPECT_EQ(checkpoint.tensors()[2].tensor.nbytes(), 32u);
  EXPECT_EQ(checkpoint.tensors()[60].tensor.nbytes(), std::uint64_t{8} << 60 >> 0);
  EXPECT_EQ(checkpoint.facts().storage_count, 4u);
}

/// A chain of subclasses of subclasses ends without recursion.
TEST(RebuildFromType, LongChainsOfPartsEndInALoop) {
  py::Code items = py::put(0, floats({2}));
  std::vector<py::Code> chain = {items};
  for (unsigned i = 0; i < 50'000; ++i) {
    chain.push_back(py::put(i + 1, wrapper(py::dict({{py::text("a"), py::get(i)}}))));
  }
  const Checkpoint checkpoint = opened(py::list(chain));
  EXPECT_EQ(checkpoint.tensors().back().tensor.nbytes(), 8u);
}

}  // namespace
}  // namespace flambeau::testing
