// Many tensors at once: into the caller's buffers, into one allocation, checked, watched, stopped.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <complex>

#include "base/bytes.h"
#include "support/checkpoint_builder.h"
#include "support/errors.h"

namespace flambeau::testing {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;

std::vector<float> counting(std::size_t count, float first) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = first + static_cast<float>(i % 1000);
  return values;
}

/// Tensors "0" to "n - 1", each over a storage of its own of `count` floats.
CheckpointBuilder many(int n, std::int64_t count) {
  std::vector<py::Code> items;
  CheckpointBuilder file(py::none());
  for (int i = 0; i < n; ++i) {
    const std::string key = std::to_string(i);
    items.push_back(py::tensor({.storage = {.key = key, .numel = count}, .size = {count}}));
    file.storage(key, counting(static_cast<std::size_t>(count), static_cast<float>(i)));
  }
  return file.record("data.pkl", py::dump(py::list(items)));
}

std::vector<Tensor> all_of(const Checkpoint& checkpoint) {
  std::vector<Tensor> tensors;
  for (const NamedTensor& each : checkpoint.tensors()) tensors.push_back(each.tensor);
  return tensors;
}

void expect_equal(const std::vector<Tensor>& read, const Checkpoint& checkpoint) {
  ASSERT_EQ(read.size(), checkpoint.tensors().size());
  for (std::size_t i = 0; i < read.size(); ++i) {
    EXPECT_EQ(read[i].to<float>(), checkpoint.tensors()[i].tensor.to<float>()) << i;
  }
}

TEST(ReadTensors, SmallOnesOnOneThreadAndOnFour) {
  const SourcePtr source = many(300, 5).zip().source();
  for (const SourcePtr& each : {source, read_only_by_calls(source)}) {
    for (const unsigned threads : {0u, 1u, 4u}) {
      const Checkpoint checkpoint = Checkpoint::open(each);
      expect_equal(read_tensors(all_of(checkpoint), {.threads = threads}), checkpoint);
    }
  }
}

/// Three parts, the last one short, beside tensors that fill less than a task.
TEST(ReadTensors, LargeOnesInPartsWhoseChecksumsAreJoined) {
  constexpr std::int64_t kCount = (std::int64_t{17} << 20) / 4 + 3;
  CheckpointBuilder file(py::list(
      {py::tensor({.storage = {.key = "small"}}),
       py::tensor({.storage = {.key = "large", .numel = kCount}, .size = {kCount}}),
       py::tensor(
           {.storage = {.key = "large", .numel = kCount}, .offset = 5, .size = {kCount - 5}})}));
  file.storage("small", counting(4, 0)).storage("large", counting(kCount, 7));
  BuiltZip zip = file.zip();
  for (const unsigned threads : {1u, 4u}) {
    const SourcePtr source = zip.source();
    for (const SourcePtr& each : {source, read_only_by_calls(source)}) {
      const Checkpoint checkpoint = Checkpoint::open(each);
      expect_equal(read_tensors(all_of(checkpoint), {.threads = threads}), checkpoint);
    }
  }
  zip.bytes[zip.records[2].data + (std::size_t{9} << 20)] ^= 1;
  const Checkpoint checkpoint = Checkpoint::open(zip.source());
  const Tensor large = checkpoint.tensor("1");
  for (const unsigned threads : {1u, 4u}) {
    const auto read = [&](bool verify) {
      read_tensors(std::vector<Tensor>{large}, {.threads = threads, .verify = verify});
    };
    EXPECT_EQ(code_of([&] { read(true); }), ErrorCode::checksum);
    EXPECT_NO_THROW(read(false));
  }
}

TEST(ReadTensors, OneAllocationAlignedAndApart) {
  const Checkpoint checkpoint = many(5, 3).open();
  const std::vector<Tensor> read = read_tensors(all_of(checkpoint));
  for (const Tensor& tensor : read) {
    const auto place = std::bit_cast<std::uintptr_t>(tensor.as<float>().data());
    EXPECT_EQ(place % 64, 0u);
    EXPECT_EQ(tensor.storage().size(), 12u);
  }
  EXPECT_EQ(read[1].as<float>().data() - read[0].as<float>().data(), 16);
  EXPECT_EQ(read[0].storage().table(), read[4].storage().table());
}

TEST(ReadTensors, ResultOutlivesTheCheckpoint) {
  std::vector<Tensor> read;
  {
    const Checkpoint checkpoint = many(2, 4).open();
    read = read_tensors(all_of(checkpoint));
  }
  EXPECT_EQ(read[1].to<float>(), counting(4, 1));
}

