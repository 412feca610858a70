// One pass over the entries. Everything about an ordinary entry (no ZIP64 field, a plain name, in
// the folder, behind the entry before it) is settled with a few comparisons; what is unusual takes
// a slower path of its own. Where the records do not stand in the directory's order, their ranges
// are sorted afterwards. Nothing here is quadratic, whatever the names and offsets are. Digital
// signatures (APPNOTE 4.3.13) are not read: entries must fill the directory.
#include "zip/directory.h"

#include <algorithm>
#include <array>
#include <memory>
#include <vector>

#include "base/fail.h"
#include "base/text.h"
#include "zip/duplicate_names.h"

namespace flambeau::zip {
namespace {

using enum Note::Severity;

/// Header, name and data of a record, the least that it takes of the file; its extra field and its
/// descriptor are known to the local header alone.
std::uint64_t least_end(const CentralHeader& header) noexcept {
  return header.header_offset + kLocalSize + header.name_size + header.stored_size;
}

}  // namespace

/// Fills a `Directory`; lives for that one pass.
class DirectoryReader {
 public:
  DirectoryReader(Directory& directory, const Access& file, const DirectoryPlace& place,
                  NoteList& notes)
      : directory_(directory), file_(file), place_(place), notes_(notes) {}

  void read() {
    for (std::uint32_t i = 0; i < directory_.count_; i += kBatch) {
      const std::uint32_t end = std::min(i + kBatch, directory_.count_);
      for (std::uint32_t k = i; k < end; ++k) add_entry(k);
      for (std::uint32_t k = i; k < end; ++k) enter_name(k);
    }
    if (at_ != bytes().size()) {
      fail_here(ErrorCode::malformed_zip, "{} bytes follow the last of {} entries",
                bytes().size() - at_, directory_.count_);
    }
    finish_ranges();
    finish_names();
  }

 private:
  Bytes bytes() const noexcept { return directory_.bytes_.bytes; }

  template <typename... Args>
  [[noreturn]] void fail_here(ErrorCode code, fmt::format_string<Args...> format,
                              Args&&... args) const {
    fail(code, {file_.name(), place_.offset + at_}, format, std::forward<Args>(args)...);
  }

  void add_entry(std::uint32_t ordinal) {
    // The comment's size is a part of `full_size`; nothing else is known of comments.
    const Bytes left = bytes().subspan(at_);
    if (left.size() < kCentralSize)
      fail_here(ErrorCode::malformed_zip, "entry {} is cut off", ordinal);
    CentralHeader header = parse_central_header(left.data());
    if (header.signature != kCentralSignature) fail_for_signature(ordinal);
    if (header.full_size() > left.size()) {
      fail_here(ErrorCode::malformed_zip, "entry {} of {} bytes ends past the directory", ordinal,
                header.full_size());
    }
    if (header.disk != 0) {
      fail_here(ErrorCode::unsupported, "entry {} stands on disk {}", ordinal, header.disk);
    }
    const std::string_view name = as_text(left.subspan(kCentralSize, header.name_size));
    if (header.has_sentinel()) take_zip64(header, name, left);
    // Directories of 4 GiB and more were refused.
    directory_.offsets_[ordinal] = static_cast<std::uint32_t>(at_);
    add_range(header);
    const NameScan scan = scan_name(name, directory_.seed_);
    if (!scan.is_plain || !is_in_folder(name)) look_closer(name, header.size);
    directory_.names_.prefetch(scan.hash);
    hashes_[ordinal % kBatch] = scan.hash;
    without_checksum_ += header.crc32 == 0 && header.size > 0;
    at_ += header.full_size();
  }

  /// The usual reason is that something stands before the archive, which its offsets do not count.
  [[noreturn]] void fail_for_signature(std::uint32_t ordinal) const {
    const std::uint64_t shifted = place_.end - place_.size;
    std::vector<std::byte> scratch;
    const bool is_shifted =
        ordinal == 0 && shifted > place_.offset &&
        parse_central_header(file_.peek(shifted, kCentralSize, scratch).data()).signature ==
            kCentralSignature;
    if (is_shifted) {
      fail_here(
          ErrorCode::malformed_zip,
          "no directory here; a zip directory stands at {}: {} bytes were put before the archive",
          shifted, shifted - place_.offset);
    }
    fail_here(ErrorCode::malformed_zip, "entry {} of the directory does not begin with PK\\1\\2",
              ordinal);
  }

