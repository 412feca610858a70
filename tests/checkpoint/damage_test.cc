// A small checkpoint cut at every byte, and with every byte changed: a typed error or a right
// answer, and never bytes of a storage that differ unnoticed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "support/checkpoint_builder.h"
#include "support/errors.h"

namespace flambeau::testing {
namespace {

CheckpointBuilder small() {
  return CheckpointBuilder(
             py::dict({{py::text("w"), py::tensor({.size = {2, 2}, .stride = {2, 1}})},
                       {py::text("b"), py::tensor({.storage = {.key = "1"}})},
                       {py::text("epoch"), py::integer(7)}}))
      .byteorder("little")
      .storage("0", std::vector<float>{1, 2, 3, 4})
      .storage("1", std::vector<float>{5, 6, 7, 8});
}

/// All that a listing says: name, dtype, shape and elements of each tensor; or the error's code.
std::string outcome(const std::string& bytes) {
  try {
    const Checkpoint checkpoint = Checkpoint::open(BuiltZip::memory_source(bytes));
    std::string rows;
    for (const NamedTensor& each : checkpoint.tensors()) {
      rows += std::string(each.name) + " " + to_string(each.tensor.shape()) + " " +
              to_string(sha256(each.tensor)) + "\n";
    }
    return rows;
  } catch (const Error& error) {
    return "error " + std::string(to_string(error.code()));
  }
}

TEST(Damage, EveryTruncationIsAnError) {
  const std::string bytes = small().zip().bytes;
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const std::string result = outcome(bytes.substr(0, size));
    EXPECT_TRUE(result.starts_with("error ")) << size << ": " << result;
  }
}

/// Which bytes may change a row without an error: none in the records, whose checksums are checked;
/// in the directory and the headers only such as give a clear error or leave the rows alone.
void expect_error_or_same(const BuiltZip& zip, std::uint8_t change) {
  const std::string good = outcome(zip.bytes);
  ASSERT_FALSE(good.starts_with("error"));
  for (std::size_t at = 0; at < zip.bytes.size(); ++at) {
    std::string bytes = zip.bytes;
    bytes[at] = static_cast<char>(static_cast<std::uint8_t>(bytes[at]) ^ change);
    const std::string result = outcome(bytes);
    EXPECT_TRUE(result == good || result.starts_with("error ")) << at << ": " << result;
  }
}

TEST(Damage, EveryChangedByteIsAnErrorOrChangesNoRow) {
  for (const std::uint8_t change : std::initializer_list<std::uint8_t>{1, 0x20, 0x80, 0xff}) {
    expect_error_or_same(small().zip(), change);
  }
}

TEST(Damage, DeflatedToo) { expect_error_or_same(small().deflated().zip(), 0x01); }

TEST(Damage, ChangedStoragesAreFoundByDigestsAndCopies) {
  const BuiltZip zip = small().zip();
  const std::size_t begin = zip.records[2].data;
  for (std::size_t at = begin; at < begin + 16; ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      BuiltZip damaged = zip;
      damaged.bytes[at] = static_cast<char>(damaged.bytes[at] ^ (1 << bit));
      const Checkpoint checkpoint = Checkpoint::open(damaged.source());
      const Tensor& tensor = checkpoint.tensor("w");
      std::byte out[16];
      EXPECT_EQ(code_of([&] { sha256(tensor); }), ErrorCode::checksum);
      EXPECT_EQ(code_of([&] { tensor.copy_to(out); }), ErrorCode::checksum);
      EXPECT_EQ(code_of([&] { to_string(tensor); }), ErrorCode::checksum);
      EXPECT_EQ(code_of([&] { read_tensors(std::vector<Tensor>{tensor}); }), ErrorCode::checksum);
      EXPECT_EQ(checkpoint.tensor("b").to<float>()[0], 5.0f) << "the other storage is sound";
    }
  }
}

/// A changed pickle is found by its checksum; without that, by what it says.
TEST(Damage, ChangedPicklesAreNeverFatal) {
  const BuiltZip zip = small().zip();
  const std::size_t begin = zip.records[0].data;
  const std::size_t end = zip.records[0].descriptor;
  for (std::size_t at = begin; at < end; ++at) {
    for (const int change : {0x01, 0x04, 0x80, 0xff}) {
      BuiltZip damaged = zip;
      damaged.bytes[at] = static_cast<char>(damaged.bytes[at] ^ change);
      EXPECT_EQ(outcome(damaged.bytes), "error checksum");
      try {
        const Checkpoint checkpoint = Checkpoint::open(damaged.source(), {.verify = false});
        for (const NamedTensor& each : checkpoint.tensors()) each.tensor.nbytes();
        walk(checkpoint.root());
        checkpoint.facts();
      } catch (const Error& error) {
        EXPECT_NE(to_string(error.code()), "");
      }
    }
  }
}

}  // namespace
}  // namespace flambeau::testing
