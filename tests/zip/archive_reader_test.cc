// The public reader on sound archives, of every layout that writers make.
#include "flambeau/archive.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

#include "base/bytes.h"
#include "io/parallel.h"
#include "support/errors.h"
#include "support/zip_builder.h"
#include "zip/notes_of.h"

namespace flambeau::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::vector<ZipRecord> kThree = {
    {.name = "archive/data.pkl", .content = "pickle"},
    {.name = "archive/data/0", .content = std::string(100, 'x')},
    {.name = "archive/version", .content = "3\n"},
};

std::string text_of(const ArchiveReader& archive, std::size_t index) {
  return std::string(as_text(archive.read(index).bytes));
}

TEST(ArchiveReader, GivesRecordsInTheOrderOfTheDirectory) {
  const BuiltZip zip = build_zip(kThree);
  const ArchiveReader archive(zip.source());
  ASSERT_EQ(archive.size(), 3u);
  EXPECT_EQ(archive.folder(), "archive");
  EXPECT_EQ(archive.source()->name(), "test.pt");
  const Record record = archive.record(1);
  EXPECT_EQ(record.name, "archive/data/0");
  EXPECT_EQ(record.size, 100u);
  EXPECT_EQ(record.stored_size, 100u);
  EXPECT_EQ(record.header_offset, zip.records[1].local);
  EXPECT_EQ(record.crc32, crc32(as_bytes(kThree[1].content)));
  EXPECT_TRUE(record.is_stored());
  EXPECT_TRUE(record.has_checksum());
  EXPECT_EQ(archive.data_offset(1), zip.records[1].data);
  EXPECT_EQ(archive.data_offset(1) % 64, 0u);
  EXPECT_EQ(text_of(archive, 0), "pickle");
  EXPECT_EQ(text_of(archive, 1), kThree[1].content);
  EXPECT_THAT(archive.notes(), IsEmpty());
  EXPECT_THAT(archive.inspect_headers(), IsEmpty());
}

TEST(ArchiveReader, ReadsInPlaceWhereTheSourceIsInMemory) {
  const BuiltZip zip = build_zip(kThree);
  const SourcePtr source = zip.source();
  const ArchiveReader archive(source);
  EXPECT_EQ(archive.read(1).bytes.data(), source->view(zip.records[1].data, 1).bytes.data());
}

TEST(ArchiveReader, BlocksOutliveReaderAndSource) {
  Block block;
  {
    const ArchiveReader archive(build_zip(kThree).source());
    block = archive.read(2);
  }
  EXPECT_EQ(as_text(block.bytes), "3\n");
}

TEST(ArchiveReader, SeesTheSameThroughCallsAsInMemory) {
  std::vector<ZipRecord> records = kThree;
  records[1].deflate = true;
  const ArchiveReader archive(read_only_by_calls(build_zip(records).source()));
  EXPECT_EQ(text_of(archive, 0), "pickle");
  EXPECT_EQ(text_of(archive, 1), kThree[1].content);
  EXPECT_EQ(archive.find("version"), 2u);
  EXPECT_THAT(archive.inspect_headers(), IsEmpty());
}

TEST(ArchiveReader, IsReadByManyThreadsAtOnce) {
  std::vector<ZipRecord> records;
  for (std::size_t i = 0; i < 200; ++i) {
    const std::string number = std::to_string(i);
    records.push_back({.name = "a/" + number, .content = number, .deflate = i % 2 == 0});
  }
  const SourcePtr source = build_zip(records).source();
  for (const SourcePtr& one : {source, read_only_by_calls(source)}) {
    const ArchiveReader archive(one);
    std::atomic<int> right = 0;
    parallel_for(1000, 4, [&](std::size_t i) {
      const std::string number = std::to_string(i % 200);
      right += text_of(archive, archive.find(number).value()) == number ? 1 : 0;
    });
    EXPECT_EQ(right, 1000);
  }
}

