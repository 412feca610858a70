// Streams of torch.save before 1.6: what their pickles say, where their data lies, what is refused.
#include "torch/stream_loader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "flambeau/checkpoint.h"
#include "flambeau/save.h"
#include "support/errors.h"
#include "support/pickle_builder.h"
#include "support/zip_builder.h"

namespace flambeau::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const py::Code kMagic = py::big_integer("\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19");

struct Data {
  std::string key;
  std::uint64_t count;
  std::string bytes;
};

std::string bytes_of(const std::vector<float>& numbers) {
  const void* start = numbers.data();
  return {static_cast<const char*>(start), numbers.size() * sizeof(float)};
}

/// A stream as torch.save writes it, of an object and its storages.
std::string stream(const py::Code& object, const std::vector<Data>& data) {
  std::string bytes = py::dump(kMagic) + py::dump(py::integer(1001)) + py::dump(py::dict({}));
  std::vector<py::Code> keys;
  for (const Data& each : data) keys.push_back(py::text(each.key));
  bytes += py::dump(object) + py::dump(py::list(keys));
  for (const Data& each : data) bytes += py::little(each.count, 8) + each.bytes;
  return bytes;
}

py::Code id(std::string_view key, std::int64_t numel, const py::Code& view = py::none()) {
  return py::tuple({py::text("storage"), py::global("torch.FloatStorage"), py::text(key),
                    py::text("cpu"), py::integer(numel), view}) +
         "Q";
}

py::Code tensor(const py::Code& id, const py::Integers& size, std::int64_t offset = 0) {
  return py::call("torch._utils._rebuild_tensor_v2",
                  {id, py::integer(offset), py::integers(size), py::integers({1}),
                   py::boolean(false), py::call("collections.OrderedDict", {})});
}

const std::vector<Data> kFour = {{"1", 4, bytes_of({1, 2, 3, 4})}};

std::string sound() {
  return stream(py::dict({{py::text("w"), tensor(id("1", 4), {4})},
                          {py::text("v"), tensor(id("1", 4), {2}, 2)}}),
                kFour);
}

Checkpoint open(const std::string& bytes, const OpenOptions& options = {}) {
  return Checkpoint::open(BuiltZip::memory_source(bytes), options);
}

TEST(Stream, TensorsShareTheirStorage) {
  const Checkpoint file = open(sound());
  EXPECT_EQ(file.container(), Container::legacy);
  EXPECT_EQ(file.tensor("w").to<float>(), (std::vector<float>{1, 2, 3, 4}));
  EXPECT_EQ(file.tensor("v").to<float>(), (std::vector<float>{3, 4}));
  EXPECT_EQ(file.tensor("w").storage(), file.tensor("v").storage());
  EXPECT_EQ(file.tensor("w").storage().key(), "1");
  const FileFacts facts = file.facts();
  EXPECT_EQ(facts.version, "1001");
  EXPECT_EQ(facts.storage_bytes, 16u);
  EXPECT_FALSE(facts.has_checksums);
  EXPECT_TRUE(facts.notes.empty());
}

/// (key of the view, first element, elements), as PyTorch before 1.0 wrote it.
TEST(Stream, PartsOfStorages) {
  const py::Code view = py::tuple({py::text("2"), py::integer(1), py::integer(2)});
  const Checkpoint file = open(stream(tensor(id("1", 4, view), {2}), kFour));
  EXPECT_EQ(file.tensor("").to<float>(), (std::vector<float>{2, 3}));
  EXPECT_EQ(file.tensor("").offset(), 1);
  const auto code = [&](const py::Code& part, const py::Integers& size) {
    return code_of([&] { open(stream(tensor(id("1", 4, part), size), kFour)); });
  };
  EXPECT_EQ(code(view, {3}), ErrorCode::malformed_tensor) << "past the part, within the storage";
  EXPECT_EQ(code(py::tuple({py::text("2"), py::integer(3), py::integer(2)}), {1}),
            ErrorCode::malformed_tensor);
  EXPECT_EQ(code(py::tuple({py::text("2"), py::integer(-1), py::integer(2)}), {1}),
            ErrorCode::malformed_tensor);
}

