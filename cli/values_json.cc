// Elements come as one flat run; brackets open where an index is a multiple of a dimension's block
// and close where it is the block's last. A dimension of size 0 ends the nesting: [2, 0, 3] is
// [[], []], as `tolist` gives it, unless that would be more than `kMostEmptyLists`.
#include "values_json.h"

#include <algorithm>
#include <complex>
#include <cstdint>
#include <span>
#include <vector>

namespace flambeau::cli {
namespace {

// A shape without elements may have any sizes before its 0, and nothing in the file pays for them.
constexpr std::size_t kMostEmptyLists = 1'000'000;

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

// How many elements one list of each dimension holds, outermost first. A dimension of size 0 ends
// them: the elements are then the empty lists.
struct Nesting {
  std::vector<std::size_t> blocks;
  bool is_empty = false;
};

Nesting nesting_of(std::span<const std::int64_t> shape) {
  const auto end = std::find(shape.begin(), shape.end(), 0);
  Nesting nesting{std::vector<std::size_t>(static_cast<std::size_t>(end - shape.begin())),
                  end != shape.end()};
  std::size_t block = 1;
  for (std::size_t i = nesting.blocks.size(); i-- > 0;) {
    const auto size = static_cast<std::size_t>(shape[i]);
    if (nesting.is_empty && size > kMostEmptyLists / block) return {{}, true};
    nesting.blocks[i] = block *= size;
  }
  return nesting;
}

// Calls `leaf(index)` for each element, or for each empty list. A block's bounds are bounds of all
// blocks inside it.
template <typename Leaf>
void write_nested(JsonWriter& json, const std::vector<std::size_t>& blocks, Leaf leaf) {
  const std::size_t count = blocks.empty() ? 1 : blocks.front();
  for (std::size_t index = 0; index < count; ++index) {
    for (auto at = blocks.rbegin(); at != blocks.rend() && index % *at == 0; ++at) {
      json.begin_array();
    }
    leaf(index);
    for (auto at = blocks.rbegin(); at != blocks.rend() && (index + 1) % *at == 0; ++at) {
      json.end_array();
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
  if (nesting.is_empty) return write_empty_lists(json, nesting);
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
