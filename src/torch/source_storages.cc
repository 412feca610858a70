#include "torch/source_storages.h"

namespace flambeau {

Bytes SourceStorages::bytes(std::uint32_t index) const {
  const SourceRow& row = rows_[index];
  if (source_->in_memory()) return source_->view(row.offset, row.size).bytes;
  const std::lock_guard lock(mutex_);
  Block& kept = kept_[index];
  if (kept.owner == nullptr) kept = source_->view(row.offset, row.size);
  return kept.bytes;
}

StorageTable::Part SourceStorages::part(std::uint32_t index, std::uint64_t offset,
                                        std::uint64_t size) const {
  Block block = source_->view(rows_[index].offset + offset, size);
  return {block.bytes, std::move(block.owner)};
}

}  // namespace flambeau
