// The front door: opening, finding, and what many threads may ask at once.
#include "flambeau/checkpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <latch>
#include <thread>

#include "base/bytes.h"
#include "support/checkpoint_builder.h"
#include "support/errors.h"
#include "support/temporary_folder.h"

namespace flambeau::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

const std::vector<float> kFour = {1, 2, 3, 4};

CheckpointBuilder model() {
  return CheckpointBuilder(
             py::dict(
                 {{py::text("epoch"), py::integer(3)},
                  {py::text("model"),
                   py::ordered_dict({{py::text("w"), py::tensor()},
                                     {py::text("b"), py::tensor({.offset = 1, .size = {2}})}})},
                  {py::text("twice.b"), py::tensor({.offset = 3, .size = {1}})},
                  {py::text("twice"), py::dict({{py::text("b"), py::tensor()}})}}))
      .storage("0", kFour);
}

TEST(Checkpoint, OpensAFile) {
  const TemporaryFolder folder;
  const std::string path = folder.write("any.name", model().zip().bytes);
  for (const bool mapped : {true, false}) {
    const Checkpoint checkpoint = Checkpoint::open(path, {.mapped = mapped});
    EXPECT_EQ(checkpoint.tensor("model.w").to<float>(), kFour);
    EXPECT_EQ(checkpoint.source()->name(), path);
    EXPECT_EQ(checkpoint.source()->in_memory(), mapped);
  }
  EXPECT_EQ(code_of([&] { Checkpoint::open(folder / "absent.pt"); }), ErrorCode::not_found);
  EXPECT_EQ(code_of([&] { Checkpoint::open(folder.path().string()); }),
            ErrorCode::not_a_checkpoint);
}

TEST(Checkpoint, OpensBytesThatTheCallerKeeps) {
  const std::string bytes = model().zip().bytes;
  const Checkpoint checkpoint = Checkpoint::from_memory(as_bytes(bytes));
  EXPECT_EQ(checkpoint.tensor("model.w").to<float>(), kFour);
  EXPECT_EQ(checkpoint.source()->name(), "memory");
  const std::byte* data = checkpoint.tensor("model.w").storage().bytes().data();
  EXPECT_GE(data, as_bytes(bytes).data());
  EXPECT_LT(data, as_bytes(bytes).data() + bytes.size()) << "nothing is copied";
}

TEST(Checkpoint, OpensAPartOfALargerFile) {
  const std::string zip = model().zip().bytes;
  const SourcePtr whole = BuiltZip::memory_source("header" + zip + "trailer");
  const Checkpoint checkpoint = Checkpoint::open(slice(whole, 6, zip.size(), "part"));
  EXPECT_EQ(checkpoint.tensor("model.w").to<float>(), kFour);
}

TEST(Checkpoint, ListsInThePicklesOrder) {
  const Checkpoint checkpoint = model().open();
  ASSERT_THAT(checkpoint.tensors(), SizeIs(4));
  EXPECT_EQ(checkpoint.tensors()[0].name, "model.w");
  EXPECT_EQ(checkpoint.tensors()[1].name, "model.b");
  EXPECT_EQ(checkpoint.path(1), "['model']['b']");
  EXPECT_EQ(checkpoint.path(2), "['twice.b']");
  EXPECT_FALSE(checkpoint.first_paths_only());
}

TEST(Checkpoint, FindsByNameAndByPath) {
  const Checkpoint checkpoint = model().open();
  EXPECT_EQ(checkpoint.find("model.b")->to<float>(), (std::vector<float>{2, 3}));
  EXPECT_EQ(checkpoint.find("['model']['b']"), checkpoint.find("model.b"));
  EXPECT_EQ(checkpoint.find("model"), nullptr) << "no tensor";
  EXPECT_EQ(checkpoint.find(""), nullptr);
  EXPECT_EQ(checkpoint.find("['model']"), nullptr);
  EXPECT_EQ(checkpoint.find("['model']['b']x"), nullptr);
  EXPECT_EQ(&checkpoint.tensor("model.b"), checkpoint.find("model.b"));
  const auto error = error_of([&] { checkpoint.tensor("model.x"); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), ErrorCode::not_found);
  EXPECT_STREQ(error->what(), "test.pt: there is no tensor model.x");
}

