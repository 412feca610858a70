// Saving and loading back, all within memory. The bytes are compared with PyTorch's by the tests
// that have PyTorch.
#include "flambeau/save.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <mutex>
#include <string>
#include <vector>

#include "flambeau/flambeau.h"
#include "flambeau/make.h"
#include "support/checkpoint_builder.h"
#include "support/errors.h"
#include "support/temporary_folder.h"
#include "tensor/storage_table.h"

namespace flambeau::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::vector<float> kFour = {1, 2, 3, 4};
Tensor four() { return Tensor::borrow<float>(kFour, {4}); }

template <typename Saved>
std::vector<std::byte> bytes_of(Saved& saved, const SaveOptions& options = {}) {
  std::vector<std::byte> bytes;
  const auto sink = append_to(bytes);
  save(*sink, saved, options);
  return bytes;
}

Checkpoint reopened(const std::vector<std::byte>& bytes) { return Checkpoint::from_memory(bytes); }

std::vector<std::string> records_of(const std::vector<std::byte>& bytes) {
  const ArchiveReader archive(borrow_memory(bytes));
  std::vector<std::string> names;
  for (std::size_t i = 0; i < archive.size(); ++i) names.emplace_back(archive.record(i).name);
  return names;
}

TEST(Save, StateDictsComeBack) {
  StateDict state;
  state.add("a.weight", four()).add("a.bias", make_parameter(four()));
  EXPECT_EQ(state.size(), 2u);
  const auto bytes = bytes_of(state);
  const Checkpoint checkpoint = reopened(bytes);
  EXPECT_EQ(checkpoint.root().kind(), Kind::ordered_dict);
  EXPECT_EQ(checkpoint.tensor("a.weight").to<float>(), kFour);
  EXPECT_TRUE(checkpoint.tensor("a.bias").is_parameter());
  EXPECT_TRUE(checkpoint.facts().notes.empty());
}

TEST(Save, ANameThatIsAddedTwiceKeepsItsPlace) {
  StateDict state;
  state.add("a", four()).add("b", four()).add("a", Tensor::borrow<float>(kFour, {2, 2}));
  EXPECT_EQ(state.size(), 2u);
  const auto bytes = bytes_of(state);
  const Checkpoint checkpoint = reopened(bytes);
  ASSERT_EQ(checkpoint.tensors().size(), 2u);
  EXPECT_EQ(checkpoint.tensors()[0].name, "a");
  EXPECT_EQ(checkpoint.tensors()[0].tensor.ndim(), 2u);
}

TEST(Save, StoragesAreSharedAsTheyWere) {
  const Storage storage = Storage::borrow(std::as_bytes(std::span(kFour)));
  const std::int64_t two[] = {2};
  const std::int64_t one[] = {1};
  StateDict state;
  state.add("all", Tensor(DType::f32, {4}, storage));
  state.add("rest", make_strided(DType::f32, two, one, 2, storage));
  const auto bytes = bytes_of(state);
  const Checkpoint checkpoint = reopened(bytes);
  EXPECT_EQ(checkpoint.tensor("all").storage(), checkpoint.tensor("rest").storage());
  EXPECT_EQ(checkpoint.tensor("rest").to<float>(), (std::vector<float>{3, 4}));
}

TEST(Save, OneStorageHasOneType) {
  const Storage storage = Storage::borrow(std::as_bytes(std::span(kFour)));
  StateDict state;
  state.add("floats", Tensor(DType::f32, {4}, storage));
  state.add("integers", Tensor(DType::i32, {4}, storage));
  EXPECT_EQ(code_of([&] { bytes_of(state); }), ErrorCode::usage);
}

