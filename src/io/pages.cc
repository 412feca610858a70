// Large blocks are anonymous mappings, cut so that they start on a huge page (mmap(2), madvise(2),
// MADV_HUGEPAGE); the kernel zeroes a page when it is first touched, and not before. Small ones are
// ordinary allocations. Nothing is kept for later use: a freed block goes back to the system.
#include "io/pages.h"

#include <sys/mman.h>
#include <unistd.h>

#include <new>

#include "base/checked.h"
#include "base/fail.h"

namespace flambeau {
namespace {

/// Size of a huge page on x86-64, and on arm64 with pages of 4 KiB.
constexpr std::size_t kHugePage = std::size_t{2} << 20;

[[noreturn]] void fail_for_memory(std::uint64_t size) {
  fail(ErrorCode::limit, {}, "no memory for {} bytes", size);
}

Pages allocate_small(std::size_t size) {
  constexpr std::align_val_t kAlignment{kPageAlignment};
  void* start = ::operator new(size, kAlignment, std::nothrow);
  if (start == nullptr) fail_for_memory(size);
  const auto free = [](void* block) { ::operator delete(block, kAlignment); };
  return {{static_cast<std::byte*>(start), size}, {start, free}};
}

/// Maps one huge page more than needed and gives back what lies before and behind.
std::byte* map_aligned(std::size_t size) noexcept {
  const auto whole = checked_add(size, kHugePage);
  if (!whole) return nullptr;
  void* mapped =
      ::mmap(nullptr, *whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) return nullptr;
  void* aligned = mapped;
  std::size_t space = *whole;
  std::align(kHugePage, size, aligned, space);
  auto* start = static_cast<std::byte*>(aligned);
  const std::size_t before = *whole - space;
  if (before > 0) ::munmap(mapped, before);
  if (space > size) ::munmap(start + size, space - size);
  return start;
}

/// To whole huge pages where that adds little, so that the end is one too: a fault costs the same
/// for 4 KiB and for 2 MiB, but for the zeroing.
std::size_t round_to_pages(std::size_t size) noexcept {
  const auto round_to = [&](std::size_t page) { return (size + page - 1) / page * page; };
  const std::size_t huge = round_to(kHugePage);
  if (huge - size <= size / 4) return huge;
  return round_to(static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)));
}

std::byte* map_huge(std::size_t rounded) {
  std::byte* start = map_aligned(rounded);
  if (start == nullptr) fail_for_memory(rounded);
  // A wish: where the system has no huge pages to give, small ones do.
  ::madvise(start, rounded, MADV_HUGEPAGE);
  return start;
}

Pages allocate_huge(std::size_t size) {
  const std::size_t rounded = round_to_pages(size);
  std::byte* start = map_huge(rounded);
  const auto unmap = [rounded](void* block) { ::munmap(block, rounded); };
  return {{start, size}, {static_cast<void*>(start), unmap}};
}

/// Small requests go to `new`; a request says its size again when it is given back, so nothing has
/// to be remembered.
class PageMemory : public std::pmr::memory_resource {
  void* do_allocate(std::size_t size, std::size_t alignment) override {
    if (size < kHugePage) return std::pmr::new_delete_resource()->allocate(size, alignment);
    return map_huge(round_to_pages(size));
  }
  void do_deallocate(void* block, std::size_t size, std::size_t alignment) override {
    if (size < kHugePage) {
      std::pmr::new_delete_resource()->deallocate(block, size, alignment);
    } else {
      ::munmap(block, round_to_pages(size));
    }
  }
  bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override {
    return this == &other;
  }
};

}  // namespace

/// Without members, so that it may be used until the very end of the process.
std::pmr::memory_resource* page_memory() noexcept {
  static PageMemory memory;
  return &memory;
}

Pages allocate_pages(std::uint64_t size) {
  constexpr std::uint64_t kMost = PTRDIFF_MAX - kHugePage;
  if (size > kMost) fail_for_memory(size);
  const auto count = static_cast<std::size_t>(size);
  return count < kHugePage ? allocate_small(count) : allocate_huge(count);
}

}  // namespace flambeau
