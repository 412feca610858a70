// What stands at the end of the file: end record, ZIP64 end record, locator, comment, other data.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/bytes.h"
#include "flambeau/archive.h"
#include "support/errors.h"
#include "support/zip_builder.h"
#include "zip/notes_of.h"

namespace flambeau::testing {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

BuiltZip two_records(const ZipLayout& layout = {}) {
  return build_zip({{.name = "archive/data.pkl", .content = "pickle"},
                    {.name = "archive/version", .content = "3\n"}},
                   layout);
}

std::optional<ErrorCode> code_for(const std::string& bytes) {
  return code_of([&] { ArchiveReader(BuiltZip::memory_source(bytes)); });
}
std::optional<ErrorCode> code_for(const BuiltZip& zip) { return code_for(zip.bytes); }

std::string first_content(const std::string& bytes) {
  const ArchiveReader archive(BuiltZip::memory_source(bytes));
  return std::string(as_text(archive.read(0).bytes));
}

std::vector<std::string> ambiguities_of(const std::string& bytes) {
  return ambiguities(ArchiveReader(BuiltZip::memory_source(bytes)).notes());
}

/// Loads as it is, with one ambiguity that says `text`; strict readers refuse it.
void expect_ambiguity(const std::string& bytes, const std::string& text) {
  EXPECT_EQ(first_content(bytes), "pickle");
  EXPECT_THAT(ambiguities_of(bytes), ElementsAre(HasSubstr(text)));
  EXPECT_EQ(code_of([&] { ArchiveReader(BuiltZip::memory_source(bytes), {.strict = true}); }),
            ErrorCode::ambiguous);
}

TEST(EndRecord, MissesInFilesThatAreNoArchive) {
  for (const std::size_t size : {0u, 1u, 2u, 3u, 4u, 21u, 22u, 100'000u}) {
    EXPECT_EQ(code_for(std::string(size, '\0')), ErrorCode::malformed_zip);
  }
  EXPECT_EQ(code_for("PK\5\6"), ErrorCode::malformed_zip);
}

TEST(EndRecord, MissesInFilesThatAreCutShort) {
  EXPECT_EQ(code_for("PK\3\4"), ErrorCode::truncated);
  EXPECT_EQ(code_for("PK\3\4" + std::string(200'000, 'x')), ErrorCode::truncated);
}

TEST(EndRecord, IsNeededWhole) {
  const BuiltZip zip = two_records();
  for (std::size_t size = 0; size < zip.bytes.size(); ++size) {
    const std::string prefix = zip.bytes.substr(0, size);
    const auto code = code_for(prefix);
    EXPECT_EQ(code, size < 4 ? ErrorCode::malformed_zip : ErrorCode::truncated) << size;
  }
}

TEST(EndRecord, AloneIsAnEmptyArchive) {
  const ArchiveReader archive(BuiltZip::memory_source("PK\5\6" + std::string(18, '\0')));
  EXPECT_EQ(archive.size(), 0u);
}

TEST(EndRecord, MayHaveAComment) {
  const BuiltZip zip = two_records({.comment = "made by hand"});
  const ArchiveReader archive(zip.source());
  EXPECT_THAT(information(archive.notes()), ElementsAre(": the archive has a comment of 12 bytes"));
  EXPECT_THAT(ambiguities(archive.notes()), IsEmpty());
}

TEST(EndRecord, HasACommentSizeThatIsNotBelieved) {
  BuiltZip zip = two_records();
  zip.set<std::uint16_t>(zip.end + 20, 500);
  expect_ambiguity(zip.bytes, "0 bytes follow the end record, which claims a comment of 500");
}

TEST(EndRecord, MayBeFollowedByOtherData) {
  const BuiltZip zip = two_records();
  expect_ambiguity(zip.bytes + std::string(100, 'x'), "100 bytes follow the end record");
  // The window is 4,096 + 16 × 4,093 bytes: 22 of the record and 69,562 behind it.
  expect_ambiguity(zip.bytes + std::string(69'562, 'x'), "69562 bytes follow the end record");
  EXPECT_EQ(code_for(zip.bytes + std::string(69'563, 'x')), ErrorCode::truncated);
}

TEST(EndRecord, InAFakeCommentWins) {
  const std::string fake = "PK\5\6" + std::string(18, '\0');
  const BuiltZip zip = two_records({.comment = fake});
  const ArchiveReader archive(zip.source());
  EXPECT_EQ(archive.size(), 0u);
  EXPECT_THAT(ambiguities(archive.notes()), Contains(HasSubstr("the directory ends at 0")));
}

TEST(EndRecord, OfAnArchiveInTheCommentWins) {
  const BuiltZip inner = two_records();
  const BuiltZip outer = two_records({.comment = inner.bytes});
  // Its offsets count from its own start and so address the outer archive, which is laid out alike.
  EXPECT_EQ(first_content(outer.bytes), "pickle");
  const auto notes = ambiguities_of(outer.bytes);
  EXPECT_THAT(notes, Contains(HasSubstr("the ZIP64 end record does not reach up to its locator")));
  EXPECT_THAT(notes,
              Contains(HasSubstr("another end record stands at " + std::to_string(outer.end))));
}

TEST(EndRecord, OfTheSecondOfTwoJoinedArchivesCounts) {
  const BuiltZip first = two_records();
  BuiltZip second = build_zip({{.name = "archive/data.pkl", .content = "PICKLE"},
                               {.name = "archive/version", .content = "3\n"}});
  const std::string joined = first.bytes + second.bytes;
  EXPECT_EQ(first_content(joined), "pickle");
  EXPECT_THAT(ambiguities_of(joined), Contains(HasSubstr("another end record stands at")));
}

TEST(EndRecord, OfJoinedArchivesWithOffsetsOfTheWholeLeadsToTheSecond) {
  const BuiltZip first = two_records();
  const BuiltZip second =
      build_zip({{.name = "archive/data.pkl", .content = "PICKLE"}}, {.prefix = first.bytes});
  EXPECT_EQ(first_content(second.bytes), "PICKLE");
  EXPECT_THAT(ambiguities_of(second.bytes),
              ElementsAre(HasSubstr("the first " + std::to_string(first.bytes.size()) +
                                    " bytes of the file belong to no record")));
}

TEST(EndRecord, BehindTheLastRecordIsNoted) {
  // An archive that was hidden between the records and the directory.
  const BuiltZip hidden = two_records({.zip64_end = false});
  expect_ambiguity(two_records({.gap = hidden.bytes}).bytes, "another end record stands at");
}

TEST(EndRecord, InsideARecordIsData) {
  const BuiltZip inner = two_records();
  const BuiltZip outer = build_zip({{.name = "archive/nested.zip", .content = inner.bytes}});
  const ArchiveReader archive(outer.source(), {.strict = true});
  EXPECT_EQ(as_text(archive.read(0).bytes), inner.bytes);
}

TEST(Offsets, CountFromTheStartOfTheFile) {
  const BuiltZip zip = two_records();
  for (const std::size_t before : {1u, 4u, 1000u}) {
    const std::string bytes = std::string(before, 'x') + zip.bytes;
    EXPECT_EQ(code_for(bytes), ErrorCode::malformed_zip);
    // Without ZIP64 records, whose locator is wrong too, the message can say what happened.
    const std::string plain = std::string(before, 'x') + two_records({.zip64_end = false}).bytes;
    EXPECT_THAT(message_of([&] { ArchiveReader(BuiltZip::memory_source(plain)); }),
                HasSubstr(std::to_string(before) + " bytes were put before the archive"));
  }
}

/// Archives without ZIP64 records, so that the end record's own numbers count.
struct EndField {
  std::size_t at;
  std::size_t size;
  std::uint32_t value;
  ErrorCode code;
};

class EndFields : public ::testing::TestWithParam<EndField> {};

TEST_P(EndFields, AreChecked) {
  BuiltZip zip = two_records({.zip64_end = false});
  const EndField field = GetParam();
  if (field.size == 2) {
    zip.set(zip.end + field.at, static_cast<std::uint16_t>(field.value));
  } else {
    zip.set(zip.end + field.at, field.value);
  }
  EXPECT_EQ(code_for(zip), field.code);
}

INSTANTIATE_TEST_SUITE_P(
    EndRecord, EndFields,
    ::testing::Values(EndField{4, 2, 1, ErrorCode::unsupported},             // this disk
                      EndField{6, 2, 1, ErrorCode::unsupported},             // the directory's disk
                      EndField{8, 2, 1, ErrorCode::malformed_zip},           // entries on this disk
                      EndField{8, 4, 0x00010001, ErrorCode::malformed_zip},  // 1 of 2
                      EndField{8, 4, 0x00090009, ErrorCode::malformed_zip},  // 9 of 2
                      EndField{8, 4, 0xffffffff, ErrorCode::malformed_zip},  // 65,535 of 2
                      EndField{8, 4, 0, ErrorCode::malformed_zip},           // 0 of 2
                      EndField{12, 4, 10, ErrorCode::malformed_zip},         // directory size
                      EndField{12, 4, 0xffffffff, ErrorCode::malformed_zip},
                      EndField{16, 4, 0xfffffff0, ErrorCode::malformed_zip},  // directory offset
                      EndField{16, 4, 0xffffffff, ErrorCode::malformed_zip}));

TEST(Directory, MustEndBeforeItsEndRecord) {
  BuiltZip zip = two_records({.zip64_end = false});
  zip.set(zip.end + 16, static_cast<std::uint32_t>(zip.end - 1));
  EXPECT_EQ(code_for(zip), ErrorCode::malformed_zip);
}

TEST(Directory, MustNotReachIntoTheZip64EndRecord) {
  BuiltZip zip = two_records();
  const auto size = zip.get<std::uint64_t>(zip.zip64_end + 40);
  zip.set(zip.zip64_end + 40, size + 20);
  EXPECT_EQ(code_for(zip), ErrorCode::malformed_zip);
}

struct Zip64Field {
  std::size_t at;
  std::uint64_t value;
  ErrorCode code;
};

class Zip64Fields : public ::testing::TestWithParam<Zip64Field> {};

TEST_P(Zip64Fields, AreChecked) {
  BuiltZip zip = two_records();
  zip.set(zip.zip64_end + GetParam().at, GetParam().value);
  EXPECT_EQ(code_for(zip), GetParam().code);
}

INSTANTIATE_TEST_SUITE_P(
    Zip64EndRecord, Zip64Fields,
    ::testing::Values(Zip64Field{4, 0, ErrorCode::malformed_zip},  // its own size
                      Zip64Field{4, 43, ErrorCode::malformed_zip},
                      Zip64Field{16, 1, ErrorCode::unsupported},  // this disk
                      Zip64Field{16, std::uint64_t{1} << 32, ErrorCode::unsupported},
                      Zip64Field{24, 1, ErrorCode::malformed_zip},  // entries on this disk
                      Zip64Field{32, 0xffffffff, ErrorCode::malformed_zip},
                      Zip64Field{40, 10, ErrorCode::malformed_zip},  // directory size
                      Zip64Field{40, std::uint64_t{1} << 63, ErrorCode::limit},
                      Zip64Field{40, UINT64_MAX, ErrorCode::limit},
                      Zip64Field{48, UINT64_MAX, ErrorCode::malformed_zip},  // directory offset
                      Zip64Field{48, UINT64_MAX - 100, ErrorCode::malformed_zip}));

TEST(Zip64EndRecord, CountsAgainstAClaimOfManyEntries) {
  BuiltZip zip = two_records();
  zip.set<std::uint64_t>(zip.zip64_end + 24, 0xffffffff);
  zip.set<std::uint64_t>(zip.zip64_end + 32, 0xffffffff);
  EXPECT_EQ(code_for(zip), ErrorCode::malformed_zip);
}

TEST(Zip64EndRecord, WinsOverTheEndRecord) {
  BuiltZip zip = two_records();
  zip.set<std::uint16_t>(zip.end + 10, 77);
  expect_ambiguity(zip.bytes, "the end record and the ZIP64 end record disagree");
}

TEST(Zip64EndRecord, SilentlyReplacesSentinels) {
  BuiltZip zip = two_records();
  zip.set<std::uint64_t>(zip.end + 4, UINT64_MAX);
  zip.set<std::uint64_t>(zip.end + 12, UINT64_MAX);
  EXPECT_THAT(ambiguities_of(zip.bytes), IsEmpty());
  EXPECT_EQ(first_content(zip.bytes), "pickle");
}

TEST(Zip64EndRecord, MayClaimASizeThatDoesNotFit) {
  BuiltZip zip = two_records();
  zip.set(zip.zip64_end + 4, std::uint64_t{1} << 63);
  expect_ambiguity(zip.bytes, "the ZIP64 end record does not reach up to its locator");
}

TEST(Zip64EndRecord, MayAskForAnUnknownVersion) {
  BuiltZip zip = two_records();
  zip.set<std::uint16_t>(zip.zip64_end + 14, 0xffff);
  expect_ambiguity(zip.bytes, "asks for a reader of version 65535");
}

TEST(Locator, ThatLeadsElsewhereIsPassedOver) {
  for (const std::uint64_t target : {0u, 70u}) {
    BuiltZip zip = two_records();
    zip.set(zip.locator + 8, target);
    EXPECT_EQ(first_content(zip.bytes), "pickle");
    EXPECT_THAT(ambiguities_of(zip.bytes),
                Contains(HasSubstr("a ZIP64 locator leads to " + std::to_string(target) +
                                   ", where no ZIP64 end record is")));
  }
}

TEST(Locator, MustLeadIntoTheFile) {
  BuiltZip zip = two_records();
  for (const std::uint64_t target :
       {std::uint64_t{zip.bytes.size()}, std::uint64_t{zip.locator}, std::uint64_t{1} << 63}) {
    zip.set(zip.locator + 8, target);
    EXPECT_EQ(code_for(zip), ErrorCode::malformed_zip);
  }
}

TEST(Locator, MustCountOneDisk) {
  BuiltZip zip = two_records();
  zip.set<std::uint32_t>(zip.locator + 16, 2);
  EXPECT_EQ(code_for(zip), ErrorCode::unsupported);
}

TEST(Locator, MayLeadToAnotherDirectory) {
  // The end record's own directory, and one that only readers of ZIP64 records see.
  BuiltZip other = build_zip({{.name = "archive/data.pkl", .content = "PICKLE"}});
  BuiltZip zip =
      build_zip({{.name = "archive/data.pkl", .content = "pickle"}}, {.prefix = other.bytes});
  zip.set<std::uint64_t>(zip.locator + 8, other.zip64_end);
  EXPECT_EQ(first_content(zip.bytes), "PICKLE");
  EXPECT_THAT(ambiguities_of(zip.bytes), Contains(HasSubstr("disagree")));
}

}  // namespace
}  // namespace flambeau::testing