TEST(Checkpoint, NamesThatTwoPathsShareAreAmbiguous) {
  const Checkpoint checkpoint = model().open();
  for (const auto& ask : std::vector<std::function<void()>>{[&] { checkpoint.find("twice.b"); },
                                                            [&] { checkpoint.tensor("twice.b"); },
                                                            [&] { checkpoint.value("twice.b"); }}) {
    const auto error = error_of(ask);
    ASSERT_TRUE(error);
    EXPECT_EQ(error->code(), ErrorCode::ambiguous);
    EXPECT_STREQ(error->what(), "test.pt: twice.b is the name of ['twice.b'], ['twice']['b']");
  }
  EXPECT_EQ(checkpoint.find("['twice.b']")->numel(), 1);
  EXPECT_EQ(checkpoint.find("['twice']['b']")->numel(), 4);
}

TEST(Checkpoint, IntegerAndTextKeysOfOneSpellingAreAmbiguous) {
  const Checkpoint checkpoint =
      CheckpointBuilder(py::dict({{py::text("0"), py::tensor()}, {py::integer(0), py::tensor()}}))
          .storage("0", kFour)
          .open();
  EXPECT_EQ(code_of([&] { checkpoint.find("0"); }), ErrorCode::ambiguous);
  EXPECT_NE(checkpoint.find("[0]"), checkpoint.find("['0']"));
}

TEST(Checkpoint, NamesThatLookLikePaths) {
  const Checkpoint checkpoint =
      CheckpointBuilder(
          py::dict({{py::text("['a']"), py::tensor({.size = {1}})}, {py::text("a"), py::tensor()}}))
          .storage("0", kFour)
          .open();
  EXPECT_EQ(checkpoint.find("['a']")->numel(), 1) << "names come first";
}

TEST(Checkpoint, ValuesByNameAndPath) {
  const Checkpoint checkpoint = model().open();
  EXPECT_EQ(checkpoint.value("epoch").as_int(), 3);
  EXPECT_EQ(checkpoint.value("['epoch']").as_int(), 3);
  EXPECT_EQ(checkpoint.value("model").kind(), Kind::ordered_dict);
  EXPECT_FALSE(checkpoint.value("nothing"));
  EXPECT_EQ(checkpoint.root()["epoch"].as_int(), 3);
}

TEST(Checkpoint, MovesWithItsNamesAndValues) {
  Checkpoint first = model().open();
  const Value root = first.root();
  const std::string_view name = first.tensors()[0].name;
  const Tensor* tensor = first.find("model.w");
  Checkpoint second = std::move(first);
  EXPECT_EQ(second.root(), root);
  EXPECT_EQ(second.tensors()[0].name.data(), name.data());
  EXPECT_EQ(second.find("model.w"), tensor);
  Checkpoint third = model().open();
  third = std::move(second);
  EXPECT_EQ(third.root(), root);
}

TEST(Checkpoint, KindOfFile) {
  const Checkpoint checkpoint = model().open();
  EXPECT_EQ(checkpoint.container(), Container::zip);
  EXPECT_EQ(to_string(checkpoint.container()), "zip");
  EXPECT_EQ(checkpoint.byteorder(), "little");
}

TEST(Checkpoint, StrictRefusesWhatTwoReadersSeeDifferently) {
  const std::vector<ZipRecord> twice = {{.name = "a/data.pkl", .content = py::dump(py::none())},
                                        {.name = "a/data.pkl", .content = py::dump(py::none())},
                                        {.name = "a/version", .content = "3"}};
  const SourcePtr source = build_zip(twice).source();
  EXPECT_NO_THROW(Checkpoint::open(source));
  EXPECT_EQ(code_of([&] { Checkpoint::open(source, {.strict = true}); }), ErrorCode::ambiguous);
  EXPECT_NO_THROW(model().open({.strict = true}));
}

