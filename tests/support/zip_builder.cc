// Writes the layout of APPNOTE 4.3 with the choices of PyTorch's writer: padding fields ("FB"),
// zeros for sizes and checksum in local headers whose records have a descriptor, ZIP64 end records
// always. Written apart from the library, so that a mistake there is not repeated here.
#include "support/zip_builder.h"

#include <libdeflate.h>
#include <zlib.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "base/bytes.h"

namespace flambeau::testing {
namespace {

constexpr std::uint32_t kFull = 0xffffffff;

template <std::unsigned_integral T>
void put(std::string& out, T value) {
  for (std::size_t i = 0; i < sizeof(T); ++i) out += static_cast<char>((value >> (8 * i)) & 0xff);
}

void put16(std::string& out, std::size_t value) { put(out, static_cast<std::uint16_t>(value)); }
void put32(std::string& out, std::size_t value) { put(out, static_cast<std::uint32_t>(value)); }
void put64(std::string& out, std::size_t value) { put(out, std::uint64_t{value}); }

std::uint32_t checksum(const std::string& content) {
  const void* start = content.data();
  return static_cast<std::uint32_t>(
      ::crc32(0, static_cast<const Bytef*>(start), static_cast<uInt>(content.size())));
}

/// All numbers of one record.
struct Numbers {
  std::size_t flags;
  std::size_t method;
  std::uint32_t crc32;
  std::size_t stored;
  std::size_t size;
  bool has_descriptor;
};

Numbers numbers_of(const ZipRecord& record, const std::string& stored) {
  const bool has_descriptor = record.descriptor == Descriptor::automatic
                                  ? !stored.empty()
                                  : record.descriptor != Descriptor::none;
  return {std::size_t{0x0800} | (has_descriptor ? 8u : 0u),
          record.deflate ? 8u : 0u,
          checksum(record.content),
          stored.size(),
          record.content.size(),
          has_descriptor};
}

void put_local(std::string& out, const ZipRecord& record, const Numbers& numbers,
               const ZipLayout& layout) {
  const std::string& name = record.local_name.value_or(record.name);
  const bool open = numbers.has_descriptor;
  std::string extra;
  if (record.zip64) {
    put16(extra, 1);
    put16(extra, 16);
    put64(extra, numbers.size);
    put64(extra, open ? 0 : numbers.stored);
  }
  if (layout.alignment > 0) {
    const std::size_t start = out.size() + 30 + name.size() + extra.size() + 4;
    const std::size_t pad = (layout.alignment - start % layout.alignment) % layout.alignment;
    extra += "FB";
    put16(extra, pad);
    extra.append(pad, 'Z');
  }
  out += "PK\3\4";
  put16(out, record.deflate ? 20 : 0);
  put16(out, numbers.flags);
  put16(out, numbers.method);
  put32(out, 0);
  put32(out, open ? 0 : numbers.crc32);
  put32(out, open ? 0 : record.zip64 ? kFull : numbers.stored);
  put32(out, open ? 0 : record.zip64 ? kFull : numbers.size);
  put16(out, name.size());
  put16(out, extra.size());
  out += name + extra;
}

void put_descriptor(std::string& out, const ZipRecord& record, const Numbers& numbers) {
  if (!numbers.has_descriptor) return;
  const Descriptor form = record.descriptor;
  const bool is_unsigned = form == Descriptor::unsigned_narrow || form == Descriptor::unsigned_wide;
  const bool is_wide = form == Descriptor::wide || form == Descriptor::unsigned_wide ||
                       (form == Descriptor::automatic && record.zip64);
  if (!is_unsigned) out += "PK\7\10";
  put32(out, numbers.crc32);
  for (const std::size_t number : {numbers.stored, numbers.size}) {
    is_wide ? put64(out, number) : put32(out, number);
  }
}

void put_central(std::string& out, const ZipRecord& record, const Numbers& numbers,
                 std::size_t local) {
  std::string extra = record.central_extra;
  if (record.zip64) {
    put16(extra, 1);
    put16(extra, 24);
    put64(extra, numbers.size);
    put64(extra, numbers.stored);
    put64(extra, local);
  }
  out += "PK\1\2";
  put16(out, 0);
  put16(out, record.deflate ? 20 : 0);
  put16(out, numbers.flags);
  put16(out, numbers.method);
  put32(out, 0);
  put32(out, numbers.crc32);
  put32(out, record.zip64 ? kFull : numbers.stored);
  put32(out, record.zip64 ? kFull : numbers.size);
  put16(out, record.name.size());
  put16(out, extra.size());
  put16(out, 0);
  put16(out, 0);
  put16(out, 0);
  put32(out, 0);
  put32(out, record.zip64 ? kFull : local);
  out += record.name + extra;
}

void put_end(BuiltZip& zip, std::size_t count, const ZipLayout& layout) {
  std::string& out = zip.bytes;
  const std::size_t size = out.size() - zip.directory;
  if (layout.zip64_end) {
    zip.zip64_end = out.size();
    out += "PK\6\6";
    put64(out, 44);
    put16(out, 0x031e);
    put16(out, 45);
    put64(out, 0);
    put64(out, count);
    put64(out, count);
    put64(out, size);
    put64(out, zip.directory);
    zip.locator = out.size();
    out += "PK\6\7";
    put32(out, 0);
    put64(out, zip.zip64_end);
    put32(out, 1);
  }
  zip.end = out.size();
  out += "PK\5\6";
  put32(out, 0);
  const std::size_t few = std::min<std::size_t>(count, 0xffff);
  put16(out, few);
  put16(out, few);
  put32(out, std::min<std::size_t>(size, kFull));
  put32(out, std::min<std::size_t>(zip.directory, kFull));
  put16(out, layout.comment.size());
  out += layout.comment;
}

class CallsOnly final : public Source {
 public:
  explicit CallsOnly(SourcePtr source) : Source(source->name()), source_(std::move(source)) {}
  std::uint64_t size() const noexcept override { return source_->size(); }
  void read(std::uint64_t offset, MutableBytes out) const override { source_->read(offset, out); }

