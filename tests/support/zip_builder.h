// Zip archives for tests: laid out as PyTorch lays them out, or otherwise, and with the place of
// every header known, so that a test can make one field wrong.
//
//   BuiltZip zip = build_zip({{.name = "archive/data.pkl", .content = pickle},
//                             {.name = "archive/data/0", .content = floats, .deflate = true}});
//   zip.set<std::uint32_t>(zip.records[1].central + 16, 0xbad);   // its checksum
//   ArchiveReader archive(zip.source());
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "base/endian.h"
#include "flambeau/io.h"

namespace flambeau::testing {

enum class Descriptor : std::uint8_t {
  automatic,  ///< as PyTorch: 32-bit numbers for records with content, 64-bit for ZIP64 ones
  none,       ///< the local header has sizes and checksum
  narrow,     ///< 32-bit numbers
  wide,       ///< 64-bit numbers
  unsigned_narrow,
  unsigned_wide,
};

struct ZipRecord {
  std::string name{};
  std::string content{};
  bool deflate = false;
  /// Numbers in ZIP64 extra fields, whatever their size.
  bool zip64 = false;
  Descriptor descriptor = Descriptor::automatic;
  /// What stands in the file instead of `content` or its deflated form. Sizes follow it.
  std::optional<std::string> stored{};
  /// The name in the local header, where it is another.
  std::optional<std::string> local_name{};
  /// Extra fields before the ZIP64 field of the directory.
  std::string central_extra{};
};

struct ZipLayout {
  /// Of the data of every record; 0 leaves out the padding field.
  std::size_t alignment = 64;
  /// Whether ZIP64 end record and locator are written.
  bool zip64_end = true;
  /// Bytes before the first record, which all offsets count.
  std::string prefix{};
  /// Bytes after each record, which belong to none.
  std::string gap{};
  std::string comment{};
};

struct BuiltZip {
  struct Positions {
    std::size_t local = 0;
    std::size_t data = 0;
    std::size_t descriptor = 0;
    std::size_t central = 0;
  };

  std::string bytes;
  std::vector<Positions> records;
  std::size_t directory = 0;
  std::size_t zip64_end = 0;
  std::size_t locator = 0;
  std::size_t end = 0;

  /// Overwrites one number.
  template <std::unsigned_integral T>
  BuiltZip& set(std::size_t at, T value) {
    std::byte raw[sizeof(T)];
    store_le(raw, value);
    std::memcpy(bytes.data() + at, raw, sizeof raw);
    return *this;
  }
  template <std::unsigned_integral T>
  T get(std::size_t at) const {
    std::byte raw[sizeof(T)];
    std::memcpy(raw, bytes.data() + at, sizeof raw);
    return load_le<T>(raw);
  }

  /// The bytes as a source that keeps a copy of them.
  SourcePtr source() const { return memory_source(bytes); }

  static SourcePtr memory_source(std::string content, std::string name = "test.pt");
};

BuiltZip build_zip(const std::vector<ZipRecord>& records, const ZipLayout& layout = {});

/// Raw deflate (RFC 1951), as zip has it.
std::string deflate(const std::string& content);

/// The same source without `in_memory`: every byte goes through `read`.
SourcePtr read_only_by_calls(SourcePtr source);

}  // namespace flambeau::testing
