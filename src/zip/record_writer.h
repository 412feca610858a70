// Planned records as they stand in the file.
//
// Small records are gathered, header, data and descriptor, many of them to a put. The data of large
// ones is put from where it lies, in pieces whose checksum is taken right before, so that the
// processor's cache has them for both. Where order does not matter that is done first and by many
// threads; what stands between large data is written when all checksums are known.
#pragma once

#include <cstdint>

#include "zip/record_output.h"
#include "zip/record_plan.h"

namespace flambeau::zip {

/// Below this, copying to a buffer is cheaper than a call of the system.
inline constexpr std::uint64_t kLargeData = std::uint64_t{64} << 10;

constexpr bool is_large(const PlannedRecord& record) noexcept { return record.size >= kLargeData; }

/// Used from many threads at once, each with records of its own.
class RecordWriter {
 public:
  RecordWriter(RecordPlan& plan, bool checksums, Output& output) noexcept
      : plan_(plan), checksums_(checksums), output_(output) {}

  /// Writes all of a record that is not large. Of a large one, its data only where the output is
  /// ordered: otherwise that is put by `put_data`, and `crc32` of the record is set.
  void write(PlannedRecord& record, Gathering& gathering);
  /// Puts bytes of a record's data and gives their checksum. `buffer` is for what is made.
  std::uint32_t put_data(const PlannedRecord& record, std::uint64_t offset, std::uint64_t size,
                         MutableBytes buffer);

 private:
  void write_header(const PlannedRecord& record, std::byte* at) const;
  void write_large(PlannedRecord& record, Gathering& gathering);
  /// Writes bytes of a record's data to `out`.
  void make(const PlannedRecord& record, std::uint64_t offset, MutableBytes out);
  std::uint32_t checksum(const PlannedRecord& record, Bytes bytes, std::uint32_t seed) const;

  RecordPlan& plan_;
  const bool checksums_;
  Output& output_;
};

/// Writes a record's entry of the directory to `at`.
void write_entry(const PlannedRecord& record, std::string_view name, std::byte* at);

}  // namespace flambeau::zip
