// The headers right before the records' data (APPNOTE 4.3.7), which repeat what the directory says.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "zip/directory.h"

namespace flambeau::zip {

/// Where a record's data stands, or why nobody can tell.
struct DataPlace {
  std::uint64_t offset = 0;
  /// Empty where all is well.
  std::string fault;
  /// How the header differs from the directory; looked for where the caller asks. Empty for
  /// nothing that matters.
  std::string difference;
};

/// Reads and compares local headers. Views the arguments, which must outlive it; safe to use from
/// many threads at once.
class LocalHeaders {
 public:
  LocalHeaders(const Access& file, const DirectoryPlace& place, const Directory& directory) noexcept
      : file_(file), place_(place), directory_(directory) {}

  /// By the local header's name and extra sizes, all else by the directory.
  DataPlace locate(std::uint32_t ordinal, bool with_differences) const;

  /// What `ArchiveReader::inspect_headers` gives.
  std::vector<Note> inspect() const;

 private:
  /// A record from its header to the end of its data or descriptor.
  struct Range {
    std::uint64_t begin;
    std::uint64_t end;
    std::uint32_t ordinal;
  };

  std::string find_fault(const CentralHeader& entry, const LocalHeader& local,
                         std::uint64_t data) const;
  /// For names that are not the same byte for byte.
  void compare_names(std::uint32_t ordinal, const CentralHeader& entry, const LocalHeader& local,
                     DataPlace& place) const;
  std::uint64_t end_of(std::uint32_t ordinal, std::uint64_t data, NoteList& notes) const;
  void note_cover(std::vector<Range> ranges, NoteList& notes) const;

  const Access& file_;
  const DirectoryPlace& place_;
  const Directory& directory_;
};

}  // namespace flambeau::zip
