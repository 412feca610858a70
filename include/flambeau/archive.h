// Low door: the zip layer by itself, as PyTorch lays it out and reads it (APPNOTE.TXT 6.3.10).
//
//   flambeau::ArchiveReader archive(flambeau::open_file("model.pt"));
//   for (std::size_t i = 0; i < archive.size(); ++i)
//     fmt::print("{} {}\n", archive.record(i).name, archive.record(i).size);
//   flambeau::Block pickle = archive.read(*archive.find("data.pkl"));
//
// Only the tail, the directory and the wanted records are touched. Immutable after construction and
// safe to use from many threads at once. The same the other way round:
//
//   flambeau::ArchiveWriter archive;
//   archive.add("data.pkl", pickle);          // borrowed until `finish` returns
//   archive.add("data/0", weights);
//   const auto sink = flambeau::create_file("model.pt", {.expected_size = archive.file_size()});
//   archive.finish(*sink);
//   sink->commit();
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
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

struct ArchiveWriterOptions {
  /// What precedes the first `/` of every record's full name.
  std::string folder = "archive";
  /// Every record's data starts at a multiple of so many bytes.
  std::uint32_t alignment = 64;
  /// Without checksums PyTorch writes 0 for them, which most other readers take for an error.
  bool checksums = true;
  /// Whether `.data/serialization_id` follows the last record, as in PyTorch since 2.1: 40 digits
  /// made of all names and checksums, the same ones that PyTorch's Linux builds make.
  bool serialization_id = true;
};

struct WriteOptions {
  /// 0: as many as the machine has cores, at most 8. More than 16 are as good as 16.
  unsigned threads = 0;
  /// Told from the calling thread.
  ProgressCallback progress{};
  /// A request to stop ends the writing with `cancelled`; the sink then holds anything.
  std::stop_token stop{};
  /// The archive that this one is a new version of. Where its records have the same names in the
  /// same order, the half of the id that is made of names is taken from it: PyTorch's builds for
  /// macOS make another half than those for Linux.
  const ArchiveReader* predecessor = nullptr;
};

/// Writes the bytes of a record from `offset` on to `out`.
using FillFunction = std::function<void(std::uint64_t offset, std::span<std::byte> out)>;

/// A zip archive that is to be written, byte for byte as PyTorch's own writer does
/// (caffe2/serialize/inline_container.cc): stored records, in the order in which they were added.
/// Takes 48 bytes for each record beside its name.
class ArchiveWriter {
 public:
  /// Error: `usage` for an empty folder, one with a leading `/`, and an alignment of 0.
  explicit ArchiveWriter(const ArchiveWriterOptions& options = {});
  ~ArchiveWriter();
  ArchiveWriter(ArchiveWriter&&) noexcept;
  ArchiveWriter& operator=(ArchiveWriter&&) noexcept;

  /// Adds the record `folder/name`. The bytes stay the caller's, unchanged until `finish` returns.
  /// Errors of all that add: `usage` for a name that is empty, begins with `/` or has more than
  /// 65,535 bytes with the folder, for the id where that is written by itself, and for an alignment
  /// that takes more padding than zip has room for (possible from 65,505 on); `limit` for what no
  /// file can hold. Without `checksum` this record gets none whatever the options say, as PyTorch's
  /// `skip_data` leaves records that are filled later.
  void add(std::string_view name, std::span<const std::byte> bytes, bool checksum = true);
  /// The same for bytes that are made on demand, of memory that only a device can read, say.
  /// `finish` asks for each of the `size` bytes once, in order, up to 1 MiB at a time, but several
  /// records may be asked for from several threads at once. What `fill` throws ends the writing.
  void add(std::string_view name, std::uint64_t size, FillFunction fill, bool checksum = true);
  /// A record of `size` zeros with checksum 0, which PyTorch's `skip_data` makes. In a file they
  /// are a hole, which takes no room on the disk.
  void add_hole(std::string_view name, std::uint64_t size);
  /// Room for so many records: adding more is only slower.
  void reserve(std::size_t count);

  /// Number of records so far.
  std::size_t size() const noexcept;
  /// The CRC-32 of a record's data, by its ordinal, once `finish` has written it; nothing for a
  /// record without a checksum.
  std::optional<std::uint32_t> checksum(std::size_t index) const noexcept;
  /// The size in bytes that the file will have with the records so far.
  std::uint64_t file_size() const;

  /// Writes the archive to a sink that nothing was written to, and leaves `commit` to the caller.
  /// Large records go from the caller's memory to the sink without a copy. A sink that writes
  /// anywhere gets disjoint runs of bytes from several threads. Call once.
  /// Errors: `usage` where two records have one name; the sink's; `cancelled`.
  void finish(Sink& sink, const WriteOptions& options = {});

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// The CRC-32 of zip (polynomial 0xEDB88320) of `bytes`, continued from `seed`.
std::uint32_t crc32(std::span<const std::byte> bytes, std::uint32_t seed = 0) noexcept;
/// The CRC-32 of A followed by B, from both checksums and the size of B in bytes.
std::uint32_t crc32_combine(std::uint32_t a, std::uint32_t b, std::uint64_t size_b) noexcept;

}  // namespace flambeau