TEST(Checkpoint, LimitsReachEveryLayer) {
  EXPECT_EQ(code_of([] { model().open({.limits = {.max_records = 2}}); }), ErrorCode::limit);
  EXPECT_EQ(code_of([] { model().open({.limits = {.max_nodes = 10}}); }), ErrorCode::limit);
  EXPECT_EQ(
      code_of([] { model().deflated().open({.limits = {.max_expansion = 0, .max_output = 20}}); }),
      ErrorCode::limit);
}

TEST(Checkpoint, InflatedRecordsHaveOneBudgetTogether) {
  const std::vector<float> zeros(1024);
  std::vector<py::Code> tensors;
  for (const std::string key : {"0", "1", "2"}) {
    tensors.push_back(py::tensor({.storage = {.key = key, .numel = 1024}, .size = {1024}}));
  }
  CheckpointBuilder file(py::list(tensors));
  for (const std::string key : {"0", "1", "2"}) file.storage(key, zeros);
  const SourcePtr source = file.deflated().zip().source();
  const Limits limits = {.max_expansion = 1, .max_output = 10'000};
  const Checkpoint checkpoint = Checkpoint::open(source, {.limits = limits});
  EXPECT_EQ(checkpoint.tensor("0").to<float>(), zeros);
  EXPECT_EQ(checkpoint.tensor("1").to<float>(), zeros);
  EXPECT_EQ(code_of([&] { checkpoint.tensor("2").to<float>(); }), ErrorCode::limit);
  // What is held already costs nothing more.
  EXPECT_EQ(checkpoint.tensor("0").to<float>(), zeros);
}

TEST(Checkpoint, RecordsAtOddPlacesAreCopied) {
  int odd = 0;
  for (std::size_t length = 1; length <= 4; ++length) {
    const std::string key(length, 'k');
    CheckpointBuilder file(py::tensor({.storage = {.key = key}}));
    const BuiltZip zip = file.storage(key, kFour).zip({.alignment = 0});
    const std::string content = zip.bytes;
    const Checkpoint checkpoint = Checkpoint::from_memory(as_bytes(content));
    const Tensor& tensor = checkpoint.tensor("");
    EXPECT_EQ(tensor.to<float>(), kFour);
    const auto place = std::bit_cast<std::uintptr_t>(tensor.storage().bytes().data());
    if (place % alignof(float) == 0) continue;
    ++odd;
    EXPECT_EQ(code_of([&] { tensor.as<float>(); }), ErrorCode::not_viewable);
  }
  EXPECT_GT(odd, 0);
}

/// A source that says which bytes were read, of a file that is not in memory.
class Recording final : public Source {
 public:
  explicit Recording(std::string content)
      : Source("recorded"), content_(std::move(content)), touched_(content_.size()) {}
  std::uint64_t size() const noexcept override { return content_.size(); }
  void read(std::uint64_t offset, std::span<std::byte> out) const override {
    ASSERT_LE(offset + out.size(), content_.size());
    std::copy_n(as_bytes(content_).begin() + static_cast<std::ptrdiff_t>(offset), out.size(),
                out.begin());
    std::fill_n(touched_.begin() + static_cast<std::ptrdiff_t>(offset), out.size(), true);
  }
  /// Bytes of the range that were read since the last question.
  std::size_t touched(std::size_t begin, std::size_t end) const {
    const auto first = touched_.begin() + static_cast<std::ptrdiff_t>(begin);
    const auto last = touched_.begin() + static_cast<std::ptrdiff_t>(end);
    const auto count = static_cast<std::size_t>(std::count(first, last, true));
    std::fill(touched_.begin(), touched_.end(), false);
    return count;
  }

 private:
  std::string content_;
  mutable std::vector<bool> touched_;
};

/// One storage of 1 MiB in a file that is read by calls.
struct LargeFile {
  LargeFile() {
    std::vector<float> values(kCount);
    for (std::size_t i = 0; i < kCount; ++i) values[i] = static_cast<float>(i);
    const py::StorageId id{.numel = kCount};
    CheckpointBuilder file(py::tensor({.storage = id, .size = {512, 512}, .stride = {512, 1}}));
    zip = file.storage("0", values).zip();
    source = std::make_shared<Recording>(zip.bytes);
  }
  std::size_t touched() const {
    return source->touched(zip.records[1].data, zip.records[1].data + kCount * sizeof(float));
  }

  static constexpr std::int64_t kCount = 512 * 512;
  BuiltZip zip;
  std::shared_ptr<const Recording> source;
};

TEST(Unmapped, OpeningReadsNoStorage) {
  const LargeFile file;
  const Checkpoint checkpoint = Checkpoint::open(file.source);
  EXPECT_THAT(checkpoint.tensors(), SizeIs(1));
  EXPECT_LE(file.touched(), 4096u) << "the end of it, with the tail of the file";
}

TEST(Unmapped, ASliceReadsItsOwnBytesOnly) {
  const LargeFile file;
  const Checkpoint checkpoint = Checkpoint::open(file.source);
  const Tensor rows = checkpoint.tensor("").slice(0, 10, 12);
  file.touched();
  EXPECT_EQ(rows.to<float>()[513], 11 * 512 + 1.0f);
  EXPECT_EQ(file.touched(), 2 * 512 * sizeof(float));
  const Tensor columns = checkpoint.tensor("").slice(0, 3, 5).slice(1, 0, 2);
  EXPECT_EQ(columns.to<float>(), (std::vector<float>{1536, 1537, 2048, 2049}));
  EXPECT_EQ(file.touched(), 514 * sizeof(float)) << "from its first element to its last";
  std::vector<float> out(512);
  rows.slice(0, 0, 1).copy_to(std::as_writable_bytes(std::span(out)));
  EXPECT_EQ(out[1], 5121.0f);
  EXPECT_EQ(file.touched(), 512 * sizeof(float));
  const ReadRequest request{rows.slice(0, 1, 2), std::as_writable_bytes(std::span(out))};
  read_tensors({&request, 1});
  EXPECT_EQ(out[1], 5633.0f);
  EXPECT_EQ(file.touched(), 512 * sizeof(float));
}

TEST(Unmapped, TheWholeIsReadOnceAndKept) {
  const LargeFile file;
  const Checkpoint checkpoint = Checkpoint::open(file.source);
  EXPECT_EQ(checkpoint.tensor("").as<float>()[5], 5.0f);
  EXPECT_EQ(file.touched(), LargeFile::kCount * sizeof(float));
  EXPECT_EQ(checkpoint.tensor("").to<float>()[6], 6.0f);
  EXPECT_EQ(file.touched(), 0u);
}

TEST(Unmapped, ReadTensorsReadsStraightIntoTheBuffer) {
  const LargeFile file;
  const Checkpoint checkpoint = Checkpoint::open(file.source);
  const auto copies = read_tensors(std::vector<Tensor>{checkpoint.tensor("")});
  EXPECT_EQ(copies[0].as<float>()[7], 7.0f);
  EXPECT_EQ(file.touched(), LargeFile::kCount * sizeof(float));
}

TEST(Unmapped, RestoreFunctionsMayReadAndVerify) {
  const LargeFile file;
  float seen = 0;
  const RestoreFunction function = [&](const Storage& storage, std::string_view) {
    storage.verify();
    std::memcpy(&seen, storage.bytes().data() + 40, sizeof seen);
    return std::optional<Storage>();
  };
  const Checkpoint checkpoint = Checkpoint::open(file.source, {.map_location = function});
  EXPECT_EQ(seen, 10.0f);
  EXPECT_EQ(checkpoint.tensor("").to<float>()[3], 3.0f);
}

TEST(Threads, OneCheckpointAnswersMany) {
  std::vector<py::Code> items;
  CheckpointBuilder file(py::none());
  for (int i = 0; i < 50; ++i) {
    const std::string key = std::to_string(i);
    items.push_back(py::tensor({.storage = {.key = key}}));
    file.storage(key, std::vector<float>(4, static_cast<float>(i)));
  }
  file.record("data.pkl", py::dump(py::list(items)));
  const SourcePtr source = file.deflated().zip().source();
  for (const SourcePtr& each : {source, read_only_by_calls(source)}) {
    const Checkpoint checkpoint = Checkpoint::open(each);
    std::atomic<int> wrong = 0;
    std::vector<std::jthread> threads;
    for (int t = 0; t < 8; ++t) {
      threads.emplace_back([&] {
        for (int i = 0; i < 50; ++i) {
          const std::string name = std::to_string(i);
          const std::vector<float> wanted(4, static_cast<float>(i));
          if (checkpoint.tensor(name).to<float>() != wanted) ++wrong;
          if (checkpoint.find("[" + name + "]") != checkpoint.find(name)) ++wrong;
          if (checkpoint.value(name).kind() != Kind::tensor) ++wrong;
          if (checkpoint.facts().storage_count != 50) ++wrong;
        }
      });
    }
    threads.clear();
    EXPECT_EQ(wrong, 0);
  }
}

/// Runs `question` in eight threads that begin together; how many of them it answered with false.
template <typename F>
int wrong_answers(const F& question) {
  constexpr int kThreads = 8;
  std::atomic<int> wrong = 0;
  std::latch start(kThreads);
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&] {
        start.arrive_and_wait();
        if (!question()) ++wrong;
      });
    }
  }
  return wrong;
}

