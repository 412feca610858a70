// The records that a zip archive is made of (APPNOTE.TXT 6.3.10, section 4.3): fixed parts only, as
// they stand on disk, least significant byte first. Names, extra fields and comments follow them
// and are found by the sizes given here.
//
//   local header | name | extra | data | data descriptor      for every record
//   central header | name | extra | comment                   for every record
//   ZIP64 end record | ZIP64 locator | end record | comment
//
// The parsers take exactly the fixed part, whose presence the caller has checked, and judge nothing
// but the signature. The emitters write exactly the fixed part; what a structure does not hold they
// write as 0, as PyTorch does for stored records (miniz, `mz_zip_writer_create_local_dir_header`).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/bytes.h"
#include "base/endian.h"

namespace flambeau::zip {

inline constexpr std::uint32_t kLocalSignature = 0x04034b50;       // "PK\3\4"
inline constexpr std::uint32_t kDescriptorSignature = 0x08074b50;  // "PK\7\8"
inline constexpr std::uint32_t kCentralSignature = 0x02014b50;     // "PK\1\2"
inline constexpr std::uint32_t kZip64EndSignature = 0x06064b50;    // "PK\6\6"
inline constexpr std::uint32_t kLocatorSignature = 0x07064b50;     // "PK\6\7"
inline constexpr std::uint32_t kEndSignature = 0x06054b50;         // "PK\5\6"

inline constexpr std::size_t kLocalSize = 30;
inline constexpr std::size_t kCentralSize = 46;
inline constexpr std::size_t kZip64EndSize = 56;
inline constexpr std::size_t kLocatorSize = 20;
inline constexpr std::size_t kEndSize = 22;
/// Of an extra field (APPNOTE 4.5.1): id 2 | content size 2.
inline constexpr std::size_t kFieldHeader = 4;

/// A field that holds this stands in the ZIP64 extra field or in the ZIP64 end record instead.
inline constexpr std::uint32_t kSentinel32 = 0xffffffff;
inline constexpr std::uint16_t kSentinel16 = 0xffff;

/// General purpose flags (APPNOTE 4.4.4).
enum Flag : std::uint16_t {
  kEncrypted = 0x0001,
  kHasDescriptor = 0x0008,
  kPatched = 0x0020,
  kStrongEncryption = 0x0040,
  kUtf8Name = 0x0800,
  kMaskedHeader = 0x2000,
};

inline constexpr std::uint16_t kStored = 0;
inline constexpr std::uint16_t kDeflated = 8;
/// "bzip2" for 12; "unknown" for what APPNOTE 4.4.5 does not list or nobody writes any more.
std::string_view method_name(std::uint16_t method) noexcept;

/// The size of a thing and the bits that say how it is stored; common to both headers.
struct Entry {
  std::uint16_t flags = 0;
  std::uint16_t method = 0;
  std::uint32_t crc32 = 0;
  std::uint64_t stored_size = 0;
  std::uint64_t size = 0;
  std::uint16_t name_size = 0;
  std::uint16_t extra_size = 0;
};

/// Local file header (APPNOTE 4.3.7).
///
///    0 signature 4 | 4 version 2 | 6 flags 2 | 8 method 2 | 10 time 2 | 12 date 2
///   14 crc-32 4 | 18 stored size 4 | 22 size 4 | 26 name size 2 | 28 extra size 2
struct LocalHeader : Entry {
  std::uint32_t signature = 0;
};
LocalHeader parse_local_header(const std::byte* at) noexcept;
/// Version needed, time, date, checksum and sizes become 0: the descriptor and the directory have
/// them.
void emit_local_header(std::byte* at, const LocalHeader& header) noexcept;

/// Data descriptor (APPNOTE 4.3.9), the sizes of 8 bytes where the local header has a ZIP64 field.
///
///    0 signature 4 | 4 crc-32 4 | 8 stored size 4 or 8 | size 4 or 8
inline constexpr std::size_t kDescriptorSize = 16;
inline constexpr std::size_t kZip64DescriptorSize = 24;
/// Writes `width` bytes, one of the two above, for a stored record.
void emit_descriptor(std::byte* at, std::uint32_t crc32, std::uint64_t size,
                     std::size_t width) noexcept;

/// Central directory header (APPNOTE 4.3.12).
///
///    0 signature 4 | 4 made by 2 | 6 version 2 | 8 flags 2 | 10 method 2 | 12 time 2 | 14 date 2
///   16 crc-32 4 | 20 stored size 4 | 24 size 4 | 28 name size 2 | 30 extra size 2
///   32 comment size 2 | 34 disk 2 | 36 internal 2 | 38 external 4 | 42 local header offset 4
struct CentralHeader : Entry {
  std::uint32_t signature = 0;
  std::uint16_t comment_size = 0;
  std::uint16_t disk = 0;
  std::uint64_t header_offset = 0;

