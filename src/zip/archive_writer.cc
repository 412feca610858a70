// Everything has its place before the first byte is written (zip/record_plan), so that threads can
// write at once (zip/record_writer). Last come the id, which is made of the checksums, and the
// directory with the records behind it (APPNOTE 4.3.12 to 4.3.16). PyTorch writes the ZIP64 ones
// always.
#include <algorithm>
#include <cassert>
#include <limits>
#include <utility>

#include "base/bytes.h"
#include "base/fail.h"
#include "flambeau/archive.h"
#include "io/parallel.h"
#include "zip/record_output.h"
#include "zip/record_plan.h"
#include "zip/record_writer.h"
#include "zip/serialization_id.h"

namespace flambeau {
namespace zip {
namespace {

/// Large enough to make a thread's switch between parts cheap, small enough to share them evenly.
constexpr std::uint64_t kPartSize = std::uint64_t{8} << 20;
constexpr std::size_t kBufferSize = std::size_t{1} << 20;
/// All buffers together. A sixteenth still takes the longest header, of three 16-bit sizes.
constexpr std::size_t kBuffersSize = std::size_t{4} << 20;
constexpr unsigned kMostThreads = 16;
/// Smaller files are written in order by one thread.
constexpr std::uint64_t kSmallFile = std::uint64_t{2} << 20;

constexpr std::string_view kIdName = ".data/serialization_id";
constexpr std::size_t kIdSize = 40;

/// A run of a large record's data.
struct Part {
  std::uint32_t record;
  std::uint32_t crc32;
  std::uint64_t offset;
  std::uint64_t size;
};

/// Functions are asked in order, by one thread.
std::vector<Part> plan_parts(const RecordPlan& plan) {
  std::vector<Part> parts;
  for (std::uint32_t i = 0; i < plan.records().size(); ++i) {
    const PlannedRecord& record = plan.records()[i];
    if (!is_large(record) || record.content == Content::hole) continue;
    const bool is_whole = record.content == Content::filled;
    std::uint64_t step = is_whole ? record.size : kPartSize - record.data_offset() % kPartSize;
    for (std::uint64_t at = 0; at < record.size; at += step, step = kPartSize) {
      parts.push_back({i, 0, at, std::min(step, record.size - at)});
    }
  }
  return parts;
}

/// Where runs of records begin that fill a buffer, large data aside, and where the last ends.
std::vector<std::size_t> plan_runs(const RecordPlan& plan, std::size_t buffer) {
  std::vector<std::size_t> begins;
  std::uint64_t in_run = buffer;
  for (std::size_t i = 0; i < plan.records().size(); ++i) {
    const PlannedRecord& record = plan.records()[i];
    const std::uint64_t size =
        record.header_size() + record.descriptor_size() + (is_large(record) ? 0 : record.size);
    if (in_run + size > buffer) {
      begins.push_back(i);
      in_run = 0;
    }
    in_run += size;
  }
  begins.push_back(plan.records().size());
  return begins;
}

/// What the record's data looks like to PyTorch, which takes every write that begins with a
/// descriptor's signature for a descriptor. A record's data is one such write.
void add_lookalike(const RecordPlan& plan, const PlannedRecord& record, SerializationId& id) {
  std::uint64_t start = 0;
  if (record.content == Content::filled) {
    start = plan.fillings()[record.fill].start;
  } else if (record.content == Content::borrowed && record.size >= sizeof start) {
    start = load_le<std::uint64_t>(record.bytes);
  }
  if (static_cast<std::uint32_t>(start) == kDescriptorSignature) {
    id.add_checksum(static_cast<std::uint32_t>(start >> 32));
  }
}

std::string make_id(const RecordPlan& plan) {
  SerializationId id(plan.records().size());
  for (const PlannedRecord& record : plan.records()) {
    id.add_name(plan.name_in_folder(record));
    if (record.size == 0) continue;
    add_lookalike(plan, record, id);
    id.add_checksum(record.crc32);
  }
  return id.text();
}

/// The half of the id that an archive of the same names has; empty where there is none.
std::string names_half(const RecordPlan& plan, const ArchiveReader& archive) {
  const std::size_t count = plan.records().size();
  constexpr std::size_t kHalf = kIdSize / 2;
  const auto name = [&](std::size_t i) {
    const std::string_view full = archive.record(i).name;
    return full.substr(std::min(archive.folder().size() + 1, full.size()));
  };
  if (archive.folder().empty() || archive.size() != count + 1 || name(count) != kIdName) return {};
  for (std::size_t i = 0; i < count; ++i) {
    if (name(i) != plan.name_in_folder(plan.records()[i])) return {};
  }
  if (archive.record(count).size != kIdSize) return {};
  const Block id = archive.read(count);
  const std::string_view half = as_text(id.bytes).substr(0, kHalf);
  if (half.find_first_not_of("0123456789") != std::string_view::npos) return {};
  return std::string(half);
}

/// One run of `finish`.
class Writing {
 public:
  Writing(RecordPlan& plan, const ArchiveWriterOptions& archive, Sink& sink,
          const WriteOptions& options)
      : plan_(plan),
        archive_(archive),
        options_(options),
        total_(total(plan, archive)),
        is_ordered_(!sink.writes_anywhere() || total_ < kSmallFile),
        threads_(is_ordered_ ? 1 : std::min(thread_count(options.threads), kMostThreads)),
        output_(sink, options, total_, is_ordered_),
        buffers_(threads_, std::min(kBufferSize, kBuffersSize / threads_)),
        records_(plan, archive.checksums, output_) {}

