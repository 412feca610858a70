// The npy writer, against headers that numpy itself wrote.
#include "flambeau/npy.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "tensor/make_tensor.h"

namespace flambeau {
namespace {

using testing::error_of;
using testing::quantized_of;
using testing::storage_of;
using testing::storage_of_bytes;
using testing::tensor_of;
using testing::view_of;
using testing::whole_of;

/// Keeps what is written.
class Memory final : public Sink {
 public:
  void write(std::span<const std::byte> bytes) override { text += as_text(bytes); }
  bool commit() override { return true; }

  std::string text;
};

std::string npy(const Tensor& tensor, std::optional<DType> as = std::nullopt) {
  Memory sink;
  write_npy(sink, tensor, as);
  return sink.text;
}

std::string header(const Tensor& tensor, std::optional<DType> as = std::nullopt) {
  const std::string text = npy(tensor, as);
  return text.substr(10, text.find('\n') - 10);
}

std::string elements(const Tensor& tensor, std::optional<DType> as = std::nullopt) {
  const std::string text = npy(tensor, as);
  return text.substr(text.find('\n') + 1);
}

std::string text_of(std::initializer_list<unsigned> bytes) {
  std::string text;
  for (const unsigned b : bytes) text += static_cast<char>(b);
  return text;
}

TEST(Npy, TheFileThatNumpyWrites) {
  // np.save of np.arange(6, dtype="f4").reshape(2, 3)
  const std::string expected = std::string("\x93NUMPY\x01\x00\x76\x00", 10) +
                               "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }" +
                               std::string(58, ' ') + "\n";
  const Tensor tensor = tensor_of<float>({2, 3}, {0, 1, 2, 3, 4, 5});
  const std::string text = npy(tensor);
  EXPECT_EQ(text.substr(0, 128), expected);
  EXPECT_EQ(text.substr(128), as_text(tensor.storage().bytes()));
}

TEST(Npy, ShapesOfAnyRank) {
  const auto shape = [](std::vector<std::int64_t> sizes, std::size_t count) {
    const std::string text = header(tensor_of(sizes, std::vector<std::uint8_t>(count)));
    const auto start = text.find("'shape'");
    return text.substr(start, text.find('}') - start);
  };
  EXPECT_EQ(shape({}, 1), "'shape': (), ");
  EXPECT_EQ(shape({3}, 3), "'shape': (3,), ");
  EXPECT_EQ(shape({2, 0, 5}, 0), "'shape': (2, 0, 5), ");
}

TEST(Npy, HeaderEndsAtAMultipleOf64) {
  for (std::size_t rank = 0; rank < 40; ++rank) {
    const std::string text =
        npy(tensor_of(std::vector<std::int64_t>(rank, 1), std::vector<double>(1)));
    EXPECT_EQ((text.find('\n') + 1) % 64, 0u) << rank;
    EXPECT_EQ(text.size(), text.find('\n') + 1 + 8);
  }
}

TEST(Npy, ManyDimensionsNeedVersion2) {
  const std::string text =
      npy(tensor_of(std::vector<std::int64_t>(30000, 1), std::vector<std::uint8_t>{7}));
  EXPECT_EQ(text[6], 2);
  EXPECT_EQ(text[7], 0);
  std::uint32_t size = 0;
  std::memcpy(&size, text.data() + 8, 4);
  EXPECT_EQ(text.find('\n'), 12u + size - 1);
  EXPECT_EQ((12 + size) % 64, 0u);
  EXPECT_EQ(text.substr(12, 10), "{'descr': ");
}

TEST(Npy, Types) {
  const auto descr = [](DType dtype) {
    const std::vector<std::byte> bytes(item_size(dtype));
    return header(Tensor(dtype, {}, storage_of(Bytes(bytes)))).substr(10, 5);
  };
  EXPECT_EQ(descr(DType::boolean), "'|b1'");
  EXPECT_EQ(descr(DType::u8), "'|u1'");
  EXPECT_EQ(descr(DType::i8), "'|i1'");
  EXPECT_EQ(descr(DType::i16), "'<i2'");
  EXPECT_EQ(descr(DType::u32), "'<u4'");
  EXPECT_EQ(descr(DType::u64), "'<u8'");
  EXPECT_EQ(descr(DType::f16), "'<f2'");
  EXPECT_EQ(descr(DType::f64), "'<f8'");
  EXPECT_EQ(descr(DType::c64), "'<c8'");
  EXPECT_EQ(header(tensor_of<std::complex<double>>({}, {{1, 2}})).substr(10, 6), "'<c16'");
}

TEST(Npy, WhichTypesNumpyHas) {
  EXPECT_TRUE(has_numpy_dtype(DType::qi8));
  EXPECT_TRUE(has_numpy_dtype(DType::qu4x2));
  for (const DType dtype : {DType::bf16, DType::c32, DType::f8_e5m2, DType::bits8, DType::u4}) {
    EXPECT_FALSE(has_numpy_dtype(dtype)) << to_string(dtype);
  }
}

TEST(Npy, StridedElementsInRowMajorOrder) {
  const Tensor transposed =
      view_of(DType::u8, {3, 2}, {1, 3}, 0, storage_of_bytes({1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(elements(transposed), text_of({1, 4, 2, 5, 3, 6}));
}

TEST(Npy, LargerThanOnePiece) {
  std::vector<std::int32_t> numbers(300000);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<std::int32_t>(i);
  const Tensor every_second = view_of(DType::i32, {150000}, {2}, 0, storage_of(numbers));
  const std::string text = elements(every_second);
  ASSERT_EQ(text.size(), 600000u);
  for (std::size_t i = 0; i < 150000; ++i) {
    std::int32_t value = 0;
    std::memcpy(&value, text.data() + 4 * i, 4);
    ASSERT_EQ(value, static_cast<std::int32_t>(2 * i));
  }
}

TEST(Npy, BigEndianElementsBecomeLittle) {
  TensorRecord record = Tensor(DType::u16, {2}, storage_of_bytes({1, 2, 3, 4})).record();
  record.is_byte_swapped = true;
  EXPECT_EQ(elements(tensor_of(std::move(record))), text_of({2, 1, 4, 3}));
}

TEST(Npy, BoolsAreZeroAndOne) {
  EXPECT_EQ(elements(Tensor(DType::boolean, {3}, storage_of_bytes({0, 2, 1}))), text_of({0, 1, 1}));
}

TEST(Npy, Converted) {
  const Tensor brain(DType::bf16, {2}, storage_of_bytes({0x80, 0x3f, 0x00, 0xc0}));
  EXPECT_EQ(header(brain, DType::f32).substr(10, 5), "'<f4'");
  EXPECT_EQ(elements(brain, DType::f32), text_of({0, 0, 0x80, 0x3f, 0, 0, 0, 0xc0}));
  EXPECT_EQ(elements(brain, DType::i8), text_of({1, 0xfe}));
  EXPECT_EQ(elements(tensor_of<float>({2}, {0, 5}), DType::boolean), text_of({0, 1}));
}

TEST(Npy, PairsOfValuesAlongTheLastDimension) {
  const Tensor pairs(DType::f4_e2m1fn_x2, {2, 1}, storage_of_bytes({0x21, 0x43}));
  EXPECT_NE(header(pairs, DType::i8).find("'shape': (2, 2), "), std::string::npos);
  EXPECT_EQ(elements(pairs, DType::i8), text_of({0, 1, 1, 2}));
  const Tensor one(DType::f4_e2m1fn_x2, {}, storage_of_bytes({0x42}));
  EXPECT_NE(header(one, DType::i8).find("'shape': (2,), "), std::string::npos);
}

TEST(Npy, QuantizedAsIntegers) {
  const Tensor q = quantized_of(tensor_of<std::int8_t>({2}, {-1, 2}, DType::qi8),
                                {"per_tensor_affine", 0.5, 0, {}});
  EXPECT_EQ(header(q).substr(10, 5), "'|i1'");
  EXPECT_EQ(elements(q), text_of({0xff, 2}));
  EXPECT_EQ(elements(q, DType::f32), text_of({0, 0, 0, 0xbf, 0, 0, 0x80, 0x3f}));
  const Tensor packed =
      quantized_of(view_of(DType::qu4x2, {3}, {1}, 0, storage_of_bytes({0x21, 0x43})),
                   {"per_tensor_affine", 0.5, 0, {}});
  EXPECT_EQ(header(packed).substr(10, 5), "'|u1'");
  EXPECT_EQ(elements(packed), text_of({1, 2, 3}));
}

TEST(Npy, WhatNumpyLacks) {
  const auto message = [](const Tensor& tensor, std::optional<DType> as) {
    const auto [code, text] = error_of([&] { npy(tensor, as); });
    EXPECT_EQ(code, ErrorCode::unsupported);
    return text;
  };
  const Storage byte = storage_of_bytes({1});
  EXPECT_EQ(message(Tensor(DType::f8_e5m2, {1}, byte), {}),
            "numpy has no float8_e5m2: convert it to float32, for example");
  EXPECT_EQ(message(Tensor(DType::bits8, {1}, byte), {}), "numpy has no bits8: take its raw bytes");
  EXPECT_EQ(message(Tensor(DType::u8, {1}, byte), DType::bf16), "numpy has no bfloat16");
  EXPECT_EQ(message(Tensor(DType::bits8, {1}, byte), DType::f32), "bits8 elements are no numbers");
  EXPECT_EQ(
      message(whole_of(TensorKind::sparse_coo, DType::f32, {2}, {{"indices", {}}, {"values", {}}}),
              {}),
      "a sparse_coo tensor has no single array of elements; its parts are: indices, values");
}

TEST(Npy, NothingIsWrittenBeforeAnError) {
  Memory sink;
  const Tensor tensor = view_of(DType::f32, {3}, {1}, 0, storage_of(std::vector<float>{1}));
  EXPECT_EQ(error_of([&] { write_npy(sink, tensor); }).first, ErrorCode::malformed_tensor);
  EXPECT_EQ(sink.text, "");
}

TEST(Npy, Files) {
  const auto path = std::filesystem::temp_directory_path() / "flambeau_npy_test.npy";
  std::filesystem::remove(path);
  const Tensor tensor = tensor_of<double>({2}, {1, 2});
  save_npy(path.string(), tensor);
  std::ifstream in(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  EXPECT_EQ(text, npy(tensor));
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace flambeau
