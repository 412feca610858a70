// The records around the pickle: version, byte order, and what is noted about the pickle itself.
#include "torch/zip_loader.h"

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

CheckpointBuilder sound() { return CheckpointBuilder(py::tensor()).storage("0", kFour); }

// ---- version

TEST(Version, Accepted) {
  EXPECT_EQ(sound().version("3").open().facts().version, "3");
  EXPECT_EQ(sound().version("1").open().facts().version, "1");
  EXPECT_EQ(sound().version("10\n").open().facts().version, "10");
  EXPECT_EQ(sound().version(" \t3").open().facts().version, "3") << "as std::stoull reads it";
  EXPECT_EQ(sound().version(std::string("3\0junk", 6)).open().facts().version, "3");
}

TEST(Version, UnsupportedNumbers) {
  EXPECT_EQ(code_of([] { sound().version("0").open(); }), ErrorCode::unsupported);
  const auto error = error_of([] { sound().version("11").open(); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), ErrorCode::unsupported);
  EXPECT_STREQ(error->what(), "test.pt: version: version 11 of the format, 1 to 10 can be read");
}

TEST(Version, NoNumber) {
  for (const std::string& text :
       {std::string("abc"), std::string("-1"), std::string(" "), std::string(30, '9')}) {
    EXPECT_EQ(code_of([&] { sound().version(text).open(); }), ErrorCode::malformed_zip) << text;
  }
  EXPECT_EQ(code_of([] { sound().without_version().open(); }), ErrorCode::malformed_zip);
}

TEST(Version, IsNotReadWhenItIsHuge) {
  const auto error = error_of([] { sound().version(std::string(1 << 20, '3')).open(); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), ErrorCode::malformed_zip);
  EXPECT_THAT(error->what(), HasSubstr("1048576 bytes, at most 65536 are expected"));
}

TEST(Version, HiddenRecordComesFirst) {
  EXPECT_EQ(sound().record(".data/version", "4").open().facts().version, "4");
  EXPECT_EQ(sound().record(".data/version", "99").version("3").zip().records.size(), 4u);
  EXPECT_EQ(code_of([] { sound().record(".data/version", "99").open(); }), ErrorCode::unsupported);
}

// ---- byte order

TEST(ByteOrder, TheTwoWords) {
  EXPECT_EQ(sound().open().byteorder(), "little") << "no record";
  EXPECT_EQ(sound().byteorder("little").open().byteorder(), "little");
  EXPECT_EQ(sound().byteorder("big").open().byteorder(), "big");
  for (const std::string& order : {std::string("BIG"), std::string(), std::string("big\n"),
                                   std::string("middle"), std::string(1 << 17, 'b')}) {
    EXPECT_EQ(code_of([&] { sound().byteorder(order).open(); }), ErrorCode::malformed_zip);
  }
}

template <typename T>
std::vector<T> reversed_items(std::vector<T> values) {
  for (T& value : values) {
    auto bytes = std::as_writable_bytes(std::span(&value, 1));
    std::reverse(bytes.begin(), bytes.end());
  }
  return values;
}

template <typename T>
std::vector<T> big_endian(std::string_view type, const std::vector<T>& stored) {
  const auto numel = static_cast<std::int64_t>(stored.size());
  const py::Code value = py::tensor(
      {.storage = {.type = "torch." + std::string(type), .numel = numel}, .size = {numel}});
  CheckpointBuilder file(value);
  const Tensor tensor = root_tensor(file.storage("0", stored).byteorder("big").open());
  return tensor.to<T>();
}

TEST(ByteOrder, BigEndianItemsOfEverySize) {
  const std::vector<std::uint8_t> bytes = {1, 2, 255};
  EXPECT_EQ(big_endian("ByteStorage", bytes), bytes);
  const std::vector<std::int16_t> shorts = {1, -2, 0x1234};
  EXPECT_EQ(big_endian("ShortStorage", reversed_items(shorts)), shorts);
  const std::vector<float> floats = {1.5f, -2, 0};
  EXPECT_EQ(big_endian("FloatStorage", reversed_items(floats)), floats);
  const std::vector<double> doubles = {1.5, -2, 1e300};
  EXPECT_EQ(big_endian("DoubleStorage", reversed_items(doubles)), doubles);
}

TEST(ByteOrder, BigEndianComplexNumbersSwapEachHalf) {
  const std::vector<double> halves = {1, -2, 3, 0.5};
  const std::vector<double> stored = reversed_items(halves);
  CheckpointBuilder file(
      py::tensor({.storage = {.type = "torch.ComplexDoubleStorage", .numel = 2}, .size = {2}}));
  const Checkpoint checkpoint = file.storage("0", stored).byteorder("big").open();
  EXPECT_THAT(checkpoint.tensor("").to<std::complex<double>>(),
              ElementsAre(std::complex<double>(1, -2), std::complex<double>(3, 0.5)));
}

TEST(ByteOrder, BigEndianItemsWithoutAStorageClass) {
  const py::Code value = py::call(
      "torch._utils._rebuild_tensor_v3",
      {py::storage({.type = "torch.UntypedStorage", .numel = 4}), py::integer(0), py::integers({2}),
       py::integers({1}), py::boolean(false), py::none(), py::global("torch.uint16")});
  CheckpointBuilder file(value);
  const Checkpoint checkpoint = file.storage("0", std::string("\1\2\3\4")).byteorder("big").open();
  EXPECT_THAT(checkpoint.tensor("").to<std::uint16_t>(), ElementsAre(0x102, 0x304));
}

