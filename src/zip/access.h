// The bytes of a source for parsing: in place where the source has them in memory, else read into
// the caller's scratch memory.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/checked.h"
#include "flambeau/io.h"

namespace flambeau::zip {

/// Immutable after construction; safe to use from many threads.
class Access {
 public:
  /// Asks a source in memory once for all its bytes: views of its parts would count owners.
  explicit Access(SourcePtr source)
      : source_(std::move(source)), size_(source_->size()), in_place_(source_->in_memory()) {
    if (in_place_) whole_ = source_->view(0, size_);
  }

  const SourcePtr& source() const noexcept { return source_; }
  const std::string& name() const noexcept { return source_->name(); }
  std::uint64_t size() const noexcept { return size_; }

  /// `size` bytes at `offset`, good as long as `scratch` is left alone. The caller has checked that
  /// they are there. Costs nothing in memory, one `read` otherwise.
  Bytes peek(std::uint64_t offset, std::size_t size, std::vector<std::byte>& scratch) const {
    if (in_place_) return whole_.bytes.subspan(static_cast<std::size_t>(offset), size);
    scratch.resize(size);
    source_->read(offset, scratch);
    return scratch;
  }

  /// The same with an owner.
  Block block(std::uint64_t offset, std::uint64_t size) const {
    if (!in_place_) return source_->view(offset, size);
    return {whole_.bytes.subspan(static_cast<std::size_t>(offset), static_cast<std::size_t>(size)),
            whole_.owner};
  }

 private:
  SourcePtr source_;
  std::uint64_t size_;
  bool in_place_;
  Block whole_;
};

}  // namespace flambeau::zip
