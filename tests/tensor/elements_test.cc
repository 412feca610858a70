// copy_to, contiguous and as: what is read, in which order and byte order, and what is refused.
#include "tensor/elements.h"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <limits>

#include "tensor/element_bits.h"
#include "tensor/random_view.h"
#include "tensor/storage_table.h"

namespace flambeau {
namespace {

using testing::bytes_of;
using testing::error_of;
using testing::Random;
using testing::record_of;
using testing::storage_of;
using testing::storage_of_bytes;
using testing::tensor_of;
using testing::view_of;
using testing::whole_of;

Tensor with(const Tensor& tensor, void (*change)(TensorRecord&)) {
  TensorRecord record = tensor.record();
  change(record);
  return tensor_of(std::move(record));
}

Tensor negated(const Tensor& tensor) {
  return with(tensor, [](TensorRecord& record) { record.is_neg = true; });
}

Tensor conjugated(const Tensor& tensor) {
  return with(tensor, [](TensorRecord& record) { record.is_conj = true; });
}

Tensor swapped(const Tensor& tensor) {
  return with(tensor, [](TensorRecord& record) { record.is_byte_swapped = true; });
}

/// A storage that counts how often its checksum is asked for, or fails it.
class Watched final : public StorageTable {
 public:
  explicit Watched(Storage inner, bool is_sound = true)
      : inner_(std::move(inner)), is_sound_(is_sound) {}
  std::uint64_t size(std::uint32_t) const noexcept override { return inner_.size(); }
  Bytes bytes(std::uint32_t) const override { return inner_.bytes(); }
  void verify(std::uint32_t) const override {
    ++checks;
    if (!is_sound_) fail(ErrorCode::checksum, {"data/0", 0}, "wrong");
  }
  mutable int checks = 0;

