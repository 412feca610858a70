// The last steps of bytes to a sink: in order, or each run at its own offset from many threads.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <stop_token>
#include <thread>
#include <vector>

#include "base/bytes.h"
#include "flambeau/archive.h"
#include "io/pages.h"

namespace flambeau::zip {

/// Safe to use from many threads at once where the sink writes anywhere.
class Output {
 public:
  /// Views the arguments. `total` is what will be put or passed over.
  Output(Sink& sink, const WriteOptions& options, std::uint64_t total, bool is_ordered)
      : sink_(sink), options_(options), total_(total), is_ordered_(is_ordered) {}

  /// Whether every byte of the file has to be put, and in order.
  bool is_ordered() const noexcept { return is_ordered_; }
  /// Tells the progress from the caller's thread. Errors: the sink's; `cancelled`.
  void put(std::uint64_t offset, Bytes bytes);
  /// Counts bytes of a hole as done.
  void pass_over(std::uint64_t size) noexcept { done_.fetch_add(size); }

 private:
  Sink& sink_;
  const WriteOptions& options_;
  const std::uint64_t total_;
  const bool is_ordered_;
  const std::thread::id caller_ = std::this_thread::get_id();
  std::atomic<std::uint64_t> done_ = 0;
};

/// Memory that tasks use one after another.
class Buffers {
 public:
  /// At most `count` are borrowed at a time.
  Buffers(std::size_t count, std::size_t size) : size_(size) { free_.reserve(count); }

  /// How much room each has.
  std::size_t size() const noexcept { return size_; }

  /// Borrows a buffer while it lives.
  class Lease {
   public:
    explicit Lease(Buffers& from) : from_(from), pages_(from.take()) {}
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    ~Lease() { from_.give(std::move(pages_)); }
    MutableBytes bytes() const noexcept { return pages_.bytes; }

   private:
    Buffers& from_;
    Pages pages_;
  };

 private:
  Pages take();
  void give(Pages pages) noexcept;

  const std::size_t size_;
  std::mutex mutex_;
  std::vector<Pages> free_;
};

/// Gathers small things that stand side by side in the file, to put them with one call.
class Gathering {
 public:
  Gathering(Output& output, MutableBytes buffer, std::uint64_t offset) noexcept
      : output_(output), buffer_(buffer), offset_(offset) {}

  /// Anybody's after a flush, until something is taken.
  MutableBytes buffer() const noexcept { return buffer_; }
  /// The next `size` bytes, at most the buffer's size, for the caller to write.
  std::byte* take(std::size_t size) {
    if (buffer_.size() - used_ < size) flush();
    std::byte* const at = buffer_.data() + used_;
    used_ += size;
    return at;
  }
  void flush() {
    if (used_ == 0) return;
    output_.put(offset_, buffer_.first(used_));
    offset_ += used_;
    used_ = 0;
  }
  /// Leaves out what somebody else puts. What was taken has been flushed.
  void skip(std::uint64_t size) noexcept { offset_ += size; }

 private:
  Output& output_;
  MutableBytes buffer_;
  std::uint64_t offset_;
  std::size_t used_ = 0;
};

}  // namespace flambeau::zip