 private:
  SourcePtr source_;
};

}  // namespace

SourcePtr BuiltZip::memory_source(std::string content, std::string name) {
  const auto owner = std::make_shared<const std::string>(std::move(content));
  return own_memory({as_bytes(*owner), owner}, std::move(name));
}

BuiltZip build_zip(const std::vector<ZipRecord>& records, const ZipLayout& layout) {
  BuiltZip zip;
  zip.bytes = layout.prefix;
  std::string directory;
  for (const ZipRecord& record : records) {
    const std::string stored = record.stored    ? *record.stored
                               : record.deflate ? deflate(record.content)
                                                : record.content;
    const Numbers numbers = numbers_of(record, stored);
    BuiltZip::Positions at;
    at.local = zip.bytes.size();
    put_local(zip.bytes, record, numbers, layout);
    at.data = zip.bytes.size();
    zip.bytes += stored;
    at.descriptor = zip.bytes.size();
    put_descriptor(zip.bytes, record, numbers);
    zip.bytes += layout.gap;
    at.central = directory.size();
    put_central(directory, record, numbers, at.local);
    zip.records.push_back(at);
  }
  zip.directory = zip.bytes.size();
  zip.bytes += directory;
  for (BuiltZip::Positions& at : zip.records) at.central += zip.directory;
  put_end(zip, records.size(), layout);
  return zip;
}

std::string deflate(const std::string& content) {
  const std::unique_ptr<libdeflate_compressor, void (*)(libdeflate_compressor*)> compressor(
      libdeflate_alloc_compressor(6), libdeflate_free_compressor);
  std::string out(libdeflate_deflate_compress_bound(compressor.get(), content.size()), '\0');
  out.resize(libdeflate_deflate_compress(compressor.get(), content.data(), content.size(),
                                         out.data(), out.size()));
  return out;
}

SourcePtr read_only_by_calls(SourcePtr source) {
  return std::make_shared<CallsOnly>(std::move(source));
}

}  // namespace flambeau::testing
