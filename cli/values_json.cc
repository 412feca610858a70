// Elements come as one flat run; brackets open where an index is a multiple of a dimension's block
// and close where it is the block's last. A dimension of size 0 ends the nesting: [2, 0, 3] is
// [[], []], as `tolist` gives it.
#include "values_json.h"

#include <complex>
#include <cstdint>
#include <span>
#include <vector>

namespace flambeau::cli {
namespace {

// One for each C++ type that elements are converted to; every dtype is exact in one of them.
void write_element(JsonWriter& json, std::int64_t value) { json.number(value); }
void write_element(JsonWriter& json, std::uint64_t value) { json.unsigned_number(value); }
void write_element(JsonWriter& json, double value) { json.real(value); }
void write_element(JsonWriter& json, std::complex<double> value) {
  json.begin_array();
  json.real(value.real());
  json.real(value.imag());
  json.end_array();
}

// Sizes of the lists that are written, and of the innermost ones: 0 where a dimension is empty.
struct Nesting {
  std::vector<std::size_t> blocks;
  bool empty = false;
};

// Elements in one list of each dimension, outermost first.
Nesting nesting_of(std::span<const std::int64_t> shape) {
  Nesting nesting;
  std::size_t depth = 0;
  while (depth < shape.size() && shape[depth] != 0) ++depth;
  nesting.empty = depth < shape.size();
  std::size_t block = 1;
  nesting.blocks.resize(depth);
  for (std::size_t i = depth; i-- > 0;) {
    block *= static_cast<std::size_t>(shape[i]);
    nesting.blocks[i] = block;
  }
  return nesting;
}

// Calls `leaf(index)` for each element, or for each empty list.
template <typename Leaf>
void write_nested(JsonWriter& json, const std::vector<std::size_t>& blocks, Leaf leaf) {
  const std::size_t count = blocks.empty() ? 1 : blocks.front();
  for (std::size_t index = 0; index < count; ++index) {
    for (const std::size_t block : blocks) {
      if (index % block == 0) json.begin_array();
    }
    leaf(index);
    for (const std::size_t block : blocks) {
      if ((index + 1) % block == 0) json.end_array();
    }
  }
}

template <typename T>
void write_as(JsonWriter& json, const Tensor& tensor) {
  const std::vector<T> elements = tensor.to<T>();
  write_nested(json, nesting_of(tensor.shape()).blocks,
               [&](std::size_t index) { write_element(json, elements[index]); });
}

// A byte of a file may be neither 0 nor 1; PyTorch takes any but 0 for true.
void write_booleans(JsonWriter& json, const Tensor& tensor) {
  const std::vector<std::uint8_t> elements = tensor.to<std::uint8_t>();
  write_nested(json, nesting_of(tensor.shape()).blocks,
               [&](std::size_t index) { json.boolean(elements[index] != 0); });
}

void write_empty_lists(JsonWriter& json, const Nesting& nesting) {
  write_nested(json, nesting.blocks, [&](std::size_t) {
    json.begin_array();
    json.end_array();
  });
}

}  // namespace

void write_values(JsonWriter& json, const Tensor& tensor) {
  const Nesting nesting = nesting_of(tensor.shape());
  if (nesting.empty) return write_empty_lists(json, nesting);
  switch (category(tensor.dtype())) {
    case DTypeCategory::boolean: return write_booleans(json, tensor);
    case DTypeCategory::signed_integer: return write_as<std::int64_t>(json, tensor);
    case DTypeCategory::unsigned_integer: return write_as<std::uint64_t>(json, tensor);
    case DTypeCategory::complex: return write_as<std::complex<double>>(json, tensor);
    case DTypeCategory::floating:
    case DTypeCategory::quantized:
    case DTypeCategory::bits:
    case DTypeCategory::sub_byte: return write_as<double>(json, tensor);
  }
}

}  // namespace flambeau::cli
