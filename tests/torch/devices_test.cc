// Location tags, rules from tag to tag, and storages that a program restores to memory of its own.
#include "flambeau/devices.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "support/checkpoint_builder.h"
#include "support/errors.h"

namespace flambeau::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const std::vector<float> kFour = {1, 2, 3, 4};

/// Two storages: "0" on cuda:0, viewed twice, and "1" on the CPU.
CheckpointBuilder two_devices() {
  const py::StorageId on_gpu{.location = "cuda:0"};
  return CheckpointBuilder(py::list({py::tensor({.storage = on_gpu}),
                                     py::tensor({.storage = on_gpu, .offset = 2, .size = {2}}),
                                     py::tensor({.storage = {.key = "1"}})}))
      .storage("0", kFour)
      .storage("1", kFour);
}

std::vector<std::string> devices_of(const Checkpoint& checkpoint) {
  std::vector<std::string> devices;
  for (const NamedTensor& each : checkpoint.tensors()) devices.emplace_back(each.tensor.device());
  return devices;
}

/// Device memory that a program could have: here a copy, which only this test can read.
Storage to_device(const Storage& storage, std::string_view tag) {
  const auto bytes = storage.bytes();
  const auto memory = std::make_shared<std::vector<std::byte>>(bytes.begin(), bytes.end());
  return Storage::on_device(std::string(tag), storage.size(), memory);
}

std::vector<float> read_device(const Storage& storage) {
  const auto memory = std::static_pointer_cast<std::vector<std::byte>>(storage.device_memory());
  std::vector<float> values(memory->size() / sizeof(float));
  std::memcpy(values.data(), memory->data(), memory->size());
  return values;
}

TEST(MapLocation, WithoutARuleTagsStay) {
  const Checkpoint checkpoint = two_devices().open();
  EXPECT_THAT(devices_of(checkpoint), ElementsAre("cuda:0", "cuda:0", "cpu"));
  EXPECT_EQ(checkpoint.tensors()[0].tensor.to<float>(), kFour) << "the bytes are in CPU memory";
  EXPECT_FALSE(MapLocation().is_set());
  EXPECT_EQ(MapLocation().tag_for("x"), "x");
}

TEST(MapLocation, OneTagForAll) {
  const Checkpoint checkpoint = two_devices().open({.map_location = "cuda:1"});
  EXPECT_THAT(devices_of(checkpoint), ElementsAre("cuda:1", "cuda:1", "cuda:1"));
  EXPECT_EQ(checkpoint.tensors()[2].tensor.to<float>(), kFour);
  EXPECT_EQ(checkpoint.tensors()[0].tensor.storage(), checkpoint.tensors()[1].tensor.storage());
}

TEST(MapLocation, ATableChangesSomeTags) {
  const MapLocation table({{"cuda:0", "mps"}, {"cuda:7", "cpu"}});
  EXPECT_EQ(table.tag_for("cuda:0"), "mps");
  EXPECT_EQ(table.tag_for("cpu"), "cpu");
  EXPECT_THAT(devices_of(two_devices().open({.map_location = table})),
              ElementsAre("mps", "mps", "cpu"));
}

TEST(MapLocation, ATableOfOnePairIsATable) {
  EXPECT_EQ(MapLocation({{"cuda:0", "cpu"}}).tag_for("cuda:0"), "cpu");
  const Checkpoint checkpoint = two_devices().open({.map_location = {{"cuda:0", "cpu"}}});
  EXPECT_THAT(devices_of(checkpoint), ElementsAre("cpu", "cpu", "cpu"));
}

TEST(MapLocation, MetaDropsTheBytes) {
  const Checkpoint checkpoint = two_devices().open({.map_location = "meta"});
  for (const NamedTensor& each : checkpoint.tensors()) {
    EXPECT_EQ(each.tensor.kind(), TensorKind::meta);
    EXPECT_EQ(each.tensor.device(), "meta");
    EXPECT_FALSE(each.tensor.storage());
    EXPECT_EQ(code_of([&] { each.tensor.to<float>(); }), ErrorCode::unsupported);
  }
  EXPECT_THAT(checkpoint.tensors()[1].tensor.shape(), ElementsAre(2));
  EXPECT_EQ(checkpoint.tensors()[1].tensor.offset(), 2);
}

TEST(MapLocation, MetaStillChecksTheViews) {
  CheckpointBuilder file(py::tensor({.size = {5}}));
  EXPECT_EQ(code_of([&] { file.storage("0", kFour).open({.map_location = "meta"}); }),
            ErrorCode::malformed_tensor);
}

TEST(MapLocation, MetaLeavesQuantizersAndSparsePartsTheirShapes) {
  const py::Code scales = py::tensor({.size = {2}});
  const py::Code quantized =
      py::call("torch._utils._rebuild_qtensor",
               {py::storage({.type = "torch.QInt8Storage", .key = "1"}), py::integer(0),
                py::integers({2, 2}), py::integers({2, 1}),
                py::tuple({py::global("torch.per_channel_affine"), scales, scales, py::integer(0)}),
                py::boolean(false), py::none()});
  CheckpointBuilder file(quantized);
  file.storage("0", kFour).storage("1", std::string(4, '\1'));
  const Checkpoint checkpoint = file.open({.map_location = "meta"});
  EXPECT_EQ(checkpoint.tensor("").dtype(), DType::qi8);
  EXPECT_EQ(checkpoint.tensor("").device(), "meta");
  EXPECT_EQ(checkpoint.tensor("").find_part("scales")->kind(), TensorKind::meta);
}

