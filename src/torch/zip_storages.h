// The storages of one zip archive: the table that tensors' handles point into, and the step from a
// persistent id to a row of it (torch/serialization.py, `persistent_load` of `_load`).
//
//   ('storage', torch.FloatStorage, '0', 'cpu', 12)
//     -> a row: record `data/0`, 48 bytes, float32, location "cpu"
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/arena.h"
#include "flambeau/archive.h"
#include "flambeau/limits.h"
#include "tensor/storage_table.h"
#include "torch/device_tags.h"

namespace flambeau {

/// One storage as the first reference to it describes it.
struct StorageRow {
  static constexpr std::uint32_t kNoRecord = UINT32_MAX;
  /// Text of the key, in the pickle or in the table's own arena.
  std::string_view key;
  std::uint64_t size = 0;
  /// Ordinal in the archive; `kNoRecord` where the archive lacks the record.
  std::uint32_t record = kNoRecord;
  /// The next row of the same key: another element type with another size (PyTorch >= 2.14 reads
  /// the record once more for it). 0 is the end.
  std::uint32_t next = 0;
  /// The first row of the same key.
  std::uint32_t first = 0;
  /// Ordinal among the table's location tags.
  std::uint16_t device = 0;
  DType dtype = DType::u8;
};

struct ZipStorageOptions {
  /// Whether copies check checksums.
  bool verify = true;
  /// `most_from` the file's size bounds what is kept of records that are not read in place.
  Limits limits;
};

/// Rows are added while one thread loads; afterwards the table is immutable but for what it has
/// read and verified, which is guarded.
class ZipStorages : public StorageTable {
 public:
  /// Keys are mostly texts of the pickle, so a share in its bytes is kept.
  ZipStorages(ArchiveReader archive, Block pickle, const ZipStorageOptions& options);

  std::uint32_t add(StorageRow row) {
    row.first = row_count();
    rows_.push_back(row);
    return row_count() - 1;
  }
  StorageRow& row(std::uint32_t index) noexcept { return rows_[index]; }
  const StorageRow& row(std::uint32_t index) const noexcept { return rows_[index]; }
  std::uint32_t row_count() const noexcept { return static_cast<std::uint32_t>(rows_.size()); }
  /// The text, or a copy of it, that lives as long as the table.
  std::string_view keep(std::string_view text);
  DeviceTags& tags() noexcept { return tags_; }
  /// Call once, when all rows are there.
  void finish();

  const ArchiveReader& archive() const noexcept { return archive_; }
  /// Whether copies check checksums.
  bool verifies() const noexcept { return verify_; }
  /// Whether `verify` would find nothing left to do.
  bool is_verified(std::uint32_t index) const noexcept;
  void mark_verified(std::uint32_t index) const noexcept;
  /// Compares the checksum of a whole record, taken while it was read. Error: `checksum`.
  void check(std::uint32_t index, std::uint32_t crc) const override;
  bool has_checksum(std::uint32_t index) const noexcept override;
  bool is_in_place(std::uint32_t index) const noexcept override;
  std::uint32_t first_of_same_bytes(std::uint32_t index) const noexcept override {
    return rows_[index].first;
  }

  std::uint64_t size(std::uint32_t index) const noexcept override { return rows_[index].size; }
  std::string_view key(std::uint32_t index) const noexcept override { return rows_[index].key; }
  std::string_view device(std::uint32_t index) const noexcept override;
  bool is_available(std::uint32_t index) const noexcept override;
  Bytes bytes(std::uint32_t index) const override;
  Part part(std::uint32_t index, std::uint64_t offset, std::uint64_t size) const override;
  void verify(std::uint32_t index) const override;

 private:
  /// A record that could not be read in place; empty until the first reader fills it.
  struct Kept {
    std::mutex mutex;
    Block block;
  };

  Block load(std::uint32_t index) const;
  Kept& place_to_keep(std::uint32_t index) const;
  std::string name_of(std::uint32_t index) const;

  ArchiveReader archive_;
  Block pickle_;
  bool verify_;
  std::uint64_t most_kept_;
  std::pmr::vector<StorageRow> rows_;
  DeviceTags tags_;
  Arena<char> texts_;
  std::unique_ptr<std::atomic<bool>[]> verified_;
  mutable std::mutex mutex_;
  // Places never move.
  mutable std::unordered_map<std::uint32_t, Kept> kept_;
  mutable std::uint64_t kept_bytes_ = 0;
};

}  // namespace flambeau