  void run() {
    plan_.check_names();
    if (!is_ordered_) {
      put_large_data();
      write_runs();
    }
    const Buffers::Lease lease(buffers_);
    Gathering gathering(output_, lease.bytes(), is_ordered_ ? 0 : plan_.records_end());
    if (is_ordered_) {
      for (PlannedRecord& record : plan_.records()) records_.write(record, gathering);
    }
    if (archive_.serialization_id) write_id(gathering);
    write_directory(gathering);
    write_end(gathering);
    gathering.flush();
  }

  static std::uint64_t total(const RecordPlan& plan, const ArchiveWriterOptions& archive) {
    return archive.serialization_id ? plan.file_size_with(kIdName, kIdSize) : plan.file_size();
  }

 private:
  void put_large_data() {
    std::vector<Part> parts = plan_parts(plan_);
    const auto put = [&](std::size_t i) {
      Part& part = parts[i];
      const PlannedRecord& record = plan_.records()[part.record];
      const Buffers::Lease lease(buffers_);
      part.crc32 = records_.put_data(record, part.offset, part.size, lease.bytes());
    };
    parallel_for(parts.size(), threads_, put, options_.stop);
    for (const Part& part : parts) {
      std::uint32_t& crc = plan_.records()[part.record].crc32;
      crc = part.offset == 0 ? part.crc32 : crc32_combine(crc, part.crc32, part.size);
    }
  }

  void write_runs() {
    const std::vector<std::size_t> begins = plan_runs(plan_, buffers_.size());
    const auto write = [&](std::size_t i) {
      const Buffers::Lease lease(buffers_);
      Gathering gathering(output_, lease.bytes(), plan_.records()[begins[i]].header_offset);
      for (std::size_t k = begins[i]; k < begins[i + 1]; ++k) {
        records_.write(plan_.records()[k], gathering);
      }
      gathering.flush();
    };
    parallel_for(begins.size() - 1, threads_, write, options_.stop);
  }

  void write_id(Gathering& gathering) {
    std::string id = make_id(plan_);
    if (options_.predecessor != nullptr) {
      const std::string half = names_half(plan_, *options_.predecessor);
      id.replace(0, half.size(), half);
    }
    PlannedRecord& record = plan_.add(kIdName, id.size());
    record.bytes = as_bytes(id).data();
    records_.write(record, gathering);
  }

  void write_directory(Gathering& gathering) const {
    for (const PlannedRecord& record : plan_.records()) {
      write_entry(record, plan_.name(record), gathering.take(record.entry_size()));
    }
  }

