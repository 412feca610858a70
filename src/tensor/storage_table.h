// What a `Storage` handle points into: the storages of one file, or a single piece of memory. The
// containers implement it, so that a handle is a pointer and a number, and a file of a hundred
// thousand storages is one object.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string_view>

#include "base/bytes.h"
#include "base/checked.h"
#include "base/fail.h"
#include "flambeau/tensor.h"

namespace flambeau {

/// Immutable from outside; const members are safe from many threads. See `Storage` for the
/// contracts of the members of the same names.
class StorageTable {
 public:
  virtual ~StorageTable() = default;
  StorageTable() = default;
  StorageTable(const StorageTable&) = delete;
  StorageTable& operator=(const StorageTable&) = delete;

  virtual std::uint64_t size(std::uint32_t index) const noexcept = 0;
  virtual std::string_view key(std::uint32_t) const noexcept { return {}; }
  virtual std::string_view device(std::uint32_t) const noexcept { return "cpu"; }
  virtual bool is_available(std::uint32_t) const noexcept { return true; }
  virtual Bytes bytes(std::uint32_t index) const = 0;
  /// Some of the bytes, and what keeps them alive where that is not the table.
  struct Part {
    Bytes bytes;
    std::shared_ptr<const void> owner;
  };
  /// `size` bytes from `offset`, which lie within the storage. Reads no others where it need not,
  /// and keeps none. Error: `truncated` where the storage has fewer bytes than its size says.
  virtual Part part(std::uint32_t index, std::uint64_t offset, std::uint64_t size) const {
    const Bytes all = bytes(index);
    if (!fits(offset, size, all.size())) {
      fail(ErrorCode::truncated, {key(index)}, "{} bytes at {} of a storage of {}", size, offset,
           all.size());
    }
    return {all.subspan(static_cast<std::size_t>(offset), static_cast<std::size_t>(size)), nullptr};
  }
  virtual void verify(std::uint32_t) const {}
  /// Whether `bytes` gives the bytes without reading or copying any.
  virtual bool is_in_place(std::uint32_t) const noexcept { return true; }
  /// Copies bytes from `offset` on, which lie within the storage. Errors: as `part`.
  virtual void copy_to(std::uint32_t index, std::uint64_t offset, MutableBytes out) const {
    const Part part = this->part(index, offset, out.size());
    std::copy(part.bytes.begin(), part.bytes.end(), out.begin());
  }
  /// The first storage of the table with the very same bytes: usually itself.
  virtual std::uint32_t first_of_same_bytes(std::uint32_t index) const noexcept { return index; }
  /// Whether `check` compares something.
  virtual bool has_checksum(std::uint32_t) const noexcept { return true; }
  /// Compares the CRC-32 of all bytes, taken while they were read, with that of the file, where
  /// there is one. Error: `checksum`.
  virtual void check(std::uint32_t, std::uint32_t) const {}
  virtual std::shared_ptr<void> device_memory(std::uint32_t) const noexcept { return nullptr; }
};

}  // namespace flambeau
