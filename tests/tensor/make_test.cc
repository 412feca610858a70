// Tensors made of their parts: what is accepted, and that they are what they say.
#include "flambeau/make.h"

#include <gtest/gtest.h>

#include <vector>

#include "support/errors.h"

namespace flambeau {
namespace {

using testing::code_of;
using Shape = std::vector<std::int64_t>;

const std::vector<float> kSix = {0, 1, 2, 3, 4, 5};
Storage six() { return Storage::borrow(std::as_bytes(std::span(kSix))); }
const std::vector<std::int64_t> kIndices = {0, 1, 2, 3};
Tensor indices(Shape shape, std::size_t count) {
  return Tensor::borrow(std::span(kIndices).first(count), std::move(shape));
}

TEST(Make, StridedViews) {
  const Tensor columns = make_strided(DType::f32, Shape{3, 2}, Shape{1, 3}, 0, six());
  EXPECT_EQ(columns.to<float>(), (std::vector<float>{0, 3, 1, 4, 2, 5}));
  const Tensor last = make_strided(DType::f32, Shape{2}, Shape{1}, 4, six());
  EXPECT_EQ(last.to<float>(), (std::vector<float>{4, 5}));
  EXPECT_EQ(code_of([] { make_strided(DType::f32, Shape{2}, Shape{1}, 5, six()); }),
            ErrorCode::malformed_tensor);
  EXPECT_EQ(code_of([] { make_strided(DType::f32, Shape{2}, Shape{}, 0, six()); }),
            ErrorCode::malformed_tensor);
}

TEST(Make, Parameters) {
  const Tensor plain(DType::f32, {6}, six());
  const Tensor parameter = make_parameter(plain);
  EXPECT_TRUE(parameter.is_parameter());
  EXPECT_TRUE(parameter.requires_grad());
  EXPECT_EQ(parameter.storage(), plain.storage());
  EXPECT_FALSE(make_parameter(plain, false).requires_grad());
  EXPECT_TRUE(with_requires_grad(plain, true).requires_grad());
  EXPECT_FALSE(plain.requires_grad());
}

TEST(Make, ConjugateViews) {
  const Tensor complex(DType::c64, {3}, six());
  EXPECT_TRUE(make_conj(complex).is_conj());
  EXPECT_FALSE(make_conj(make_conj(complex)).is_conj());
  EXPECT_EQ(code_of([] { make_conj(Tensor(DType::f32, {6}, six())); }),
            ErrorCode::malformed_tensor);
}

TEST(Make, Quantized) {
  const std::vector<std::int8_t> integers = {0, 2, 4, 6};
  const Storage storage = Storage::borrow(std::as_bytes(std::span(integers)));
  const Tensor one = make_quantized(DType::qi8, {2, 2}, storage, 0.5, 2);
  EXPECT_EQ(one.to<float>(), (std::vector<float>{-1, 0, 1, 2}));
  const std::vector<double> scales = {0.5, 2};
  const Tensor each = make_quantized(DType::qi8, {2, 2}, storage,
                                     Tensor::borrow<double>(scales, {2}), indices({2}, 2), 0);
  EXPECT_EQ(each.to<float>(), (std::vector<float>{0, 1, 6, 10}));
  EXPECT_EQ(code_of([&] { make_quantized(DType::i8, {4}, storage, 1, 0); }),
            ErrorCode::malformed_tensor);
  EXPECT_EQ(code_of([&] {
              make_quantized(DType::qi8, {4}, storage, Tensor::borrow<double>(scales, {2}),
                             indices({2}, 2), 0);
            }),
            ErrorCode::malformed_tensor);
  EXPECT_EQ(code_of([&] {
              make_quantized(DType::qi8, {4}, storage, Tensor::borrow<double>(scales, {2}),
                             indices({2}, 2), 1);
            }),
            ErrorCode::malformed_tensor);
}

TEST(Make, SparseCoo) {
  const Tensor values(DType::f32, {2, 3}, six());
  const Tensor tensor = make_sparse_coo(indices({1, 2}, 2), values, Shape{5, 3}, true);
  EXPECT_EQ(tensor.kind(), TensorKind::sparse_coo);
  EXPECT_EQ(tensor.dtype(), DType::f32);
  EXPECT_EQ(tensor.is_coalesced(), true);
  validate(tensor);
  EXPECT_EQ(code_of([&] {
              make_sparse_coo(indices({1, 2}, 2), values, Shape{5, 4});
            }),
            ErrorCode::malformed_tensor);
  EXPECT_EQ(code_of([&] {
              make_sparse_coo(indices({2}, 2), values, Shape{5, 3});
            }),
            ErrorCode::malformed_tensor);
  EXPECT_EQ(code_of([&] {
              make_sparse_coo(indices({4, 1}, 4), values, Shape{5});
            }),
            ErrorCode::malformed_tensor);
}

TEST(Make, SparseCompressed) {
  const Tensor values(DType::f32, {6}, six());
  const Tensor three = Tensor::borrow<float>(std::span(kSix).first(3), {3});
  const Tensor rows = indices({4}, 4);
  const Tensor tensor =
      make_sparse_compressed(TensorKind::sparse_csr, rows, indices({3}, 3), three, Shape{3, 3});
  EXPECT_EQ(tensor.kind(), TensorKind::sparse_csr);
  ASSERT_NE(tensor.find_part("crow_indices"), nullptr);
  validate(tensor);
  for (const Shape& shape : {Shape{}, Shape{3}, Shape{3, 3, 3, 3}}) {
    EXPECT_EQ(code_of([&] {
                make_sparse_compressed(TensorKind::sparse_csr, rows, indices({3}, 3), three, shape);
              }),
              ErrorCode::malformed_tensor);
  }
  EXPECT_EQ(
      code_of([&] {
        make_sparse_compressed(TensorKind::strided, rows, indices({3}, 3), three, Shape{3, 3});
      }),
      ErrorCode::malformed_tensor);
}

TEST(Make, Nested) {
  const Tensor buffer(DType::f32, {6}, six());
  const Tensor tensor =
      make_nested(buffer, indices({2, 1}, 2), indices({2, 1}, 2), indices({2}, 2));
  EXPECT_EQ(tensor.kind(), TensorKind::nested);
  EXPECT_FALSE(tensor.has_shape());
  EXPECT_EQ(code_of([&] {
              make_nested(buffer, indices({2, 1}, 2), indices({1, 2}, 2), indices({2}, 2));
            }),
            ErrorCode::malformed_tensor);
  EXPECT_EQ(code_of([&] {
              make_nested(buffer, indices({2, 1}, 2), indices({2, 1}, 2), indices({3}, 3));
            }),
            ErrorCode::malformed_tensor);
}

TEST(Make, Meta) {
  const Tensor tensor = make_meta(DType::bf16, Shape{1000, 3});
  EXPECT_EQ(tensor.kind(), TensorKind::meta);
  EXPECT_EQ(tensor.device(), "meta");
  EXPECT_EQ(tensor.numel(), 3000);
  EXPECT_EQ(code_of([] { make_meta(DType::bf16, Shape{-1}); }), ErrorCode::malformed_tensor);
}

}  // namespace
}  // namespace flambeau
