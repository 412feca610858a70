// The central directory (APPNOTE 4.3.12) as it stands in the file, with an index of where its
// entries begin and a table of their names: 10 to 16 bytes for each entry, in three allocations.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "zip/end_records.h"
#include "zip/entry_name.h"
#include "zip/name_table.h"
#include "zip/records.h"

namespace flambeau::zip {

/// Immutable after construction; safe to use from many threads.
class Directory {
 public:
  /// Reads every entry once and checks what can be checked without the local headers: that entries
  /// fill the directory exactly, and that each record lies in the file and outside the directory.
  /// Errors: `malformed_zip`, `unsupported`, `limit`, `io`.
  Directory(const Access& file, const DirectoryPlace& place, NoteList& notes);

  std::uint32_t size() const noexcept { return count_; }
  /// With the numbers of the ZIP64 extra field.
  CentralHeader header(std::uint32_t ordinal) const noexcept;
  std::string_view name(std::uint32_t ordinal) const noexcept {
    const std::byte* at = entry(ordinal);
    return as_text({at + kCentralSize, load_le<std::uint16_t>(at + kNameSizeAt)});
  }

  /// What precedes the first `/` of the first entry that is not macOS litter; empty for none.
  std::string_view folder() const noexcept { return folder_; }
  /// Whether two names are equal but for case.
  bool has_duplicates() const noexcept { return has_duplicates_; }
  /// The entry of that full name, without regard to the case of ASCII letters; among several the
  /// one that PyTorch takes.
  std::optional<std::uint32_t> find(std::string_view wanted) const noexcept;

  /// One past the last byte that a record has at least: its header, name and data.
  std::uint64_t data_end() const noexcept { return data_end_; }

 private:
  friend class DirectoryReader;

  static constexpr std::size_t kNameSizeAt = 28;

  const std::byte* entry(std::uint32_t ordinal) const noexcept {
    return bytes_.bytes.data() + offsets_[ordinal];
  }

  Block bytes_;
  Pages memory_;
  /// Where each entry begins in `bytes_`.
  std::uint32_t* offsets_;
  std::uint32_t count_;
  HashSeed seed_;
  NameTable names_;
  std::string_view folder_;
  bool has_duplicates_ = false;
  std::uint64_t data_end_ = 0;
};

}  // namespace flambeau::zip