TEST(MapLocation, AFunctionIsCalledOncePerStorage) {
  std::vector<std::string> calls;
  const RestoreFunction function = [&](const Storage& storage,
                                       std::string_view tag) -> std::optional<Storage> {
    calls.push_back(std::string(storage.key()) + " " + std::string(tag));
    if (tag == "cpu") return std::nullopt;
    return to_device(storage, "fpga:3");
  };
  const Checkpoint checkpoint = two_devices().open({.map_location = function});
  EXPECT_THAT(calls, ElementsAre("0 cuda:0", "1 cpu"));
  EXPECT_THAT(devices_of(checkpoint), ElementsAre("fpga:3", "fpga:3", "cpu"));
  const Tensor& first = checkpoint.tensors()[0].tensor;
  EXPECT_EQ(first.storage(), checkpoint.tensors()[1].tensor.storage()) << "storages stay shared";
  EXPECT_EQ(read_device(first.storage()), kFour);
  EXPECT_EQ(code_of([&] { first.to<float>(); }), ErrorCode::unsupported);
  EXPECT_EQ(checkpoint.tensors()[2].tensor.to<float>(), kFour);
}

TEST(MapLocation, AFunctionMayGiveNoMemory) {
  const RestoreFunction function = [](const Storage&, std::string_view) { return Storage(); };
  const Checkpoint checkpoint = two_devices().open({.map_location = function});
  EXPECT_EQ(checkpoint.tensors()[0].tensor.kind(), TensorKind::meta);
}

TEST(MapLocation, MemoryThatIsTooSmallIsRefused) {
  const RestoreFunction function = [](const Storage& storage, std::string_view) {
    return Storage::borrow(storage.bytes().first(8));
  };
  EXPECT_EQ(code_of([&] { two_devices().open({.map_location = function}); }), ErrorCode::usage);
}

TEST(MapLocation, AStorageThatStandsByItselfIsRestoredToo) {
  CheckpointBuilder file(py::storage({.location = "cuda:0"}));
  const Checkpoint checkpoint = file.storage("0", kFour).open({.map_location = "cpu"});
  const auto reference = checkpoint.root().as_storage();
  ASSERT_TRUE(reference);
  EXPECT_EQ(reference->device, "cuda:0") << "what the file says";
  EXPECT_EQ(reference->storage.device(), "cpu");
}

TEST(DeviceRegistry, RestoresByTag) {
  DeviceRegistry registry;
  registry.add(10, "cuda", [](const Storage& storage, std::string_view tag) {
    return to_device(storage, tag);
  });
  const Checkpoint checkpoint = two_devices().open({.devices = &registry});
  EXPECT_THAT(devices_of(checkpoint), ElementsAre("cuda:0", "cuda:0", "cpu"));
  EXPECT_EQ(read_device(checkpoint.tensors()[1].tensor.storage()), kFour);
  EXPECT_FALSE(checkpoint.tensors()[2].tensor.storage().device_memory());
}

TEST(DeviceRegistry, SeesTheMappedTag) {
  DeviceRegistry registry;
  registry.add(10, "npu", [](const Storage& storage, std::string_view tag) {
    return to_device(storage, tag);
  });
  const MapLocation table({{"cpu", "npu:2"}});
  const Checkpoint checkpoint = two_devices().open({.map_location = table, .devices = &registry});
  EXPECT_THAT(devices_of(checkpoint), ElementsAre("cuda:0", "cuda:0", "npu:2"));
  EXPECT_EQ(read_device(checkpoint.tensors()[2].tensor.storage()), kFour);
}

TEST(DeviceRegistry, NamesMatchAsInPyTorch) {
  DeviceRegistry registry;
  registry.add(0, "cuda", [](const Storage& storage, std::string_view) { return storage; });
  const Storage storage = Storage::borrow({});
  for (const std::string_view tag : {"cuda", "cuda0", "cuda17", "cuda:0", "cuda:x", "cuda:"}) {
    EXPECT_TRUE(registry.restore(storage, tag)) << tag;
  }
  for (const std::string_view tag : {"", "cud", "cudafoo", "cuda1x", "cuda 1", "xcuda", "CUDA"}) {
    EXPECT_FALSE(registry.restore(storage, tag)) << tag;
  }
}

TEST(DeviceRegistry, AsksInOrderOfPriority) {
  DeviceRegistry registry;
  std::vector<int> asked;
  const auto backend = [&](int id) {
    return [&asked, id](const Storage&, std::string_view) -> std::optional<Storage> {
      asked.push_back(id);
      return std::nullopt;
    };
  };
  const auto all = [](std::string_view) { return true; };
  registry.add(20, all, backend(1));
  registry.add(10, all, backend(2));
  registry.add(20, all, backend(3));
  registry.add(10, all, backend(4));
  registry.add(
      0, [](std::string_view tag) { return tag == "other"; }, backend(5));
  EXPECT_FALSE(registry.restore(Storage(), "tag"));
  EXPECT_THAT(asked, ElementsAre(2, 4, 1, 3));
}

TEST(DeviceRegistry, EmptyRestoresNothing) {
  const DeviceRegistry registry;
  const Checkpoint checkpoint = two_devices().open({.devices = &registry});
  EXPECT_EQ(checkpoint.tensors()[0].tensor.to<float>(), kFour);
}

}  // namespace
}  // namespace flambeau::testing
