// Dimensions, the checks of a view, and the end of long chains of parts.
#include "tensor/record.h"

#include <gtest/gtest.h>

#include <limits>
#include <thread>

#include "tensor/make_tensor.h"

namespace flambeau {
namespace {

using Sizes = std::vector<std::int64_t>;
using testing::error_of;
using testing::record_of;
using testing::tensor_of;
using testing::whole_of;

constexpr std::int64_t kHuge = std::int64_t{1} << 62;
constexpr std::int64_t kLargest = std::numeric_limits<std::int64_t>::max();

/// Whether a float32 view lies within a storage of ten elements; else the message.
std::string check(Sizes shape, Sizes strides, std::int64_t offset = 0, DType dtype = DType::f32,
                  std::uint64_t storage_size = 40) {
  const auto record = record_of(dtype, std::move(shape), std::move(strides), offset, {});
  const auto [code, message] = error_of([&] { check_view(record, storage_size, {}); });
  if (message == "no error") return "fits";
  EXPECT_EQ(code, ErrorCode::malformed_tensor);
  return message;
}

TEST(Record, IsSmall) { EXPECT_LE(sizeof(TensorRecord), 104u); }

TEST(Dimensions, NearAndFar) {
  for (std::int64_t rank = 0; rank < 20; ++rank) {
    Sizes shape, strides;
    for (std::int64_t i = 0; i < rank; ++i) {
      shape.push_back(i + 1);
      strides.push_back(100 + i);
    }
    const Dimensions dimensions(shape, strides);
    const Dimensions copy = dimensions;
    EXPECT_EQ(Sizes(copy.shape().begin(), copy.shape().end()), shape);
    EXPECT_EQ(Sizes(copy.strides().begin(), copy.strides().end()), strides);
    EXPECT_TRUE(Dimensions(shape, {}).strides().empty());
  }
}

TEST(CheckView, ExtentExactlyAtTheEnd) {
  EXPECT_EQ(check({10}, {1}), "fits");
  EXPECT_EQ(check({2, 5}, {5, 1}), "fits");
  EXPECT_EQ(check({}, {}, 9), "fits");
  EXPECT_EQ(check({4}, {3}), "fits");
  EXPECT_EQ(check({4, 4}, {2, 1}), "fits") << "overlapping";
}

TEST(CheckView, OneElementBeyond) {
  EXPECT_EQ(check({11}, {1}),
            "float32 view of shape [11], strides [1], offset 0 needs 44 bytes of a storage of 40");
  EXPECT_EQ(check({10}, {1}, 1),
            "float32 view of shape [10], strides [1], offset 1 needs 44 bytes of a storage of 40");
  EXPECT_EQ(check({}, {}, 10),
            "float32 view of shape [], strides [], offset 10 needs 44 bytes of a storage of 40");
  EXPECT_EQ(check({10}, {1}, 0, DType::f32, 39),
            "float32 view of shape [10], strides [1], offset 0 needs 40 bytes of a storage of 39");
}

TEST(CheckView, StridesThatNoElementUses) {
  EXPECT_EQ(check({1, 1}, {kLargest, kLargest}), "fits");
  EXPECT_EQ(check({1}, {kHuge}, 9), "fits");
  EXPECT_EQ(check({kHuge}, {0}), "fits") << "a stride of 0 makes any size";
  EXPECT_EQ(check({0, 3}, {kHuge, kHuge}), "fits");
}

TEST(CheckView, WithoutElementsAnyOffsetIsRight) {
  EXPECT_EQ(check({0}, {1}, 10), "fits");
  EXPECT_EQ(check({0}, {1}, kLargest), "fits");
  EXPECT_EQ(check({3, 0}, {1, 1}, kHuge, DType::c128, 0), "fits");
  EXPECT_EQ(check({0, kHuge, kHuge}, {0, 0, 0}), "fits");
  EXPECT_EQ(check({kHuge, kHuge, 0}, {0, 0, 0}), "fits");
}

TEST(CheckView, NegativeNumbers) {
  EXPECT_EQ(check({2}, {1}, -1), "storage offset -1 is negative");
  EXPECT_EQ(check({0}, {1}, -1), "storage offset -1 is negative");
  EXPECT_EQ(check({3, -2}, {1, 1}), "size -2 of dimension 1 is negative");
  EXPECT_EQ(check({2}, {-1}, 9), "stride -1 of dimension 0 is negative");
}

TEST(CheckView, SizesThatOverflow) {
  EXPECT_EQ(check({kHuge, 4}, {0, 0}),
            "the number of elements of shape [4611686018427387904, 4] overflows");
  EXPECT_EQ(check({9}, {kHuge}),
            "float32 view of shape [9], strides [4611686018427387904], offset 0 needs over 2^64 "
            "bytes of a storage of 40");
  EXPECT_EQ(check({}, {}, kHuge),
            "float32 view of shape [], strides [], offset 4611686018427387904 needs over 2^64 "
            "bytes of a storage of 40");
}

TEST(CheckView, AsManyStridesAsSizes) { EXPECT_EQ(check({3}, {}), "1 sizes, but 0 strides"); }

TEST(CheckView, PackedRowsFillBytes) {
  EXPECT_EQ(check({3, 5}, {5, 1}, 0, DType::qu4x2, 9), "fits");
  EXPECT_EQ(check({3, 5}, {5, 1}, 0, DType::qu4x2, 8),
            "quint4x2 view of shape [3, 5], strides [5, 1], offset 0 needs 9 bytes of a storage of "
            "8");
  EXPECT_EQ(check({3, 5}, {5, 1}, 0, DType::qu2x4, 6), "fits");
  EXPECT_EQ(check({3, 5}, {5, 1}, 1, DType::qu2x4, 6),
            "quint2x4 view of shape [3, 5], strides [5, 1], offset 1 needs 7 bytes of a storage of "
            "6");
  EXPECT_EQ(check({}, {}, 0, DType::qu4x2, 1), "fits");
  EXPECT_EQ(check({3, 0}, {1, 1}, 7, DType::qu4x2, 0), "fits");
}

TEST(CheckView, NamesThePlace) {
  const auto record = record_of(DType::f32, {2}, {1}, 0, {});
  try {
    check_view(record, 4, {"data.pkl", 0x1a});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.where(), "data.pkl");
    EXPECT_EQ(error.offset(), 0x1a);
  }
}

TEST(Extension, AMillionPartsWithinEachOtherEndWithoutRecursion) {
  Tensor inner;
  for (int i = 0; i < 1'000'000; ++i) {
    inner = whole_of(TensorKind::subclass, DType::f32, {2}, {{"base", std::move(inner)}});
  }
  EXPECT_EQ(inner.kind(), TensorKind::subclass);
  inner = Tensor();
}

TEST(Extension, PartsThatOthersHoldLiveOn) {
  const Tensor shared = tensor_of<float>({2}, {1, 2});
  Tensor whole = whole_of(
      TensorKind::subclass, DType::f32, {2},
      {{"a", whole_of(TensorKind::subclass, DType::f32, {2}, {{"x", shared}})}, {"b", shared}});
  const Tensor middle = *whole.find_part("a");
  whole = Tensor();
  EXPECT_EQ(middle.find_part("x")->to<float>(), (std::vector<float>{1, 2}));
}

}  // namespace
}  // namespace flambeau
