// The records of an archive that is to be written, each with its place in the file. Sizes are known
// when a record is added, so places are, too.
//
//   local header 30 | name | ZIP64 field | padding field | data | descriptor
//
// The padding field (id "FB", filled with 'Z') stands in every record and makes its data start at a
// multiple of the alignment (caffe2/serialize/inline_container.cc, `getPadding`). The descriptor
// and its flag are missing from records without data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "flambeau/archive.h"
#include "zip/records.h"

namespace flambeau::zip {

/// Where a record's bytes come from.
enum class Content : std::uint8_t {
  borrowed,  ///< the caller's memory
  filled,    ///< a function of the caller's
  hole,      ///< nowhere: zeros that need not be written
};

/// 48 bytes, of which a file has up to millions.
struct PlannedRecord {
  std::uint64_t header_offset = 0;
  std::uint64_t size = 0;
  const std::byte* bytes = nullptr;
  /// Of the full name, within `RecordPlan::name`'s text.
  std::uint64_t name_begin = 0;
  /// Known once the data has been seen.
  std::uint32_t crc32 = 0;
  /// Which of the functions.
  std::uint32_t fill = 0;
  std::uint16_t name_size = 0;
  std::uint16_t padding = 0;
  Content content = Content::borrowed;
  /// Whether it gets one where records do.
  bool has_checksum = true;

  std::size_t zip64_size() const noexcept { return zip64_field_size(size, header_offset); }
  std::size_t extra_size() const noexcept { return zip64_size() + kFieldHeader + padding; }
  /// With name and extra fields.
  std::size_t header_size() const noexcept { return kLocalSize + name_size + extra_size(); }
  std::uint64_t data_offset() const noexcept { return header_offset + header_size(); }
  std::uint64_t data_end() const noexcept { return data_offset() + size; }
  std::size_t descriptor_size() const noexcept {
    if (size == 0) return 0;
    return zip64_size() > 0 ? kZip64DescriptorSize : kDescriptorSize;
  }
  /// Its entry in the directory.
  std::size_t entry_size() const noexcept { return kCentralSize + name_size + zip64_size(); }
  std::uint16_t flags() const noexcept {
    return size > 0 ? kUtf8Name | kHasDescriptor : +kUtf8Name;
  }
};

/// A function that makes a record's bytes, and what its first bytes were.
struct Filling {
  FillFunction fill;
  std::uint64_t start = 0;
};

class RecordPlan {
 public:
  explicit RecordPlan(const ArchiveWriterOptions& options);

  /// Errors: `usage` for a name that PyTorch would refuse or that is too long, and for an alignment
  /// that no extra field can reach; `limit`.
  PlannedRecord& add(std::string_view name, std::uint64_t size);
  /// Error: `usage` where two records have one name.
  void check_names() const;

  const std::vector<PlannedRecord>& records() const noexcept { return records_; }
  std::vector<PlannedRecord>& records() noexcept { return records_; }
  /// Room for so many records.
  void reserve(std::size_t count) { records_.reserve(count); }
  /// A deque, so that functions stay where they are.
  const std::deque<Filling>& fillings() const noexcept { return fillings_; }
  std::deque<Filling>& fillings() noexcept { return fillings_; }

  /// The full name.
  std::string_view name(const PlannedRecord& record) const noexcept {
    return {names_.data() + record.name_begin, record.name_size};
  }
  std::string_view name_in_folder(const PlannedRecord& record) const noexcept {
    return name(record).substr(folder_.size() + 1);
  }

  /// Where the records end and the directory begins.
  std::uint64_t records_end() const noexcept { return records_end_; }
  std::uint64_t directory_size() const noexcept { return directory_size_; }
  /// The whole file's, if `name` of `size` bytes were its last record.
  std::uint64_t file_size_with(std::string_view name, std::uint64_t size) const;
  std::uint64_t file_size() const noexcept {
    return records_end_ + directory_size_ + kZip64EndSize + kLocatorSize + kEndSize;
  }

 private:
  PlannedRecord place(std::string_view name, std::uint64_t size) const;

  std::string folder_;
  std::uint32_t alignment_;
  std::vector<PlannedRecord> records_;
  std::string names_;
  std::deque<Filling> fillings_;
  std::uint64_t records_end_ = 0;
  std::uint64_t directory_size_ = 0;
};

}  // namespace flambeau::zip