/// Python 2 wrote byte strings; the encoding changes none of what the loader needs.
TEST(Stream, ByteStrings) {
  const py::Code old = py::tuple({py::byte_string("storage"), py::global("torch.FloatStorage"),
                                  py::byte_string("1"), py::byte_string("cpu"), py::integer(4)}) +
                       "Q";
  std::string bytes = py::dump(kMagic) + py::dump(py::integer(1001)) + py::dump(py::dict({})) +
                      py::dump(tensor(old, {4})) + py::dump(py::list({py::byte_string("1")})) +
                      py::little(4, 8) + bytes_of({1, 2, 3, 4});
  for (const std::string encoding : {"utf-8", "bytes", "latin1"}) {
    const Checkpoint file = open(bytes, {.encoding = encoding});
    EXPECT_EQ(file.tensor("").to<float>(), (std::vector<float>{1, 2, 3, 4}));
  }
}

/// A class stood with its source, once; afterwards it is the class.
TEST(Stream, ClassesWithTheirSource) {
  const py::Code cls = py::tuple({py::text("module"), py::global("models.Net"), py::text("net.py"),
                                  py::text("class Net: pass")}) +
                       "Q";
  const Checkpoint file = open(stream(cls + ")\x81", {}));
  EXPECT_EQ(file.root().type_name(), "models.Net");
  EXPECT_EQ(file.root().callable().kind(), Kind::global);
}

TEST(Stream, WhatDoesNotBelongTogether) {
  const py::Code w = tensor(id("1", 4), {4});
  const auto error = [&](const py::Code& object, const std::vector<Data>& data) {
    const auto found = error_of([&] { open(stream(object, data)); });
    return found ? std::string(to_string(found->code())) + " " + found->what() : "none";
  };
  EXPECT_THAT(error(w, {{"1", 3, bytes_of({1, 2, 3})}}), HasSubstr("4 elements, its data 3"));
  EXPECT_THAT(error(w, {{"1", 1ull << 62, ""}}), HasSubstr("4 elements, its data"));
  EXPECT_THAT(error(w, {}), HasSubstr("the storage 1 has no data"));
  EXPECT_THAT(error(w, {{"2", 4, bytes_of({1, 2, 3, 4})}}), HasSubstr("no tensor names"));
  EXPECT_THAT(error(w, {kFour[0], kFour[0]}), HasSubstr("comes twice"));
  EXPECT_THAT(error(w, {{"1", 4, "short"}}), HasSubstr("truncated"));
  EXPECT_THAT(error(tensor(id("1", -1), {4}), kFour), HasSubstr("negative or overflows"));
  EXPECT_THAT(error(tensor(id("1", std::int64_t{1} << 62), {4}), kFour),
              HasSubstr("negative or overflows"));
  EXPECT_THAT(error(py::list({w, tensor(id("1", 3), {3})}), kFour), HasSubstr("two sizes"));
  EXPECT_THAT(error(tensor(id("1", 4), {5}), kFour), HasSubstr("malformed_tensor"));
}

TEST(Stream, OtherVersions) {
  const std::string bytes = py::dump(kMagic) + py::dump(py::integer(1002)) + py::dump(py::none()) +
                            py::dump(py::none()) + py::dump(py::list({}));
  EXPECT_EQ(code_of([&] { open(bytes); }), ErrorCode::unsupported);
}

TEST(Stream, BytesBehindItAreNoted) {
  const auto notes = open(sound() + "more").facts().notes;
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_EQ(notes[0].message, "4 bytes follow the stream");
}

TEST(Stream, LocationsAreMapped) {
  const Checkpoint there = open(sound(), {.map_location = "cuda:1"});
  EXPECT_EQ(there.tensor("w").device(), "cuda:1");
  const Checkpoint nowhere = open(sound(), {.map_location = "meta"});
  EXPECT_EQ(nowhere.tensor("w").kind(), TensorKind::meta);
}

/// All tensors' elements, or the error.
std::string outcome(const std::string& bytes) {
  try {
    const Checkpoint file = open(bytes);
    std::string text;
    for (const NamedTensor& each : file.tensors()) {
      text += std::string(each.name) + to_string(sha256(each.tensor));
    }
    walk(file.root());
    file.facts();
    return text;
  } catch (const Error& error) {
    return "error " + std::string(to_string(error.code()));
  }
}