  /// Fixed part, name, extra field and comment.
  std::size_t full_size() const noexcept {
    return kCentralSize + name_size + extra_size + comment_size;
  }
  /// Whether a number stands in the ZIP64 extra field. Asked before `resolve_zip64`.
  bool has_sentinel() const noexcept {
    return size == kSentinel32 || stored_size == kSentinel32 || header_offset == kSentinel32;
  }
};

/// Inline: the directory's loop reads a million of these.
inline CentralHeader parse_central_header(const std::byte* at) noexcept {
  CentralHeader header;
  header.signature = load_le<std::uint32_t>(at);
  header.flags = load_le<std::uint16_t>(at + 8);
  header.method = load_le<std::uint16_t>(at + 10);
  header.crc32 = load_le<std::uint32_t>(at + 16);
  header.stored_size = load_le<std::uint32_t>(at + 20);
  header.size = load_le<std::uint32_t>(at + 24);
  header.name_size = load_le<std::uint16_t>(at + 28);
  header.extra_size = load_le<std::uint16_t>(at + 30);
  header.comment_size = load_le<std::uint16_t>(at + 32);
  header.disk = load_le<std::uint16_t>(at + 34);
  header.header_offset = load_le<std::uint32_t>(at + 42);
  return header;
}

/// Numbers that do not fit become sentinels.
void emit_central_header(std::byte* at, const CentralHeader& header) noexcept;

/// Puts the numbers of the first ZIP64 extra field (APPNOTE 4.5.3) where `header` has sentinels.
///
///   1 2 | field size 2 | size 8 | stored size 8 | header offset 8 | disk 4   each only when needed
///
/// Gives what is wrong, or an empty text.
std::string_view resolve_zip64(CentralHeader& header, Bytes extra) noexcept;

/// How many bytes a ZIP64 extra field takes for a stored record; 0 where none is needed.
constexpr std::size_t zip64_field_size(std::uint64_t size, std::uint64_t header_offset) noexcept {
  const std::size_t content =
      (size >= kSentinel32 ? 16u : 0u) + (header_offset >= kSentinel32 ? 8u : 0u);
  return content == 0 ? 0 : kFieldHeader + content;
}
/// Writes that field. PyTorch's local headers have 0 as stored size there.
void emit_zip64_field(std::byte* at, std::uint64_t size, std::uint64_t stored_size,
                      std::uint64_t header_offset) noexcept;

/// How many ZIP64 extra fields there are before the end or the first field that overruns it.
std::size_t count_zip64_fields(Bytes extra) noexcept;

/// ZIP64 end of central directory record (APPNOTE 4.3.14).
///
///    0 signature 4 | 4 size of what follows 8 | 12 made by 2 | 14 version needed 2 | 16 disk 4
///   20 directory's disk 4 | 24 entries on disk 8 | 32 entries 8 | 40 directory size 8
///   48 directory offset 8
struct Zip64EndRecord {
  std::uint32_t signature = 0;
  std::uint64_t record_size = 0;
  std::uint16_t version_needed = 0;
  std::uint32_t disk = 0;
  std::uint32_t directory_disk = 0;
  std::uint64_t disk_entries = 0;
  std::uint64_t entries = 0;
  std::uint64_t directory_size = 0;
  std::uint64_t directory_offset = 0;
};
Zip64EndRecord parse_zip64_end_record(const std::byte* at) noexcept;
/// Made by version 3.0 on Unix, version 4.5 needed.
void emit_zip64_end_record(std::byte* at, const Zip64EndRecord& record) noexcept;

/// ZIP64 end of central directory locator (APPNOTE 4.3.15).
///
///    0 signature 4 | 4 record's disk 4 | 8 record's offset 8 | 16 number of disks 4
struct Zip64Locator {
  std::uint32_t signature = 0;
  std::uint64_t record_offset = 0;
  std::uint32_t disks = 0;
};
Zip64Locator parse_zip64_locator(const std::byte* at) noexcept;
void emit_zip64_locator(std::byte* at, const Zip64Locator& locator) noexcept;

/// End of central directory record (APPNOTE 4.3.16).
///
///    0 signature 4 | 4 disk 2 | 6 directory's disk 2 | 8 entries on disk 2 | 10 entries 2
///   12 directory size 4 | 16 directory offset 4 | 20 comment size 2
struct EndRecord {
  std::uint32_t signature = 0;
  std::uint16_t disk = 0;
  std::uint16_t directory_disk = 0;
  std::uint16_t disk_entries = 0;
  std::uint16_t entries = 0;
  std::uint32_t directory_size = 0;
  std::uint32_t directory_offset = 0;
  std::uint16_t comment_size = 0;
};
EndRecord parse_end_record(const std::byte* at) noexcept;
void emit_end_record(std::byte* at, const EndRecord& record) noexcept;

}  // namespace flambeau::zip