 private:
  Storage inner_;
  bool is_sound_;
};

TEST(CopyTo, RandomViews) {
  Random random(11);
  for (int i = 0; i < 2000; ++i) {
    const DType dtype = testing::types_by_size()[static_cast<std::size_t>(i) % 5];
    const Tensor tensor = testing::random_view(random, dtype);
    ASSERT_EQ(bytes_of(tensor), testing::items_one_by_one(tensor)) << to_string(tensor.shape());
  }
}

TEST(CopyTo, NeedsTheExactSize) {
  const Tensor tensor = tensor_of<float>({2}, {1, 2});
  std::vector<std::byte> buffer(7);
  const auto [code, message] = error_of([&] { tensor.copy_to(buffer); });
  EXPECT_EQ(code, ErrorCode::usage);
  EXPECT_EQ(message, "a buffer of 7 bytes for elements of 8");
}

TEST(CopyTo, ConjugateAndNegative) {
  using Complex = std::complex<double>;
  const Tensor z = tensor_of<Complex>({2}, {{1, 2}, {-3, -4}});
  EXPECT_EQ(conjugated(z).to<Complex>(), (std::vector<Complex>{{1, -2}, {-3, 4}}));
  EXPECT_EQ(negated(z).to<Complex>(), (std::vector<Complex>{{-1, -2}, {3, 4}}));
  EXPECT_EQ(negated(conjugated(z)).to<Complex>(), (std::vector<Complex>{{-1, 2}, {3, -4}}));
  EXPECT_EQ(negated(tensor_of<float>({2}, {1, -2})).to<float>(), (std::vector<float>{-1, 2}));
  EXPECT_EQ(negated(tensor_of<std::int16_t>({2}, {7, -32768})).to<std::int16_t>(),
            (std::vector<std::int16_t>{-7, -32768}));
  EXPECT_EQ(negated(tensor_of<std::uint8_t>({2}, {0, 1})).to<std::uint8_t>(),
            (std::vector<std::uint8_t>{0, 255}));
}

TEST(CopyTo, ConjugateOfRealNumbersIsThemselves) {
  const Tensor tensor = conjugated(tensor_of<float>({2}, {1, -2}));
  EXPECT_EQ(tensor.to<float>(), (std::vector<float>{1, -2}));
  EXPECT_EQ(tensor.as<float>()[1], -2);
}

TEST(CopyTo, ConjugateOfComplexHalves) {
  const Tensor z = conjugated(Tensor(DType::c32, {1}, storage_of_bytes({0x00, 0x3c, 0x00, 0x40})));
  const auto bytes = bytes_of(z);
  EXPECT_EQ(bytes[1], std::byte{0x3c});
  EXPECT_EQ(bytes[3], std::byte{0xc0});
}

TEST(CopyTo, KeepsNaNPayloads) {
  const Tensor tensor(DType::f32, {1}, storage_of_bytes({0x01, 0x02, 0xa3, 0x7f}));
  EXPECT_EQ(bytes_of(tensor)[0], std::byte{0x01});
  EXPECT_EQ(bytes_of(negated(tensor))[3], std::byte{0xff});
  EXPECT_EQ(bytes_of(negated(tensor))[2], std::byte{0xa3});
}

TEST(CopyTo, WhatHasNoNegative) {
  for (const DType dtype : {DType::boolean, DType::f8_e4m3fnuz, DType::bits8, DType::u4}) {
    const Tensor tensor = negated(Tensor(dtype, {1}, storage_of_bytes({1})));
    EXPECT_EQ(error_of([&] { bytes_of(tensor); }).second,
              std::string(to_string(dtype)) + " has no negative");
  }
}

TEST(ByteOrder, EveryElementIsTurned) {
  const Tensor ints(DType::i32, {2}, storage_of_bytes({0, 0, 0, 1, 0xff, 0xff, 0xff, 0xfe}));
  EXPECT_EQ(swapped(ints).to<std::int32_t>(), (std::vector<std::int32_t>{1, -2}));
  const Tensor shorts(DType::i16, {2}, storage_of_bytes({0, 1, 1, 0}));
  EXPECT_EQ(swapped(shorts).to<int>(), (std::vector<int>{1, 256}));
  const Tensor longs(DType::i64, {1}, storage_of_bytes({0, 0, 0, 0, 0, 0, 1, 2}));
  EXPECT_EQ(swapped(longs).to<std::int64_t>(), (std::vector<std::int64_t>{258}));
}

TEST(ByteOrder, ComplexTurnsEachHalf) {
  const Tensor z(DType::c64, {1}, storage_of_bytes({0x3f, 0x80, 0, 0, 0x40, 0, 0, 0}));
  EXPECT_EQ(swapped(z).to<std::complex<float>>()[0], (std::complex<float>{1, 2}));
  EXPECT_EQ(conjugated(swapped(z)).to<std::complex<float>>()[0], (std::complex<float>{1, -2}));
  const Tensor half(DType::c32, {1}, storage_of_bytes({0x3c, 0, 0x40, 0}));
  EXPECT_EQ(swapped(half).to<std::complex<float>>()[0], (std::complex<float>{1, 2}));
}

TEST(ByteOrder, SingleBytesStay) {
  for (const DType dtype : {DType::u8, DType::boolean, DType::f8_e5m2, DType::qu4x2}) {
    EXPECT_EQ(swap_unit(dtype), 1u);
  }
  const Tensor tensor = swapped(tensor_of<std::uint8_t>({3}, {1, 2, 3}));
  EXPECT_EQ(tensor.to<int>(), (std::vector<int>{1, 2, 3}));
  EXPECT_EQ(tensor.as<std::uint8_t>()[2], 3) << "viewable: there is nothing to turn";
}

TEST(ByteOrder, StridedAndTurned) {
  const Tensor tensor =
      swapped(view_of(DType::u16, {2, 2}, {1, 2}, 0, storage_of_bytes({0, 1, 0, 2, 0, 3, 0, 4})));
  EXPECT_EQ(tensor.to<int>(), (std::vector<int>{1, 3, 2, 4}));
}

TEST(ByteOrder, StreamInEitherOrder) {
  const Tensor tensor = tensor_of<std::uint16_t>({2}, {1, 2});
  std::vector<std::byte> scratch(4);
  for (const std::endian order : {std::endian::little, std::endian::big}) {
    const std::byte last{static_cast<unsigned char>(order == std::endian::big ? 2 : 0)};
    EXPECT_EQ(ElementStream(tensor, order).next(scratch)[3], last);
    EXPECT_EQ(ElementStream(negated(negated(swapped(tensor))), order).next(scratch).size(), 4u);
  }
  const Tensor minus_one = negated(swapped(tensor_of<std::uint16_t>({1}, {0x0100})));
  EXPECT_EQ(ElementStream(minus_one, std::endian::big).next(scratch)[0], std::byte{0xff});
}

TEST(Stream, ContiguousElementsStayInPlace) {
  const Tensor tensor = tensor_of<float>({3}, {1, 2, 3});
  ElementStream stream(tensor);
  EXPECT_EQ(stream.remaining(), 12u);
  EXPECT_EQ(stream.next({}).data(), tensor.storage().bytes().data());
  EXPECT_EQ(stream.remaining(), 0u);
  EXPECT_TRUE(stream.next({}).empty());
}

TEST(Stream, PiecesAreOfWholeItems) {
  const Tensor tensor = tensor_of<float>({4}, {1, 2, 3, 4}).slice(0, 0, 4, 2);
  ElementStream stream(tensor);
  std::vector<std::byte> scratch(7);
  EXPECT_EQ(stream.next(scratch).size(), 4u);
  EXPECT_EQ(stream.next(scratch).size(), 4u);
  EXPECT_TRUE(stream.next(scratch).empty());
}

TEST(Checksum, IsCheckedOnceUnlessASliceIsRead) {
  const auto table = std::make_shared<Watched>(storage_of(std::vector<float>{1, 2, 3, 4}));
  const Tensor tensor(DType::f32, {4}, Storage(table, 0));
  EXPECT_EQ(tensor.slice(0, 1, 2).to<float>(), std::vector<float>{2});
  EXPECT_EQ(table->checks, 0);
  EXPECT_EQ(tensor.as<float>()[3], 4) << "a view checks nothing";
  EXPECT_EQ(table->checks, 0);
  tensor.to<float>();
  EXPECT_EQ(table->checks, 1);
}

TEST(Checksum, AWrongOneStopsEveryReader) {
  const auto table = std::make_shared<Watched>(storage_of(std::vector<float>{1, 2}), false);
  const Tensor tensor(DType::f32, {2}, Storage(table, 0));
  EXPECT_EQ(error_of([&] { bytes_of(tensor); }).first, ErrorCode::checksum);
  EXPECT_EQ(error_of([&] { tensor.to<double>(); }).first, ErrorCode::checksum);
  EXPECT_EQ(error_of([&] { sha256(tensor); }).first, ErrorCode::checksum);
  EXPECT_EQ(error_of([&] { to_string(tensor); }).first, ErrorCode::checksum);
}

TEST(Bounds, AreComparedWithTheBytesThatAreThere) {
  const Tensor tensor = view_of(DType::f32, {3}, {1}, 0, storage_of(std::vector<float>{1, 2}));
  EXPECT_EQ(error_of([&] { bytes_of(tensor); }).first, ErrorCode::malformed_tensor);
  EXPECT_EQ(error_of([&] { tensor.as<float>(); }).first, ErrorCode::malformed_tensor);
}

/// A storage that has fewer bytes than it says, or gives parts alone.
class Short final : public StorageTable {
 public:
  explicit Short(bool gives_parts) : gives_parts_(gives_parts) {}
  std::uint64_t size(std::uint32_t) const noexcept override { return 16; }
  Bytes bytes(std::uint32_t) const override { return std::as_bytes(std::span(elements_)); }
  Part part(std::uint32_t index, std::uint64_t offset, std::uint64_t size) const override {
    if (!gives_parts_) return StorageTable::part(index, offset, size);
    asked = {offset, size};
    const auto owner = std::make_shared<std::vector<float>>(size / sizeof(float), 9.0f);
    return {std::as_bytes(std::span(*owner)), owner};
  }
  mutable std::pair<std::uint64_t, std::uint64_t> asked = {0, 0};