TEST(ReadTensors, NoTensors) {
  EXPECT_TRUE(read_tensors(std::span<const Tensor>()).empty());
  std::vector<Progress> told;
  read_tensors(std::span<const ReadRequest>(),
               {.progress = [&](const Progress& progress) { told.push_back(progress); }});
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(told[0].total, 0u);
}

TEST(ReadTensors, IntoTheCallersBuffers) {
  const Checkpoint checkpoint = many(2, 4).open();
  std::vector<float> first(4);
  std::vector<float> second(4);
  const ReadRequest requests[] = {
      {checkpoint.tensor("1"), std::as_writable_bytes(std::span(first))},
      {checkpoint.tensor("0"), std::as_writable_bytes(std::span(second))}};
  read_tensors(requests);
  EXPECT_EQ(first, counting(4, 1));
  EXPECT_EQ(second, counting(4, 0));
}

TEST(ReadTensors, BuffersMustHaveTheSize) {
  const Checkpoint checkpoint = many(1, 4).open();
  for (const std::size_t size : {0u, 15u, 17u}) {
    std::vector<std::byte> buffer(size);
    const ReadRequest request{checkpoint.tensor("0"), buffer};
    EXPECT_EQ(code_of([&] { read_tensors({&request, 1}); }), ErrorCode::usage) << size;
  }
}

TEST(ReadTensors, TellsItsProgress) {
  const Checkpoint checkpoint = many(8, 1 << 18).open();
  for (const unsigned threads : {1u, 4u}) {
    std::vector<Progress> told;
    const auto caller = std::this_thread::get_id();
    read_tensors(all_of(checkpoint),
                 {.threads = threads, .progress = [&](const Progress& progress) {
                    EXPECT_TRUE(std::this_thread::get_id() == caller);
                    told.push_back(progress);
                  }});
    ASSERT_FALSE(told.empty());
    EXPECT_EQ(told.back().done, std::uint64_t{8} << 20);
    for (std::size_t i = 0; i < told.size(); ++i) {
      EXPECT_EQ(told[i].total, std::uint64_t{8} << 20);
      if (i > 0) {
        EXPECT_GE(told[i].done, told[i - 1].done);
      }
    }
    if (threads == 1) {
      EXPECT_GE(told.size(), 8u);
    }
  }
}

TEST(ReadTensors, StopsWhenAsked) {
  const Checkpoint checkpoint = many(8, 1 << 18).open();
  std::stop_source before;
  before.request_stop();
  EXPECT_EQ(code_of([&] { read_tensors(all_of(checkpoint), {.stop = before.get_token()}); }),
            ErrorCode::cancelled);
  std::stop_source during;
  const ReadOptions options{.threads = 1,
                            .progress = [&](const Progress&) { during.request_stop(); },
                            .stop = during.get_token()};
  EXPECT_EQ(code_of([&] { read_tensors(all_of(checkpoint), options); }), ErrorCode::cancelled);
}

TEST(ReadTensors, SmallDamageIsFound) {
  BuiltZip zip = many(100, 4).zip();
  zip.bytes[zip.records[50].data] ^= 1;
  const Checkpoint checkpoint = Checkpoint::open(zip.source());
  EXPECT_EQ(code_of([&] { read_tensors(all_of(checkpoint)); }), ErrorCode::checksum);
  EXPECT_NO_THROW(read_tensors(all_of(checkpoint), {.verify = false}));
  const Checkpoint trusting = Checkpoint::open(zip.source(), {.verify = false});
  EXPECT_NO_THROW(read_tensors(all_of(trusting)));
}

/// A view of a part cannot check its record on the way, so the record is checked first.
TEST(ReadTensors, DamageBesideAViewIsFound) {
  CheckpointBuilder file(py::tensor({.size = {2}}));
  BuiltZip zip = file.storage("0", counting(4, 0)).zip();
  zip.bytes[zip.records[1].data + 15] ^= 1;
  const Checkpoint checkpoint = Checkpoint::open(zip.source());
  EXPECT_EQ(code_of([&] { read_tensors(all_of(checkpoint)); }), ErrorCode::checksum);
  const Tensor part = checkpoint.tensor("").slice(0, 0, 1);
  EXPECT_EQ(read_tensors(std::vector<Tensor>{part})[0].to<float>(), (std::vector<float>{0}))
      << "a slice looks at nothing but its own bytes";
}

TEST(ReadTensors, MissingRecords) {
  const Checkpoint checkpoint = open_value(py::tensor());
  EXPECT_EQ(code_of([&] { read_tensors(all_of(checkpoint)); }), ErrorCode::not_found);
}

