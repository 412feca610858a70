// Local headers as PyTorch leaves them: checksum and sizes 0 whether or not a descriptor follows,
// the ZIP64 field with a stored size of 0 (APPNOTE 4.3.7, 4.5.3).
#include "zip/record_writer.h"

#include <algorithm>
#include <cstring>

namespace flambeau::zip {
namespace {

/// Checksummed and put at a time: it should still be in the second-level cache.
constexpr std::uint64_t kPieceSize = std::uint64_t{256} << 10;

std::byte* append(std::byte* at, std::string_view text) noexcept {
  std::memcpy(at, text.data(), text.size());
  return at + text.size();
}

/// PyTorch's padding field.
void write_padding(std::byte* at, std::uint16_t size) noexcept {
  constexpr std::uint16_t kPaddingId = 'F' | 'B' << 8;
  store_le(at, kPaddingId);
  store_le(at + 2, size);
  std::memset(at + kFieldHeader, 'Z', size);
}

}  // namespace

void RecordWriter::write(PlannedRecord& record, Gathering& gathering) {
  write_header(record, gathering.take(record.header_size()));
  if (is_large(record)) {
    write_large(record, gathering);
  } else if (record.size > 0) {
    const auto size = static_cast<std::size_t>(record.size);
    const MutableBytes data(gathering.take(size), size);
    make(record, 0, data);
    record.crc32 = checksum(record, data, 0);
  }
  if (const std::size_t width = record.descriptor_size()) {
    emit_descriptor(gathering.take(width), record.crc32, record.size, width);
  }
}

void RecordWriter::write_header(const PlannedRecord& record, std::byte* at) const {
  LocalHeader header;
  header.flags = record.flags();
  header.name_size = record.name_size;
  header.extra_size = static_cast<std::uint16_t>(record.extra_size());
  emit_local_header(at, header);
  at = append(at + kLocalSize, plan_.name(record));
  if (const std::size_t size = record.zip64_size()) {
    emit_zip64_field(at, record.size, 0, record.header_offset);
    at += size;
  }
  write_padding(at, record.padding);
}

void RecordWriter::write_large(PlannedRecord& record, Gathering& gathering) {
  gathering.flush();
  if (output_.is_ordered()) {
    record.crc32 = put_data(record, 0, record.size, gathering.buffer());
  } else if (record.content == Content::hole) {
    output_.pass_over(record.size);
  }
  gathering.skip(record.size);
}

std::uint32_t RecordWriter::put_data(const PlannedRecord& record, std::uint64_t offset,
                                     std::uint64_t size, MutableBytes buffer) {
  const bool is_borrowed = record.content == Content::borrowed;
  const std::uint64_t full = is_borrowed ? kPieceSize : buffer.size();
  std::uint32_t crc = 0;
  // Pieces end at multiples of their size in the file: so the system takes its largest pages.
  std::uint64_t step = full - (record.data_offset() + offset) % full;
  for (const std::uint64_t end = offset + size; offset < end; offset += step, step = full) {
    const auto count = static_cast<std::size_t>(std::min(step, end - offset));
    if (!is_borrowed) make(record, offset, buffer.first(count));
    const Bytes piece = is_borrowed ? Bytes(record.bytes + offset, count) : buffer.first(count);
    crc = checksum(record, piece, crc);
    output_.put(record.data_offset() + offset, piece);
  }
  return crc;
}

void RecordWriter::make(const PlannedRecord& record, std::uint64_t offset, MutableBytes out) {
  switch (record.content) {
    case Content::borrowed: std::memcpy(out.data(), record.bytes + offset, out.size()); break;
    case Content::hole: std::memset(out.data(), 0, out.size()); break;
    case Content::filled: {
      Filling& filling = plan_.fillings()[record.fill];
      filling.fill(offset, out);
      const bool has_start = offset == 0 && out.size() >= sizeof filling.start;
      if (has_start) filling.start = load_le<std::uint64_t>(out.data());
    }
  }
}

std::uint32_t RecordWriter::checksum(const PlannedRecord& record, Bytes bytes,
                                     std::uint32_t seed) const {
  const bool wanted = checksums_ && record.has_checksum && record.content != Content::hole;
  return wanted ? crc32(bytes, seed) : 0;
}

void write_entry(const PlannedRecord& record, std::string_view name, std::byte* at) {
  CentralHeader header;
  header.flags = record.flags();
  header.crc32 = record.crc32;
  header.stored_size = header.size = record.size;
  header.header_offset = record.header_offset;
  header.name_size = record.name_size;
  header.extra_size = static_cast<std::uint16_t>(record.zip64_size());
  emit_central_header(at, header);
  at = append(at + kCentralSize, name);
  if (header.extra_size > 0) {
    emit_zip64_field(at, record.size, record.size, record.header_offset);
  }
}

}  // namespace flambeau::zip
