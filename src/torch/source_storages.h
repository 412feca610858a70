// Storages that are runs of a source: those of streams. No checksum tells whether they are sound.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "flambeau/io.h"
#include "tensor/storage_table.h"
#include "torch/device_tags.h"

namespace flambeau {

struct SourceRow {
  static constexpr std::uint64_t kNowhere = UINT64_MAX;
  /// Text of the key, in the pickle.
  std::string_view key;
  std::uint64_t size = 0;
  /// First byte in the source; `kNowhere` until it is known.
  std::uint64_t offset = kNowhere;
  std::uint16_t device = 0;
  DType dtype = DType::u8;
};

/// Rows are added while one thread loads; afterwards the table is immutable but for what it has
/// read, which is guarded.
class SourceStorages final : public StorageTable {
 public:
  /// `pickle` keeps the texts of keys alive.
  SourceStorages(SourcePtr source, std::shared_ptr<const void> pickle)
      : source_(std::move(source)), pickle_(std::move(pickle)) {}

  std::uint32_t add(const SourceRow& row) {
    rows_.push_back(row);
    return row_count() - 1;
  }
  SourceRow& row(std::uint32_t index) noexcept { return rows_[index]; }
  const SourceRow& row(std::uint32_t index) const noexcept { return rows_[index]; }
  std::uint32_t row_count() const noexcept { return static_cast<std::uint32_t>(rows_.size()); }
  DeviceTags& tags() noexcept { return tags_; }

  std::uint64_t size(std::uint32_t index) const noexcept override { return rows_[index].size; }
  std::string_view key(std::uint32_t index) const noexcept override { return rows_[index].key; }
  std::string_view device(std::uint32_t index) const noexcept override {
    return tags_.tag(rows_[index].device);
  }
  bool is_in_place(std::uint32_t) const noexcept override { return source_->in_memory(); }
  Bytes bytes(std::uint32_t index) const override;
  Part part(std::uint32_t index, std::uint64_t offset, std::uint64_t size) const override;
  void copy_to(std::uint32_t index, std::uint64_t offset, MutableBytes out) const override {
    source_->read(rows_[index].offset + offset, out);
  }

 private:
  SourcePtr source_;
  std::shared_ptr<const void> pickle_;
  std::vector<SourceRow> rows_;
  DeviceTags tags_;
  mutable std::mutex mutex_;
  /// What could not be read in place; together no more than the source.
  mutable std::unordered_map<std::uint32_t, Block> kept_;
};

}  // namespace flambeau
