// Records whose data cannot be read, or not as it stands: methods, encryption, deflate.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/bytes.h"
#include "flambeau/archive.h"
#include "support/errors.h"
#include "support/zip_builder.h"
#include "zip/inflate.h"

namespace flambeau::testing {
namespace {

using ::testing::HasSubstr;

BuiltZip one_record(ZipRecord record = {.name = "a/x", .content = "some content"}) {
  return build_zip({std::move(record)});
}

void expect_refused(const BuiltZip& zip, ErrorCode code, const std::string& text) {
  const ArchiveReader archive(zip.source());
  EXPECT_EQ(code_of([&] { archive.read(0); }), code);
  EXPECT_THAT(message_of([&] { archive.read(0, false); }), HasSubstr("test.pt: a/x: "));
  EXPECT_THAT(message_of([&] { archive.read(0); }), HasSubstr(text));
}

TEST(Read, RefusesEncryptedRecords) {
  for (const std::uint16_t flag : std::vector<std::uint16_t>{0x0001, 0x0040, 0x2000}) {
    BuiltZip zip = one_record();
    zip.set(zip.records[0].central + 8, flag);
    expect_refused(zip, ErrorCode::unsupported, "the record is encrypted");
    EXPECT_EQ(code_of([&] { ArchiveReader(zip.source()).data_offset(0); }), ErrorCode::unsupported);
  }
}

TEST(Read, RefusesPatches) {
  BuiltZip zip = one_record();
  zip.set<std::uint16_t>(zip.records[0].central + 8, 0x0020);
  expect_refused(zip, ErrorCode::unsupported, "the record is a patch");
}

TEST(Read, NamesMethodsThatItDoesNotKnow) {
  const std::vector<std::pair<std::uint16_t, std::string>> methods = {
      {9, "deflate64"},         {12, "bzip2"}, {14, "LZMA"},
      {93, "Zstandard"},        {95, "XZ"},    {99, "AES"},
      {1, "method 1 (unknown)"}};
  for (const auto& [method, name] : methods) {
    BuiltZip zip = one_record();
    zip.set(zip.records[0].central + 10, method);
    expect_refused(zip, ErrorCode::unsupported, name);
  }
}

TEST(Read, RefusesStoredRecordsOfTwoSizes) {
  for (const std::uint32_t size : {0u, 11u, 13u, 0xfffffffeu}) {
    BuiltZip zip = one_record();
    zip.set(zip.records[0].central + 24, size);
    expect_refused(zip, ErrorCode::malformed_zip, "stored as it is");
  }
}

TEST(Read, InflatesEmptyRecords) {
  const ArchiveReader archive(one_record({.name = "a/x", .deflate = true}).source());
  EXPECT_EQ(archive.read(0).bytes.size(), 0u);
}

TEST(Read, InflatesAsFarAsDeflateGoes) {
  const std::string zeros(20'000'000, '\0');
  const BuiltZip zip = one_record({.name = "a/x", .content = zeros, .deflate = true});
  const ArchiveReader archive(zip.source());
  EXPECT_GT(archive.record(0).size / archive.record(0).stored_size, 900u);
  EXPECT_EQ(as_text(archive.read(0).bytes), zeros);
}

TEST(Read, NeverInflatesPastTheDeclaredSize) {
  BuiltZip zip = one_record({.name = "a/x", .content = std::string(5000, 'x'), .deflate = true});
  zip.set<std::uint32_t>(zip.records[0].central + 24, 100);
  expect_refused(zip, ErrorCode::malformed_zip, "inflates to more than the declared 100 bytes");
  zip.set<std::uint32_t>(zip.records[0].central + 24, 0);
  expect_refused(zip, ErrorCode::malformed_zip, "inflates to more than the declared 0 bytes");
}

TEST(Read, RefusesTooShortAnOutput) {
  BuiltZip zip = one_record({.name = "a/x", .content = std::string(5000, 'x'), .deflate = true});
  zip.set<std::uint32_t>(zip.records[0].central + 24, 5001);
  expect_refused(zip, ErrorCode::malformed_zip, "inflates to 5000 bytes, 5001 are declared");
}

TEST(Read, RefusesAnImpossibleSizeBeforeTakingMemory) {
  BuiltZip zip = one_record({.name = "a/x", .content = std::string(5000, 'x'), .deflate = true});
  zip.set<std::uint32_t>(zip.records[0].central + 24, 0xfffffffe);
  expect_refused(zip, ErrorCode::malformed_zip, "cannot become the declared 4294967294");
}

struct Stream {
  std::string bytes;
  std::string text;
};

class Deflated : public ::testing::TestWithParam<Stream> {};

/// RFC 1951, section 3.2, least significant bit first.
TEST_P(Deflated, IsRefusedWhereItIsBroken) {
  expect_refused(
      one_record(
          {.name = "a/x", .content = "some content", .deflate = true, .stored = GetParam().bytes}),
      ErrorCode::malformed_zip, GetParam().text);
}

INSTANTIATE_TEST_SUITE_P(
    Read, Deflated,
    ::testing::Values(Stream{"", "is broken"},
                      // Block type 3.
                      Stream{"\7", "is broken"},
                      // A stored block whose length is not repeated complemented.
                      Stream{std::string("\1\2\0\0\0ab", 7), "is broken"},
                      // Fixed codes: a match of 3 bytes at distance 1 before there is any byte.
                      Stream{std::string("\3\2\0", 3), "is broken"},
                      // Dynamic codes: an over-subscribed tree of code lengths, all of length 1.
                      Stream{std::string("\5\340\222\44\111\222\44\111\222\44", 10), "is broken"},
                      // The stream without its last byte.
                      Stream{deflate("some content").substr(0, deflate("some content").size() - 1),
                             "is broken"},
                      // Bytes behind the last block.
                      Stream{deflate("some content") + "x", "the deflated data ends after"},
                      // Bytes that were not deflated at all.
                      Stream{"some content", "inflates to more than the declared 12 bytes"}));

TEST(Deflated, IsRefusedWhereverItIsCut) {
  std::string content;
  for (int i = 0; i < 2000; ++i) content += std::to_string(i * i);
  const std::string whole = deflate(content);
  for (std::size_t size = 0; size < whole.size(); size += 7) {
    const BuiltZip zip = one_record(
        {.name = "a/x", .content = content, .deflate = true, .stored = whole.substr(0, size)});
    EXPECT_EQ(code_of([&] { ArchiveReader(zip.source()).read(0, false); }),
              ErrorCode::malformed_zip);
  }
}

TEST(Flips, OfAnyBitAreFoundOrChangeNothing) {
  const std::string content = "the quick brown fox jumps over the lazy dog";
  const BuiltZip good = build_zip(
      {{.name = "a/x", .content = content}, {.name = "a/y", .content = content, .deflate = true}});
  for (std::size_t bit = 0; bit < 8 * good.bytes.size(); ++bit) {
    BuiltZip zip = good;
    zip.bytes[bit / 8] = static_cast<char>(zip.bytes[bit / 8] ^ (1 << (bit % 8)));
    try {
      const ArchiveReader archive(zip.source());
      archive.inspect_headers();
      for (std::size_t i = 0; i < archive.size(); ++i) {
        const bool is_whole = as_text(archive.read(i).bytes) == content;
        EXPECT_TRUE(is_whole || !archive.record(i).has_checksum()) << "bit " << bit;
      }
    } catch (const Error& error) {
      EXPECT_NE(error.where().find("test.pt"), std::string::npos) << error.what();
    }
  }
}

}  // namespace
}  // namespace flambeau::testing