TEST(Save, LayoutsOfOlderReleases) {
  StateDict state;
  for (int i = 0; i < 11; ++i) state.add(std::to_string(i), Tensor::borrow<float>({}, {0}));
  EXPECT_THAT(records_of(bytes_of(state, {.layout = Layout::torch_1_6})),
              ElementsAre("archive/data.pkl", "archive/data/0", "archive/data/1", "archive/data/10",
                          "archive/data/2", "archive/data/3", "archive/data/4", "archive/data/5",
                          "archive/data/6", "archive/data/7", "archive/data/8", "archive/data/9",
                          "archive/version"));
  StateDict one;
  one.add("a", four());
  EXPECT_THAT(records_of(bytes_of(one, {.layout = Layout::torch_2_1, .folder = "model"})),
              ElementsAre("model/data.pkl", "model/byteorder", "model/data/0", "model/version",
                          "model/.data/serialization_id"));
  EXPECT_THAT(records_of(bytes_of(one)),
              ElementsAre("archive/data.pkl", "archive/.format_version",
                          "archive/.storage_alignment", "archive/byteorder", "archive/data/0",
                          "archive/version", "archive/.data/serialization_id"));
}

TEST(Save, TheFolderIsTheNameOfTheFile) {
  const TemporaryFolder folder;
  StateDict state;
  state.add("a", four());
  const auto folder_of = [&](const std::string& name) {
    const std::string path = folder / name;
    save(path, state, {.durability = Durability::none});
    return std::string(ArchiveReader(open_file(path)).folder());
  };
  EXPECT_EQ(folder_of("model.pt"), "model");
  EXPECT_EQ(folder_of("a.tar.gz"), "a.tar");
  EXPECT_EQ(folder_of("plain"), "plain");
  EXPECT_EQ(folder_of("gr\u00fc\u00dfe.pt"), "archive");
  EXPECT_EQ(code_of([&] { folder_of(".pt"); }), ErrorCode::usage);
}

TEST(Save, FilesThatWereReadComeOutAsTheyWere) {
  const auto bytes = [] {
    StateDict state;
    state.add("w", four()).add("v", Tensor::borrow<float>(kFour, {2, 2}));
    return bytes_of(state, {.alignment = 4096, .checksums = false, .folder = "own"});
  }();
  const Checkpoint checkpoint = reopened(bytes);
  EXPECT_EQ(bytes_of(checkpoint), bytes);
  Draft draft(checkpoint);
  EXPECT_EQ(bytes_of(draft), bytes);
}

TEST(Save, ReadingChecksWhatIsWritten) {
  StateDict state;
  state.add("w", four());
  auto bytes = bytes_of(state);
  {
    const ArchiveReader archive(borrow_memory(bytes));
    bytes[archive.data_offset(*archive.find("data/0"))] ^= std::byte{1};
  }
  const Checkpoint checkpoint = reopened(bytes);
  EXPECT_EQ(code_of([&] { bytes_of(checkpoint); }), ErrorCode::checksum);
  EXPECT_EQ(code_of([&] { bytes_of(checkpoint, {.checksums = false}); }), ErrorCode::checksum);
  const Checkpoint trusting = Checkpoint::from_memory(bytes, {.verify = false});
  EXPECT_NE(bytes_of(trusting), bytes) << "the new checksum is that of the bytes";
}

TEST(Save, FilesThatAreNotMappedArePassedThrough) {
  const TemporaryFolder folder;
  StateDict state;
  const std::vector<float> large(1 << 20, 1.5f);
  state.add("w", Tensor::borrow<float>(large, {1 << 20})).add("v", four());
  save(folder / "in.pt", state, {.durability = Durability::none});
  const Checkpoint read = Checkpoint::open(folder / "in.pt", {.mapped = false});
  save(folder / "out.pt", read, {.durability = Durability::none});
  EXPECT_EQ(folder.read("out.pt"), folder.read("in.pt"));
}

TEST(Save, AFileCanBeSavedOntoItself) {
  const TemporaryFolder folder;
  const std::string path = folder / "model.pt";
  StateDict state;
  state.add("w", four()).add("v", four());
  save(path, state, {.durability = Durability::none});
  const Checkpoint checkpoint = Checkpoint::open(path);
  Draft draft(checkpoint);
  EXPECT_TRUE(draft.root().erase("v"));
  save(path, draft, {.durability = Durability::none});
  EXPECT_EQ(checkpoint.tensor("v").to<float>(), kFour) << "the old file is still mapped";
  const Checkpoint changed = Checkpoint::open(path);
  EXPECT_EQ(changed.tensors().size(), 1u);
}

