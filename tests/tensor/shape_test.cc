// Shape arithmetic at its edges.
#include <gtest/gtest.h>

#include <limits>

#include "tensor/record.h"

namespace flambeau {
namespace {

using Sizes = std::vector<std::int64_t>;
constexpr std::int64_t kHuge = std::int64_t{1} << 62;
constexpr std::int64_t kLargest = std::numeric_limits<std::int64_t>::max();

TEST(Shape, ContiguousStrides) {
  EXPECT_EQ(contiguous_strides(Sizes{}), Sizes{});
  EXPECT_EQ(contiguous_strides(Sizes{5}), Sizes{1});
  EXPECT_EQ(contiguous_strides(Sizes{2, 3, 4}), (Sizes{12, 4, 1}));
  EXPECT_EQ(contiguous_strides(Sizes{2, 0, 3}), (Sizes{3, 3, 1})) << "a size of 0 counts as 1";
}

TEST(Shape, ContiguousStridesThatOverflow) {
  EXPECT_EQ(contiguous_strides(Sizes{kHuge, 4}), (Sizes{4, 1}))
      << "the outermost size is no stride";
  EXPECT_FALSE(contiguous_strides(Sizes{1, kHuge, 4}));
}

TEST(Shape, Product) {
  EXPECT_EQ(checked_product(Sizes{}), 1);
  EXPECT_EQ(checked_product(Sizes{3, 4}), 12);
  EXPECT_EQ(checked_product(Sizes{kHuge, 1}), kHuge);
  EXPECT_FALSE(checked_product(Sizes{kHuge, 2}));
  EXPECT_FALSE(checked_product(Sizes{-1, 2}));
}

TEST(Shape, ProductWithAZeroIsZeroWhereverItStands) {
  EXPECT_EQ(checked_product(Sizes{0, kHuge, kHuge}), 0);
  EXPECT_EQ(checked_product(Sizes{kHuge, kHuge, 0}), 0);
  EXPECT_FALSE(checked_product(Sizes{0, -1})) << "a negative size stays wrong";
}

TEST(Shape, Extent) {
  EXPECT_EQ(view_extent(Sizes{}, Sizes{}, 0), 1u);
  EXPECT_EQ(view_extent(Sizes{}, Sizes{}, 7), 8u);
  EXPECT_EQ(view_extent(Sizes{3, 4}, Sizes{4, 1}, 2), 14u);
  EXPECT_EQ(view_extent(Sizes{kHuge}, Sizes{0}, 0), 1u) << "a stride of 0 reaches nowhere";
  EXPECT_EQ(view_extent(Sizes{1, 1}, Sizes{kLargest, kLargest}, 0), 1u)
      << "nor does any stride along a size of 1";
}

TEST(Shape, ExtentOfNothingIsZeroAtAnyOffset) {
  EXPECT_EQ(view_extent(Sizes{0}, Sizes{1}, kLargest), 0u);
  EXPECT_EQ(view_extent(Sizes{3, 0}, Sizes{kHuge, kHuge}, 5), 0u);
}

TEST(Shape, ExtentThatIsNone) {
  EXPECT_FALSE(view_extent(Sizes{2}, Sizes{1}, -1));
  EXPECT_FALSE(view_extent(Sizes{-2}, Sizes{1}, 0));
  EXPECT_FALSE(view_extent(Sizes{2}, Sizes{-1}, 5));
  EXPECT_FALSE(view_extent(Sizes{0, -1}, Sizes{1, 1}, 0));
  EXPECT_FALSE(view_extent(Sizes{9}, Sizes{kHuge}, 0)) << "a product overflows";
  EXPECT_FALSE(view_extent(Sizes{2, 2, 2, 2}, Sizes{kLargest, kLargest, kLargest, 1}, 0))
      << "a sum overflows";
}

TEST(Shape, Text) {
  EXPECT_EQ(to_string(std::span<const std::int64_t>()), "[]");
  EXPECT_EQ(to_string(std::span<const std::int64_t>(Sizes{256, 784})), "[256, 784]");
}

}  // namespace
}  // namespace flambeau
