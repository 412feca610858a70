// Memory for bulk data: aligned, writable to its last byte, refused where there is none.
#include "io/pages.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>

#include "support/errors.h"

namespace flambeau::testing {
namespace {

/// Whether the block starts at a multiple of `alignment`.
bool is_aligned(const Pages& pages, std::size_t alignment) {
  void* start = pages.bytes.data();
  std::size_t space = pages.bytes.size() + alignment;
  return std::align(alignment, 0, start, space) == pages.bytes.data();
}

constexpr std::size_t kHuge = std::size_t{2} << 20;

TEST(AllocatePages, GivesMemoryOfEverySize) {
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{4097}, kHuge - 1,
                                 kHuge, kHuge + 1, 5 * kHuge + 4095}) {
    const Pages pages = allocate_pages(size);
    ASSERT_EQ(pages.bytes.size(), size);
    EXPECT_NE(pages.owner, nullptr);
    EXPECT_TRUE(is_aligned(pages, size < kHuge ? kPageAlignment : kHuge));
    std::fill(pages.bytes.begin(), pages.bytes.end(), std::byte{7});
    EXPECT_EQ(std::count(pages.bytes.begin(), pages.bytes.end(), std::byte{7}),
              static_cast<std::ptrdiff_t>(size));
  }
}

TEST(AllocatePages, GivesBlocksOfTheirOwn) {
  const Pages first = allocate_pages(kHuge);
  const Pages second = allocate_pages(kHuge);
  first.bytes.back() = std::byte{1};
  second.bytes.front() = std::byte{2};
  EXPECT_EQ(first.bytes.back(), std::byte{1});
}

TEST(AllocatePages, RefusesWhatThereIsNot) {
  for (const std::uint64_t size :
       {std::uint64_t{1} << 50, std::uint64_t{INT64_MAX}, std::uint64_t{1} << 63, UINT64_MAX}) {
    EXPECT_EQ(code_of([&] { allocate_pages(size); }), ErrorCode::limit);
  }
}

}  // namespace
}  // namespace flambeau::testing
