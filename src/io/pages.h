// Memory for bulk data, in the largest pages that the system gives.
//
//   Pages pages = allocate_pages(size);
//   source->read(offset, pages.bytes);
#pragma once

#include <cstdint>
#include <memory>
#include <memory_resource>

#include "base/bytes.h"

namespace flambeau {

/// Writable bytes and their owner.
struct Pages {
  MutableBytes bytes;
  std::shared_ptr<void> owner;
};

/// Every allocation starts at a multiple of this; it is the alignment of records, too.
inline constexpr std::size_t kPageAlignment = 64;

/// `size` bytes with no stated content. From 2 MiB on they start at a multiple of 2 MiB and ask for
/// huge pages: filling such memory costs one fault for each 2 MiB instead of one for each 4 KiB.
/// Error: `limit` where the system has no such memory.
Pages allocate_pages(std::uint64_t size);

/// The same as a resource for containers and arenas: huge pages from 2 MiB on, ordinary allocations
/// below. Has no state; lives forever.
std::pmr::memory_resource* page_memory() noexcept;

}  // namespace flambeau
