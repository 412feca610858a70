// The sources that need no system call of their own: files that are read, memory, and parts of
// other sources. `view` of a source that has nothing in memory is one allocation and one `read`.
#include <utility>

#include "base/checked.h"
#include "base/fail.h"
#include "flambeau/io.h"
#include "io/file.h"
#include "io/mapping.h"
#include "io/pages.h"

namespace flambeau {
namespace {

/// A file of which nothing is in memory.
class ReadFile final : public Source {
 public:
  explicit ReadFile(File file) : Source(file.path()), file_(std::move(file)) {}

  std::uint64_t size() const noexcept override { return file_.size(); }
  void read(std::uint64_t offset, MutableBytes out) const override { file_.read(offset, out); }

 private:
  File file_;
};

/// Bytes that are there already; `owner` is null where the caller keeps them.
class Memory final : public Source {
 public:
  Memory(Block block, std::string name) : Source(std::move(name)), block_(std::move(block)) {}

  std::uint64_t size() const noexcept override { return block_.bytes.size(); }
  bool in_memory() const noexcept override { return true; }

  void read(std::uint64_t offset, MutableBytes out) const override {
    const Bytes bytes = part(offset, out.size());
    std::copy(bytes.begin(), bytes.end(), out.begin());
  }

  Block view(std::uint64_t offset, std::uint64_t size) const override {
    return {part(offset, size), block_.owner};
  }

 private:
  Bytes part(std::uint64_t offset, std::uint64_t size) const {
    if (!fits(offset, size, block_.bytes.size())) {
      fail(ErrorCode::truncated, {name(), offset}, "{} bytes wanted, there are {} in all", size,
           block_.bytes.size());
    }
    return block_.bytes.subspan(static_cast<std::size_t>(offset), static_cast<std::size_t>(size));
  }

  Block block_;
};

/// Checks against its own size, so that the whole is never read outside the part. `slice` has
/// compared the part with the whole: no sum below can overflow.
class Slice final : public Source {
 public:
  Slice(SourcePtr whole, std::uint64_t offset, std::uint64_t size, std::string name)
      : Source(std::move(name)), whole_(std::move(whole)), offset_(offset), size_(size) {}

  std::uint64_t size() const noexcept override { return size_; }
  bool in_memory() const noexcept override { return whole_->in_memory(); }

  void read(std::uint64_t offset, MutableBytes out) const override {
    check(offset, out.size());
    whole_->read(offset_ + offset, out);
  }

  Block view(std::uint64_t offset, std::uint64_t size) const override {
    check(offset, size);
    return whole_->view(offset_ + offset, size);
  }

  void release(std::uint64_t offset, std::uint64_t size) const noexcept override {
    if (fits(offset, size, size_)) whole_->release(offset_ + offset, size);
  }

 private:
  void check(std::uint64_t offset, std::uint64_t size) const {
    if (fits(offset, size, size_)) return;
    fail(ErrorCode::truncated, {name(), offset}, "{} bytes wanted, the part has {} in all", size,
         size_);
  }

  SourcePtr whole_;
  std::uint64_t offset_;
  std::uint64_t size_;
};

}  // namespace

/// For sources that have nothing in memory, the caller's own among them.
Block Source::view(std::uint64_t offset, std::uint64_t size) const {
  // A declared size must be there before memory is taken for it.
  if (!fits(offset, size, this->size())) {
    fail(ErrorCode::truncated, {name(), offset}, "{} bytes wanted, there are {} in all", size,
         this->size());
  }
  Pages pages = allocate_pages(size);
  read(offset, pages.bytes);
  return {pages.bytes, std::move(pages.owner)};
}

void Source::release(std::uint64_t, std::uint64_t) const noexcept {}

SourcePtr open_file(const std::string& path, const FileOptions& options) {
  File file = File::open(path);
  // What cannot be mapped (an empty file, a file system without mappings) can still be read.
  if (options.mapped) {
    if (SourcePtr mapped = map_file(file)) return mapped;
  }
  return std::make_shared<ReadFile>(std::move(file));
}

// Borrowed and owned bytes differ in the owner alone; an empty one keeps nothing.

SourcePtr borrow_memory(Bytes bytes, std::string name) {
  return std::make_shared<Memory>(Block{bytes, nullptr}, std::move(name));
}

SourcePtr own_memory(Block block, std::string name) {
  return std::make_shared<Memory>(std::move(block), std::move(name));
}

SourcePtr slice(SourcePtr whole, std::uint64_t offset, std::uint64_t size, std::string name) {
  if (!fits(offset, size, whole->size())) {
    fail(ErrorCode::truncated, {whole->name(), offset},
         "a part of {} bytes is wanted, there are {}", size, whole->size());
  }
  return std::make_shared<Slice>(std::move(whole), offset, size, std::move(name));
}

}  // namespace flambeau