TEST(Save, ExistingFilesAreKeptWhenAsked) {
  const TemporaryFolder folder;
  const std::string path = folder.write("model.pt", "precious");
  StateDict state;
  state.add("w", four());
  EXPECT_EQ(code_of([&] { save(path, state, {.overwrite = false}); }), ErrorCode::exists);
  EXPECT_EQ(folder.read("model.pt"), "precious");
}

TEST(Save, CancellingLeavesNothing) {
  const TemporaryFolder folder;
  StateDict state;
  state.add("w", four());
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(code_of([&] { save(folder / "m.pt", state, {.stop = stop.get_token()}); }),
            ErrorCode::cancelled);
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(Save, DeviceMemoryIsFetchedInPieces) {
  std::uint64_t most = 0;
  std::mutex mutex;
  const auto copy = [&](std::uint64_t offset, std::span<std::byte> out) {
    const std::lock_guard lock(mutex);
    most = std::max<std::uint64_t>(most, out.size());
    for (std::byte& byte : out) byte = static_cast<std::byte>(offset++ * 7);
  };
  constexpr std::int64_t kSize = 5 << 20;
  StateDict state;
  state.add("w", Tensor(DType::u8, {kSize}, Storage::on_device("cuda:1", kSize, nullptr, copy)));
  const auto bytes = bytes_of(state);
  const Checkpoint checkpoint = reopened(bytes);
  const Tensor& tensor = checkpoint.tensor("w");
  EXPECT_EQ(tensor.device(), "cuda:1");
  const auto elements = tensor.to<std::uint8_t>();
  for (std::size_t i = 0; i < elements.size(); i += 4099) {
    ASSERT_EQ(elements[i], static_cast<std::uint8_t>(i * 7)) << i;
  }
  EXPECT_LE(most, std::uint64_t{4} << 20);
  StateDict without;
  without.add("w", Tensor(DType::u8, {1}, Storage::on_device("cuda", 1, nullptr)));
  EXPECT_EQ(code_of([&] { bytes_of(without); }), ErrorCode::unsupported);
}

TEST(Save, CompactKeepsWhatTensorsReach) {
  std::vector<float> numbers(1000);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(i);
  const Storage storage = Storage::borrow(std::as_bytes(std::span(numbers)));
  const std::int64_t three[] = {3};
  const std::int64_t by_two[] = {2};
  const std::int64_t none[] = {0};
  const auto fill = [&](StateDict& state) {
    state.add("a", make_strided(DType::f32, three, by_two, 100, storage));
    state.add("b", make_strided(DType::f32, three, by_two, 103, storage));
    state.add("empty", make_strided(DType::f32, none, by_two, 7, storage));
    state.add("own", four());
  };
  StateDict state;
  fill(state);
  std::vector<std::byte> bytes;
  const SaveReport report = save(*append_to(bytes), state, {.compact = true});
  EXPECT_EQ(report.bytes_left_out, 4000u - 4 * 8);
  const auto expect_values = [](const Checkpoint& checkpoint) {
    EXPECT_EQ(checkpoint.tensor("a").to<float>(), (std::vector<float>{100, 102, 104}));
    EXPECT_EQ(checkpoint.tensor("b").to<float>(), (std::vector<float>{103, 105, 107}));
    EXPECT_EQ(checkpoint.tensor("a").storage(), checkpoint.tensor("b").storage());
    EXPECT_EQ(checkpoint.tensor("a").storage().size(), 32u);
    EXPECT_EQ(checkpoint.tensor("own").to<float>(), kFour);
  };
  expect_values(reopened(bytes));
  // The same for a file's own graph.
  const auto whole = bytes_of(state);
  const Checkpoint checkpoint = reopened(whole);
  EXPECT_EQ(bytes_of(checkpoint, {.compact = true}), bytes);
  EXPECT_EQ(bytes_of(checkpoint), whole) << "the checkpoint itself is not changed";
  EXPECT_EQ(bytes_of(state), whole) << "nor is the draft";
}

// ---- drafts

TEST(DraftTest, WhatIsNotTouchedComesOutUnchanged) {
  const py::Code unknown =
      py::call("some.module.Thing", {py::text("x"), py::list({py::text("y")})});
  const Checkpoint checkpoint =
      open_value(py::dict({{py::text("thing"), unknown}, {py::text("epoch"), py::integer(3)}}));
  const auto before = bytes_of(checkpoint);
  Draft draft(checkpoint);
  draft.root().set("epoch", 4);
  const auto after = bytes_of(draft);
  ASSERT_EQ(after.size(), before.size());
  const Checkpoint changed = reopened(after);
  EXPECT_EQ(changed.root()["epoch"].as_int(), 4);
  EXPECT_EQ(changed.root()["thing"].type_name(), "some.module.Thing");
  EXPECT_EQ(checkpoint.root()["epoch"].as_int(), 3);
}

TEST(DraftTest, ObjectsOfTheCheckpointCanBeMoved) {
  StateDict state;
  state.add("w", four());
  const auto bytes = bytes_of(state);
  const Checkpoint checkpoint = reopened(bytes);
  Draft draft(checkpoint);
  const Object weight = draft.object(checkpoint.root()["w"]);
  EXPECT_EQ(weight.kind(), Kind::tensor);
  draft.set_root(
      draft.dict({{"old", weight}, {"again", weight}, {"view", checkpoint.tensor("w")}}));
  const auto changed_bytes = bytes_of(draft);
  const Checkpoint changed = reopened(changed_bytes);
  EXPECT_EQ(changed.root()["old"], changed.root()["again"]);
  EXPECT_EQ(changed.tensor("view").storage(), changed.tensor("old").storage());
  EXPECT_EQ(changed.facts().storage_count, 1u);
}

TEST(DraftTest, RefusesWhatPythonRefuses) {
  Draft draft;
  Draft other;
  EXPECT_EQ(code_of([&] { draft.dict({{draft.list(), 1}}); }), ErrorCode::usage);
  EXPECT_EQ(code_of([&] { draft.list({other.list()}); }), ErrorCode::usage);
  EXPECT_EQ(code_of([&] { draft.list().set("a", 1); }), ErrorCode::usage);
  EXPECT_EQ(code_of([&] { draft.dict().append(1); }), ErrorCode::usage);
  EXPECT_EQ(code_of([&] { draft.list({1}).at(1); }), ErrorCode::usage);
  EXPECT_EQ(code_of([&] { draft.list({1}).erase(1); }), ErrorCode::usage);
  EXPECT_EQ(code_of([&] { draft.list().set_state(1); }), ErrorCode::usage);
  EXPECT_EQ(code_of([&] { draft.global("", "x"); }), ErrorCode::usage);
  EXPECT_EQ(code_of([&] { draft.device("cuda:x"); }), ErrorCode::usage);
  EXPECT_EQ(code_of([&] { Object().size(); }), ErrorCode::usage);
  const Object dict = draft.dict({{"a", 1}, {"b", 2}});
  EXPECT_EQ(code_of([&] { dict.rename("a", "b"); }), ErrorCode::exists);
  EXPECT_FALSE(dict.rename("c", "d"));
  EXPECT_FALSE(dict.erase("c"));
  EXPECT_FALSE(dict.find("c"));
  EXPECT_TRUE(dict.find("b"));
}

TEST(DraftTest, LiteralsAreOneObject) {
  Draft draft;
  EXPECT_EQ(draft.literal("cpu"), draft.literal("cpu"));
  EXPECT_EQ(draft.literal("any"), draft.literal("any"));
  EXPECT_NE(draft.string("any"), draft.string("any"));
}

TEST(DraftTest, LaterProtocolsHaveTheirOwnForms) {
  const std::string pickle("\x80\4]\x94.", 5);
  CheckpointBuilder builder(py::none());
  builder.record("data.pkl", pickle);
  const Checkpoint checkpoint = builder.open();
  Draft draft(checkpoint);
  const std::byte byte{7};
  draft.root().append(draft.bytes({&byte, 1})).append(draft.set({1}));
  const auto bytes = bytes_of(draft);
  const ArchiveReader archive(borrow_memory(bytes));
  const Block written = archive.read(*archive.find("data.pkl"));
  EXPECT_EQ(as_text(written.bytes),
            std::string("\x80\4\x95\x0f\0\0\0\0\0\0\0]\x94(C\1\7\x94\x8f\x94(K\1\x90"
                        "e.",
                        26));
}

}  // namespace
}  // namespace flambeau::testing
