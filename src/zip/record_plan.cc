// Names are checked as PyTorch's writer checks them: not empty, no leading '/', none twice
// (`PyTorchStreamWriter::writeRecord`, and miniz, `mz_zip_writer_validate_archive_name`).
#include "zip/record_plan.h"

#include <optional>

#include "base/checked.h"
#include "base/fail.h"
#include "zip/entry_name.h"
#include "zip/name_table.h"
#include "zip/notes.h"

namespace flambeau::zip {
namespace {

/// Name and extra fields have 16-bit sizes.
constexpr std::size_t kMost16 = UINT16_MAX;
/// As many as a name table takes.
constexpr std::size_t kMostRecords = std::size_t{1} << 31;
/// No file is larger (off_t), and sums with what stands around the data cannot overflow.
constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 62;

void check_name(std::string_view name, std::size_t full_size) {
  if (name.empty()) fail(ErrorCode::usage, {}, "a record without a name");
  if (name.front() == '/') {
    fail(ErrorCode::usage, {shown(name)}, "a record's name must not begin with '/'");
  }
  if (full_size > kMost16) {
    fail(ErrorCode::usage, {shown(name)}, "a name of {} bytes with the folder, zip has room for {}",
         full_size, kMost16);
  }
}

}  // namespace

RecordPlan::RecordPlan(const ArchiveWriterOptions& options)
    : folder_(options.folder), alignment_(options.alignment) {
  if (alignment_ == 0) fail(ErrorCode::usage, {}, "an alignment of 0");
  if (folder_.empty() || folder_.front() == '/') {
    fail(ErrorCode::usage, {}, "an archive's folder must have a name, without '/' in front");
  }
}

/// The padding starts behind its own header, so `start` counts that.
PlannedRecord RecordPlan::place(std::string_view name, std::uint64_t size) const {
  const std::size_t full_size = folder_.size() + 1 + name.size();
  check_name(name, full_size);
  if (size > kMostBytes || records_end_ > kMostBytes || records_.size() == kMostRecords) {
    fail(ErrorCode::limit, {shown(name)}, "a record of {} bytes at {} is more than a file can hold",
         size, records_end_);
  }
  PlannedRecord record;
  record.header_offset = records_end_;
  record.size = size;
  record.name_begin = names_.size();
  record.name_size = static_cast<std::uint16_t>(full_size);
  const std::uint64_t padding = (alignment_ - record.data_offset() % alignment_) % alignment_;
  if (record.extra_size() + padding > kMost16) {
    fail(ErrorCode::usage, {shown(name)},
         "an alignment of {} bytes takes {} bytes of padding here, zip has room for {}", alignment_,
         padding, kMost16 - record.extra_size());
  }
  record.padding = static_cast<std::uint16_t>(padding);
  return record;
}

PlannedRecord& RecordPlan::add(std::string_view name, std::uint64_t size) {
  const PlannedRecord record = place(name, size);
  names_.append(folder_).append(1, '/').append(name);
  records_end_ = record.data_end() + record.descriptor_size();
  directory_size_ += record.entry_size();
  return records_.emplace_back(record);
}

std::uint64_t RecordPlan::file_size_with(std::string_view name, std::uint64_t size) const {
  const PlannedRecord record = place(name, size);
  return file_size() + (record.data_end() + record.descriptor_size() - records_end_) +
         record.entry_size();
}

void RecordPlan::check_names() const {
  NameTable table(records_.size());
  const HashSeed seed = process_seed();
  for (std::uint32_t i = 0; i < records_.size(); ++i) {
    const std::string_view own = name(records_[i]);
    const auto is_same = [&](std::uint32_t other) { return name(records_[other]) == own; };
    if (table.find_or_add(scan_name(own, seed).hash, i, is_same)) {
      fail(ErrorCode::usage, {shown(own)}, "two records have this name");
    }
  }
}

}  // namespace flambeau::zip
