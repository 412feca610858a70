// The end record is the last "PK\5\6" of the search window that has room for 22 bytes; its comment
// size is not believed. A ZIP64 locator right before it leads to the ZIP64 end record, whose
// numbers then count; a locator that leads to something else is passed over (miniz,
// `mz_zip_reader_read_central_dir`). All offsets count from the start of the file: unlike some
// readers, PyTorch does not look for the directory where it would stand in a file with other data
// before it. Each such difference between readers is noted.
#include "zip/end_records.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "base/fail.h"
#include "zip/records.h"

namespace flambeau::zip {
namespace {

using enum Note::Severity;

/// First steps are small, as most end records are the last 22 bytes.
constexpr std::uint64_t kFirstLook = 1024;

/// The last position in `bytes` at which a whole end record can start.
std::optional<std::size_t> last_end_record(Bytes bytes) noexcept {
  if (bytes.size() < kEndSize) return std::nullopt;
  for (std::size_t i = bytes.size() - kEndSize + 1; i-- > 0;) {
    if (load_le<std::uint32_t>(bytes.data() + i) == kEndSignature) return i;
  }
  return std::nullopt;
}

/// A file that begins as an archive was cut; any other never was one.
[[noreturn]] void fail_without_end(const Access& file) {
  std::vector<std::byte> scratch;
  const bool starts_as_zip =
      file.size() >= 4 &&
      load_le<std::uint32_t>(file.peek(0, 4, scratch).data()) == kLocalSignature;
  if (!starts_as_zip) {
    fail(ErrorCode::malformed_zip, {file.name()}, "no zip archive: no end record in its {} bytes",
         file.size());
  }
  fail(ErrorCode::truncated, {file.name(), file.size()},
       "no end record in the last {} bytes: the file is cut short, or other data follows it",
       std::min(file.size(), kSearchWindow));
}

std::uint64_t find_end_record(const Access& file) {
  std::vector<std::byte> scratch;
  for (const std::uint64_t window : {kFirstLook, kSearchWindow}) {
    const std::uint64_t size = std::min(window, file.size());
    const std::uint64_t start = file.size() - size;
    const Bytes tail = file.peek(start, static_cast<std::size_t>(size), scratch);
    if (const auto found = last_end_record(tail)) return start + *found;
  }
  fail_without_end(file);
}

/// Both end records in one form, as ZIP64 only widens the numbers.
struct Numbers {
  std::uint64_t disk;
  std::uint64_t directory_disk;
  std::uint64_t disk_entries;
  std::uint64_t entries;
  std::uint64_t size;
  std::uint64_t offset;
};

class Finder {
 public:
  Finder(const Access& file, NoteList& notes) : file_(file), notes_(notes) {}

  DirectoryPlace find() {
    at_ = find_end_record(file_);
    const EndRecord record = parse_end_record(peek(at_, kEndSize).data());
    numbers_ = {record.disk,    record.directory_disk, record.disk_entries,
                record.entries, record.directory_size, record.directory_offset};
    first_ = at_;
    look_for_zip64(record);
    check_counts();
    DirectoryPlace place = make_place();
    note_surroundings(place, record);
    return place;
  }

 private:
  // Good until the next one: each record is parsed before another is looked at.
  Bytes peek(std::uint64_t offset, std::size_t size) { return file_.peek(offset, size, scratch_); }
  Place place_at(std::uint64_t offset) const { return {file_.name(), offset}; }

  void look_for_zip64(const EndRecord& record) {
    // Both of them have to fit before the end record.
    if (at_ < kLocatorSize + kZip64EndSize) return;
    // The locator has a fixed place, right before the end record.
    const std::uint64_t locator_at = at_ - kLocatorSize;
    const Zip64Locator locator = parse_zip64_locator(peek(locator_at, kLocatorSize).data());
    if (locator.signature != kLocatorSignature) return;
    if (locator.record_offset > file_.size() - kZip64EndSize) {
      fail(ErrorCode::malformed_zip, place_at(locator_at),
           "the ZIP64 locator leads to {}, the file has {} bytes", locator.record_offset,
           file_.size());
    }
    const Zip64EndRecord zip64 =
        parse_zip64_end_record(peek(locator.record_offset, kZip64EndSize).data());
    if (zip64.signature != kZip64EndSignature) {
      notes_.add(ambiguity, "", "a ZIP64 locator leads to {}, where no ZIP64 end record is",
                 locator.record_offset);
      return;
    }
    first_ = locator.record_offset;
    take_zip64(zip64, locator);
    note_zip64(zip64, record, locator_at);
  }

  void take_zip64(const Zip64EndRecord& zip64, const Zip64Locator& locator) {
    constexpr std::uint64_t kCounted = 12;  // signature and size field do not count themselves
    if (zip64.record_size < kZip64EndSize - kCounted) {
      fail(ErrorCode::malformed_zip, place_at(first_),
           "the ZIP64 end record claims a size of {} bytes, at least 44 are needed",
           zip64.record_size);
    }
    if (locator.disks != 1) {
      fail(ErrorCode::unsupported, place_at(at_ - kLocatorSize),
           "the archive claims to stand on {} disks", locator.disks);
    }
    numbers_ = {zip64.disk,    zip64.directory_disk, zip64.disk_entries,
                zip64.entries, zip64.directory_size, zip64.directory_offset};
  }

