// Elements as nested lists: every category of dtype, every shape of nesting.
#include "values_json.h"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <limits>
#include <string>
#include <vector>

#include "support.h"

namespace flambeau::cli {
namespace {

std::string values(const Tensor& tensor) {
  return written([&](Output& out) {
    JsonWriter json(out);
    write_values(json, tensor);
  });
}

template <typename T>
std::string values(const std::vector<T>& elements, std::vector<std::int64_t> shape) {
  return values(Tensor::borrow<T>(std::span<const T>(elements), std::move(shape)));
}

TEST(Values, Nesting) {
  const std::vector<std::int32_t> six = {1, 2, 3, 4, 5, 6};
  EXPECT_EQ(values<std::int32_t>({7}, {}), "7");
  EXPECT_EQ(values(six, {6}), "[1,2,3,4,5,6]");
  EXPECT_EQ(values(six, {2, 3}), "[[1,2,3],[4,5,6]]");
  EXPECT_EQ(values(six, {1, 3, 2}), "[[[1,2],[3,4],[5,6]]]");
}

TEST(Values, EmptyDimensionsEndTheNesting) {
  const std::vector<float> none;
  EXPECT_EQ(values(none, {0}), "[]");
  EXPECT_EQ(values(none, {0, 3}), "[]");
  EXPECT_EQ(values(none, {2, 0}), "[[],[]]");
  EXPECT_EQ(values(none, {2, 0, 3}), "[[],[]]");
}

TEST(Values, EmptyListsAreBounded) {
  constexpr std::int64_t kHuge = std::int64_t{1} << 31;
  const std::vector<float> none;
  EXPECT_EQ(values(none, {kHuge, kHuge, 0}), "[]");
  EXPECT_EQ(values(none, {1'000'001, 0}), "[]");
  EXPECT_EQ(values(none, {1'000'000, 0}).size(), 3'000'001U);
  EXPECT_EQ(values(none, {0, kHuge}), "[]");
}

TEST(Values, NumbersAreExact) {
  EXPECT_EQ(values<std::int64_t>({INT64_MIN, INT64_MAX}, {2}),
            "[-9223372036854775808,9223372036854775807]");
  EXPECT_EQ(values<std::uint64_t>({UINT64_MAX}, {1}), "[18446744073709551615]");
  EXPECT_EQ(values<float>({0.1F, -0.0F}, {2}), "[0.10000000149011612,-0.0]");
  EXPECT_EQ(values<double>({0.1, 1e300}, {2}), "[0.1,1e+300]");
}

TEST(Values, WhatJsonHasNoNumberFor) {
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(values<double>({std::nan(""), infinity, -infinity}, {3}), R"(["nan","inf","-inf"])");
}

TEST(Values, ComplexNumbersArePairs) {
  EXPECT_EQ(values<std::complex<float>>({{1, 2}, {0, std::numeric_limits<float>::infinity()}}, {2}),
            R"([[1.0,2.0],[0.0,"inf"]])");
}

TEST(Values, Booleans) {
  const std::vector<std::byte> bytes = {std::byte{0}, std::byte{1}, std::byte{2}};
  EXPECT_EQ(values(Tensor(DType::boolean, {3}, Storage::borrow(bytes))), "[false,true,true]");
}

}  // namespace
}  // namespace flambeau::cli
