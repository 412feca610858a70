// Strided copies against the plainest loop.
#include "tensor/gather.h"

#include <gtest/gtest.h>

#include "tensor/random_view.h"

namespace flambeau {
namespace {

using testing::pick;
using testing::Random;
using testing::random_view;

/// Reads a view in pieces of random length.
std::vector<std::byte> gathered(Random& random, const Tensor& tensor, std::int64_t longest) {
  const std::size_t item = item_size(tensor.dtype());
  const auto offset = static_cast<std::size_t>(tensor.offset()) * item;
  Gatherer gather(tensor.storage().bytes().data() + offset, tensor.shape(), tensor.strides(), item);
  std::vector<std::byte> out(gather.remaining());
  for (MutableBytes rest(out); !rest.empty();) {
    const auto size =
        std::min(rest.size(), static_cast<std::size_t>(pick(random, 1, longest)) * item);
    gather.read(rest.first(size));
    rest = rest.subspan(size);
    EXPECT_EQ(gather.remaining(), rest.size());
  }
  return out;
}

TEST(Gather, RandomViewsAtOnceAndInPieces) {
  Random random(7);
  for (int i = 0; i < 4000; ++i) {
    const DType dtype = testing::types_by_size()[static_cast<std::size_t>(i) % 5];
    const Tensor tensor = random_view(random, dtype);
    const auto expected = testing::items_one_by_one(tensor);
    ASSERT_EQ(gathered(random, tensor, 1 << 20), expected) << to_string(tensor.shape());
    ASSERT_EQ(gathered(random, tensor, 9), expected) << to_string(tensor.strides());
  }
}

TEST(Gather, TransposesLargerThanATile) {
  Random random(8);
  for (const auto& [rows, columns] :
       {std::pair{600, 530}, {100, 70}, {33, 32}, {32, 33}, {3, 1000}, {1000, 3}}) {
    for (const DType dtype : testing::types_by_size()) {
      const auto count = static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns);
      const Tensor tensor = testing::view_of(
          dtype, {columns, rows}, {1, columns}, 0,
          testing::storage_of(Bytes(testing::random_bytes(random, count * item_size(dtype)))));
      const auto expected = testing::items_one_by_one(tensor);
      ASSERT_EQ(gathered(random, tensor, 1 << 20), expected);
      ASSERT_EQ(gathered(random, tensor, 300), expected);
    }
  }
}

TEST(Gather, NothingToRead) {
  const std::int64_t shape[] = {3, 0};
  const std::int64_t strides[] = {1, 1};
  EXPECT_EQ(Gatherer(nullptr, shape, strides, 4).remaining(), 0u);
}

}  // namespace
}  // namespace flambeau
