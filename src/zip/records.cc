// Field by field as the diagrams of the header say. Of the extra fields only ZIP64 has a meaning
// here; PyTorch's padding ("FB") stands in local headers alone and is passed over by its size. As
// in PyTorch's reader the extra fields of a directory entry are looked at only when a sentinel asks
// for one, and the first ZIP64 field counts.
#include "zip/records.h"

#include <algorithm>

namespace flambeau::zip {
namespace {

constexpr std::uint16_t kZip64Id = 1;

/// One extra field (APPNOTE 4.5.1): id 2 | size 2 | content, cut off the front of `rest`.
struct Field {
  std::uint16_t id = 0;
  Bytes content;
};

/// Whether a whole field was there.
bool take_field(Bytes& rest, Field& field) noexcept {
  if (rest.size() < kFieldHeader) return false;
  const std::size_t size = load_le<std::uint16_t>(rest.data() + 2);
  if (size > rest.size() - kFieldHeader) return false;
  field = {load_le<std::uint16_t>(rest.data()), rest.subspan(kFieldHeader, size)};
  rest = rest.subspan(kFieldHeader + size);
  return true;
}

/// Replaces a sentinel by the next number of the field; false where the field is used up.
bool replace_sentinel(std::uint64_t& number, Bytes& content) noexcept {
  if (number != kSentinel32) return true;
  if (content.size() < sizeof number) return false;
  number = load_le<std::uint64_t>(content.data());
  content = content.subspan(sizeof number);
  return true;
}

std::uint32_t or_sentinel(std::uint64_t number) noexcept {
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(number, kSentinel32));
}

}  // namespace

/// APPNOTE 4.4.5. Those that some archiver still writes, to be named in a message.
std::string_view method_name(std::uint16_t method) noexcept {
  switch (method) {
    case kStored: return "stored";
    case kDeflated: return "deflate";
    case 9: return "deflate64";
    case 12: return "bzip2";
    case 14: return "LZMA";
    case 93: return "Zstandard";
    case 95: return "XZ";
    case 99: return "AES encryption";
    default: return "unknown";
  }
}

LocalHeader parse_local_header(const std::byte* at) noexcept {
  LocalHeader header;
  header.signature = load_le<std::uint32_t>(at);
  header.flags = load_le<std::uint16_t>(at + 6);
  header.method = load_le<std::uint16_t>(at + 8);
  header.crc32 = load_le<std::uint32_t>(at + 14);
  header.stored_size = load_le<std::uint32_t>(at + 18);
  header.size = load_le<std::uint32_t>(at + 22);
  header.name_size = load_le<std::uint16_t>(at + 26);
  header.extra_size = load_le<std::uint16_t>(at + 28);
  return header;
}

void emit_local_header(std::byte* at, const LocalHeader& header) noexcept {
  std::memset(at, 0, kLocalSize);
  store_le(at, kLocalSignature);
  store_le(at + 6, header.flags);
  store_le(at + 8, header.method);
  store_le(at + 26, header.name_size);
  store_le(at + 28, header.extra_size);
}

void emit_descriptor(std::byte* at, std::uint32_t crc32, std::uint64_t size,
                     std::size_t width) noexcept {
  store_le(at, kDescriptorSignature);
  store_le(at + 4, crc32);
  if (width == kZip64DescriptorSize) {
    store_le(at + 8, size);
    store_le(at + 16, size);
  } else {
    store_le(at + 8, static_cast<std::uint32_t>(size));
    store_le(at + 12, static_cast<std::uint32_t>(size));
  }
}

void emit_central_header(std::byte* at, const CentralHeader& header) noexcept {
  std::memset(at, 0, kCentralSize);
  store_le(at, kCentralSignature);
  store_le(at + 8, header.flags);
  store_le(at + 10, header.method);
  store_le(at + 16, header.crc32);
  store_le(at + 20, or_sentinel(header.stored_size));
  store_le(at + 24, or_sentinel(header.size));
  store_le(at + 28, header.name_size);
  store_le(at + 30, header.extra_size);
  store_le(at + 42, or_sentinel(header.header_offset));
}

