// Entries of the central directory: what is wrong with one, names, ranges, ZIP64 fields,
// repetition.
#include "zip/directory.h"

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
using ::testing::SizeIs;

BuiltZip three_records() {
  return build_zip({{.name = "archive/data.pkl", .content = "pickle"},
                    {.name = "archive/data/0", .content = std::string(1000, 'x')},
                    {.name = "archive/data/1", .content = std::string(1000, 'y')}});
}

std::optional<ErrorCode> code_for(const BuiltZip& zip) {
  return code_of([&] { ArchiveReader(zip.source()); });
}
std::string message_for(const BuiltZip& zip) {
  return message_of([&] { ArchiveReader(zip.source()); });
}
std::vector<std::string> ambiguities_of(const BuiltZip& zip) {
  return ambiguities(ArchiveReader(zip.source()).notes());
}
std::string content_of(const ArchiveReader& archive, std::string_view name) {
  return std::string(as_text(archive.read(archive.find(name).value()).bytes));
}
bool is_refused_when_strict(const BuiltZip& zip) {
  return code_of([&] { ArchiveReader(zip.source(), {.strict = true}); }) == ErrorCode::ambiguous;
}

TEST(Entry, NeedsItsSignature) {
  for (const std::size_t i : {0u, 1u, 2u}) {
    BuiltZip zip = three_records();
    zip.bytes[zip.records[i].central + 3] = 'x';
    EXPECT_EQ(code_for(zip), ErrorCode::malformed_zip);
    EXPECT_THAT(message_for(zip),
                HasSubstr("entry " + std::to_string(i) + " of the directory does not begin with"));
  }
}