  void write_end(Gathering& gathering) const {
    Zip64EndRecord zip64;
    zip64.disk_entries = zip64.entries = plan_.records().size();
    zip64.directory_size = plan_.directory_size();
    zip64.directory_offset = plan_.records_end();
    emit_zip64_end_record(gathering.take(kZip64EndSize), zip64);
    Zip64Locator locator;
    locator.record_offset = plan_.records_end() + plan_.directory_size();
    locator.disks = 1;
    emit_zip64_locator(gathering.take(kLocatorSize), locator);
    EndRecord end;
    end.disk_entries = end.entries = saturate<std::uint16_t>(zip64.entries);
    end.directory_size = saturate<std::uint32_t>(zip64.directory_size);
    end.directory_offset = saturate<std::uint32_t>(zip64.directory_offset);
    emit_end_record(gathering.take(kEndSize), end);
  }

  /// All ones where the number does not fit: it stands in the ZIP64 record.
  template <typename T>
  static T saturate(std::uint64_t number) noexcept {
    return static_cast<T>(std::min<std::uint64_t>(number, std::numeric_limits<T>::max()));
  }

  RecordPlan& plan_;
  const ArchiveWriterOptions& archive_;
  const WriteOptions& options_;
  const std::uint64_t total_;
  const bool is_ordered_;
  const unsigned threads_;
  Output output_;
  Buffers buffers_;
  RecordWriter records_;
};

}  // namespace
}  // namespace zip

struct ArchiveWriter::State {
  explicit State(const ArchiveWriterOptions& given) : options(given), plan(given) {}

  zip::PlannedRecord& add(std::string_view name, std::uint64_t size) {
    if (options.serialization_id && name == zip::kIdName) {
      fail(ErrorCode::usage, {name}, "this record is written by itself, after all others");
    }
    return plan.add(name, size);
  }

  const ArchiveWriterOptions options;
  zip::RecordPlan plan;
  bool is_finished = false;
};

ArchiveWriter::ArchiveWriter(const ArchiveWriterOptions& options)
    : state_(std::make_unique<State>(options)) {}
ArchiveWriter::~ArchiveWriter() = default;
ArchiveWriter::ArchiveWriter(ArchiveWriter&&) noexcept = default;
ArchiveWriter& ArchiveWriter::operator=(ArchiveWriter&&) noexcept = default;

void ArchiveWriter::add(std::string_view name, std::span<const std::byte> bytes, bool checksum) {
  zip::PlannedRecord& record = state_->add(name, bytes.size());
  record.bytes = bytes.data();
  record.has_checksum = checksum;
}

void ArchiveWriter::add(std::string_view name, std::uint64_t size, FillFunction fill,
                        bool checksum) {
  assert(fill && "a record of a function needs one");
  zip::PlannedRecord& record = state_->add(name, size);
  record.content = zip::Content::filled;
  record.has_checksum = checksum;
  record.fill = static_cast<std::uint32_t>(state_->plan.fillings().size());
  state_->plan.fillings().push_back({std::move(fill)});
}

void ArchiveWriter::add_hole(std::string_view name, std::uint64_t size) {
  state_->add(name, size).content = zip::Content::hole;
}

void ArchiveWriter::reserve(std::size_t count) {
  // One more for the id.
  state_->plan.reserve(count + 1);
}

std::size_t ArchiveWriter::size() const noexcept { return state_->plan.records().size(); }

std::optional<std::uint32_t> ArchiveWriter::checksum(std::size_t index) const noexcept {
  const zip::PlannedRecord& record = state_->plan.records()[index];
  const bool has_one =
      state_->options.checksums && record.has_checksum && record.content != zip::Content::hole;
  return has_one ? std::optional(record.crc32) : std::nullopt;
}

std::uint64_t ArchiveWriter::file_size() const {
  return zip::Writing::total(state_->plan, state_->options);
}

void ArchiveWriter::finish(Sink& sink, const WriteOptions& options) {
  assert(!state_->is_finished && "an archive is written once");
  state_->is_finished = true;
  zip::Writing(state_->plan, state_->options, sink, options).run();
}

}  // namespace flambeau
