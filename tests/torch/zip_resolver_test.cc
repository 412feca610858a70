// Persistent ids: which are storages, what is wrong with them, and what one key is when it is named
// twice.
#include "torch/zip_resolver.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/checkpoint_builder.h"
#include "support/errors.h"

namespace flambeau::testing {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::vector<float> kFour = {1, 2, 3, 4};

Checkpoint opened(const py::Code& value, const OpenOptions& options = {}) {
  return CheckpointBuilder(value).storage("0", kFour).open(options);
}

/// A tensor of four over the storage that `id` names.
py::Code tensor_over(const py::Code& id) {
  return py::call("torch._utils._rebuild_tensor",
                  {py::persistent(id), py::integer(0), py::integers({4}), py::integers({1})});
}

std::vector<py::Code> sound_id() {
  return {py::text("storage"), py::global("torch.FloatStorage"), py::text("0"), py::text("cpu"),
          py::integer(4)};
}

std::string refusal(std::vector<py::Code> id) {
  const auto error = error_of([&] { opened(tensor_over(py::tuple(id))); });
  if (!error) return {};
  EXPECT_EQ(error->code(), ErrorCode::malformed_tensor);
  EXPECT_EQ(error->where(), "test.pt: archive/data.pkl");
  return error->message();
}

std::string refusal(std::size_t i, const py::Code& value) {
  auto id = sound_id();
  id[i] = value;
  return refusal(id);
}

TEST(PersistentId, Sound) {
  EXPECT_EQ(root_tensor(opened(tensor_over(py::tuple(sound_id())))).to<float>(), kFour);
}

TEST(PersistentId, CountIsFive) {
  auto id = sound_id();
  id.push_back(py::none());
  EXPECT_EQ(refusal(id), "persistent id of a storage: 5 items are wanted");
  for (std::size_t count = 1; count < 5; ++count) {
    id.resize(count);
    EXPECT_EQ(refusal(id), "persistent id of a storage: 5 items are wanted") << count;
  }
}

TEST(PersistentId, EachItemIsChecked) {
  EXPECT_EQ(refusal(1, py::text("FloatStorage")),
            "persistent id of a storage: item 1 is no storage class");
  EXPECT_EQ(refusal(1, py::none()), "persistent id of a storage: item 1 is no storage class");
  EXPECT_EQ(refusal(1, py::global("torch.NonsenseStorage")),
            "persistent id of a storage: item 1 is no known storage class");
  EXPECT_EQ(refusal(1, py::global("torch.float32")),
            "persistent id of a storage: item 1 is no known storage class");
  EXPECT_EQ(refusal(2, py::integer(0)), "persistent id of a storage: item 2, the key, is no text");
  EXPECT_EQ(refusal(3, py::none()), "persistent id of a storage: item 3, the location, is no text");
  EXPECT_EQ(refusal(3, py::integer(0)),
            "persistent id of a storage: item 3, the location, is no text");
  EXPECT_EQ(refusal(4, py::real(4)),
            "persistent id of a storage: item 4, the number of elements, is no integer");
  EXPECT_EQ(refusal(4, py::big_integer(std::string("\0\0\0\0\0\0\0\x80\0", 9))),
            "persistent id of a storage: item 4, the number of elements, is no integer");
}

TEST(PersistentId, ItemsAreCheckedInLaterIdsToo) {
  const py::Code first = tensor_over(py::tuple(sound_id()));
  for (const std::size_t i : {1u, 3u}) {
    auto id = sound_id();
    id[i] = py::none();
    EXPECT_EQ(code_of([&] {
                opened(py::list({first, tensor_over(py::tuple(id))}));
              }),
              ErrorCode::malformed_tensor);
  }
}

TEST(PersistentId, NumbersOfElements) {
  const std::string overflow =
      "persistent id of a storage: the number of elements is negative or overflows";
  EXPECT_EQ(refusal(4, py::integer(-1)), overflow);
  EXPECT_EQ(refusal(4, py::integer(std::int64_t{1} << 62)), overflow);
  EXPECT_EQ(refusal(4, py::integer((std::int64_t{1} << 62) + 1)), overflow) << "times 4 it is 4";
}

TEST(PersistentId, OthersAreValues) {
  for (const py::Code& id :
       {py::integer(5), py::text("storage"), py::list(sound_id()), py::tuple({}),
        py::tuple({py::text("module"), py::text("source")}), py::tuple({py::integer(1)})}) {
    const Checkpoint checkpoint = opened(py::list({py::persistent(id)}));
    EXPECT_EQ(checkpoint.root()[0].kind(), Kind::persistent);
    EXPECT_TRUE(checkpoint.root()[0].persistent_id());
    EXPECT_FALSE(checkpoint.root()[0].as_storage());
  }
  EXPECT_EQ(code_of([] { opened(tensor_over(py::integer(5))); }), ErrorCode::malformed_tensor);
}

TEST(Records, MissingIsNotedAndFoundOnReading) {
  const Checkpoint checkpoint = opened(py::tensor({.storage = {.key = "7"}}));
  const Tensor& tensor = checkpoint.tensor("");
  EXPECT_FALSE(tensor.storage().is_available());
  EXPECT_EQ(tensor.storage().size(), 16u);
  EXPECT_THAT(notes_of(checkpoint), ElementsAre("information data/7: the record is missing"));
  const auto error = error_of([&] { tensor.to<float>(); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), ErrorCode::not_found);
  EXPECT_EQ(error->where(), "data/7");
  EXPECT_EQ(code_of([&] { sha256(tensor); }), ErrorCode::not_found);
}

TEST(Records, MissingOnesAreSharedByKey) {
  const Checkpoint checkpoint =
      opened(py::list({py::tensor({.storage = {.key = "7"}}), py::tensor({.storage = {.key = "8"}}),
                       py::tensor({.storage = {.key = "7"}})}));
  const auto tensors = checkpoint.tensors();
  EXPECT_EQ(tensors[0].tensor.storage(), tensors[2].tensor.storage());
  EXPECT_FALSE(tensors[0].tensor.storage() == tensors[1].tensor.storage());
}

TEST(Records, ShortOnesAreRefused) {
  for (const std::size_t size : {0u, 15u}) {
    CheckpointBuilder file(py::tensor());
    const auto error = error_of([&] { file.storage("0", std::string(size, 'x')).open(); });
    ASSERT_TRUE(error);
    EXPECT_EQ(error->code(), ErrorCode::malformed_tensor);
    EXPECT_THAT(error->what(), HasSubstr("archive/data/0: the record has " + std::to_string(size) +
                                         " bytes, its storage 16"));
  }
}

TEST(Records, LongOnesAreCutAndNoted) {
  CheckpointBuilder file(py::tensor());
  file.storage("0", std::vector<float>{1, 2, 3, 4, 5});
  const Checkpoint checkpoint = file.open();
  EXPECT_EQ(checkpoint.tensor("").storage().size(), 16u);
  EXPECT_EQ(checkpoint.tensor("").storage().bytes().size(), 16u);
  EXPECT_EQ(checkpoint.tensor("").to<float>(), kFour);
  EXPECT_THAT(notes_of(checkpoint),
              ElementsAre("ambiguity data/0: the record is longer than its storage"));
  EXPECT_EQ(code_of([&] { file.open({.strict = true}); }), ErrorCode::ambiguous);
}

TEST(Records, KeysAreRecordsBelowData) {
  for (const std::string& key :
       {std::string("../version"), std::string("/data/0"), std::string(), std::string("0\0", 2),
        std::string(1 << 20, '0'), std::string("./0")}) {
    const Checkpoint checkpoint = opened(py::tensor({.storage = {.key = key}}));
    EXPECT_FALSE(checkpoint.tensor("").storage().is_available());
  }
}

TEST(Records, CaseOfKeysDoesNotCount) {
  const py::Code both =
      py::list({py::tensor({.storage = {.key = "A"}}), py::tensor({.storage = {.key = "a"}})});
  CheckpointBuilder file(both);
  const Checkpoint checkpoint = file.storage("a", kFour).open();
  const auto tensors = checkpoint.tensors();
  EXPECT_EQ(tensors[0].tensor.to<float>(), kFour);
  EXPECT_EQ(tensors[1].tensor.to<float>(), kFour);
  EXPECT_EQ(tensors[0].tensor.storage().key(), "A");
  EXPECT_EQ(tensors[1].tensor.storage().key(), "a");
  EXPECT_FALSE(tensors[0].tensor.storage() == tensors[1].tensor.storage()) << "two storages";
}

TEST(Records, ZeroSizes) {
  CheckpointBuilder file(py::tensor({.storage = {.numel = 0}, .size = {0}}));
  EXPECT_TRUE(root_tensor(file.storage("0", std::string()).open()).to<float>().empty());
  const Checkpoint missing =
      CheckpointBuilder(py::tensor({.storage = {.numel = 0}, .size = {0}})).open();
  EXPECT_EQ(missing.tensor("").numel(), 0);
  EXPECT_EQ(code_of([&] { missing.tensor("").to<float>(); }), ErrorCode::not_found);
}

TEST(OneKey, IsOneStorage) {
  const Checkpoint checkpoint =
      opened(py::list({py::tensor(), py::tensor({.offset = 2, .size = {2}}), py::storage()}));
  const Storage storage = checkpoint.tensors()[0].tensor.storage();
  EXPECT_EQ(checkpoint.tensors()[1].tensor.storage(), storage);
  EXPECT_EQ(checkpoint.root()[2].as_storage()->storage, storage);
  EXPECT_THAT(notes_of(checkpoint), IsEmpty());
}

TEST(OneKey, TwoTypesOfOneSizeShareTheBytes) {
  const py::Code value =
      py::list({py::tensor(), py::tensor({.storage = {.type = "torch.IntStorage"}})});
  const Checkpoint checkpoint = opened(value);
  const auto tensors = checkpoint.tensors();
  EXPECT_EQ(tensors[0].tensor.storage(), tensors[1].tensor.storage());
  EXPECT_EQ(tensors[1].tensor.dtype(), DType::i32);
  EXPECT_EQ(tensors[1].tensor.to<std::int32_t>()[0], 0x3f800000);
  EXPECT_THAT(notes_of(checkpoint),
              ElementsAre("ambiguity data/0: the storage is named with two element types"));
  EXPECT_EQ(code_of([&] { opened(value, {.strict = true}); }), ErrorCode::ambiguous);
}

TEST(OneKey, TwoTypesOfTwoSizesAreTwoStorages) {
  const py::StorageId shorts{.type = "torch.ShortStorage", .numel = 4};
  const Checkpoint checkpoint =
      opened(py::list({py::tensor(), py::tensor({.storage = shorts}),
                       py::tensor({.storage = shorts, .offset = 1, .size = {1}})}));
  const auto tensors = checkpoint.tensors();
  EXPECT_FALSE(tensors[0].tensor.storage() == tensors[1].tensor.storage());
  EXPECT_EQ(tensors[1].tensor.storage(), tensors[2].tensor.storage()) << "the second one again";
  EXPECT_EQ(tensors[1].tensor.storage().size(), 8u);
  EXPECT_EQ(tensors[1].tensor.to<std::int16_t>()[1], 0x3f80);
  EXPECT_THAT(notes_of(checkpoint),
              Contains("ambiguity data/0: the storage is named with two element types"));
}

TEST(OneKey, ASecondStorageMustFitTheRecordToo) {
  const py::StorageId longs{.type = "torch.LongStorage", .numel = 4};
  EXPECT_EQ(code_of([&] {
              opened(py::list({py::tensor(), py::tensor({.storage = longs})}));
            }),
            ErrorCode::malformed_tensor);
}

TEST(OneKey, TheFirstNumberOfElementsCounts) {
  const auto twice = [](std::int64_t first, std::int64_t second, std::int64_t size) {
    return py::list({py::tensor({.storage = {.numel = first}, .size = {1}}),
                     py::tensor({.storage = {.numel = second}, .size = {size}})});
  };
  const Checkpoint checkpoint = opened(twice(4, 2, 4));
  EXPECT_EQ(checkpoint.tensors()[1].tensor.to<float>(), kFour);
  EXPECT_THAT(notes_of(checkpoint),
              ElementsAre("ambiguity data/0: the storage is named with two sizes"));
  EXPECT_EQ(code_of([&] { opened(twice(2, 4, 4)); }), ErrorCode::malformed_tensor);
  EXPECT_NO_THROW(opened(twice(2, 4, 2)));
}

TEST(OneKey, TheFirstLocationCounts) {
  const Checkpoint checkpoint = opened(
      py::list({py::tensor({.storage = {.location = "cuda:0"}}), py::tensor()}), {.strict = true});
  EXPECT_EQ(checkpoint.tensors()[1].tensor.device(), "cuda:0");
  EXPECT_THAT(notes_of(checkpoint),
              ElementsAre("information data/0: the storage is named with two locations"));
}

TEST(OneKey, LocationsAreKeptAsText) {
  for (const std::string& location : {std::string("cuda:99999"), std::string("nonsense"),
                                      std::string("meta"), std::string(1 << 20, 'x')}) {
    const Checkpoint checkpoint = opened(py::tensor({.storage = {.location = location}}));
    EXPECT_EQ(checkpoint.tensor("").device(), location);
    EXPECT_EQ(checkpoint.tensor("").to<float>(), kFour);
  }
}

TEST(OneKey, NotesAreAtMostAHundred) {
  std::vector<py::Code> items;
  for (int i = 0; i < 150; ++i) {
    items.push_back(py::tensor({.storage = {.key = "missing" + std::to_string(i)}}));
  }
  EXPECT_EQ(notes_of(opened(py::list(items))).size(), 100u);
}

TEST(Locations, HaveALimit) {
  std::vector<py::Code> items;
  for (int i = 0; i <= 65'536; ++i) {
    items.push_back(py::storage({.location = "device" + std::to_string(i)}));
  }
  EXPECT_EQ(code_of([&] { opened(py::list(items)); }), ErrorCode::limit);
}

TEST(Storages, AreReadOnceWhereTheFileIsNotInMemory) {
  CheckpointBuilder file(py::list({py::tensor(), py::tensor({.offset = 1, .size = {3}})}));
  const SourcePtr source = file.storage("0", kFour).zip().source();
  const Checkpoint checkpoint = Checkpoint::open(read_only_by_calls(source));
  const auto tensors = checkpoint.tensors();
  EXPECT_EQ(tensors[0].tensor.as<float>().data() + 1, tensors[1].tensor.as<float>().data());
  EXPECT_EQ(tensors[1].tensor.to<float>(), (std::vector<float>{2, 3, 4}));
}

TEST(Storages, ChecksumsAreComparedOnceWhenCopied) {
  CheckpointBuilder file(py::tensor());
  BuiltZip zip = file.storage("0", kFour).zip();
  zip.bytes[zip.records[1].data] ^= 1;
  const SourcePtr source = zip.source();
  for (const SourcePtr& each : {source, read_only_by_calls(source)}) {
    const Checkpoint checkpoint = Checkpoint::open(each);
    EXPECT_EQ(code_of([&] { checkpoint.tensor("").to<float>(); }), ErrorCode::checksum);
    EXPECT_EQ(code_of([&] { sha256(checkpoint.tensor("")); }), ErrorCode::checksum);
    EXPECT_EQ(code_of([&] { checkpoint.tensor("").storage().verify(); }), ErrorCode::checksum);
    const Checkpoint trusting = Checkpoint::open(each, {.verify = false});
    EXPECT_EQ(trusting.tensor("").to<float>().size(), 4u);
  }
  const Checkpoint checkpoint = Checkpoint::open(source);
  EXPECT_EQ(checkpoint.tensor("").as<float>().size(), 4u) << "a view checks nothing";
}

TEST(Storages, OutliveTheCheckpoint) {
  std::optional<Tensor> tensor;
  {
    const Checkpoint checkpoint = opened(py::tensor());
    tensor = checkpoint.tensor("");
  }
  EXPECT_EQ(tensor->to<float>(), kFour);
  EXPECT_EQ(tensor->storage().key(), "0");
}

}  // namespace
}  // namespace flambeau::testing
