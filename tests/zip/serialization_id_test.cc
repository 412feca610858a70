// PyTorch's id of what was written, with numbers that its own files have.
#include "zip/serialization_id.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unordered_set>

namespace flambeau::zip {
namespace {

using Names = std::vector<std::string>;

std::string names_part(const Names& names) {
  SerializationId id(names.size());
  for (const std::string& name : names) id.add_name(name);
  return id.text().substr(0, 20);
}

/// The records of a file that torch.save of 2.7 or later writes, the id aside.
Names since_2_7(int storages) {
  Names names = {"data.pkl", ".format_version", ".storage_alignment", "byteorder"};
  for (int i = 0; i < storages; ++i) names.push_back("data/" + std::to_string(i));
  names.emplace_back("version");
  return names;
}

TEST(SerializationId, HashesAsLibstdcxx) {
  EXPECT_EQ(hash_of_libstdcxx("data.pkl"), 0x44943d565847b09e);
}

TEST(SerializationId, HasTheNamesPartOfFilesSince27) {
  EXPECT_EQ(names_part(since_2_7(0)), "02908468677762923104");
  EXPECT_EQ(names_part(since_2_7(1)), "15728199511854643026");
  EXPECT_EQ(names_part(since_2_7(2)), "05611085236196705294");
  EXPECT_EQ(names_part(since_2_7(9)), "01977860353369201443");
  EXPECT_EQ(names_part(since_2_7(12)), "13069572823877178827");
  EXPECT_EQ(names_part(since_2_7(100)), "09159737005121336556");
}

TEST(SerializationId, HasTheNamesPartOfFilesSince21) {
  EXPECT_EQ(names_part({"data.pkl", "byteorder", "version"}), "06364577379464010513");
  EXPECT_EQ(names_part({"data.pkl", "byteorder", "data/0", "version"}), "05768588573859962782");
  EXPECT_EQ(names_part({"data.pkl", "byteorder", "data/0", "data/1", "version"}),
            "13263068698938530805");
}

TEST(SerializationId, FoldsChecksumsInTheOrderOfWriting) {
  SerializationId id(0);
  EXPECT_EQ(id.text(), std::string(40, '0'));
  id.add_checksum(0);
  EXPECT_EQ(id.text().substr(20), "00000000002654435769");
  id.add_checksum(1);
  const std::uint64_t seed = 0x9e3779b9;
  const std::uint64_t folded = seed ^ (1 + 0x9e3779b9 + (seed << 6) + (seed >> 2));
  EXPECT_EQ(std::stoull(id.text().substr(20)), folded);
}

#ifdef __GLIBCXX__
TEST(SerializationId, WalksAsTheSetOfLibstdcxx) {
  std::unordered_set<std::string> set;
  UnorderedSetOrder order(0);
  for (int i = 0; i < 20'000; ++i) {
    // Of every length from 0 on, so that all remainders of 8 occur.
    const std::string name =
        std::string(static_cast<std::size_t>(i % 40), '\xff') + "/" + std::to_string(i * 7919);
    ASSERT_EQ(hash_of_libstdcxx(name), std::hash<std::string>()(name));
    set.insert(name);
    order.insert(hash_of_libstdcxx(name));
    // Every count up to some growths, and then those around each growth.
    const bool grown = set.bucket_count() - set.size() < 3 || set.size() % 1000 == 0 ||
                       set.bucket_count() >= 2 * set.size() - 6;
    if (i > 600 && !grown) continue;
    std::vector<std::size_t> expected;
    for (const std::string& each : set) expected.push_back(std::hash<std::string>()(each));
    std::vector<std::size_t> found;
    order.for_each([&](std::uint64_t hash) { found.push_back(hash); });
    ASSERT_EQ(found, expected) << i + 1 << " names";
  }
}
#endif

}  // namespace
}  // namespace flambeau::zip