  void take_zip64(CentralHeader& header, std::string_view name, Bytes left) {
    const Bytes extra = left.subspan(kCentralSize + header.name_size, header.extra_size);
    const std::string_view fault = resolve_zip64(header, extra);
    if (!fault.empty()) fail_here(ErrorCode::malformed_zip, "'{}': {}", shown(name), fault);
    if (count_zip64_fields(extra) > 1) {
      notes_.add(ambiguity, name, "the entry has several ZIP64 extra fields, the first counts");
    }
  }

  void add_range(const CentralHeader& header) {
    // Each step leaves a sum that cannot wrap.
    const std::uint64_t begin = header.header_offset;
    const std::size_t fixed = kLocalSize + header.name_size;
    if (!fits(begin, fixed, file_.size()) || header.stored_size > file_.size() - begin - fixed) {
      fail_here(ErrorCode::malformed_zip,
                "a record of {} bytes at {} ends past the file, which has {} bytes",
                header.stored_size, begin, file_.size());
    }
    const std::uint64_t end = begin + fixed + header.stored_size;
    ascending_ = ascending_ && begin >= directory_.data_end_;
    first_ = std::min(first_, begin);
    directory_.data_end_ = std::max(directory_.data_end_, end);
  }

  void enter_name(std::uint32_t ordinal) {
    const auto is_same = [&](std::uint32_t other) {
      return equal_ignoring_case(directory_.name(other), directory_.name(ordinal));
    };
    const std::uint64_t hash = hashes_[ordinal % kBatch];
    if (directory_.names_.find_or_add(hash, ordinal, is_same)) repeated_.push_back(ordinal);
  }

  bool is_in_folder(std::string_view name) const noexcept {
    const std::string_view folder = directory_.folder_;
    return has_folder_ && name.size() > folder.size() && name[folder.size()] == '/' &&
           name.starts_with(folder);
  }

  /// For the few names that are not plain, and for the first one.
  void look_closer(std::string_view name, std::uint64_t size) {
    const std::string_view oddity = name_oddity(name);
    if (!oddity.empty()) notes_.add(ambiguity, name, "{}", oddity);
    if (is_macos_litter(name)) {
      notes_.add(information, name, "macOS adds such entries; it is passed over");
      return;
    }
    // PyTorch takes the folder of the very first entry; it refuses what macOS adds anyway.
    if (!is_first_seen_) {
      is_first_seen_ = true;
      has_folder_ = name.find('/') != std::string_view::npos;
      if (has_folder_) directory_.folder_ = name.substr(0, name.find('/'));
    }
    if (name.ends_with('/') && size > 0) {
      notes_.add(ambiguity, name, "the name is a folder's, and the entry has {} bytes", size);
    }
    if (has_folder_ && !is_in_folder(name)) {
      notes_.add(ambiguity, name, "the entry stands outside the folder '{}'",
                 shown(directory_.folder_));
    }
  }

  void finish_ranges() {
    if (directory_.count_ == 0) return;
    if (first_ > 0) {
      notes_.add(ambiguity, "", "the first {} bytes of the file belong to no record", first_);
    }
    // Nearly always all records stand before the directory, and nothing else needs a second look.
    if (directory_.data_end_ > place_.offset) check_against_directory();
    if (!ascending_) note_overlaps();
    note_other_end_records(file_, place_, directory_.data_end_, notes_);
  }

  /// A record may stand behind the directory, but not reach into it.
  void check_against_directory() const {
    for (std::uint32_t i = 0; i < directory_.count_; ++i) {
      const CentralHeader header = directory_.header(i);
      if (!place_.meets(header.header_offset, least_end(header))) continue;
      fail(ErrorCode::malformed_zip, {file_.name(), header.header_offset},
           "'{}': the record overlaps the directory or the end records", shown(directory_.name(i)));
    }
  }

