// Headers of safetensors files, sound and broken; that PyTorch's package reads and writes the same
// is tested in tests/oracle/test_convert.py.
#include "flambeau/safetensors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/bytes.h"
#include "formats/safetensors_header.h"
#include "support/errors.h"

namespace flambeau::testing {
namespace {

using ::testing::HasSubstr;

std::string file_of(const std::string& header, const std::string& data) {
  std::string bytes;
  for (int i = 0; i < 8; ++i) bytes += static_cast<char>(header.size() >> (8 * i) & 0xff);
  return bytes + header + data;
}

SafetensorsHeader read(const std::string& bytes) {
  return read_safetensors_header(*borrow_memory(as_bytes(bytes)), Limits{});
}

const std::string kTwo =
    R"({"b":{"dtype":"I16","shape":[2],"data_offsets":[8,12]},)"
    R"("a":{"dtype":"F32","shape":[1,2],"data_offsets":[0,8]},"__metadata__":{"k":"v"}})";

TEST(Safetensors, EntriesComeInTheOrderOfTheirData) {
  const auto header = read(file_of(kTwo + "   ", std::string(12, '\1')));
  ASSERT_EQ(header.entries.size(), 2u);
  EXPECT_EQ(header.entries[0].name, "a");
  EXPECT_EQ(header.entries[0].shape, (std::vector<std::int64_t>{1, 2}));
  EXPECT_EQ(header.entries[1].dtype, DType::i16);
  EXPECT_EQ(header.data_offset, 8 + kTwo.size() + 3);
  EXPECT_EQ(header.metadata[0].second, "v");
}

std::string error(const std::string& header, const std::string& data = std::string(12, '\1')) {
  const auto found = error_of([&] { read(file_of(header, data)); });
  return found ? std::string(to_string(found->code())) + " " + found->what() : "none";
}

TEST(Safetensors, WhatIsRefused) {
  const auto entry = [](const std::string& fields) { return "{\"a\":{" + fields + "}}"; };
  EXPECT_THAT(error(kTwo, std::string(11, '\1')), HasSubstr("truncated"));
  EXPECT_THAT(error(kTwo, std::string(13, '\1')), HasSubstr("1 bytes follow"));
  EXPECT_THAT(error(entry(R"("dtype":"F32","shape":[1],"data_offsets":[4,8])")),
              HasSubstr("0 is free"));
  EXPECT_THAT(error(entry(R"("dtype":"F32","shape":[2],"data_offsets":[0,12])")),
              HasSubstr("not those of shape and dtype"));
  EXPECT_THAT(error(entry(R"("dtype":"F32","shape":[3],"data_offsets":[12,0])")),
              HasSubstr("not those of shape and dtype"));
  EXPECT_THAT(error(entry(R"("dtype":"F31","shape":[3],"data_offsets":[0,12])")),
              HasSubstr("unknown dtype F31"));
  EXPECT_THAT(error(entry(R"("dtype":"F32","shape":[4611686018427387904,4],)"
                          R"("data_offsets":[0,12])")),
              HasSubstr("not those of shape and dtype"));
  EXPECT_THAT(error(entry(R"("dtype":"F32","shape":[-3],"data_offsets":[0,12])")),
              HasSubstr("neither a text nor a size"));
  EXPECT_THAT(error(entry(R"("dtype":"F32","shape":[3.0],"data_offsets":[0,12])")),
              HasSubstr("neither a text nor a size"));
  EXPECT_THAT(error(entry(R"("dtype":"F32","shape":[[3]],"data_offsets":[0,12])")),
              HasSubstr("a list where none belongs"));
  EXPECT_THAT(error(entry(R"("dtype":"F32","shape":[3])")), HasSubstr("lacks"));
  EXPECT_THAT(error(entry(R"("dtype":"F32","shape":[3],"data_offsets":[0,12],"x":1)")),
              HasSubstr("unknown field x"));
  EXPECT_THAT(error(entry(R"("dtype":"F32","dtype":"F32","shape":[3],"data_offsets":[0,12])")),
              HasSubstr("comes twice"));
  EXPECT_THAT(error(R"({"a":{"dtype":"U8","shape":[6],"data_offsets":[0,6]},)"
                    R"("a":{"dtype":"U8","shape":[6],"data_offsets":[6,12]}})"),
              HasSubstr("the name a comes twice"));
  EXPECT_THAT(error(R"({"__metadata__":{"k":1}})", ""), HasSubstr("a number where none belongs"));
  EXPECT_THAT(error(R"({"__metadata__":{"k":{}}})", ""), HasSubstr("an object within"));
  EXPECT_THAT(error(R"({"a":5})", ""), HasSubstr("a number where none belongs"));
  EXPECT_THAT(error("{\"a\":", ""), HasSubstr("malformed_json"));
  EXPECT_THAT(error("{} x", ""), HasSubstr("malformed_json"));
  EXPECT_THAT(error("[]", ""), HasSubstr("begins with a brace"));
  EXPECT_THAT(error("{\"\xff\":{}}", ""), HasSubstr("malformed_json"));
  EXPECT_THAT(error("{\"a\":" + std::string(100'000, '['), ""), HasSubstr("a list where none"));
}

TEST(Safetensors, HeadersOfAnySize) {
  std::string bytes = file_of(kTwo, std::string(12, '\1'));
  bytes[7] = '\x7f';
  EXPECT_EQ(code_of([&] { read(bytes); }), ErrorCode::limit);
  bytes = file_of(kTwo, "").substr(0, 40);
  EXPECT_EQ(code_of([&] { read(bytes); }), ErrorCode::truncated);
  EXPECT_EQ(code_of([&] { read("1234567"); }), ErrorCode::truncated);
}

TEST(Safetensors, EveryChangedByteOfTheHeaderIsAnErrorOrSound) {
  const std::string good = file_of(kTwo, std::string(12, '\1'));
  for (std::size_t at = 0; at < good.size() - 12; ++at) {
    for (int change = 1; change < 256; change *= 2) {
      std::string bytes = good;
      bytes[at] = static_cast<char>(bytes[at] ^ change);
      try {
        for (const auto& entry : read(bytes).entries) EXPECT_LE(entry.end, 12u);
      } catch (const Error& found) {
        EXPECT_NE(to_string(found.code()), "");
      }
    }
  }
}

TEST(Safetensors, WritingChecksNames) {
  const std::vector<float> numbers = {1, 2};
  const Tensor tensor = Tensor::borrow<float>(numbers, {2});
  const auto code = [&](const std::vector<NamedTensor>& tensors) {
    std::vector<std::byte> out;
    return code_of([&] { save_safetensors(*append_to(out), tensors); });
  };
  EXPECT_EQ(code({{"a", tensor}, {"b", tensor}, {"a", tensor}}), ErrorCode::usage);
  EXPECT_EQ(code({{"__metadata__", tensor}}), ErrorCode::usage);
  EXPECT_EQ(code({{"q", Tensor(DType::qi8, {1}, Storage::borrow(as_bytes("x")))}}),
            ErrorCode::unsupported);
}

}  // namespace
}  // namespace flambeau::testing
