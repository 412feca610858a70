// Progress and requests to stop are looked at with every put, which is at most a buffer.
#include "zip/record_output.h"

#include <utility>

#include "base/fail.h"

namespace flambeau::zip {

void Output::put(std::uint64_t offset, Bytes bytes) {
  if (options_.stop.stop_requested()) fail(ErrorCode::cancelled, {}, "the caller asked to stop");
  if (is_ordered_) {
    sink_.write(bytes);
  } else {
    sink_.write_at(offset, bytes);
  }
  const std::uint64_t done = done_.fetch_add(bytes.size()) + bytes.size();
  if (options_.progress && std::this_thread::get_id() == caller_) {
    options_.progress({done, total_});
  }
}

Pages Buffers::take() {
  const std::lock_guard lock(mutex_);
  if (free_.empty()) return allocate_pages(size_);
  Pages pages = std::move(free_.back());
  free_.pop_back();
  return pages;
}

void Buffers::give(Pages pages) noexcept {
  const std::lock_guard lock(mutex_);
  free_.push_back(std::move(pages));
}

}  // namespace flambeau::zip
