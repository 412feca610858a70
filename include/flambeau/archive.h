// Low door: the zip layer by itself, as PyTorch lays it out and reads it (APPNOTE.TXT 6.3.10).
//
//   flambeau::ArchiveReader archive(flambeau::open_file("model.pt"));
//   for (std::size_t i = 0; i < archive.size(); ++i)
//     fmt::print("{} {}\n", archive.record(i).name, archive.record(i).size);
//   flambeau::Block pickle = archive.read(*archive.find("data.pkl"));
//
// Only the tail, the directory and the wanted records are touched. Immutable after construction and
// safe to use from many threads at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "flambeau/io.h"
#include "flambeau/limits.h"

namespace flambeau {

/// Something legal or tolerated about a file that its owner should know.
struct Note {
  enum class Severity : std::uint8_t {
    information,  ///< unusual, but every reader sees the same data
    ambiguity,    ///< two readers could see different data; strict mode refuses it
  };
  Severity severity = Severity::information;
  /// The record or structure, empty for the file as a whole.
  std::string where;
  std::string message;
};

/// One directory entry. The text lives as long as the reader.
struct Record {
  /// The full name in the archive, folder included, as stored (usually UTF-8).
  std::string_view name;
  /// Uncompressed and compressed size in bytes, from the central directory.
  std::uint64_t size = 0;
  std::uint64_t stored_size = 0;
  /// Where the local header starts, counted from the start of the source.
  std::uint64_t header_offset = 0;
  std::uint32_t crc32 = 0;
  /// 0 stored, 8 deflated. Anything else is refused when the record is read.
  std::uint16_t method = 0;
  bool is_stored() const noexcept { return method == 0; }
  /// PyTorch writes 0 where it was told not to compute checksums: 0 over bytes means "none given".
  bool has_checksum() const noexcept { return crc32 != 0 || size == 0; }
};

struct ArchiveOptions {
  Limits limits{};
  /// Refuse (code `ambiguous`) what PyTorch accepts but two readers could see differently: every
  /// note of severity `ambiguity`, those of `inspect_headers` too. Costs a look at each record.
  bool strict = false;
};

/// A zip archive opened for reading.
class ArchiveReader {
 public:
  /// Reads the tail and the directory, and the local headers when strict, in time linear in the
  /// number of records.
  /// Errors: `truncated`, `malformed_zip`, `limit`, `unsupported`, `io`; `ambiguous` when strict.
  explicit ArchiveReader(SourcePtr source, const ArchiveOptions& options = {});
  ~ArchiveReader();
  ArchiveReader(ArchiveReader&&) noexcept;
  ArchiveReader& operator=(ArchiveReader&&) noexcept;

  const SourcePtr& source() const noexcept;
  /// Number of records; indices below are ordinals in the directory.
  std::size_t size() const noexcept;
  Record record(std::size_t index) const noexcept;

  /// What precedes the first `/` of the first entry, as PyTorch takes it; "archive" in most files.
  /// Entries that macOS adds do not count. Empty where the first entry stands in no folder.
  std::string_view folder() const noexcept;
  /// The entry `folder()/name`. Upper and lower case are the same (ASCII), and among several
  /// entries of one name it is the one that PyTorch's binary search meets. Constant time.
  std::optional<std::size_t> find(std::string_view name) const noexcept;
  /// As `find`; `hint` is looked at first. Records that are asked for in the order of the directory
  /// with the last index + 1 as hint cost one comparison each.
  std::optional<std::size_t> find(std::string_view name, std::size_t hint) const noexcept;
  /// As `find(prefix + name, hint)`, without building the joined name.
  std::optional<std::size_t> find(std::string_view prefix, std::string_view name,
                                  std::size_t hint) const noexcept;

  /// Where the record's data starts in the source, from its local header (PyTorch trusts nothing
  /// else of it). Errors: `malformed_zip` where header or data lie outside the file or inside the
  /// directory, where the header is not one or is another entry's, or where the sizes of a stored
  /// record differ; `unsupported` for encryption and other methods.
  std::uint64_t data_offset(std::size_t index) const;
  /// The same for a look at the layout of a file that may be damaged: nothing where the local
  /// header leads nowhere, and the place of data that `read` would refuse. Error: `io`.
  std::optional<std::uint64_t> find_data(std::size_t index) const;
  /// The record's bytes, inflated where deflated; in place where stored and mapped.
  /// Errors: as `data_offset`; `checksum` when `verify` and the CRC-32 differs; `limit`;
  /// `malformed_zip` for broken deflate data.
  Block read(std::size_t index, bool verify = true) const;
  /// Compares the CRC-32 of `bytes`, which are the record's, with the directory's.
  /// Error: `checksum`. A record without a checksum passes.
  void verify(std::size_t index, std::span<const std::byte> bytes) const;

  /// What was tolerated, found while the directory was read. Local headers are compared only when
  /// strict, or when `inspect_headers` is called.
  const std::vector<Note>& notes() const noexcept;
  /// Compares every local header and data descriptor with the directory and gives the differences,
  /// and the bytes that belong to no record. Touches one or two pages for each record.
  std::vector<Note> inspect_headers() const;

 private:
  struct State;
  std::unique_ptr<const State> state_;
};

/// The CRC-32 of zip (polynomial 0xEDB88320) of `bytes`, continued from `seed`.
std::uint32_t crc32(std::span<const std::byte> bytes, std::uint32_t seed = 0) noexcept;
/// The CRC-32 of A followed by B, from both checksums and the size of B in bytes.
std::uint32_t crc32_combine(std::uint32_t a, std::uint32_t b, std::uint64_t size_b) noexcept;

}  // namespace flambeau