TEST(ArchiveReader, IsMovable) {
  ArchiveReader first(build_zip(kThree).source());
  ArchiveReader second(std::move(first));
  first = std::move(second);
  EXPECT_EQ(text_of(first, 2), "3\n");
}

class Layouts : public ::testing::TestWithParam<ZipLayout> {};

TEST_P(Layouts, AreReadAlike) {
  std::vector<ZipRecord> records = kThree;
  records.push_back({.name = "archive/data/1", .content = ""});
  records.push_back({.name = "archive/data/2", .content = std::string(9000, 'y'), .deflate = true});
  records.push_back({.name = "archive/data/3", .content = "large", .zip64 = true});
  const BuiltZip zip = build_zip(records, GetParam());
  const ArchiveReader archive(zip.source(), {.strict = true});
  ASSERT_EQ(archive.size(), records.size());
  for (std::size_t i = 0; i < records.size(); ++i) {
    EXPECT_EQ(archive.record(i).name, records[i].name);
    EXPECT_EQ(archive.data_offset(i), zip.records[i].data);
    EXPECT_EQ(text_of(archive, i), records[i].content);
  }
  EXPECT_THAT(archive.inspect_headers(), IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(ArchiveReader, Layouts,
                         ::testing::Values(ZipLayout{}, ZipLayout{.alignment = 0},
                                           ZipLayout{.alignment = 1}, ZipLayout{.alignment = 4096},
                                           ZipLayout{.alignment = 32768},
                                           ZipLayout{.zip64_end = false},
                                           ZipLayout{.alignment = 0, .zip64_end = false}));

TEST(ArchiveReader, ReadsEveryFormOfDescriptor) {
  std::vector<ZipRecord> records;
  for (const auto form : {Descriptor::none, Descriptor::narrow, Descriptor::wide,
                          Descriptor::unsigned_narrow, Descriptor::unsigned_wide}) {
    records.push_back(
        {.name = "a/" + std::to_string(records.size()), .content = "content", .descriptor = form});
  }
  const ArchiveReader archive(build_zip(records).source(), {.strict = true});
  for (std::size_t i = 0; i < records.size(); ++i) EXPECT_EQ(text_of(archive, i), "content");
  EXPECT_THAT(archive.inspect_headers(), IsEmpty());
}

TEST(ArchiveReader, ReadsAnArchiveInsideALargerFile) {
  const BuiltZip zip = build_zip(kThree);
  const SourcePtr whole = BuiltZip::memory_source("header" + zip.bytes + "and more");
  const ArchiveReader archive(slice(whole, 6, zip.bytes.size(), "part"));
  EXPECT_EQ(text_of(archive, 0), "pickle");
  EXPECT_THAT(archive.notes(), IsEmpty());
}

TEST(ArchiveReader, ReadsAnArchiveWithoutRecords) {
  const ArchiveReader archive(build_zip({}).source());
  EXPECT_EQ(archive.size(), 0u);
  EXPECT_EQ(archive.folder(), "");
  EXPECT_EQ(archive.find("data.pkl"), std::nullopt);
  EXPECT_THAT(archive.inspect_headers(), IsEmpty());
}

TEST(Find, TakesTheNameWithoutItsFolder) {
  const ArchiveReader archive(build_zip(kThree).source());
  EXPECT_EQ(archive.find("data.pkl"), 0u);
  EXPECT_EQ(archive.find("data/0"), 1u);
  EXPECT_EQ(archive.find("data/", "0", 0), 1u);
  EXPECT_EQ(archive.find("archive/data.pkl"), std::nullopt);
  EXPECT_EQ(archive.find("data/1"), std::nullopt);
  EXPECT_EQ(archive.find(""), std::nullopt);
}

TEST(Find, IgnoresTheCaseOfAsciiLetters) {
  const ArchiveReader archive(
      build_zip({{.name = "Archive/DATA.PKL"}, {.name = "Archive/\xc3\x84[z]`@"}}).source());
  EXPECT_EQ(archive.find("data.pkl"), 0u);
  EXPECT_EQ(archive.find("Data.Pkl", 0), 0u);
  EXPECT_EQ(archive.find("\xc3\x84[Z]`@"), 1u);
  // Only letters: a letter of another alphabet, and "[" beside "{", are other characters.
  EXPECT_EQ(archive.find("\xc3\xa4[z]`@"), std::nullopt);
  EXPECT_EQ(archive.find("\xc3\x84{z}`@"), std::nullopt);
  EXPECT_EQ(archive.find("\xc3\x84[z]@@"), std::nullopt);
}

TEST(Find, LooksAtTheHintFirstAndNeedsNone) {
  const ArchiveReader archive(build_zip(kThree).source());
  for (std::size_t hint = 0; hint < 5; ++hint) {
    EXPECT_EQ(archive.find("data/0", hint), 1u);
    EXPECT_EQ(archive.find("data/", "0", hint), 1u);
    EXPECT_EQ(archive.find("data/9", hint), std::nullopt);
  }
  EXPECT_EQ(archive.find("data/0", SIZE_MAX), 1u);
}

TEST(Find, TellsNamesOfEveryLengthApart) {
  std::vector<ZipRecord> records;
  for (std::size_t size = 1; size <= 600; ++size) {
    records.push_back({.name = "a/" + std::string(size, 'n')});
  }
  const ArchiveReader archive(build_zip(records).source());
  for (std::size_t size = 1; size <= 600; ++size) {
    EXPECT_EQ(archive.find(std::string(size, 'N')), size - 1);
  }
  EXPECT_EQ(archive.find(std::string(601, 'n')), std::nullopt);
  EXPECT_EQ(archive.find(std::string(100'000, 'n')), std::nullopt);
}

TEST(Verify, ComparesWithTheDirectory) {
  const ArchiveReader archive(build_zip(kThree).source());
  archive.verify(0, as_bytes("pickle"));
  EXPECT_EQ(code_of([&] { archive.verify(0, as_bytes("Pickle")); }), ErrorCode::checksum);
}

TEST(Verify, RefusesChangedData) {
  BuiltZip zip = build_zip(kThree);
  zip.bytes[zip.records[1].data + 50] ^= 1;
  const ArchiveReader archive(zip.source());
  EXPECT_EQ(code_of([&] { archive.read(1); }), ErrorCode::checksum);
  EXPECT_THAT(message_of([&] { archive.read(1); }), HasSubstr("test.pt: archive/data/0: "));
  EXPECT_EQ(archive.read(1, false).bytes.size(), 100u);
}

TEST(Verify, TakesAZeroForNoChecksum) {
  BuiltZip zip = build_zip(kThree);
  zip.set<std::uint32_t>(zip.records[1].central + 16, 0);
  const ArchiveReader archive(zip.source());
  EXPECT_FALSE(archive.record(1).has_checksum());
  EXPECT_EQ(text_of(archive, 1), kThree[1].content);
  EXPECT_THAT(information(archive.notes()), ElementsAre(": 1 records have no checksum"));
  EXPECT_THAT(ambiguities(archive.notes()), IsEmpty());
}

TEST(Limits, BoundTheNumberOfRecords) {
  const SourcePtr source = build_zip(kThree).source();
  EXPECT_EQ(ArchiveReader(source, {.limits = {.max_records = 3}}).size(), 3u);
  EXPECT_EQ(code_of([&] { ArchiveReader(source, {.limits = {.max_records = 2}}); }),
            ErrorCode::limit);
}

TEST(Limits, BoundWhatARecordInflatesTo) {
  const SourcePtr source =
      build_zip({{.name = "a/zeros", .content = std::string(5000, '\0'), .deflate = true}})
          .source();
  EXPECT_EQ(ArchiveReader(source, {.limits = {.max_expansion = 1, .max_output = 5000}})
                .read(0)
                .bytes.size(),
            5000u);
  const ArchiveReader small(source, {.limits = {.max_expansion = 1, .max_output = 4999}});
  EXPECT_EQ(code_of([&] { small.read(0); }), ErrorCode::limit);
}

}  // namespace
}  // namespace flambeau::testing