std::string_view resolve_zip64(CentralHeader& header, Bytes extra) noexcept {
  Field field;
  do {
    if (extra.empty()) return "a number stands in a ZIP64 extra field, but there is none";
    if (!take_field(extra, field)) return "an extra field ends past the entry's";
  } while (field.id != kZip64Id);
  // In this order, and each only where its own sentinel stands.
  const bool complete = replace_sentinel(header.size, field.content) &&
                        replace_sentinel(header.stored_size, field.content) &&
                        replace_sentinel(header.header_offset, field.content);
  return complete ? "" : "the ZIP64 extra field is too short for the numbers it must hold";
}

void emit_zip64_field(std::byte* at, std::uint64_t size, std::uint64_t stored_size,
                      std::uint64_t header_offset) noexcept {
  const std::size_t content = zip64_field_size(size, header_offset) - kFieldHeader;
  store_le(at, kZip64Id);
  store_le(at + 2, static_cast<std::uint16_t>(content));
  at += kFieldHeader;
  if (size >= kSentinel32) {
    store_le(at, size);
    store_le(at + 8, stored_size);
    at += 16;
  }
  if (header_offset >= kSentinel32) store_le(at, header_offset);
}

/// More than one is an ambiguity: readers take the first or the last.
std::size_t count_zip64_fields(Bytes extra) noexcept {
  std::size_t count = 0;
  for (Field field; take_field(extra, field);) count += field.id == kZip64Id;
  return count;
}

Zip64EndRecord parse_zip64_end_record(const std::byte* at) noexcept {
  Zip64EndRecord record;
  record.signature = load_le<std::uint32_t>(at);
  record.record_size = load_le<std::uint64_t>(at + 4);
  record.version_needed = load_le<std::uint16_t>(at + 14);
  record.disk = load_le<std::uint32_t>(at + 16);
  record.directory_disk = load_le<std::uint32_t>(at + 20);
  record.disk_entries = load_le<std::uint64_t>(at + 24);
  record.entries = load_le<std::uint64_t>(at + 32);
  record.directory_size = load_le<std::uint64_t>(at + 40);
  record.directory_offset = load_le<std::uint64_t>(at + 48);
  return record;
}

void emit_zip64_end_record(std::byte* at, const Zip64EndRecord& record) noexcept {
  constexpr std::uint16_t kMadeBy = 3 << 8 | 30;
  constexpr std::uint16_t kNeeded = 45;
  store_le(at, kZip64EndSignature);
  store_le<std::uint64_t>(at + 4, kZip64EndSize - 12);
  store_le(at + 12, kMadeBy);
  store_le(at + 14, kNeeded);
  store_le(at + 16, record.disk);
  store_le(at + 20, record.directory_disk);
  store_le(at + 24, record.disk_entries);
  store_le(at + 32, record.entries);
  store_le(at + 40, record.directory_size);
  store_le(at + 48, record.directory_offset);
}

Zip64Locator parse_zip64_locator(const std::byte* at) noexcept {
  Zip64Locator locator;
  locator.signature = load_le<std::uint32_t>(at);
  locator.record_offset = load_le<std::uint64_t>(at + 8);
  locator.disks = load_le<std::uint32_t>(at + 16);
  return locator;
}

void emit_zip64_locator(std::byte* at, const Zip64Locator& locator) noexcept {
  store_le(at, kLocatorSignature);
  store_le<std::uint32_t>(at + 4, 0);
  store_le(at + 8, locator.record_offset);
  store_le(at + 16, locator.disks);
}

EndRecord parse_end_record(const std::byte* at) noexcept {
  EndRecord record;
  record.signature = load_le<std::uint32_t>(at);
  record.disk = load_le<std::uint16_t>(at + 4);
  record.directory_disk = load_le<std::uint16_t>(at + 6);
  record.disk_entries = load_le<std::uint16_t>(at + 8);
  record.entries = load_le<std::uint16_t>(at + 10);
  record.directory_size = load_le<std::uint32_t>(at + 12);
  record.directory_offset = load_le<std::uint32_t>(at + 16);
  record.comment_size = load_le<std::uint16_t>(at + 20);
  return record;
}

void emit_end_record(std::byte* at, const EndRecord& record) noexcept {
  store_le(at, kEndSignature);
  store_le(at + 4, record.disk);
  store_le(at + 6, record.directory_disk);
  store_le(at + 8, record.disk_entries);
  store_le(at + 10, record.entries);
  store_le(at + 12, record.directory_size);
  store_le(at + 16, record.directory_offset);
  store_le(at + 20, record.comment_size);
}

}  // namespace flambeau::zip
