// The table of element types.
#include "flambeau/dtype.h"

#include <gtest/gtest.h>

namespace flambeau {
namespace {

constexpr int kCount = 47;

TEST(DType, EveryRowHasANameThatParsesBack) {
  for (int i = 0; i < kCount; ++i) {
    const auto dtype = static_cast<DType>(i);
    ASSERT_FALSE(to_string(dtype).empty()) << i;
    EXPECT_EQ(parse_dtype(to_string(dtype)), dtype);
    EXPECT_GE(item_size(dtype), 1u);
    EXPECT_LE(item_size(dtype), 16u);
  }
}

TEST(DType, NumbersAreThoseOfScalarType) {
  EXPECT_EQ(static_cast<int>(DType::u8), 0);
  EXPECT_EQ(static_cast<int>(DType::boolean), 11);
  EXPECT_EQ(static_cast<int>(DType::bf16), 15);
  EXPECT_EQ(static_cast<int>(DType::f8_e5m2), 23);
  EXPECT_EQ(static_cast<int>(DType::u1), 30);
  EXPECT_EQ(static_cast<int>(DType::bc32), 46);
}

TEST(DType, SizesAndCategories) {
  EXPECT_EQ(item_size(DType::c128), 16u);
  EXPECT_EQ(item_size(DType::c32), 4u);
  EXPECT_EQ(item_size(DType::bits16), 2u);
  EXPECT_EQ(values_per_item(DType::qu2x4), 4u);
  EXPECT_EQ(values_per_item(DType::f4_e2m1fn_x2), 2u);
  EXPECT_EQ(values_per_item(DType::f64), 1u);
  EXPECT_EQ(category(DType::boolean), DTypeCategory::boolean);
  EXPECT_EQ(category(DType::i16), DTypeCategory::signed_integer);
  EXPECT_EQ(category(DType::u64), DTypeCategory::unsigned_integer);
  EXPECT_EQ(category(DType::f8_e8m0fnu), DTypeCategory::floating);
  EXPECT_EQ(category(DType::bc32), DTypeCategory::complex);
  EXPECT_EQ(category(DType::qu4x2), DTypeCategory::quantized);
  EXPECT_EQ(category(DType::bits2x4), DTypeCategory::bits);
  EXPECT_EQ(category(DType::i7), DTypeCategory::sub_byte);
}

TEST(DType, AliasesOfPyTorch) {
  EXPECT_EQ(parse_dtype("half"), DType::f16);
  EXPECT_EQ(parse_dtype("float"), DType::f32);
  EXPECT_EQ(parse_dtype("double"), DType::f64);
  EXPECT_EQ(parse_dtype("short"), DType::i16);
  EXPECT_EQ(parse_dtype("int"), DType::i32);
  EXPECT_EQ(parse_dtype("long"), DType::i64);
  EXPECT_EQ(parse_dtype("chalf"), DType::c32);
  EXPECT_EQ(parse_dtype("cfloat"), DType::c64);
  EXPECT_EQ(parse_dtype("cdouble"), DType::c128);
  EXPECT_EQ(parse_dtype("bit"), DType::u1);
  EXPECT_FALSE(parse_dtype("float128"));
  EXPECT_FALSE(parse_dtype("torch.float32"));
  EXPECT_FALSE(parse_dtype(""));
}

TEST(DType, StorageClasses) {
  EXPECT_EQ(storage_class(DType::f32), "FloatStorage");
  EXPECT_EQ(storage_class(DType::qu4x2), "QUInt4x2Storage");
  EXPECT_EQ(storage_class(DType::u16), "");
  for (int i = 0; i < kCount; ++i) {
    const auto dtype = static_cast<DType>(i);
    if (storage_class(dtype).empty()) continue;
    EXPECT_EQ(dtype_of_storage(storage_class(dtype)), dtype);
  }
}

TEST(DType, StorageClassesOfTorchScriptOnly) {
  EXPECT_EQ(dtype_of_storage("Float8_e4m3fnStorage"), DType::f8_e4m3fn);
  EXPECT_EQ(dtype_of_storage("Float8_e8m0fnuStorage"), DType::f8_e8m0fnu);
  EXPECT_EQ(dtype_of_storage("UInt16Storage"), DType::u16);
  EXPECT_EQ(dtype_of_storage("UInt64Storage"), DType::u64);
  EXPECT_EQ(dtype_of_storage("ComplexHalfStorage"), DType::c32);
  EXPECT_EQ(dtype_of_storage("BComplex32Storage"), DType::bc32);
  EXPECT_EQ(dtype_of_storage("Bits8Storage"), DType::bits8);
}

TEST(DType, WhatIsNoTypedStorageClass) {
  EXPECT_FALSE(dtype_of_storage("UntypedStorage"));
  EXPECT_FALSE(dtype_of_storage("floatstorage"));
  EXPECT_FALSE(dtype_of_storage("Float32Storage"));
  EXPECT_FALSE(dtype_of_storage("Storage"));
  EXPECT_FALSE(dtype_of_storage("Float"));
  EXPECT_FALSE(dtype_of_storage(""));
}

TEST(DType, OfCppTypes) {
  static_assert(kDTypeOf<float> == DType::f32);
  static_assert(kDTypeOf<std::complex<double>> == DType::c128);
  static_assert(sizeof(Half) == 2 && sizeof(BFloat16) == 2);
  EXPECT_EQ(kDTypeOf<BFloat16>, DType::bf16);
}

}  // namespace
}  // namespace flambeau