  /// In the order of their offsets, a record that begins before the furthest end so far overlaps
  /// the record that ends there.
  void note_overlaps() {
    std::vector<std::pair<std::uint64_t, std::uint32_t>> starts(directory_.count_);
    for (std::uint32_t i = 0; i < directory_.count_; ++i) {
      starts[i] = {directory_.header(i).header_offset, i};
    }
    std::sort(starts.begin(), starts.end());
    std::uint64_t reach = 0;
    std::uint32_t owner = 0;
    for (const auto& [begin, ordinal] : starts) {
      if (begin < reach) note_overlap(ordinal, owner);
      const std::uint64_t end = least_end(directory_.header(ordinal));
      if (end <= reach) continue;
      reach = end;
      owner = ordinal;
    }
  }

  void note_overlap(std::uint32_t ordinal, std::uint32_t owner) {
    // A writer may mean it, to store equal records once; then the data is the same for both.
    const bool same =
        directory_.header(ordinal).header_offset == directory_.header(owner).header_offset;
    notes_.add(ambiguity, directory_.name(ordinal), "the record {} '{}'",
               same ? "has the same local header as" : "overlaps", shown(directory_.name(owner)));
  }

  void finish_names() {
    if (without_checksum_ > 0) {
      notes_.add(information, "", "{} records have no checksum", without_checksum_);
    }
    if (repeated_.empty()) return;
    // The table has the first entry of each name so far.
    directory_.has_duplicates_ = true;
    const SortedNames sorted(directory_);
    for (const std::uint32_t ordinal : repeated_) {
      const std::string_view name = directory_.name(ordinal);
      const std::uint32_t chosen = sorted.find(name).value_or(ordinal);
      directory_.names_.replace(
          scan_name(name, directory_.seed_).hash, chosen,
          [&](std::uint32_t other) { return equal_ignoring_case(directory_.name(other), name); });
      notes_.add(ambiguity, name,
                 "another entry has this name, case aside; entry {} of the directory counts",
                 chosen);
    }
  }

  /// Names are entered a batch behind their scan, when their slots have come from memory.
  static constexpr std::uint32_t kBatch = 32;

  Directory& directory_;
  const Access& file_;
  const DirectoryPlace& place_;
  NoteList& notes_;
  std::array<std::uint64_t, kBatch> hashes_{};
  std::size_t at_ = 0;
  std::uint64_t first_ = UINT64_MAX;
  bool ascending_ = true;
  bool is_first_seen_ = false;
  bool has_folder_ = false;
  std::uint64_t without_checksum_ = 0;
  /// Entries whose names stood before.
  std::vector<std::uint32_t> repeated_;
};

Directory::Directory(const Access& file, const DirectoryPlace& place, NoteList& notes)
    : bytes_(file.block(place.offset, place.size)),
      memory_(allocate_pages(place.count * sizeof(std::uint32_t))),
      offsets_(static_cast<std::uint32_t*>(memory_.owner.get())),
      count_(static_cast<std::uint32_t>(place.count)),
      seed_(process_seed()),
      names_(count_) {
  DirectoryReader(*this, file, place, notes).read();
}

/// Parsed anew from the bytes, which were checked once: so an entry takes no memory but its place.
CentralHeader Directory::header(std::uint32_t ordinal) const noexcept {
  const std::byte* at = entry(ordinal);
  CentralHeader header = parse_central_header(at);
  if (header.has_sentinel()) {
    resolve_zip64(header, {at + kCentralSize + header.name_size, header.extra_size});
  }
  return header;
}

std::optional<std::uint32_t> Directory::find(std::string_view wanted) const noexcept {
  return names_.find(scan_name(wanted, seed_).hash, [&](std::uint32_t ordinal) {
    return equal_ignoring_case(name(ordinal), wanted);
  });
}

}  // namespace flambeau::zip
