// Bytes of storages: in place where the record is stored and the source in memory, else read (and
// inflated) once and kept. A record that is longer than the first reference claims is cut to the
// claim, as PyTorch up to 2.6 did; a shorter one was refused when the row was made.
#include "torch/zip_storages.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "base/budget.h"
#include "base/fail.h"
#include "io/pages.h"

namespace flambeau {

ZipStorages::ZipStorages(ArchiveReader archive, Block pickle, const ZipStorageOptions& options)
    : archive_(std::move(archive)),
      pickle_(std::move(pickle)),
      verify_(options.verify),
      most_kept_(most_from(archive_.source()->size(), options.limits)),
      rows_(page_memory()) {
  rows_.reserve(archive_.size());
}

/// Nearly every key stands in the pickle, which the table keeps alive anyway.
std::string_view ZipStorages::keep(std::string_view text) {
  const std::less_equal<const char*> not_after;
  const std::string_view pickle = as_text(pickle_.bytes);
  const bool is_in_pickle = not_after(pickle.data(), text.data()) &&
                            not_after(text.data() + text.size(), pickle.data() + pickle.size());
  if (is_in_pickle) return text;
  const auto copy = texts_.take(text.size());
  std::copy(text.begin(), text.end(), copy.begin());
  return {copy.data(), copy.size()};
}

/// Nothing is verified yet: value-initialised flags are false.
void ZipStorages::finish() { verified_ = std::make_unique<std::atomic<bool>[]>(rows_.size()); }

/// Before all rows are there nothing is remembered: functions that restore storages to devices read
/// them while the file is being loaded.
bool ZipStorages::is_verified(std::uint32_t index) const noexcept {
  return !verify_ || (verified_ && verified_[index].load(std::memory_order_acquire));
}

void ZipStorages::mark_verified(std::uint32_t index) const noexcept {
  if (verified_) verified_[index].store(true, std::memory_order_release);
}

std::string_view ZipStorages::device(std::uint32_t index) const noexcept {
  return tags_.tag(rows_[index].device);
}

bool ZipStorages::is_available(std::uint32_t index) const noexcept {
  return rows_[index].record != StorageRow::kNoRecord;
}

std::string ZipStorages::name_of(std::uint32_t index) const {
  const std::uint32_t record = rows_[index].record;
  if (record != StorageRow::kNoRecord) {
    return std::string(archive_.record(record).name.substr(archive_.folder().size() + 1));
  }
  return "data/" + std::string(rows_[index].key);
}

/// Records may overlap, so together they could become more than any one of them may.
ZipStorages::Kept& ZipStorages::place_to_keep(std::uint32_t index) const {
  const std::lock_guard lock(mutex_);
  const auto [found, is_new] = kept_.try_emplace(index);
  if (!is_new) return found->second;
  const std::uint64_t size = archive_.record(rows_[index].record).size;
  if (size > most_kept_ - kept_bytes_) {
    kept_.erase(found);
    fail(ErrorCode::limit, {name_of(index)},
         "with this record's {} bytes more than {} would be held in memory", size, most_kept_);
  }
  kept_bytes_ += size;
  return found->second;
}

/// Reading under the place's lock keeps two threads from inflating one record twice, and lets them
/// inflate two records at once.
Block ZipStorages::load(std::uint32_t index) const {
  const StorageRow& row = rows_[index];
  if (row.record == StorageRow::kNoRecord) {
    fail(ErrorCode::not_found, {name_of(index)}, "the archive has no such record");
  }
  if (is_in_place(index)) return archive_.read(row.record, false);
  Kept& kept = place_to_keep(index);
  const std::lock_guard lock(kept.mutex);
  if (kept.block.owner == nullptr) {
    const bool check = !is_verified(index);
    kept.block = archive_.read(row.record, check);
    if (check) mark_verified(index);
  }
  return kept.block;
}

Bytes ZipStorages::bytes(std::uint32_t index) const {
  const StorageRow& row = rows_[index];
  return load(index).bytes.first(static_cast<std::size_t>(row.size));
}

/// A deflated record has to be inflated whole.
StorageTable::Part ZipStorages::part(std::uint32_t index, std::uint64_t offset,
                                     std::uint64_t size) const {
  const std::uint32_t record = rows_[index].record;
  const bool reads_all = record == StorageRow::kNoRecord || archive_.source()->in_memory() ||
                         !archive_.record(record).is_stored();
  if (reads_all) return StorageTable::part(index, offset, size);
  Block block = archive_.source()->view(archive_.data_offset(record) + offset, size);
  return {block.bytes, std::move(block.owner)};
}

/// Two threads may both check one record; the result is the same.
void ZipStorages::verify(std::uint32_t index) const {
  if (is_verified(index)) return;
  archive_.verify(rows_[index].record, load(index).bytes);
  mark_verified(index);
}

bool ZipStorages::is_in_place(std::uint32_t index) const noexcept {
  return is_available(index) && archive_.source()->in_memory() &&
         archive_.record(rows_[index].record).is_stored();
}

bool ZipStorages::has_checksum(std::uint32_t index) const noexcept {
  return is_available(index) && archive_.record(rows_[index].record).has_checksum();
}

/// For readers that have copied all of a record and taken its checksum on the way.
void ZipStorages::check(std::uint32_t index, std::uint32_t crc) const {
  if (!verify_) return;
  const Record record = archive_.record(rows_[index].record);
  // A record that is longer than its storage was only read in part.
  if (record.size != rows_[index].size) return verify(index);
  if (record.has_checksum() && record.crc32 != crc) {
    fail(ErrorCode::checksum, {record.name}, "CRC-32 is {:08x}, the directory says {:08x}", crc,
         record.crc32);
  }
  mark_verified(index);
}

}  // namespace flambeau