TEST(ByteOrder, BigEndianElementsAreNotViewable) {
  const Checkpoint checkpoint = sound().byteorder("big").open();
  EXPECT_EQ(code_of([&] { checkpoint.tensor("").as<float>(); }), ErrorCode::not_viewable);
  EXPECT_TRUE(checkpoint.tensor("").is_byte_swapped());
  CheckpointBuilder bytes(
      py::tensor({.storage = {.type = "torch.ByteStorage", .numel = 16}, .size = {16}}));
  const Checkpoint plain = bytes.storage("0", kFour).byteorder("big").open();
  EXPECT_EQ(plain.tensor("").as<std::uint8_t>().size(), 16u) << "single bytes have no order";
}

// ---- the pickle

TEST(PickleRecord, Missing) {
  const BuiltZip zip = build_zip(
      {{.name = "archive/data/0", .content = "x"}, {.name = "archive/version", .content = "3"}});
  EXPECT_EQ(code_of([&] { load_zip(ArchiveReader(zip.source()), {}); }), ErrorCode::malformed_zip);
}

TEST(PickleRecord, Empty) {
  EXPECT_EQ(code_of([] { sound().record("data.pkl", "").open(); }), ErrorCode::truncated);
}

TEST(PickleRecord, Limit) {
  EXPECT_EQ(code_of([] { sound().open({.limits = {.max_pickle_size = 20}}); }), ErrorCode::limit);
}

TEST(PickleRecord, ErrorsNameFileRecordAndOffset) {
  const auto error = error_of([] { sound().record("data.pkl", "\x80\x02?").open(); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), ErrorCode::malformed_pickle);
  EXPECT_EQ(error->where(), "test.pt: archive/data.pkl");
  EXPECT_EQ(error->offset(), 2u);
}

TEST(PickleRecord, WhatFollowsItsEndIsNoted) {
  const std::string pickle = py::dump(py::integer(1));
  const Checkpoint checkpoint = sound().record("data.pkl", pickle + "xyz").open();
  EXPECT_THAT(notes_of(checkpoint),
              Contains("ambiguity archive/data.pkl: 3 bytes follow the end of the pickle"));
  EXPECT_EQ(code_of([&] { sound().record("data.pkl", pickle + "x").open({.strict = true}); }),
            ErrorCode::ambiguous);
}

TEST(PickleRecord, ValuesLeftOnTheStackAreNoted) {
  const Checkpoint checkpoint = open_value(py::integer(1) + py::integer(2), {.strict = true});
  EXPECT_EQ(checkpoint.root().as_int(), 2);
  EXPECT_THAT(notes_of(checkpoint),
              Contains("information archive/data.pkl: values are left on the stack at the end"));
}

TEST(PickleRecord, KeysSetTwiceAreNoted) {
  const py::Code twice = py::dict({{py::text("a"), py::integer(1)},
                                   {py::text("b"), py::integer(2)},
                                   {py::text("a"), py::integer(3)}});
  const Checkpoint checkpoint = open_value(twice);
  EXPECT_EQ(checkpoint.root().size(), 2u);
  EXPECT_EQ(checkpoint.root()["a"].as_int(), 3);
  EXPECT_THAT(notes_of(checkpoint),
              Contains("ambiguity archive/data.pkl: dicts in which a key is set more than "
                       "once, where the last value counts: 1"));
  EXPECT_EQ(code_of([&] { open_value(twice, {.strict = true}); }), ErrorCode::ambiguous);
}

TEST(PickleRecord, SoundFilesHaveNoNotes) {
  EXPECT_THAT(notes_of(sound().open({.strict = true})), IsEmpty());
}

TEST(PickleRecord, Deflated) {
  EXPECT_EQ(root_tensor(sound().deflated().open()).to<float>(), kFour);
}

// ---- text of Python 2

TEST(Encoding, SaysWhatPython2StringsAre) {
  const py::Code value =
      py::list({py::byte_string("abc"), py::byte_string("\xc3\xa9"), py::byte_string("\xe9")});
  const auto kinds = [&](const std::string& encoding) {
    const Checkpoint checkpoint = open_value(value, {.encoding = encoding});
    std::vector<std::string> found;
    for (const Value item : checkpoint.root().elements()) {
      found.push_back(std::string(to_string(item.kind())) + " " +
                      std::string(item.as_string().value_or("-")));
    }
    return found;
  };
  EXPECT_THAT(kinds("utf-8"), ElementsAre("string abc", "string \xc3\xa9", "bytes -"));
  EXPECT_THAT(kinds("ascii"), ElementsAre("string abc", "bytes -", "bytes -"));
  EXPECT_THAT(kinds("latin1"),
              ElementsAre("string abc", "string \xc3\x83\xc2\xa9", "string \xc3\xa9"));
  EXPECT_THAT(kinds("bytes"), ElementsAre("bytes -", "bytes -", "bytes -"));
}

TEST(Encoding, StoragesOfPython2AreFound) {
  const py::Code id =
      py::persistent(py::tuple({py::byte_string("storage"), py::global("torch.FloatStorage"),
                                py::byte_string("0"), py::byte_string("cpu"), py::integer(4)}));
  const py::Code value = py::call("torch._utils._rebuild_tensor",
                                  {id, py::integer(0), py::integers({4}), py::integers({1})});
  CheckpointBuilder file(value);
  EXPECT_EQ(root_tensor(file.storage("0", kFour).open()).to<float>(), kFour);
}

}  // namespace
}  // namespace flambeau::testing
