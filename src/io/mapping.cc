// One private, read-only mapping of the whole file (mmap(2)). The descriptor stays open for `read`.
// A mapping shares the page cache, so that nothing is copied; it is never written through. Views
// share the mapping's owner and may outlive the source.
#include "io/mapping.h"

#include <sys/mman.h>
#include <unistd.h>

#include <utility>

#include "base/checked.h"
#include "base/fail.h"

namespace flambeau {
namespace {

/// Owns the mapped range.
class Mapping {
 public:
  Mapping(void* start, std::size_t size) noexcept : start_(start), size_(size) {}
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  ~Mapping() { ::munmap(start_, size_); }

  Bytes bytes() const noexcept { return {static_cast<const std::byte*>(start_), size_}; }

  /// Gives back the pages that lie whole within the range: others may look at the rest of a page. A
  /// page that is touched again is read from the file again.
  void drop(std::uint64_t offset, std::uint64_t size) const noexcept {
    const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
    const std::uint64_t first = (offset + page - 1) / page * page;
    const std::uint64_t last = (offset + size) / page * page;
    if (first >= last) return;
    ::madvise(static_cast<std::byte*>(start_) + first, last - first, MADV_DONTNEED);
  }

 private:
  void* start_;
  std::size_t size_;
};

class MappedFile final : public Source {
 public:
  MappedFile(File file, std::shared_ptr<const Mapping> mapping)
      : Source(file.path()), file_(std::move(file)), mapping_(std::move(mapping)) {}

  std::uint64_t size() const noexcept override { return file_.size(); }
  void read(std::uint64_t offset, MutableBytes out) const override { file_.read(offset, out); }
  bool in_memory() const noexcept override { return true; }

  Block view(std::uint64_t offset, std::uint64_t size) const override {
    if (!fits(offset, size, file_.size())) {
      fail(ErrorCode::truncated, {name(), offset}, "{} bytes wanted, the file has {} in all", size,
           file_.size());
    }
    return {mapping_->bytes().subspan(offset, size), mapping_};
  }

  void release(std::uint64_t offset, std::uint64_t size) const noexcept override {
    if (fits(offset, size, file_.size())) mapping_->drop(offset, size);
  }

 private:
  File file_;
  std::shared_ptr<const Mapping> mapping_;
};

}  // namespace

SourcePtr map_file(File& file) {
  // mmap(2) refuses a size of 0.
  if (file.size() == 0 || file.size() > SIZE_MAX) return nullptr;
  const auto size = static_cast<std::size_t>(file.size());
  // Private, since the bytes are never changed; not MAP_POPULATE, since few of them may be wanted.
  void* start = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.descriptor(), 0);
  if (start == MAP_FAILED) return nullptr;
  auto mapping = std::make_shared<const Mapping>(start, size);
  return std::make_shared<MappedFile>(std::move(file), std::move(mapping));
}

}  // namespace flambeau
