// The reader that the public header promises, put together from the parts of this layer: the end
// records lead to the directory, the directory to the local headers, these to the data. Everything
// that a look-up needs stands in the directory's tables; nothing is kept of the records themselves.
#include "flambeau/archive.h"

#include <array>
#include <cstring>

#include "base/budget.h"
#include "base/fail.h"
#include "zip/directory.h"
#include "zip/end_records.h"
#include "zip/inflate.h"
#include "zip/local_headers.h"

namespace flambeau {

using namespace zip;

struct ArchiveReader::State {
  State(SourcePtr source, const ArchiveOptions& wanted)
      : options(wanted),
        file(std::move(source)),
        place(find_directory(file, list)),
        directory(file, checked_place(), list),
        headers(file, place, directory),
        notes(std::move(list).take()) {
    if (!options.strict) return;
    refuse_ambiguity(notes);
    refuse_ambiguity(headers.inspect());
  }

  /// Between finding the directory and making tables for its entries.
  const DirectoryPlace& checked_place() const {
    const std::uint64_t most = std::min<std::uint64_t>(options.limits.max_records, INT32_MAX);
    if (place.count > most) {
      fail(ErrorCode::limit, {file.name(), place.end_record}, "{} records, the limit is {}",
           place.count, most);
    }
    return place;
  }

  void refuse_ambiguity(const std::vector<Note>& found) const {
    for (const Note& note : found) {
      if (note.severity != Note::Severity::ambiguity) continue;
      fail(ErrorCode::ambiguous, {place_of(note.where)}, "{}", note.message);
    }
  }

  /// "model.pt: archive/data.pkl".
  std::string place_of(std::string_view record) const {
    return record.empty() ? file.name() : file.name() + ": " + shown(record);
  }
  std::string place_of(std::uint32_t ordinal) const { return place_of(directory.name(ordinal)); }

  void check_readable(std::uint32_t ordinal, const CentralHeader& entry) const;
  void check_inflation(std::uint32_t ordinal, const CentralHeader& entry) const;
  std::uint64_t locate(std::uint32_t ordinal) const;
  Block inflated(std::uint32_t ordinal, const CentralHeader& entry, std::uint64_t offset) const;
  bool is_named(std::size_t ordinal, std::string_view prefix, std::string_view name) const noexcept;