/// Asks everything that a checkpoint of `model()` makes late: names, paths, bytes, checksums.
bool answers_rightly(const Checkpoint& checkpoint) {
  bool right = checkpoint.find("['model']['w']") == checkpoint.find("model.w");
  std::vector<std::string> paths;
  for (std::size_t i = 0; i < checkpoint.tensors().size(); ++i) {
    const auto& [name, tensor] = checkpoint.tensors()[i];
    paths.push_back(checkpoint.path(i));
    right &= checkpoint.find(paths.back()) == &tensor;
    tensor.storage().verify();
    right &= tensor.storage().bytes().size() == kFour.size() * sizeof(float);
    std::vector<std::byte> copy(tensor.nbytes());
    tensor.copy_to(copy);
    right &= sha256(tensor) == sha256(tensor.contiguous());
    const std::vector<float> elements = tensor.to<float>();
    right &= std::ranges::equal(std::as_bytes(std::span(elements)), copy);
    right &= to_string(tensor).starts_with("tensor([");
    right &= name == checkpoint.tensors()[i].name;
  }
  right &= paths[1] == "['model']['b']" && checkpoint.value(paths[1]).kind() == Kind::tensor;
  right &= checkpoint.root()["epoch"].as_int() == 3 && checkpoint.facts().storage_count == 1;
  return right && read_tensors(std::vector<Tensor>{checkpoint.tensor("model.w")}).size() == 1;
}

