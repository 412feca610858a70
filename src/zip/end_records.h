// From the end of the file to the place of its directory.
#pragma once

#include <cstdint>

#include "zip/access.h"
#include "zip/notes.h"

namespace flambeau::zip {

/// Where the directory and the records behind it stand. `offset + size <= end <= end_record`, and
/// all lie within the file.
struct DirectoryPlace {
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
  /// Entries, each of at least 46 of the `size` bytes.
  std::uint64_t count = 0;
  /// Where the records behind the directory begin, of which the end record is the last.
  std::uint64_t end = 0;
  std::uint64_t end_record = 0;

  std::uint64_t directory_end() const noexcept { return offset + size; }
  /// Whether bytes from `begin` up to `finish` touch the directory or what stands behind it.
  bool meets(std::uint64_t begin, std::uint64_t finish) const noexcept {
    return begin < finish && finish > offset && (begin < directory_end() || finish > end);
  }
};

/// PyTorch's reader looks for the end record in so many bytes at the end of the file: one step of
/// 4,096 bytes and then steps of 4,093 until 65,535 + 22 bytes have been seen (miniz,
/// `mz_zip_reader_locate_header_sig`).
inline constexpr std::uint64_t kSearchWindow = 4096 + 16 * 4093;

/// Finds the directory as PyTorch does and notes where another reader would look elsewhere.
/// Errors: `truncated`, `malformed_zip`, `unsupported`, `limit`, `io`.
DirectoryPlace find_directory(const Access& file, NoteList& notes);

/// Notes further end records between the last record's data and the one that counts. `data_end` is
/// where the records end. Call when the directory has been read.
void note_other_end_records(const Access& file, const DirectoryPlace& place, std::uint64_t data_end,
                            NoteList& notes);

}  // namespace flambeau::zip
