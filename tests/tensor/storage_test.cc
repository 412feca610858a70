// Storages over memory.
#include <gtest/gtest.h>

#include "tensor/make_tensor.h"
#include "tensor/storage_table.h"

namespace flambeau {
namespace {

using testing::error_of;

TEST(Storage, Borrowed) {
  const std::vector<float> values = {1, 2, 3};
  const Storage storage = Storage::borrow(std::as_bytes(std::span(values)));
  EXPECT_TRUE(storage);
  EXPECT_EQ(storage.size(), 12u);
  EXPECT_EQ(storage.bytes().data(), std::as_bytes(std::span(values)).data());
  EXPECT_EQ(storage.key(), "");
  EXPECT_EQ(storage.device(), "cpu");
  EXPECT_TRUE(storage.is_available());
  EXPECT_EQ(storage.device_memory(), nullptr);
  EXPECT_EQ(storage.index(), 0u);
  storage.verify();
}

TEST(Storage, OwnedBytesLiveWithTheHandle) {
  auto owner = std::make_shared<std::vector<std::byte>>(5, std::byte{7});
  const std::weak_ptr<std::vector<std::byte>> watch = owner;
  {
    const Storage storage = Storage::own(*owner, owner);
    owner.reset();
    ASSERT_FALSE(watch.expired());
    EXPECT_EQ(storage.bytes()[4], std::byte{7});
  }
  EXPECT_TRUE(watch.expired());
}

TEST(Storage, OnADevice) {
  const auto memory = std::make_shared<int>(3);
  const Storage storage = Storage::on_device("cuda:1", 64, memory);
  EXPECT_EQ(storage.size(), 64u);
  EXPECT_EQ(storage.device(), "cuda:1");
  EXPECT_EQ(storage.device_memory(), memory);
  const auto [code, message] = error_of([&] { storage.bytes(); });
  EXPECT_EQ(code, ErrorCode::unsupported);
  EXPECT_EQ(message, "the CPU cannot read the memory of cuda:1");
}

TEST(Storage, None) {
  const Storage none;
  EXPECT_FALSE(none);
  EXPECT_EQ(none.size(), 0u);
  EXPECT_EQ(none.key(), "");
  EXPECT_EQ(none.device(), "");
  EXPECT_FALSE(none.is_available());
  EXPECT_EQ(none.device_memory(), nullptr);
  none.verify();
  EXPECT_EQ(error_of([&] { none.bytes(); }).first, ErrorCode::unsupported);
}

TEST(Storage, EqualityIsIdentity) {
  const std::vector<std::byte> bytes(4);
  const Storage a = Storage::borrow(bytes);
  const Storage copy = a;
  EXPECT_EQ(a, copy);
  EXPECT_NE(a, Storage::borrow(bytes));
  EXPECT_EQ(Storage(), Storage());
}

/// A table that says 16 bytes where it has 8.
class Short final : public StorageTable {
 public:
  std::uint64_t size(std::uint32_t) const noexcept override { return 16; }
  std::string_view key(std::uint32_t) const noexcept override { return "short"; }
  Bytes bytes(std::uint32_t) const override { return bytes_; }

 private:
  std::vector<std::byte> bytes_ = std::vector<std::byte>(8);
};

TEST(Storage, FewerBytesThanItsSizeSays) {
  const Storage storage(std::make_shared<Short>(), 0);
  EXPECT_EQ(storage.table()->part(0, 4, 4).bytes.size(), 4u);
  const auto [code, message] = error_of([&] { storage.table()->part(0, 4, 8); });
  EXPECT_EQ(code, ErrorCode::truncated);
  EXPECT_EQ(message, "8 bytes at 4 of a storage of 8");
  const Tensor tensor(DType::f32, {4}, storage);
  EXPECT_EQ(error_of([&] { tensor.slice(0, 1).to<float>(); }).first, ErrorCode::truncated);
}

TEST(Storage, KeepsTheDeviceOfWhatItCopies) {
  const std::vector<std::byte> bytes(4);
  EXPECT_EQ(memory_storage(bytes, nullptr, "cuda:0").device(), "cuda:0");
}

}  // namespace
}  // namespace flambeau