  // In the order in which each needs those before it; nothing moves afterwards, as `headers` views
  // the others.
  ArchiveOptions options;
  NoteList list;
  Access file;
  DirectoryPlace place;
  Directory directory;
  LocalHeaders headers;
  std::vector<Note> notes;
};

/// Only what is asked for is judged: an archive may hold records that nobody reads.
void ArchiveReader::State::check_readable(std::uint32_t ordinal, const CentralHeader& entry) const {
  constexpr std::uint16_t kSecret = kEncrypted | kStrongEncryption | kMaskedHeader;
  if ((entry.flags & kSecret) != 0) {
    fail(ErrorCode::unsupported, {place_of(ordinal)}, "the record is encrypted (flags {:#x})",
         entry.flags);
  }
  if ((entry.flags & kPatched) != 0) {
    fail(ErrorCode::unsupported, {place_of(ordinal)}, "the record is a patch (flags {:#x})",
         entry.flags);
  }
  if (entry.method != kStored && entry.method != kDeflated) {
    fail(ErrorCode::unsupported, {place_of(ordinal)},
         "compression method {} ({}), only stored and deflated records are read", entry.method,
         method_name(entry.method));
  }
  if (entry.method == kStored && entry.size != entry.stored_size) {
    fail(ErrorCode::malformed_zip, {place_of(ordinal)},
         "stored as it is, but {} bytes in the file stand for {}", entry.stored_size, entry.size);
  }
}

/// Before memory is taken for what a directory entry claims.
void ArchiveReader::State::check_inflation(std::uint32_t ordinal,
                                           const CentralHeader& entry) const {
  // The rate counts whole bytes; the slack keeps it from ever refusing a sound stream.
  constexpr std::uint64_t kSlack = 1024;
  if (entry.size > kSlack && (entry.size - kSlack) / kMostInflation > entry.stored_size) {
    fail(ErrorCode::malformed_zip, {place_of(ordinal)},
         "{} deflated bytes cannot become the declared {}", entry.stored_size, entry.size);
  }
  const std::uint64_t most = most_from(file.size(), options.limits);
  if (entry.size > most) {
    fail(ErrorCode::limit, {place_of(ordinal)}, "inflates to {} bytes, the limit is {}", entry.size,
         most);
  }
}

std::uint64_t ArchiveReader::State::locate(std::uint32_t ordinal) const {
  const DataPlace data = headers.locate(ordinal, false);
  if (!data.fault.empty()) {
    fail(ErrorCode::malformed_zip, {place_of(ordinal)}, "{}", data.fault);
  }
  return data.offset;
}

Block ArchiveReader::State::inflated(std::uint32_t ordinal, const CentralHeader& entry,
                                     std::uint64_t offset) const {
  check_inflation(ordinal, entry);
  const Block stored = file.block(offset, entry.stored_size);
  // The stored bytes are there, and these are at most 1,032 times as many.
  Pages pages = allocate_pages(entry.size);
  inflate(stored.bytes, pages.bytes, {place_of(ordinal)});
  return {pages.bytes, std::move(pages.owner)};
}

/// Whether the entry is called `folder/prefix + name`, byte for byte; from the end, where names
/// differ.
bool ArchiveReader::State::is_named(std::size_t ordinal, std::string_view prefix,
                                    std::string_view name) const noexcept {
  const std::string_view folder = directory.folder();
  std::string_view full = directory.name(static_cast<std::uint32_t>(ordinal));
  if (full.size() != folder.size() + 1 + prefix.size() + name.size()) return false;
  const auto ends_with = [&](std::string_view part) {
    const bool does = full.ends_with(part);
    full.remove_suffix(part.size());
    return does;
  };
  return ends_with(name) && ends_with(prefix) && ends_with("/") && full == folder;
}

ArchiveReader::ArchiveReader(SourcePtr source, const ArchiveOptions& options)
    : state_(std::make_unique<const State>(std::move(source), options)) {}
ArchiveReader::~ArchiveReader() = default;
ArchiveReader::ArchiveReader(ArchiveReader&&) noexcept = default;
ArchiveReader& ArchiveReader::operator=(ArchiveReader&&) noexcept = default;

const SourcePtr& ArchiveReader::source() const noexcept { return state_->file.source(); }

std::size_t ArchiveReader::size() const noexcept { return state_->directory.size(); }

/// Read from the directory's own bytes each time: a table of records would be the largest of all.
Record ArchiveReader::record(std::size_t index) const noexcept {
  const auto ordinal = static_cast<std::uint32_t>(index);
  const CentralHeader entry = state_->directory.header(ordinal);
  return {state_->directory.name(ordinal),
          entry.size,
          entry.stored_size,
          entry.header_offset,
          entry.crc32,
          entry.method};
}

std::string_view ArchiveReader::folder() const noexcept { return state_->directory.folder(); }

std::optional<std::size_t> ArchiveReader::find(std::string_view name) const noexcept {
  return find({}, name, size());
}

std::optional<std::size_t> ArchiveReader::find(std::string_view name,
                                               std::size_t hint) const noexcept {
  return find({}, name, hint);
}

std::optional<std::size_t> ArchiveReader::find(std::string_view prefix, std::string_view name,
                                               std::size_t hint) const noexcept {
  const Directory& directory = state_->directory;
  // Of repeated names the table alone knows which entry counts.
  const bool hint_counts = hint < directory.size() && !directory.has_duplicates();
  if (hint_counts && state_->is_named(hint, prefix, name)) return hint;
  constexpr std::size_t kLongest = UINT16_MAX;
  const std::string_view folder = directory.folder();
  // Each size by itself first: their sum could wrap.
  if (std::max(prefix.size(), name.size()) > kLongest) return std::nullopt;
  // Usual names are joined on the stack: no look-up allocates.
  std::array<char, 256> near;
  std::string far;
  const std::size_t size = folder.size() + 1 + prefix.size() + name.size();
  if (size > near.size()) far.resize(size);
  char* const start = size > near.size() ? far.data() : near.data();
  char* end = std::copy(folder.begin(), folder.end(), start);
  *end++ = '/';
  end = std::copy(prefix.begin(), prefix.end(), end);
  std::copy(name.begin(), name.end(), end);
  return directory.find({start, size});
}

std::uint64_t ArchiveReader::data_offset(std::size_t index) const {
  const auto ordinal = static_cast<std::uint32_t>(index);
  state_->check_readable(ordinal, state_->directory.header(ordinal));
  return state_->locate(ordinal);
}

std::optional<std::uint64_t> ArchiveReader::find_data(std::size_t index) const {
  const DataPlace data = state_->headers.locate(static_cast<std::uint32_t>(index), false);
  return data.fault.empty() ? std::optional(data.offset) : std::nullopt;
}

Block ArchiveReader::read(std::size_t index, bool verify) const {
  const auto ordinal = static_cast<std::uint32_t>(index);
  const CentralHeader entry = state_->directory.header(ordinal);
  state_->check_readable(ordinal, entry);
  const std::uint64_t offset = state_->locate(ordinal);
  Block block = entry.method == kStored ? state_->file.block(offset, entry.stored_size)
                                        : state_->inflated(ordinal, entry, offset);
  if (verify) this->verify(index, block.bytes);
  return block;
}

/// PyTorch has never compared checksums since 1.4, so that only readers like this one see damage.
void ArchiveReader::verify(std::size_t index, std::span<const std::byte> bytes) const {
  const Record wanted = record(index);
  if (!wanted.has_checksum()) return;
  const std::uint32_t found = crc32(bytes);
  if (found == wanted.crc32) return;
  fail(ErrorCode::checksum, {state_->place_of(wanted.name)},
       "the bytes have CRC-32 {:#010x}, the directory says {:#010x}", found, wanted.crc32);
}

const std::vector<Note>& ArchiveReader::notes() const noexcept { return state_->notes; }

std::vector<Note> ArchiveReader::inspect_headers() const { return state_->headers.inspect(); }

}  // namespace flambeau