TEST(ReadTensors, StridesBitsAndByteOrderAreResolved) {
  const py::Code conj =
      py::call("torch._utils._rebuild_tensor_v2",
               {py::storage({.type = "torch.ComplexFloatStorage", .numel = 3}), py::integer(0),
                py::integers({3}), py::integers({1}), py::boolean(true), py::none(),
                py::dict({{py::text("conj"), py::boolean(true)}})});
  CheckpointBuilder file(
      py::list({py::tensor({.storage = {.numel = 6}, .size = {3, 2}, .stride = {1, 3}}), conj}));
  const Checkpoint checkpoint = file.storage("0", std::vector<float>{1, 2, 3, 4, 5, 6}).open();
  const std::vector<Tensor> read = read_tensors(all_of(checkpoint));
  EXPECT_TRUE(read[0].is_contiguous());
  EXPECT_THAT(read[0].as<float>(), ElementsAre(1, 4, 2, 5, 3, 6));
  EXPECT_FALSE(read[1].is_conj());
  EXPECT_TRUE(read[1].requires_grad());
  using Complex = std::complex<float>;
  EXPECT_THAT(read[1].as<Complex>(), ElementsAre(Complex(1, -2), Complex(3, -4), Complex(5, -6)));
  CheckpointBuilder swapped(
      py::tensor({.storage = {.type = "torch.ShortStorage", .numel = 1}, .size = {1}}));
  const Checkpoint big = swapped.storage("0", std::string("\1\2")).byteorder("big").open();
  EXPECT_THAT(read_tensors(all_of(big))[0].as<std::int16_t>(), ElementsAre(0x102));
}

TEST(ReadTensors, DeflatedRecords) {
  const Checkpoint checkpoint = many(20, 1000).deflated().open();
  expect_equal(read_tensors(all_of(checkpoint), {.threads = 4}), checkpoint);
}

TEST(ReadTensors, QuantizedOnesKeepTheirQuantizer) {
  const py::Code quantized =
      py::call("torch._utils._rebuild_qtensor",
               {py::storage({.type = "torch.QInt8Storage", .numel = 3}), py::integer(0),
                py::integers({3}), py::integers({1}),
                py::tuple({py::global("torch.per_tensor_affine"), py::real(0.5), py::integer(1)}),
                py::boolean(false), py::none()});
  CheckpointBuilder file(quantized);
  const Checkpoint checkpoint = file.storage("0", std::string("\1\2\3")).open();
  const std::vector<Tensor> read = read_tensors(all_of(checkpoint));
  EXPECT_EQ(read[0].kind(), TensorKind::quantized);
  EXPECT_THAT(read[0].to<float>(), ElementsAre(0, 0.5, 1));
}

TEST(ReadTensors, EmptyOnesOfAnyShape) {
  constexpr std::int64_t kHuge = std::int64_t{1} << 62;
  CheckpointBuilder file(py::list({py::tensor({.size = {0, kHuge, kHuge}, .stride = {1, 1, 1}}),
                                   py::tensor({.offset = kHuge, .size = {0}, .stride = {1}})}));
  const Checkpoint checkpoint = file.storage("0", counting(4, 0)).open();
  const std::vector<Tensor> read = read_tensors(all_of(checkpoint));
  EXPECT_THAT(read[0].shape(), ElementsAre(0, kHuge, kHuge));
  EXPECT_EQ(read[1].numel(), 0);
}

TEST(ReadTensors, KindsWithoutOneArrayOfElementsAreRefused) {
  const py::Code meta = py::call(
      "torch._utils._rebuild_meta_tensor_no_storage",
      {py::global("torch.float32"), py::integers({2}), py::integers({1}), py::boolean(false)});
  const Checkpoint checkpoint = open_value(meta);
  EXPECT_EQ(code_of([&] { read_tensors(all_of(checkpoint)); }), ErrorCode::unsupported);
}

TEST(ReadTensors, WhatIsMoreThanAllMemoryIsALimit) {
  CheckpointBuilder file(py::list(
      std::vector<py::Code>(8, py::tensor({.size = {std::int64_t{1} << 60}, .stride = {0}}))));
  const Checkpoint checkpoint = file.storage("0", counting(4, 0)).open();
  EXPECT_EQ(code_of([&] { read_tensors(all_of(checkpoint)); }), ErrorCode::limit);
}

TEST(ReadTensors, TensorsOfMemoryToo) {
  const std::vector<float> values = {1, 2, 3, 4};
  const Tensor tensor = Tensor::borrow<float>(values, {2, 2});
  EXPECT_THAT(read_tensors(std::vector<Tensor>{tensor})[0].as<float>(), ElementsAre(1, 2, 3, 4));
}

}  // namespace
}  // namespace flambeau::testing