 private:
  std::vector<float> elements_ = {1, 2};
  bool gives_parts_;
};

TEST(Bounds, OfASliceAreComparedWithTheBytesThatAreThere) {
  const auto table = std::make_shared<Short>(false);
  const Tensor tensor = view_of(DType::f32, {4}, {1}, 0, Storage(table, 0));
  EXPECT_EQ(tensor.slice(0, 1, 2).to<float>(), std::vector<float>{2});
  EXPECT_EQ(error_of([&] { tensor.slice(0, 1, 3).to<float>(); }),
            std::pair(ErrorCode::truncated, std::string("8 bytes at 4 of a storage of 8")));
}

TEST(Slices, AskForNoMoreThanTheySpan) {
  const auto table = std::make_shared<Short>(true);
  const Tensor tensor = view_of(DType::f32, {4}, {1}, 0, Storage(table, 0));
  EXPECT_EQ(tensor.slice(0, 1, 4, 2).to<float>(), (std::vector<float>{9, 9}));
  EXPECT_EQ(table->asked, (std::pair<std::uint64_t, std::uint64_t>{4, 12}));
  EXPECT_EQ(tensor.slice(0, 4).to<float>(), std::vector<float>{});
}

TEST(Bounds, MoreBytesThanCanBeCounted) {
  const Tensor tensor =
      view_of(DType::f32, {std::int64_t{1} << 62}, {0}, 0, storage_of(std::vector<float>{1}));
  EXPECT_EQ(error_of([&] { sha256(tensor); }).first, ErrorCode::limit);
}

TEST(Kinds, WithoutElementsNameTheirParts) {
  const Tensor sparse = whole_of(TensorKind::sparse_csr, DType::f32, {2, 2},
                                 {{"crow_indices", Tensor()}, {"col_indices", Tensor()}});
  const std::string message =
      "a sparse_csr tensor has no single array of elements; its parts are: crow_indices, "
      "col_indices";
  EXPECT_EQ(error_of([&] { sparse.to<float>(); }).second, message);
  EXPECT_EQ(error_of([&] { sparse.contiguous(); }).second, message);
  EXPECT_EQ(error_of([&] { bytes_of(sparse); }).second, message);
  EXPECT_EQ(error_of([&] { sha256(sparse); }).first, ErrorCode::unsupported);
  EXPECT_EQ(error_of([&] { sparse.as<float>(); }).first, ErrorCode::not_viewable);
}

TEST(Kinds, OnADevice) {
  const Tensor tensor(DType::f32, {2}, Storage::on_device("cuda:0", 8, std::make_shared<int>(0)));
  EXPECT_EQ(tensor.device(), "cuda:0");
  EXPECT_EQ(error_of([&] { bytes_of(tensor); }).first, ErrorCode::unsupported);
}

TEST(Contiguous, PlainTensorsAreThemselves) {
  const Tensor tensor = tensor_of<float>({2, 3}, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(&tensor.contiguous().record(), &tensor.record());
  EXPECT_EQ(tensor.slice(0, 1).contiguous().storage(), tensor.storage());
}

TEST(Contiguous, OthersAreCopied) {
  Tensor copy;
  {
    TensorRecord record = view_of(DType::i16, {3, 2}, {1, 3}, 0,
                                  storage_of(std::vector<std::int16_t>{1, 2, 3, 4, 5, 6}, "cuda:0"))
                              .record();
    record.is_neg = record.requires_grad = true;
    copy = tensor_of(std::move(record)).contiguous();
  }
  EXPECT_TRUE(copy.is_contiguous());
  EXPECT_FALSE(copy.is_neg());
  EXPECT_TRUE(copy.requires_grad());
  EXPECT_EQ(copy.device(), "cuda:0");
  const auto view = copy.as<std::int16_t>();
  EXPECT_EQ(std::vector<std::int16_t>(view.begin(), view.end()),
            (std::vector<std::int16_t>{-1, -4, -2, -5, -3, -6}));
}

TEST(Contiguous, ExpansionHasABound) {
  const Storage storage = storage_of(std::vector<float>{7});
  const Tensor fits = view_of(DType::f32, {64}, {0}, 0, storage);
  EXPECT_EQ(fits.contiguous().to<float>(), std::vector<float>(64, 7));
  const Tensor over = view_of(DType::f32, {65}, {0}, 0, storage);
  const auto [code, message] = error_of([&] { over.contiguous(); });
  EXPECT_EQ(code, ErrorCode::limit);
  EXPECT_EQ(message, "260 bytes would be made of a storage of 4: over 64 times");
  EXPECT_EQ(over.contiguous(65).numel(), 65);
  EXPECT_EQ(over.contiguous(std::numeric_limits<std::uint64_t>::max()).numel(), 65);
  const Tensor huge = view_of(DType::f32, {std::int64_t{1} << 62}, {0}, 0, storage);
  EXPECT_EQ(error_of([&] { huge.contiguous(); }).first, ErrorCode::limit);
}

TEST(Contiguous, NothingWithALazyBit) {
  const Tensor empty =
      negated(view_of(DType::f32, {0, 4}, {4, 1}, 9, storage_of(std::vector<float>{})));
  EXPECT_EQ(empty.contiguous().numel(), 0);
  EXPECT_FALSE(empty.contiguous().is_neg());
}

TEST(As, ElementsInPlace) {
  const Tensor tensor = tensor_of<std::int64_t>({3}, {1, 2, 3});
  const auto span = tensor.as<std::int64_t>();
  EXPECT_EQ(span.size(), 3u);
  EXPECT_EQ(static_cast<const void*>(span.data()), tensor.storage().bytes().data());
  EXPECT_EQ(tensor.slice(0, 1).as<std::int64_t>()[0], 2);
  EXPECT_EQ(Tensor(DType::bf16, {1}, storage_of_bytes({0x80, 0x3f})).as<BFloat16>()[0],
            BFloat16{0x3f80});
}

TEST(As, SaysWhyNot) {
  const Tensor tensor = tensor_of<float>({2, 2}, {1, 2, 3, 4});
  const auto why = [](const Tensor& t) { return error_of([&] { t.as<float>(); }); };
  EXPECT_EQ(error_of([&] { tensor.as<double>(); }),
            std::pair(ErrorCode::not_viewable,
                      std::string("float32 elements cannot be viewed as float64: the types differ; "
                                  "to<T>() copies them")));
  EXPECT_EQ(error_of([&] { tensor.as<std::int32_t>(); }).first, ErrorCode::not_viewable);
  EXPECT_EQ(why(tensor.slice(1, 0, 1)).second,
            "float32 elements cannot be viewed as float32: strides [2, 1] are not contiguous; "
            "to<T>() copies them");
  EXPECT_EQ(why(negated(tensor)).second,
            "float32 elements cannot be viewed as float32: a conjugate or negative bit is set; "
            "to<T>() copies them");
  EXPECT_EQ(why(swapped(tensor)).second,
            "float32 elements cannot be viewed as float32: the byte order is not this machine's; "
            "to<T>() copies them");
  EXPECT_EQ(why(whole_of(TensorKind::sparse_coo, DType::f32, {2}, {})).second,
            "float32 elements cannot be viewed as float32: the tensor is sparse_coo; to<T>() "
            "copies them");
}

TEST(As, NeedsAlignment) {
  const auto bytes = std::make_shared<std::vector<std::byte>>(64);
  const std::size_t skip = 1;
  const Storage storage = Storage::own(Bytes(*bytes).subspan(skip, 8), bytes);
  const Tensor tensor(DType::f32, {2}, storage);
  const auto [code, message] = error_of([&] { tensor.as<float>(); });
  EXPECT_EQ(code, ErrorCode::not_viewable);
  EXPECT_EQ(message,
            "float32 elements cannot be viewed as float32: they are not aligned; to<T>() copies "
            "them");
  EXPECT_EQ(tensor.to<float>(), (std::vector<float>{0, 0}));
  EXPECT_EQ(tensor.to<double>(), (std::vector<double>{0, 0}));
  EXPECT_EQ(to_string(tensor), "tensor([0., 0.])");
}

TEST(As, NothingNeedsNoBytes) {
  const Tensor tensor = view_of(DType::f64, {0}, {1}, 1000, storage_of(std::vector<double>{}));
  EXPECT_TRUE(tensor.as<double>().empty());
  EXPECT_TRUE(tensor.to<double>().empty());
}

}  // namespace
}  // namespace flambeau
