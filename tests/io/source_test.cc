// Sources in memory, parts of sources, and what a source of the caller's own gets for free.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "base/bytes.h"
#include "flambeau/io.h"
#include "support/errors.h"

namespace flambeau::testing {
namespace {

using ::testing::HasSubstr;

/// Counts up: the byte at an offset is the offset's last eight bits.
class Counting final : public Source {
 public:
  explicit Counting(std::uint64_t size) : Source("counting"), size_(size) {}
  std::uint64_t size() const noexcept override { return size_; }
  void read(std::uint64_t offset, MutableBytes out) const override {
    ++reads;
    for (std::byte& byte : out) byte = static_cast<std::byte>(offset++ & 0xff);
  }
  mutable int reads = 0;

 private:
  std::uint64_t size_;
};

TEST(OwnSource, HasViewsThatAreRead) {
  const Counting source(1000);
  const Block block = source.view(300, 5);
  EXPECT_EQ(source.reads, 1);
  EXPECT_EQ(block.bytes.size(), 5u);
  EXPECT_EQ(block.bytes[0], std::byte{300 & 0xff});
  EXPECT_EQ(block.bytes[4], std::byte{304 & 0xff});
  EXPECT_FALSE(source.in_memory());
  source.release(0, 1000);
}

TEST(OwnSource, IsNotAskedForWhatIsNotThere) {
  const Counting source(1000);
  EXPECT_EQ(code_of([&] { source.view(999, 2); }), ErrorCode::truncated);
  // No memory is taken for a size that the source does not have.
  EXPECT_EQ(code_of([&] { source.view(0, std::uint64_t{1} << 62); }), ErrorCode::truncated);
  EXPECT_EQ(source.reads, 0);
}

TEST(BorrowedMemory, IsSeenInPlace) {
  const std::string text = "0123456789";
  const SourcePtr source = borrow_memory(as_bytes(text), "upload");
  EXPECT_EQ(source->name(), "upload");
  EXPECT_EQ(source->size(), 10u);
  EXPECT_TRUE(source->in_memory());
  EXPECT_EQ(source->view(4, 2).bytes.data(), as_bytes(text).data() + 4);
  std::byte out[3];
  source->read(7, out);
  EXPECT_EQ(as_text(out), "789");
}

TEST(BorrowedMemory, IsCalledMemory) {
  EXPECT_EQ(borrow_memory({})->name(), "memory");
  EXPECT_EQ(own_memory({})->name(), "memory");
}

TEST(BorrowedMemory, HasAnEnd) {
  const SourcePtr source = borrow_memory(as_bytes("0123456789"), "upload");
  std::byte out[3];
  EXPECT_EQ(code_of([&] { source->read(8, out); }), ErrorCode::truncated);
  EXPECT_EQ(code_of([&] { source->view(UINT64_MAX, 2); }), ErrorCode::truncated);
  EXPECT_EQ(message_of([&] { source->view(8, 3); }),
            "upload+0x8: 3 bytes wanted, there are 10 in all");
}

TEST(OwnedMemory, LivesAsLongAsAView) {
  auto text = std::make_shared<std::string>("0123456789");
  const std::weak_ptr<std::string> watch = text;
  Block block;
  {
    const SourcePtr source = own_memory({as_bytes(*text), text});
    text.reset();
    block = source->view(1, 2);
  }
  EXPECT_FALSE(watch.expired());
  EXPECT_EQ(as_text(block.bytes), "12");
  block = {};
  EXPECT_TRUE(watch.expired());
}

TEST(Slice, CountsFromItsOwnStart) {
  const SourcePtr whole = borrow_memory(as_bytes("0123456789"), "whole");
  const SourcePtr part = slice(whole, 2, 5, "part");
  EXPECT_EQ(part->name(), "part");
  EXPECT_EQ(part->size(), 5u);
  EXPECT_TRUE(part->in_memory());
  EXPECT_EQ(as_text(part->view(1, 4).bytes), "3456");
  std::byte out[5];
  part->read(0, out);
  EXPECT_EQ(as_text(out), "23456");
  part->release(0, 5);
  part->release(4, 5);
}

TEST(Slice, NeverReachesPastItself) {
  const SourcePtr part = slice(borrow_memory(as_bytes("0123456789")), 2, 5, "part");
  std::byte out[6];
  EXPECT_EQ(code_of([&] { part->read(0, out); }), ErrorCode::truncated);
  EXPECT_EQ(code_of([&] { part->view(5, 1); }), ErrorCode::truncated);
  EXPECT_EQ(message_of([&] { part->view(UINT64_MAX, 2); }),
            "part+0xffffffffffffffff: 2 bytes wanted, the part has 5 in all");
}

TEST(Slice, MustLieInTheWhole) {
  const SourcePtr whole = borrow_memory(as_bytes("0123456789"), "whole");
  EXPECT_EQ(slice(whole, 10, 0, "nothing")->size(), 0u);
  EXPECT_EQ(code_of([&] { slice(whole, 2, 9, "part"); }), ErrorCode::truncated);
  EXPECT_EQ(code_of([&] { slice(whole, UINT64_MAX, 2, "part"); }), ErrorCode::truncated);
  EXPECT_THAT(message_of([&] { slice(whole, 2, 9, "part"); }), HasSubstr("whole+0x2: a part of 9"));
}

TEST(Slice, OfASourceThatIsReadIsRead) {
  const SourcePtr part = slice(std::make_shared<Counting>(1000), 256, 10, "part");
  EXPECT_FALSE(part->in_memory());
  EXPECT_EQ(part->view(3, 1).bytes[0], std::byte{3});
}

}  // namespace
}  // namespace flambeau::testing