TEST(Stream, EveryTruncationIsAnError) {
  const std::string bytes = sound();
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_THAT(outcome(bytes.substr(0, size)), HasSubstr("error ")) << size;
  }
}

/// Nothing tells that a number has changed, but none leads out of the file.
TEST(Stream, EveryChangedByteIsSurvived) {
  const std::string good = sound();
  for (std::size_t at = 0; at < good.size(); ++at) {
    for (const int change : {0x01, 0x04, 0x20, 0x80, 0xff}) {
      std::string bytes = good;
      bytes[at] = static_cast<char>(bytes[at] ^ change);
      EXPECT_FALSE(outcome(bytes).empty() && at < 8) << at;
    }
  }
}

// ---- writing

template <typename Saved>
std::string saved(Saved& value, const SaveOptions& options = {}) {
  std::vector<std::byte> bytes;
  save(*append_to(bytes), value, options);
  return std::string(as_text(bytes));
}

/// Its own head and ids, though no pickler of PyTorch made them.
TEST(StreamSave, AFileComesOutWithItsKeys) {
  const Checkpoint file = open(sound());
  const std::string once = saved(file);
  const Checkpoint again = open(once);
  EXPECT_EQ(saved(again), once);
  EXPECT_EQ(again.tensor("v").storage().key(), "1");
}

/// As old releases may have written them.
TEST(StreamSave, IdsWithoutAPartComeOutAsTheyWere) {
  const py::Code five = py::tuple({py::text("storage"), py::global("torch.FloatStorage"),
                                   py::text("1"), py::text("cpu"), py::integer(4)}) +
                        "Q";
  const Checkpoint file = open(stream(py::list({tensor(five, {4}), tensor(five, {2})}), kFour));
  const std::string once = saved(file);
  const Checkpoint again = open(once);
  EXPECT_EQ(again.tensor("0").to<float>(), (std::vector<float>{1, 2, 3, 4}));
  EXPECT_EQ(saved(again), once);
  const std::string archive = saved(again, {.layout = Layout::torch_2_7, .folder = "archive"});
  EXPECT_EQ(open(archive).container(), Container::zip);
}

TEST(StreamSave, ArchivesAndStreamsBecomeEachOther) {
  StateDict state;
  const std::vector<float> four = {1, 2, 3, 4};
  state.add("w", Tensor::borrow<float>(four, {2, 2})).add("b", Tensor::borrow<float>(four, {4}));
  const std::string archive = saved(state);
  const Checkpoint zip = open(archive);
  const std::string as_stream = saved(zip, {.layout = Layout::legacy});
  EXPECT_EQ(as_stream, saved(state, {.layout = Layout::legacy}));
  const Checkpoint legacy = open(as_stream);
  EXPECT_EQ(legacy.container(), Container::legacy);
  EXPECT_EQ(legacy.tensor("b").to<float>(), four);
  EXPECT_EQ(saved(legacy, {.layout = Layout::torch_2_7, .folder = "archive"}), archive);
}

TEST(StreamSave, OptionsOfArchivesAreRefused) {
  const Checkpoint file = open(sound());
  EXPECT_EQ(code_of([&] { saved(file, {.alignment = 64}); }), ErrorCode::usage);
  EXPECT_EQ(code_of([&] { saved(file, {.checksums = false}); }), ErrorCode::usage);
  EXPECT_EQ(code_of([&] { saved(file, {.folder = "archive"}); }), ErrorCode::usage);
}

TEST(StreamSave, CompactKeepsWhatTensorsReach) {
  const py::Code view = py::tuple({py::text("2"), py::integer(1), py::integer(3)});
  const Checkpoint file = open(stream(tensor(id("1", 4, view), {2}, 1), kFour));
  const std::string bytes = saved(file, {.compact = true});
  const Checkpoint compact = open(bytes);
  EXPECT_EQ(compact.tensor("").to<float>(), (std::vector<float>{3, 4}));
  EXPECT_EQ(compact.tensor("").storage().size(), 8u);
}

}  // namespace
}  // namespace flambeau::testing