TEST(Entry, MustEndInTheDirectory) {
  for (const std::size_t field : {28u, 30u, 32u}) {  // name, extra, comment
    BuiltZip zip = three_records();
    zip.set<std::uint16_t>(zip.records[2].central + field, 65'535);
    EXPECT_EQ(code_for(zip), ErrorCode::malformed_zip);
    EXPECT_THAT(message_for(zip), HasSubstr("ends past the directory"));
  }
}

TEST(Entry, MustBeThereWhole) {
  BuiltZip zip = three_records();
  // The second entry takes all but 45 bytes of what is left.
  const std::size_t rest = zip.zip64_end - zip.records[1].central;
  zip.set(zip.records[1].central + 32, static_cast<std::uint16_t>(rest - 45 - 60));
  EXPECT_THAT(message_for(zip), HasSubstr("entry 2 is cut off"));
}

TEST(Entry, MustNotLeaveBytesOver) {
  BuiltZip zip = three_records();
  zip.set<std::uint64_t>(zip.zip64_end + 24, 2);
  zip.set<std::uint64_t>(zip.zip64_end + 32, 2);
  EXPECT_EQ(code_for(zip), ErrorCode::malformed_zip);
  EXPECT_THAT(message_for(zip), HasSubstr("60 bytes follow the last of 2 entries"));
}

TEST(Entry, MustStandOnTheOnlyDisk) {
  BuiltZip zip = three_records();
  zip.set<std::uint16_t>(zip.records[1].central + 34, 1);
  EXPECT_EQ(code_for(zip), ErrorCode::unsupported);
}

TEST(Zip64Field, IsNeededForASentinel) {
  for (const std::size_t field : {20u, 24u, 42u}) {  // stored size, size, header offset
    BuiltZip zip = three_records();
    zip.set<std::uint32_t>(zip.records[1].central + field, 0xffffffff);
    EXPECT_EQ(code_for(zip), ErrorCode::malformed_zip);
    EXPECT_THAT(message_for(zip), HasSubstr("in a ZIP64 extra field, but there is none"));
  }
}

/// One record with a ZIP64 field of 24 bytes behind `extra`.
BuiltZip with_extra(std::string extra) {
  return build_zip({{.name = "a/x", .content = "abc", .zip64 = true, .central_extra = extra}});
}

TEST(Zip64Field, MayStandBehindOthers) {
  const ArchiveReader archive(with_extra(std::string("UT\2\0hi", 6)).source(), {.strict = true});
  EXPECT_EQ(archive.record(0).size, 3u);
  EXPECT_EQ(content_of(archive, "x"), "abc");
}

TEST(Zip64Field, MustHoldAllSentinels) {
  // A first field of 4 bytes, or of 8 where 24 are needed.
  for (const std::string& first :
       {std::string("\1\0\4\0abcd", 8), std::string("\1\0\10\0abcdefgh", 12)}) {
    const BuiltZip zip = with_extra(first);
    EXPECT_EQ(code_for(zip), ErrorCode::malformed_zip);
    EXPECT_THAT(message_for(zip), HasSubstr("too short"));
  }
}

TEST(Zip64Field, MustNotOverrunTheEntry) {
  const BuiltZip zip = with_extra(std::string("UT\xff\0hi", 6));
  EXPECT_EQ(code_for(zip), ErrorCode::malformed_zip);
  EXPECT_THAT(message_for(zip), HasSubstr("an extra field ends past the entry's"));
  // Two bytes are no field.
  BuiltZip cut = with_extra("");
  cut.set<std::uint16_t>(cut.records[0].central + 49, 2);
  EXPECT_EQ(code_for(cut), ErrorCode::malformed_zip);
}

TEST(Zip64Field, CountsTheFirstTime) {
  std::string first("\1\0\30\0", 4);
  for (const std::uint64_t number : {3u, 3u, 0u}) {
    std::byte raw[8];
    store_le(raw, number);
    first += as_text(raw);
  }
  const BuiltZip zip = with_extra(first);
  EXPECT_EQ(content_of(ArchiveReader(zip.source()), "x"), "abc");
  EXPECT_THAT(ambiguities_of(zip), ElementsAre(HasSubstr("a/x: the entry has several ZIP64")));
}

TEST(Range, MustLieInTheFile) {
  BuiltZip beyond = three_records();
  beyond.set(beyond.records[1].central + 42, static_cast<std::uint32_t>(beyond.bytes.size()));
  EXPECT_EQ(code_for(beyond), ErrorCode::malformed_zip);
  BuiltZip large = three_records();
  large.set<std::uint32_t>(large.records[1].central + 20, 0xfffffffe);
  EXPECT_EQ(code_for(large), ErrorCode::malformed_zip);
  for (const std::uint64_t offset : {std::uint64_t{1} << 63, UINT64_MAX}) {
    BuiltZip wide = with_extra("");
    wide.set(wide.records[0].central + 46 + 3 + 4 + 16, offset);
    EXPECT_EQ(code_for(wide), ErrorCode::malformed_zip);
  }
  for (const std::uint64_t size : {std::uint64_t{1} << 63, UINT64_MAX}) {
    BuiltZip wide = with_extra("");
    wide.set(wide.records[0].central + 46 + 3 + 4 + 8, size);
    EXPECT_EQ(code_for(wide), ErrorCode::malformed_zip);
  }
}

TEST(Range, MustNotTouchTheDirectory) {
  BuiltZip inside = three_records();
  inside.set(inside.records[0].central + 42, static_cast<std::uint32_t>(inside.directory + 10));
  EXPECT_EQ(code_for(inside), ErrorCode::malformed_zip);
  EXPECT_THAT(message_for(inside), HasSubstr("overlaps the directory or the end records"));
  BuiltZip behind = three_records();
  behind.set(behind.records[2].central + 20, std::uint32_t{1200});
  EXPECT_EQ(code_for(behind), ErrorCode::malformed_zip);
  BuiltZip at_the_end = three_records();
  at_the_end.set(at_the_end.records[0].central + 42,
                 static_cast<std::uint32_t>(at_the_end.zip64_end + 8));
  EXPECT_EQ(code_for(at_the_end), ErrorCode::malformed_zip);
}

TEST(Range, SharedByTwoEntriesIsNoted) {
  BuiltZip zip = three_records();
  zip.set(zip.records[2].central + 42, static_cast<std::uint32_t>(zip.records[1].local));
  EXPECT_THAT(ambiguities_of(zip),
              ElementsAre("archive/data/1: the record has the same local header as "
                          "'archive/data/0'"));
  EXPECT_TRUE(is_refused_when_strict(zip));
}

TEST(Range, OverlappingAnotherIsNoted) {
  BuiltZip zip = three_records();
  zip.set(zip.records[1].central + 20, std::uint32_t{1100});
  EXPECT_THAT(ambiguities_of(zip),
              ElementsAre("archive/data/1: the record overlaps 'archive/data/0'"));
  EXPECT_TRUE(is_refused_when_strict(zip));
}

TEST(Range, MayStandInAnyOrder) {
  const BuiltZip sorted = three_records();
  BuiltZip zip = sorted;
  // The last two entries, of one size, change places in the directory.
  const std::size_t size = sorted.records[2].central - sorted.records[1].central;
  zip.bytes.replace(sorted.records[1].central, size, sorted.bytes, sorted.records[2].central, size);
  zip.bytes.replace(sorted.records[2].central, size, sorted.bytes, sorted.records[1].central, size);
  const ArchiveReader archive(zip.source(), {.strict = true});
  EXPECT_EQ(content_of(archive, "data/1"), std::string(1000, 'y'));
  EXPECT_EQ(archive.find("data/1"), 1u);
}

TEST(Range, OfManyOverlappingRecordsTakesNoLong) {
  // All entries lead to one kernel; comparing them by pairs would take minutes.
  std::vector<ZipRecord> records(60'000);
  for (std::size_t i = 0; i < records.size(); ++i) records[i].name = "a/" + std::to_string(i);
  BuiltZip zip = build_zip(records, {.alignment = 0});
  for (const auto& at : zip.records) zip.set<std::uint32_t>(at.central + 42, 0);
  const ArchiveReader archive(zip.source());
  EXPECT_THAT(ambiguities(archive.notes()), SizeIs(501));
  EXPECT_THAT(ambiguities(archive.notes()), Contains(": and 59499 more like these"));
  EXPECT_THAT(ambiguities(archive.inspect_headers()), SizeIs(501));
}

struct Name {
  std::string name;
  std::string oddity;
};

class OddNames : public ::testing::TestWithParam<Name> {};

TEST_P(OddNames, AreDataAndNoted) {
  const auto& [name, oddity] = GetParam();
  const BuiltZip zip =
      build_zip({{.name = "a/data.pkl", .content = "p"}, {.name = name, .content = "content"}});
  const ArchiveReader archive(zip.source());
  EXPECT_EQ(archive.record(1).name, name);
  EXPECT_EQ(as_text(archive.read(1).bytes), "content");
  if (name.starts_with("a/")) {
    EXPECT_EQ(archive.find(name.substr(2)), 1u);
  }
  EXPECT_THAT(ambiguities(archive.notes()), Contains(HasSubstr(oddity)));
  EXPECT_TRUE(is_refused_when_strict(zip));
}

INSTANTIATE_TEST_SUITE_P(
    Names, OddNames,
    ::testing::Values(Name{"", "an entry without a name"},
                      Name{"a/..", "is empty, \".\" or \"..\""}, Name{"a/../x", "is empty"},
                      Name{"a/long/enough/to/be/../x", "is empty"}, Name{"a/.", "is empty"},
                      Name{"a/./b", "is empty"}, Name{"a//b", "is empty"},
                      Name{"a/1234567//b", "is empty"}, Name{"a/12345//b", "is empty"},
                      Name{"/abs", "is empty"}, Name{"../x", "is empty"},
                      Name{"C:\\x", "backslash"}, Name{"C:x", "drive letter"},
                      Name{"a/b\\c", "backslash"}, Name{std::string("a/b\0c", 5), "control"},
                      Name{"a/new\nline", "control"}, Name{"a/\x1b[31m", "control"},
                      Name{"a/\x7f", "control"}, Name{"a/\xff\xfe", "not UTF-8"},
                      Name{"a/" + std::string(65'000, 'n'), "longer than 511 bytes"},
                      Name{"a/folder/", "the name is a folder's, and the entry has 7 bytes"}));

TEST(Names, ThatAreOrdinaryAreNotNoted) {
  const BuiltZip zip = build_zip({{.name = "my model.v2:x/data.pkl"},
                                  {.name = "my model.v2:x/.data/serialization_id"},
                                  {.name = "my model.v2:x/.format_version"},
                                  {.name = "my model.v2:x/code/a..b.py"},
                                  {.name = "my model.v2:x/\xc3\xa4\xe4\xb8\xad"},
                                  {.name = "my model.v2:x/folder/"},
                                  {.name = "my model.v2:x/data/0"}});
  const ArchiveReader archive(zip.source(), {.strict = true});
  EXPECT_EQ(archive.folder(), "my model.v2:x");
  EXPECT_THAT(archive.notes(), IsEmpty());
}

TEST(Folder, IsThatOfTheFirstEntry) {
  const BuiltZip zip = build_zip({{.name = "one/data.pkl"}, {.name = "two/data.pkl"}});
  const ArchiveReader archive(zip.source());
  EXPECT_EQ(archive.folder(), "one");
  EXPECT_EQ(archive.find("data.pkl"), 0u);
  EXPECT_THAT(ambiguities(archive.notes()),
              ElementsAre("two/data.pkl: the entry stands outside the folder 'one'"));
  EXPECT_TRUE(is_refused_when_strict(zip));
}

TEST(Folder, MayHaveAnEmptyName) {
  const ArchiveReader archive(build_zip({{.name = "/data.pkl"}, {.name = "/version"}}).source());
  EXPECT_EQ(archive.folder(), "");
  EXPECT_EQ(archive.find("data.pkl"), 0u);
  EXPECT_THAT(ambiguities(archive.notes()), SizeIs(2));
}

TEST(Folder, MayBeMissing) {
  const ArchiveReader archive(build_zip({{.name = "model.pth"}, {.name = "b/x"}}).source());
  EXPECT_EQ(archive.folder(), "");
  EXPECT_EQ(archive.find("model.pth"), std::nullopt);
  EXPECT_EQ(archive.record(0).name, "model.pth");
  EXPECT_THAT(archive.notes(), IsEmpty());
}

TEST(Folder, IsNotWhatMacOsAdds) {
  const BuiltZip zip = build_zip({{.name = "__MACOSX/._model"},
                                  {.name = ".DS_Store"},
                                  {.name = "model/data.pkl"},
                                  {.name = "model/._data.pkl"},
                                  {.name = "model/sub/.DS_Store"}});
  const ArchiveReader archive(zip.source(), {.strict = true});
  EXPECT_EQ(archive.folder(), "model");
  EXPECT_EQ(archive.find("data.pkl"), 2u);
  EXPECT_THAT(information(archive.notes()), SizeIs(4));
}

TEST(Repetition, IsNotedAndRefusedWhenStrict) {
  const BuiltZip zip =
      build_zip({{.name = "a/data.pkl", .content = "1"}, {.name = "a/DATA.PKL", .content = "2"}});
  EXPECT_THAT(ambiguities_of(zip), ElementsAre(HasSubstr("another entry has this name")));
  EXPECT_TRUE(is_refused_when_strict(zip));
}

TEST(Repetition, IsDecidedWhateverTheHint) {
  const BuiltZip zip =
      build_zip({{.name = "a/x", .content = "1"}, {.name = "a/x", .content = "2"}});
  const ArchiveReader archive(zip.source());
  const auto chosen = archive.find("x");
  for (const std::size_t hint : {0u, 1u}) EXPECT_EQ(archive.find("x", hint), chosen);
}

/// Entry 0 is called "a/version" and those after it "a/" and a letter each; the numbers are the
/// entries that PyTorch 2.15 reads for the letters of `wanted`.
struct Choice {
  std::string letters;
  std::string wanted;
  std::vector<std::size_t> entries;
};

class Choices : public ::testing::TestWithParam<Choice> {};

TEST_P(Choices, AreThoseOfPyTorch) {
  std::vector<ZipRecord> records = {{.name = "a/version"}};
  for (const char letter : GetParam().letters) records.push_back({.name = {'a', '/', letter}});
  const ArchiveReader archive(build_zip(records).source());
  for (std::size_t i = 0; i < GetParam().wanted.size(); ++i) {
    EXPECT_EQ(archive.find(GetParam().wanted.substr(i, 1)), GetParam().entries[i]);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Repetition, Choices,
    ::testing::Values(Choice{"xx", "x", {2}}, Choice{"Cc", "c", {2}},
                      Choice{"x1a", "1ax", {2, 3, 1}}, Choice{"bzbC", "bcz", {3, 4, 2}},
                      Choice{"0azAa", "0az", {1, 5, 3}}, Choice{"bxxbAbz", "abxz", {5, 4, 2, 7}},
                      Choice{"xa0bA110", "01abx", {3, 6, 5, 4, 1}},
                      Choice{"a00xaAazcBxc", "0abcxz", {2, 5, 10, 12, 4, 8}},
                      Choice{"zb0Bz1cb001ACbz9", "019abcz", {10, 11, 16, 12, 2, 7, 5}},
                      Choice{"b0a0Ay1zx_Cy0yCBA", "01_abcxyz", {2, 7, 10, 5, 16, 11, 9, 6, 8}},
                      Choice{"_c9_Ab0BzyC9yB0bbzxc_Ccyxa1b_z0",
                             "019_abcxyz",
                             {31, 27, 3, 29, 26, 8, 11, 19, 24, 30}},
                      Choice{"_CC9C0y0_ybbBy91ba99B101yB9x1CayCc0byaA_",
                             "019_abcxy",
                             {6, 24, 4, 9, 18, 13, 34, 28, 14}}));

}  // namespace
}  // namespace flambeau::testing
