// What a tensor answers without reading an element.
#include <gtest/gtest.h>

#include <limits>

#include "tensor/make_tensor.h"

namespace flambeau {
namespace {

using Sizes = std::vector<std::int64_t>;
using testing::error_of;
using testing::quantized_of;
using testing::record_of;
using testing::storage_of;
using testing::tensor_of;
using testing::view_of;
using testing::whole_of;

constexpr std::int64_t kHuge = std::int64_t{1} << 62;

Sizes sizes_of(std::span<const std::int64_t> sizes) { return {sizes.begin(), sizes.end()}; }

Tensor coo() {
  return whole_of(TensorKind::sparse_coo, DType::f32, {4, 4},
                  {{"indices", tensor_of<std::int64_t>({2, 1}, {0, 1})},
                   {"values", tensor_of<float>({1}, {5})}});
}

TEST(Tensor, DefaultIsAnEmptyFloat) {
  const Tensor tensor;
  EXPECT_EQ(tensor.kind(), TensorKind::strided);
  EXPECT_EQ(tensor.dtype(), DType::f32);
  EXPECT_EQ(sizes_of(tensor.shape()), Sizes{0});
  EXPECT_EQ(sizes_of(tensor.strides()), Sizes{1});
  EXPECT_EQ(tensor.numel(), 0);
  EXPECT_EQ(tensor.nbytes(), 0u);
  EXPECT_TRUE(tensor.to<float>().empty());
  EXPECT_TRUE(tensor.as<float>().empty());
}

TEST(Tensor, BorrowedElements) {
  const std::vector<double> values = {1, 2, 3, 4, 5, 6};
  const auto tensor = Tensor::borrow<double>(values, {2, 3});
  EXPECT_EQ(tensor.dtype(), DType::f64);
  EXPECT_EQ(sizes_of(tensor.strides()), (Sizes{3, 1}));
  EXPECT_EQ(tensor.offset(), 0);
  EXPECT_EQ(tensor.ndim(), 2u);
  EXPECT_EQ(tensor.numel(), 6);
  EXPECT_EQ(tensor.nbytes(), 48u);
  EXPECT_EQ(tensor.device(), "cpu");
  EXPECT_EQ(tensor.as<double>().data(), values.data());
  EXPECT_FALSE(tensor.requires_grad() || tensor.is_parameter() || tensor.is_conj() ||
               tensor.is_neg() || tensor.is_byte_swapped());
}

TEST(Tensor, ShapeAndElementsMustAgree) {
  const std::vector<float> values(6);
  const auto make = [&](Sizes shape) {
    return error_of([&] { Tensor::borrow<float>(values, std::move(shape)); });
  };
  EXPECT_EQ(make({7}).first, ErrorCode::malformed_tensor);
  EXPECT_EQ(make({2, 2}).second, "float32 elements of shape [2, 2] are 16 bytes, not the 24 given");
  EXPECT_EQ(make({-1, 6}).second, "size -1 of dimension 0 is negative");
  EXPECT_EQ(make({0, kHuge, kHuge}).second,
            "float32 elements of shape [0, 4611686018427387904, 4611686018427387904] are 0 bytes, "
            "not the 24 given");
  EXPECT_EQ(make({3, kHuge, kHuge}).first, ErrorCode::malformed_tensor);
}

TEST(Tensor, IsContiguous) {
  const auto is = [](Sizes shape, Sizes strides) {
    return view_of(DType::u8, std::move(shape), std::move(strides), 0,
                   storage_of(std::vector<std::uint8_t>(100)))
        .is_contiguous();
  };
  EXPECT_TRUE(is({}, {}));
  EXPECT_TRUE(is({2, 3}, {3, 1}));
  EXPECT_TRUE(is({1, 3}, {77, 1})) << "dimensions of size 1 do not count";
  EXPECT_TRUE(is({2, 0}, {5, 9})) << "nothing is contiguous";
  EXPECT_FALSE(is({2, 3}, {1, 2}));
  EXPECT_FALSE(is({2}, {0}));
  EXPECT_FALSE(is({2}, {2}));
  EXPECT_FALSE(coo().is_contiguous()) << "a kind without strides";
}

TEST(Tensor, SparseIsTheSumOfItsParts) {
  const Tensor tensor = coo();
  EXPECT_EQ(tensor.numel(), 16);
  EXPECT_EQ(tensor.nbytes(), 16u + 4u);
  EXPECT_EQ(tensor.device(), "cpu");
  EXPECT_TRUE(tensor.has_shape());
  EXPECT_TRUE(tensor.strides().empty());
  EXPECT_FALSE(tensor.storage());
  ASSERT_EQ(tensor.parts().size(), 2u);
  EXPECT_EQ(tensor.parts()[0].first, "indices");
  EXPECT_EQ(tensor.find_part("values")->numel(), 1);
  EXPECT_EQ(tensor.find_part("nothing"), nullptr);
  EXPECT_EQ(tensor.quantizer(), nullptr);
  EXPECT_FALSE(tensor.is_coalesced());
}

TEST(Tensor, NestedCountsItsBuffer) {
  const Tensor nested = whole_of(TensorKind::nested, DType::f32, {},
                                 {{"buffer", tensor_of<float>({18}, std::vector<float>(18))},
                                  {"sizes", tensor_of<std::int64_t>({2, 2}, {1, 3, 5, 3})},
                                  {"strides", tensor_of<std::int64_t>({2, 2}, {3, 1, 3, 1})},
                                  {"storage_offsets", tensor_of<std::int64_t>({2}, {0, 3})}});
  EXPECT_EQ(nested.numel(), 18);
  EXPECT_EQ(nested.nbytes(), 152u);
  EXPECT_FALSE(nested.has_shape());
  EXPECT_TRUE(nested.shape().empty());
  EXPECT_EQ(whole_of(TensorKind::nested, DType::f32, {}, {}).numel(), 0);
}

TEST(Tensor, DeviceOfAWholeIsThatOfItsValues) {
  const Tensor values(DType::f32, {1}, storage_of(std::vector<float>{5}, "cuda:1"));
  const Tensor sparse =
      whole_of(TensorKind::sparse_coo, DType::f32, {4},
               {{"indices", tensor_of<std::int64_t>({1, 1}, {0})}, {"values", values}});
  EXPECT_EQ(sparse.device(), "cuda:1");
  EXPECT_EQ(whole_of(TensorKind::subclass, DType::f32, {1}, {{"base", sparse}}).device(), "cuda:1");
  EXPECT_EQ(whole_of(TensorKind::subclass, DType::f32, {1}, {}).device(), "cpu");
}

TEST(Tensor, DeviceThatTheExtensionNames) {
  TensorRecord record = tensor_of<float>({1}, {5}).record();
  const auto extension = std::make_shared<TensorExtension>();
  extension->device = "xla:0";
  extension->is_coalesced = true;
  record.extension = extension;
  const Tensor tensor = tensor_of(std::move(record));
  EXPECT_EQ(tensor.device(), "xla:0");
  EXPECT_EQ(tensor.is_coalesced(), true);
}

TEST(Tensor, Meta) {
  TensorRecord record = record_of(DType::f32, {3, 4}, {4, 1}, 0, {});
  record.kind = TensorKind::meta;
  const Tensor meta = tensor_of(std::move(record));
  EXPECT_EQ(meta.device(), "meta");
  EXPECT_EQ(meta.numel(), 12);
  EXPECT_EQ(meta.nbytes(), 48u);
  EXPECT_EQ(error_of([&] { meta.to<float>(); }).second, "a meta tensor has no elements");
}

TEST(Tensor, PackedBytes) {
  const Storage storage = storage_of(std::vector<std::uint8_t>(9));
  const Tensor four = quantized_of(view_of(DType::qu4x2, {3, 5}, {5, 1}, 0, storage), {});
  EXPECT_EQ(four.numel(), 15);
  EXPECT_EQ(four.nbytes(), 9u);
  const Tensor two = quantized_of(view_of(DType::qu2x4, {3, 5}, {5, 1}, 0, storage), {});
  EXPECT_EQ(two.nbytes(), 6u);
}

TEST(Tensor, BytesSaturate) {
  const Storage storage = storage_of(std::vector<float>(1));
  const Tensor tensor = view_of(DType::f32, {kHuge}, {0}, 0, storage);
  EXPECT_EQ(tensor.numel(), kHuge);
  EXPECT_EQ(tensor.nbytes(), std::numeric_limits<std::uint64_t>::max());
  const Tensor twice =
      whole_of(TensorKind::subclass, DType::f32, {1}, {{"a", tensor}, {"b", tensor}});
  EXPECT_EQ(twice.nbytes(), std::numeric_limits<std::uint64_t>::max());
}

TEST(Tensor, BytesOfPartsThatAreSharedAtEveryLevel) {
  Tensor tensor = tensor_of<float>({1}, {1});
  for (int i = 0; i < 50; ++i) {
    tensor = whole_of(TensorKind::subclass, DType::f32, {1}, {{"a", tensor}, {"b", tensor}});
  }
  EXPECT_EQ(tensor.nbytes(), std::uint64_t{4} << 50);
}

TEST(Tensor, Kinds) {
  EXPECT_EQ(to_string(TensorKind::strided), "strided");
  EXPECT_EQ(to_string(TensorKind::sparse_bsc), "sparse_bsc");
  EXPECT_EQ(to_string(TensorKind::subclass), "subclass");
}

}  // namespace
}  // namespace flambeau
