// SHA-256 of elements.
#include <gtest/gtest.h>

#include "tensor/random_view.h"

namespace flambeau {
namespace {

using testing::storage_of;
using testing::tensor_of;
using testing::view_of;

std::string digest(const Tensor& tensor) { return to_string(sha256(tensor)); }

TEST(Digest, ExamplesOfTheStandard) {
  EXPECT_EQ(digest(Tensor()), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(digest(tensor_of<std::uint8_t>({3}, {'a', 'b', 'c'})),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(digest(tensor_of({1000, 1000}, std::vector<std::uint8_t>(1000000, 'a'))),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Digest, ExpandedElementsAreNotMaterialised) {
  const Tensor expanded =
      view_of(DType::u8, {1000000}, {0}, 0, storage_of(std::vector<std::uint8_t>{'a'}));
  EXPECT_EQ(digest(expanded), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Digest, IsThatOfTheContiguousCopy) {
  testing::Random random(3);
  for (int i = 0; i < 500; ++i) {
    const DType dtype = testing::types_by_size()[static_cast<std::size_t>(i) % 5];
    TensorRecord record = testing::random_view(random, dtype).record();
    record.is_conj = i % 2 == 0;
    record.is_neg = i % 3 == 0;
    record.is_byte_swapped = i % 5 == 0;
    const Tensor tensor = tensor_of(std::move(record));
    const auto bytes = testing::bytes_of(tensor);
    ASSERT_EQ(digest(tensor), digest(Tensor(DType::u8, {static_cast<std::int64_t>(bytes.size())},
                                            storage_of(Bytes(bytes)))));
  }
}

TEST(Digest, TransposeLargerThanTheBuffer) {
  std::vector<std::uint32_t> numbers(600 * 500);
  for (std::size_t i = 0; i < numbers.size(); ++i)
    numbers[i] = static_cast<std::uint32_t>(i * 2654435761u);
  std::vector<std::uint32_t> transposed;
  for (std::size_t c = 0; c < 500; ++c) {
    for (std::size_t r = 0; r < 600; ++r) transposed.push_back(numbers[r * 500 + c]);
  }
  const Tensor view = view_of(DType::u32, {500, 600}, {1, 500}, 0, storage_of(numbers));
  EXPECT_EQ(digest(view), digest(tensor_of({500, 600}, transposed)));
}

TEST(Digest, QuantizedIsThatOfTheIntegers) {
  const Tensor integers = tensor_of<std::int8_t>({3}, {'a', 'b', 'c'}, DType::qi8);
  EXPECT_EQ(digest(testing::quantized_of(integers, {"per_tensor_affine", 0.1, 3, {}})),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

}  // namespace
}  // namespace flambeau
