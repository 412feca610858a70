// Archives past the 16-bit and 32-bit numbers of zip.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>

#include "base/bytes.h"
#include "flambeau/archive.h"
#include "support/errors.h"
#include "support/temporary_folder.h"
#include "support/zip_builder.h"
#include "zip/notes_of.h"

namespace flambeau::testing {
namespace {

using ::testing::IsEmpty;

BuiltZip numbered(std::size_t count) {
  std::vector<ZipRecord> records(count);
  for (std::size_t i = 0; i < count; ++i) {
    records[i].name = "archive/data/" + std::to_string(i);
    records[i].content = std::to_string(i);
  }
  return build_zip(records, {.alignment = 0});
}

TEST(Large, SeventyThousandRecords) {
  const BuiltZip zip = numbered(70'000);
  EXPECT_EQ(zip.get<std::uint16_t>(zip.end + 10), 0xffff);
  const ArchiveReader archive(zip.source(), {.strict = true});
  ASSERT_EQ(archive.size(), 70'000u);
  for (std::size_t i = 0; i < archive.size(); ++i) {
    const std::string number = std::to_string(i);
    ASSERT_EQ(archive.find("data/", number, i), i);
    ASSERT_EQ(archive.find("data/", number, archive.size() - i), i);
    ASSERT_EQ(as_text(archive.read(i).bytes), number);
  }
  EXPECT_EQ(archive.find("data/70000"), std::nullopt);
  EXPECT_THAT(archive.inspect_headers(), IsEmpty());
}

double seconds_to_open(const SourcePtr& source) {
  double best = 1e9;
  for (int i = 0; i < 5; ++i) {
    const auto start = std::chrono::steady_clock::now();
    EXPECT_GT(ArchiveReader(source).size(), 0u);
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    best = std::min(best, taken.count());
  }
  return best;
}

TEST(Large, TakesTimeInProportion) {
  const double small = seconds_to_open(numbered(20'000).source());
  const double large = seconds_to_open(numbered(200'000).source());
  // Ten times the records; what is quadratic would take a hundred times as long.
  EXPECT_LT(large, 40 * small);
}

/// Copies a small archive into a file with a hole for the data of its second record.
void write_with_hole(const std::string& path, const BuiltZip& zip, std::uint64_t hole) {
  const std::string_view bytes = zip.bytes;
  const std::size_t cut = zip.records[1].data;
  std::ofstream file(path, std::ios::binary);
  file << bytes.substr(0, cut);
  file.seekp(static_cast<std::streamoff>(cut + hole));
  file << bytes.substr(cut);
}

TEST(Large, ARecordOfMoreThanFourGigabytes) {
  const std::uint64_t hole = (std::uint64_t{4} << 30) + 5;
  BuiltZip zip = build_zip({{.name = "a/data.pkl", .content = "pickle"},
                            {.name = "a/data/0", .zip64 = true},
                            {.name = "a/data/1", .content = "after", .zip64 = true}},
                           {.alignment = 64});
  // The record's sizes, the offset of the record behind it, and those of directory and end record.
  const std::size_t sizes = zip.records[1].central + 46 + 8 + 4;
  zip.set(sizes, hole).set(sizes + 8, hole);
  zip.set(zip.records[2].central + 46 + 8 + 4 + 16, zip.records[2].local + hole);
  zip.set(zip.zip64_end + 48, zip.directory + hole).set(zip.locator + 8, zip.zip64_end + hole);
  zip.set<std::uint32_t>(zip.end + 16, 0xffffffff);
  const TemporaryFolder folder;
  write_with_hole(folder / "large.pt", zip, hole);
  for (const bool mapped : {true, false}) {
    const SourcePtr source = open_file(folder / "large.pt", {.mapped = mapped});
    const ArchiveReader archive(source, {.strict = true});
    ASSERT_EQ(archive.size(), 3u);
    EXPECT_EQ(archive.record(1).size, hole);
    EXPECT_EQ(archive.record(2).header_offset, zip.records[2].local + hole);
    EXPECT_EQ(archive.data_offset(1), zip.records[1].data);
    EXPECT_EQ(as_text(archive.read(2).bytes), "after");
    EXPECT_THAT(ambiguities(archive.inspect_headers()), IsEmpty());
  }
  const Block large = ArchiveReader(open_file(folder / "large.pt")).read(1);
  EXPECT_EQ(large.bytes.size(), hole);
  EXPECT_EQ(large.bytes.back(), std::byte{0});
}

TEST(Large, AHoleOfEightExbibytesIsNoArchive) {
  const TemporaryFolder folder;
  const std::string path = folder.write("huge.pt", "PK\3\4");
  std::error_code error;
  std::filesystem::resize_file(path, INT64_MAX, error);
  if (error) std::filesystem::resize_file(path, std::uintmax_t{1} << 43, error);
  if (error) GTEST_SKIP() << "the file system has no such files";
  for (const bool mapped : {true, false}) {
    EXPECT_EQ(code_of([&] { ArchiveReader(open_file(path, {.mapped = mapped})); }),
              ErrorCode::truncated);
  }
}

}  // namespace
}  // namespace flambeau::testing
