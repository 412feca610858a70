// What a file says about its writer, and what of it no tensor reaches.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/checkpoint_builder.h"
#include "support/errors.h"

namespace flambeau::testing {
namespace {

using ::testing::IsEmpty;

const std::vector<float> kFour = {1, 2, 3, 4};

CheckpointBuilder sound() { return CheckpointBuilder(py::tensor()).storage("0", kFour); }

std::string producer(const CheckpointBuilder& file) { return std::string(file.open().producer()); }

TEST(Facts, ProducerByTheRecords) {
  EXPECT_EQ(producer(sound()), "torch 1.6 to 2.0");
  EXPECT_EQ(producer(sound().record(".data/serialization_id", "1")), "torch 2.1 to 2.6");
  EXPECT_EQ(producer(sound().record(".data/serialization_id", "1").record(".format_version", "1")),
            "torch >= 2.7");
  CheckpointBuilder addresses(py::tensor({.storage = {.key = "94371880128768"}}));
  EXPECT_EQ(producer(addresses.storage("94371880128768", kFour)), "torch 1.4 to 1.8");
  CheckpointBuilder numbered(py::tensor({.storage = {.key = "12"}}));
  EXPECT_EQ(producer(numbered.storage("12", kFour)), "torch 1.6 to 2.0") << "a small number";
  CheckpointBuilder named(py::tensor({.storage = {.key = "94371880128768x"}}));
  EXPECT_EQ(producer(named.storage("94371880128768x", kFour)), "torch 1.6 to 2.0");
}

TEST(Facts, OfASoundFile) {
  const BuiltZip zip = sound().byteorder("little").zip();
  const Checkpoint checkpoint = Checkpoint::open(zip.source());
  const FileFacts facts = checkpoint.facts();
  EXPECT_EQ(facts.container, Container::zip);
  EXPECT_EQ(facts.producer, checkpoint.producer());
  EXPECT_EQ(facts.byteorder, "little");
  EXPECT_EQ(facts.version, "3");
  EXPECT_EQ(facts.alignment % 64, 0u);
  EXPECT_EQ(facts.file_size, zip.bytes.size());
  EXPECT_EQ(facts.record_count, 4u);
  EXPECT_EQ(facts.storage_count, 1u);
  EXPECT_EQ(facts.storage_bytes, 16u);
  EXPECT_EQ(facts.unreached_storages, 0u);
  EXPECT_EQ(facts.unreached_bytes, 0u);
  EXPECT_TRUE(facts.has_checksums);
  EXPECT_EQ(facts.pickle_protocol, 2);
  EXPECT_THAT(facts.notes, IsEmpty());
}

TEST(Facts, AlignmentOfTheStorages) {
  for (const std::size_t alignment : {1u, 4u, 64u, 4096u}) {
    const BuiltZip zip = sound().zip({.alignment = alignment});
    const std::uint64_t place = zip.records[1].data;
    const Checkpoint checkpoint = Checkpoint::open(zip.source());
    EXPECT_EQ(checkpoint.facts().alignment, place & (~place + 1)) << alignment;
  }
  EXPECT_EQ(open_value(py::none()).facts().alignment, 0u) << "there is none";
}

TEST(Facts, UnreachedStorages) {
  CheckpointBuilder file(py::list({py::tensor(), py::storage({.key = "1"})}));
  file.storage("0", kFour).storage("1", kFour).storage("unnamed", std::string("xyz"));
  const FileFacts facts = file.open().facts();
  EXPECT_EQ(facts.storage_count, 3u);
  EXPECT_EQ(facts.storage_bytes, 35u);
  EXPECT_EQ(facts.unreached_storages, 2u) << "a storage that no tensor views, and one not named";
  EXPECT_EQ(facts.unreached_bytes, 19u);
}

TEST(Facts, PartsAreReachedToo) {
  const py::Code state = py::dict({{py::text("inner"), py::tensor()}});
  const py::Code wrapper = py::call(
      "torch._tensor._rebuild_from_type_v2",
      {py::global("torch._utils._rebuild_wrapper_subclass"), py::global("mine.Wrapper"),
       py::tuple({py::global("mine.Wrapper"), py::global("torch.float32"), py::integers({4}),
                  py::integers({1}), py::integer(0), py::none(), py::none(), py::boolean(false)}),
       state});
  CheckpointBuilder file(wrapper);
  EXPECT_EQ(file.storage("0", kFour).open().facts().unreached_storages, 0u);
}

TEST(Facts, EmptyTensorsOfNoStorageReachNone) {
  CheckpointBuilder file(py::make("torch.FloatTensor"));
  EXPECT_EQ(file.storage("0", kFour).open().facts().unreached_storages, 1u);
  CheckpointBuilder named(py::list({py::make("torch.FloatTensor"), py::storage()}));
  EXPECT_EQ(named.storage("0", kFour).open().facts().unreached_storages, 1u);
}

TEST(Facts, RestoredStoragesCountAsReached) {
  CheckpointBuilder file(py::tensor());
  file.storage("0", kFour).storage("1", kFour);
  EXPECT_EQ(file.open({.map_location = "meta"}).facts().unreached_storages, 1u);
}

TEST(Facts, RecordsWithoutAChecksum) {
  BuiltZip zip = sound().zip();
  zip.set<std::uint32_t>(zip.records[1].central + 16, 0);
  const Checkpoint checkpoint = Checkpoint::open(zip.source());
  EXPECT_FALSE(checkpoint.facts().has_checksums);
  EXPECT_EQ(checkpoint.tensor("").to<float>(), kFour);
}

TEST(Facts, LocalHeadersAreLookedAt) {
  BuiltZip zip = sound().zip();
  zip.bytes[zip.records[1].local + 30] = 'X';
  const Checkpoint checkpoint = Checkpoint::open(zip.source());
  ASSERT_EQ(checkpoint.facts().notes.size(), 1u);
  EXPECT_EQ(checkpoint.facts().notes[0].where, "archive/data/0");
}

TEST(Facts, OfADamagedFileTellOfTheDamage) {
  BuiltZip zip = sound().zip();
  zip.bytes[zip.records[1].local] = 'X';
  const Checkpoint checkpoint = Checkpoint::open(zip.source());
  const std::vector<Note> notes = checkpoint.facts().notes;
  ASSERT_EQ(notes.size(), 2u);
  EXPECT_EQ(notes[0].where, "archive/data/0");
  EXPECT_EQ(notes[0].severity, Note::Severity::ambiguity);
  // Nobody can tell where the record ends.
  EXPECT_THAT(notes[1].message, ::testing::HasSubstr("belong to no record"));
  EXPECT_EQ(checkpoint.facts().alignment, 0u);
  EXPECT_EQ(code_of([&] { checkpoint.tensor("").to<float>(); }), ErrorCode::malformed_zip);
}

TEST(Facts, ProtocolOfThePickle) {
  EXPECT_EQ(open_value(py::bytes("b")).facts().pickle_protocol, 3);
}

}  // namespace
}  // namespace flambeau::testing