  void note_zip64(const Zip64EndRecord& zip64, const EndRecord& record, std::uint64_t locator_at) {
    const auto differs = [](std::uint64_t small, std::uint64_t sentinel, std::uint64_t large) {
      return small != sentinel && small != large;
    };
    if (differs(record.disk, kSentinel16, zip64.disk) ||
        differs(record.directory_disk, kSentinel16, zip64.directory_disk) ||
        differs(record.disk_entries, kSentinel16, zip64.disk_entries) ||
        differs(record.entries, kSentinel16, zip64.entries) ||
        differs(record.directory_size, kSentinel32, zip64.directory_size) ||
        differs(record.directory_offset, kSentinel32, zip64.directory_offset)) {
      notes_.add(ambiguity, "", "the end record and the ZIP64 end record disagree");
    }
    // A locator that leads to an earlier archive's record leaves a gap; the difference may wrap,
    // and then differs all the more.
    constexpr std::uint64_t kCounted = 12;
    if (zip64.record_size != locator_at - first_ - kCounted) {
      notes_.add(ambiguity, "", "the ZIP64 end record does not reach up to its locator");
    }
    constexpr unsigned kNewestVersion = 63;  // APPNOTE 4.4.3.2: 6.3
    if ((zip64.version_needed & 0xff) > kNewestVersion) {
      notes_.add(ambiguity, "", "the ZIP64 end record asks for a reader of version {}",
                 zip64.version_needed);
    }
  }

  void check_counts() {
    if (numbers_.disk != 0 || numbers_.directory_disk != 0) {
      fail(ErrorCode::unsupported, place_at(at_), "the archive is split over several disks");
    }
    // PyTorch refuses this, too; other readers take one number or the other.
    if (numbers_.disk_entries != numbers_.entries) {
      fail(ErrorCode::malformed_zip, place_at(at_),
           "{} entries stand on this disk, {} on all, and there is one disk", numbers_.disk_entries,
           numbers_.entries);
    }
    // As miniz: no directory of real files comes near it, and ordinals' places fit in 32 bits.
    if (numbers_.size > kSentinel32) {
      fail(ErrorCode::limit, place_at(at_), "a directory of {} bytes, at most 4 GiB are read",
           numbers_.size);
    }
    // Before any memory is taken for the entries.
    if (numbers_.entries > numbers_.size / kCentralSize) {
      fail(ErrorCode::malformed_zip, place_at(at_),
           "{} entries do not fit in {} bytes of directory", numbers_.entries, numbers_.size);
    }
  }

  DirectoryPlace make_place() const {
    // The ZIP64 end record may stand anywhere, so it is compared by itself.
    const bool inside = fits(numbers_.offset, numbers_.size, at_);
    const std::uint64_t finish = inside ? numbers_.offset + numbers_.size : 0;
    const bool over_zip64 = numbers_.offset < first_ + kZip64EndSize && finish > first_;
    if (!inside || (first_ != at_ && over_zip64)) {
      fail(ErrorCode::malformed_zip, place_at(at_),
           "a directory of {} bytes at {} does not end before its end record", numbers_.size,
           numbers_.offset);
    }
    const std::uint64_t end = first_ < numbers_.offset ? at_ : first_;
    return {numbers_.offset, numbers_.size, numbers_.entries, end, at_};
  }

  void note_surroundings(const DirectoryPlace& place, const EndRecord& record) {
    if (place.directory_end() != first_) {
      notes_.add(ambiguity, "",
                 "the directory ends at {}, its end record begins at {}: readers that look for the "
                 "directory right before its end record see another one",
                 place.directory_end(), first_);
    }
    const std::uint64_t behind = file_.size() - at_ - kEndSize;
    if (behind != record.comment_size) {
      notes_.add(ambiguity, "", "{} bytes follow the end record, which claims a comment of {}",
                 behind, record.comment_size);
    } else if (behind > 0) {
      notes_.add(information, "", "the archive has a comment of {} bytes", behind);
    }
  }

  const Access& file_;
  NoteList& notes_;
  std::vector<std::byte> scratch_;
  /// The end record, and the first of the end records that count.
  std::uint64_t at_ = 0;
  std::uint64_t first_ = 0;
  Numbers numbers_{};
};

}  // namespace

DirectoryPlace find_directory(const Access& file, NoteList& notes) {
  return Finder(file, notes).find();
}

void note_other_end_records(const Access& file, const DirectoryPlace& place, std::uint64_t data_end,
                            NoteList& notes) {
  // Only where no record claims the bytes: an archive that is a record's content is no candidate.
  const std::uint64_t window = file.size() - std::min(file.size(), kSearchWindow);
  std::vector<std::byte> scratch;
  const auto search = [&](std::uint64_t begin, std::uint64_t finish) {
    begin = std::max(begin, window);
    if (begin >= finish) return;
    const Bytes bytes = file.peek(begin, static_cast<std::size_t>(finish - begin), scratch);
    if (const auto found = last_end_record(bytes)) {
      notes.add(ambiguity, "", "another end record stands at {}, the one at {} counts",
                begin + *found, place.end_record);
    }
  };
  search(data_end, place.offset);
  search(place.directory_end(), place.end_record);
}

}  // namespace flambeau::zip
