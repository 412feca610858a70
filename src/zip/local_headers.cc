// PyTorch trusts nothing of a local header but where the data behind it starts (miniz,
// `mz_zip_reader_extract_to_mem_no_alloc1`), and so does `locate`. But a header that bears the name
// of another entry is that entry's: reading on would give the bytes of one record for another.
// `inspect` looks at all that a reader which does not use the directory would see: headers, data
// descriptors (APPNOTE 4.3.9), and the bytes that belong to no record.
#include "zip/local_headers.h"

#include <algorithm>

#include "base/text.h"

namespace flambeau::zip {
namespace {

using enum Note::Severity;

/// Flags that change what a reader makes of the bytes.
constexpr std::uint16_t kCompared =
    kEncrypted | kHasDescriptor | kPatched | kStrongEncryption | kUtf8Name | kMaskedHeader;

/// Sizes and checksum may be left to the descriptor, and large sizes to the ZIP64 field. PyTorch
/// writes them as 0 in either case.
bool differs(std::uint64_t local, std::uint64_t central, bool is_left_open) noexcept {
  return local != central && !(is_left_open && local == 0) && local != kSentinel32;
}

std::string describe_difference(const CentralHeader& entry, const LocalHeader& local) {
  const bool open = (local.flags & kHasDescriptor) != 0;
  if (local.method != entry.method) {
    return fmt::format("the local header says method {}, the directory {}", local.method,
                       entry.method);
  }
  if (((local.flags ^ entry.flags) & kCompared) != 0) {
    return fmt::format("the local header has flags {:#x}, the directory {:#x}", local.flags,
                       entry.flags);
  }
  if (differs(local.size, entry.size, open) ||
      differs(local.stored_size, entry.stored_size, open)) {
    return fmt::format("the local header says {} bytes ({} stored), the directory {} ({})",
                       local.size, local.stored_size, entry.size, entry.stored_size);
  }
  if (local.crc32 != entry.crc32 && !(open && local.crc32 == 0)) {
    return fmt::format("the local header says checksum {:#010x}, the directory {:#010x}",
                       local.crc32, entry.crc32);
  }
  return {};
}

/// Data descriptor (APPNOTE 4.3.9): a signature that may be missing, and
///
///   crc-32 4 | stored size 4 or 8 | size 4 or 8
constexpr std::size_t kLongestDescriptor = 24;

std::uint64_t load_number(const std::byte* at, std::size_t width) noexcept {
  return width == 4 ? load_le<std::uint32_t>(at) : load_le<std::uint64_t>(at);
}

/// The size of the descriptor at the start of `bytes` if it says what the directory says, else 0.
std::size_t match_descriptor(Bytes bytes, const CentralHeader& entry) noexcept {
  const bool is_signed =
      bytes.size() >= 4 && load_le<std::uint32_t>(bytes.data()) == kDescriptorSignature;
  const std::size_t start = is_signed ? 4 : 0;
  for (const std::size_t width : {std::size_t{4}, std::size_t{8}}) {
    const std::size_t total = start + 4 + 2 * width;
    if (bytes.size() < total) continue;
    const std::byte* at = bytes.data() + start;
    if (load_le<std::uint32_t>(at) == entry.crc32 &&
        load_number(at + 4, width) == entry.stored_size &&
        load_number(at + 4 + width, width) == entry.size) {
      return total;
    }
  }
  return 0;
}

}  // namespace

DataPlace LocalHeaders::locate(std::uint32_t ordinal, bool with_differences) const {
  const CentralHeader entry = directory_.header(ordinal);
  std::vector<std::byte> scratch;
  // The directory was refused unless so many bytes are there.
  const Bytes head = file_.peek(entry.header_offset, kLocalSize + entry.name_size, scratch);
  const LocalHeader local = parse_local_header(head.data());
  DataPlace place;
  place.offset = entry.header_offset + kLocalSize + local.name_size + local.extra_size;
  place.fault = find_fault(entry, local, place.offset);
  if (!place.fault.empty()) return place;
  const std::string_view name = directory_.name(ordinal);
  // The header may have more name than the directory's entry; then it is looked at again.
  if (local.name_size != entry.name_size || as_text(head.subspan(kLocalSize)) != name) {
    compare_names(ordinal, entry, local, place);
  }
  if (with_differences && place.difference.empty()) {
    place.difference = describe_difference(entry, local);
  }
  return place;
}

/// In the order in which a number has to be sound before the next means anything.
std::string LocalHeaders::find_fault(const CentralHeader& entry, const LocalHeader& local,
                                     std::uint64_t data) const {
  if (local.signature != kLocalSignature) {
    return fmt::format("no local header at {}: PK\\3\\4 is not there", entry.header_offset);
  }
  if (!fits(data, entry.stored_size, file_.size())) {
    return fmt::format("{} bytes of data at {} end past the file, which has {} bytes",
                       entry.stored_size, data, file_.size());
  }
  if (place_.meets(entry.header_offset, data + entry.stored_size)) {
    return fmt::format("{} bytes of data at {} overlap the directory", entry.stored_size, data);
  }
  return {};
}

void LocalHeaders::compare_names(std::uint32_t ordinal, const CentralHeader& entry,
                                 const LocalHeader& local, DataPlace& place) const {
  std::vector<std::byte> scratch;
  const Bytes bytes = file_.peek(entry.header_offset + kLocalSize, local.name_size, scratch);
  const std::string_view found = as_text(bytes);
  const std::optional<std::uint32_t> other = directory_.find(found);
  // The same name in other letters is this entry's own, or one of several that share it.
  if (other && !equal_ignoring_case(found, directory_.name(ordinal))) {
    place.fault = fmt::format("the entry leads to the local header of '{}'", shown(found));
  }
  place.difference = fmt::format("the local header says '{}'", shown(found));
}

std::vector<Note> LocalHeaders::inspect() const {
  NoteList notes;
  std::vector<Range> ranges;
  ranges.reserve(directory_.size());
  for (std::uint32_t i = 0; i < directory_.size(); ++i) {
    const DataPlace place = locate(i, true);
    const std::string_view name = directory_.name(i);
    if (!place.fault.empty()) {
      notes.add(ambiguity, name, "{}", place.fault);
      continue;
    }
    if (!place.difference.empty()) notes.add(ambiguity, name, "{}", place.difference);
    ranges.push_back({directory_.header(i).header_offset, end_of(i, place.offset, notes), i});
  }
  note_cover(std::move(ranges), notes);
  return std::move(notes).take();
}

std::uint64_t LocalHeaders::end_of(std::uint32_t ordinal, std::uint64_t data,
                                   NoteList& notes) const {
  const CentralHeader entry = directory_.header(ordinal);
  const std::uint64_t end = data + entry.stored_size;
  if ((entry.flags & kHasDescriptor) == 0) return end;
  std::vector<std::byte> scratch;
  const std::uint64_t size = std::min<std::uint64_t>(kLongestDescriptor, file_.size() - end);
  const Bytes bytes = file_.peek(end, static_cast<std::size_t>(size), scratch);
  const std::size_t matched = match_descriptor(bytes, entry);
  if (matched == 0) {
    notes.add(ambiguity, directory_.name(ordinal),
              "the data descriptor does not say what the directory says");
  }
  return end + matched;
}

/// Ranges by their begins: gaps are where a range begins beyond all ends so far, overlaps where it
/// begins before.
void LocalHeaders::note_cover(std::vector<Range> ranges, NoteList& notes) const {
  std::sort(ranges.begin(), ranges.end(),
            [](const Range& a, const Range& b) { return a.begin < b.begin; });
  std::uint64_t reach = 0;
  for (const Range& range : ranges) {
    // Readers that go through the file from its start would see what stands there.
    if (range.begin > reach) {
      notes.add(information, "", "{} bytes at {} belong to no record", range.begin - reach, reach);
    }
    if (range.begin < reach) {
      notes.add(ambiguity, directory_.name(range.ordinal),
                "the record at {} begins before the one before it ends", range.begin);
    }
    reach = std::max(reach, range.end);
  }
  if (reach < place_.offset) {
    notes.add(information, "", "{} bytes at {} belong to no record", place_.offset - reach, reach);
  }
}

}  // namespace flambeau::zip