TEST(Threads, TheFirstQuestionsComeTogether) {
  const TemporaryFolder folder;
  const std::array paths = {folder.write("stored.pt", model().zip().bytes),
                            folder.write("deflated.pt", model().deflated().zip().bytes)};
  for (const std::string& path : paths) {
    for (const bool mapped : {true, false}) {
      const Checkpoint checkpoint = Checkpoint::open(path, {.mapped = mapped});
      EXPECT_EQ(wrong_answers([&] { return answers_rightly(checkpoint); }), 0) << path << mapped;
    }
  }
}

TEST(Threads, EveryThreadHearsOfDamage) {
  BuiltZip zip = model().zip();
  zip.bytes[zip.records[1].data] ^= 1;
  for (const SourcePtr& source : {zip.source(), read_only_by_calls(zip.source())}) {
    const Checkpoint checkpoint = Checkpoint::open(source);
    const auto is_refused = [&] {
      return code_of([&] { checkpoint.tensor("model.w").to<float>(); }) == ErrorCode::checksum &&
             code_of([&] { checkpoint.find("twice.b"); }) == ErrorCode::ambiguous &&
             code_of([&] { checkpoint.tensors()[0].tensor.storage().verify(); }) ==
                 ErrorCode::checksum;
    };
    EXPECT_EQ(wrong_answers(is_refused), 0);
  }
}

}  // namespace
}  // namespace flambeau::testing
