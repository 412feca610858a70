// Local headers, data descriptors and what stands between records.
#include "zip/local_headers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/bytes.h"
#include "flambeau/archive.h"
#include "support/errors.h"
#include "support/zip_builder.h"
#include "zip/notes_of.h"

namespace flambeau::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

BuiltZip three_records(Descriptor descriptor = Descriptor::automatic) {
  return build_zip(
      {{.name = "archive/data.pkl", .content = "pickle", .descriptor = descriptor},
       {.name = "archive/data/0", .content = std::string(1000, 'x'), .descriptor = descriptor},
       {.name = "archive/data/1", .content = std::string(1000, 'y'), .descriptor = descriptor}});
}

/// The record cannot be read, whether its bytes or only their place are asked for.
void expect_malformed(const BuiltZip& zip, std::size_t index, const std::string& text) {
  for (const SourcePtr& source : {zip.source(), read_only_by_calls(zip.source())}) {
    const ArchiveReader archive(source);
    EXPECT_EQ(code_of([&] { archive.data_offset(index); }), ErrorCode::malformed_zip);
    EXPECT_THAT(message_of([&] { archive.read(index); }), HasSubstr(text));
    EXPECT_THAT(ambiguities(archive.inspect_headers()), ::testing::Contains(HasSubstr(text)));
  }
}

/// Whatever is noted as an ambiguity, wherever it stands, keeps a strict reader from opening.
void expect_refused_when_strict(const BuiltZip& zip) {
  EXPECT_EQ(code_of([&] { ArchiveReader(zip.source(), {.strict = true}); }), ErrorCode::ambiguous);
}

/// The record is read, the difference is told by `inspect_headers`, strict readers refuse it.
void expect_difference(const BuiltZip& zip, std::size_t index, const std::string& text) {
  const ArchiveReader archive(zip.source());
  EXPECT_EQ(archive.read(index).bytes.size(), archive.record(index).size);
  EXPECT_THAT(archive.notes(), IsEmpty());
  EXPECT_THAT(ambiguities(archive.inspect_headers()), ElementsAre(HasSubstr(text)));
  expect_refused_when_strict(zip);
}

TEST(LocalHeader, NeedsItsSignature) {
  BuiltZip zip = three_records();
  zip.bytes[zip.records[1].local] = 'x';
  expect_malformed(zip, 1, "no local header at");
  EXPECT_EQ(ArchiveReader(zip.source()).read(0).bytes.size(), 6u);
}

TEST(LocalHeader, SaysWhereTheDataStarts) {
  BuiltZip zip = three_records();
  const auto extra = zip.get<std::uint16_t>(zip.records[1].local + 28);
  zip.set(zip.records[1].local + 28, static_cast<std::uint16_t>(extra + 3));
  const ArchiveReader archive(zip.source());
  EXPECT_EQ(archive.data_offset(1), zip.records[1].data + 3);
  EXPECT_EQ(code_of([&] { archive.read(1); }), ErrorCode::checksum);
}

TEST(LocalHeader, MustNotPushTheDataOutOfTheFile) {
  for (const std::size_t field : {26u, 28u}) {  // name size, extra size
    BuiltZip zip = three_records();
    zip.set<std::uint16_t>(zip.records[2].local + field, 65'535);
    expect_malformed(zip, 2, "end past the file");
  }
}

TEST(LocalHeader, MustNotPushTheDataIntoTheDirectory) {
  BuiltZip zip = three_records();
  const auto extra = zip.get<std::uint16_t>(zip.records[2].local + 28);
  zip.set(zip.records[2].local + 28, static_cast<std::uint16_t>(extra + 17));
  expect_malformed(zip, 2, "overlap the directory");
}

TEST(LocalHeader, OfAnotherEntryIsRefused) {
  BuiltZip shared = three_records();
  shared.set(shared.records[2].central + 42, static_cast<std::uint32_t>(shared.records[1].local));
  const ArchiveReader archive(shared.source());
  EXPECT_EQ(archive.read(1).bytes.size(), 1000u);
  EXPECT_EQ(code_of([&] { archive.read(2, false); }), ErrorCode::malformed_zip);
  EXPECT_THAT(message_of([&] { archive.read(2); }),
              HasSubstr("archive/data/1: the entry leads to the local header of 'archive/data/0'"));

  BuiltZip swapped = three_records();
  swapped.set(swapped.records[1].central + 42,
              static_cast<std::uint32_t>(swapped.records[2].local));
  swapped.set(swapped.records[2].central + 42,
              static_cast<std::uint32_t>(swapped.records[1].local));
  expect_malformed(swapped, 1, "leads to the local header of 'archive/data/1'");
  expect_malformed(swapped, 2, "leads to the local header of 'archive/data/0'");
}

TEST(LocalHeader, MayHaveAnotherName) {
  for (const std::string name :
       {"archive/data/X", "ARCHIVE/data/1", "x", "", "archive/data/long"}) {
    const BuiltZip zip =
        build_zip({{.name = "archive/data/0", .content = "0"},
                   {.name = "archive/data/1", .content = "1", .local_name = name}});
    expect_difference(zip, 1, "archive/data/1: the local header says '" + name + "'");
  }
}

struct Field {
  Descriptor descriptor;
  std::size_t at;
  std::uint16_t value;
  std::string text;
};

class LocalFields : public ::testing::TestWithParam<Field> {};

TEST_P(LocalFields, MayDifferFromTheDirectory) {
  const auto& [descriptor, at, value, text] = GetParam();
  BuiltZip zip = three_records(descriptor);
  zip.set(zip.records[1].local + at, value);
  expect_difference(zip, 1, text);
}

INSTANTIATE_TEST_SUITE_P(
    LocalHeader, LocalFields,
    ::testing::Values(Field{Descriptor::automatic, 8, 99, "says method 99, the directory 0"},
                      Field{Descriptor::automatic, 6, 0x0809, "has flags 0x809"},
                      Field{Descriptor::automatic, 6, 0x0008, "has flags 0x8,"},
                      Field{Descriptor::automatic, 18, 7, "says 0 bytes (7 stored)"},
                      Field{Descriptor::automatic, 22, 7, "says 7 bytes (0 stored)"},
                      Field{Descriptor::automatic, 14, 7, "says checksum 0x00000007"},
                      Field{Descriptor::none, 18, 0, "says 1000 bytes (0 stored)"},
                      Field{Descriptor::none, 22, 0, "says 0 bytes (1000 stored)"},
                      Field{Descriptor::none, 14, 0, "says checksum"}));

TEST(Descriptor, MayBeMissingOrWrong) {
  BuiltZip zip = three_records();
  for (const std::size_t at : {0u, 4u, 8u, 12u}) {  // signature, checksum, stored size, size
    BuiltZip wrong = zip;
    wrong.bytes[wrong.records[1].descriptor + at] ^= 1;
    const ArchiveReader archive(wrong.source());
    EXPECT_EQ(archive.read(1).bytes.size(), 1000u);
    EXPECT_THAT(ambiguities(archive.inspect_headers()),
                ElementsAre("archive/data/0: the data descriptor does not say what the directory "
                            "says"));
    expect_refused_when_strict(wrong);
  }
}

TEST(Cover, NamesBytesThatBelongToNoRecord) {
  const BuiltZip zip = build_zip(
      {{.name = "a/x", .content = "12"}, {.name = "a/y", .content = "34"}}, {.gap = "hidden"});
  const ArchiveReader archive(zip.source());
  const std::size_t first = zip.records[0].descriptor + 16;
  const std::size_t second = zip.records[1].descriptor + 16;
  EXPECT_THAT(information(archive.inspect_headers()),
              ElementsAre(": 6 bytes at " + std::to_string(first) + " belong to no record",
                          ": 6 bytes at " + std::to_string(second) + " belong to no record"));
}

TEST(Cover, NamesRecordsThatOverlapByTheirExtraFields) {
  // The first record's padding is made to cover the second one's header and data.
  BuiltZip zip = build_zip({{.name = "a/x"}, {.name = "a/y"}, {.name = "a/z"}});
  const std::size_t start = zip.records[0].local + 30 + 3;
  zip.set(zip.records[0].local + 28, static_cast<std::uint16_t>(zip.records[1].data - start));
  const ArchiveReader archive(zip.source());
  EXPECT_THAT(archive.notes(), IsEmpty());
  EXPECT_THAT(ambiguities(archive.inspect_headers()),
              ElementsAre("a/y: the record at " + std::to_string(zip.records[1].local) +
                          " begins before the one before it ends"));
  expect_refused_when_strict(zip);
}

}  // namespace
}  // namespace flambeau::testing
