// The invariants of sparse and nested tensors: torch/csrc/utils/tensor_new.cpp,
// `_validate_sparse_coo_tensor_args`, and
// aten/src/ATen/native/sparse/ValidateCompressedIndicesCommon.h (numbers 5.1 to 5.6 there). Shapes
// and types of the parts were checked when the tensor was made.
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/checked.h"
#include "base/fail.h"
#include "flambeau/tensor.h"
#include "tensor/record.h"

namespace flambeau {
namespace {

template <typename... Args>
[[noreturn]] void reject(const Tensor& tensor, fmt::format_string<Args...> format, Args&&... args) {
  fail(ErrorCode::malformed_tensor, {}, "{} tensor: {}", to_string(tensor.kind()),
       fmt::format(format, std::forward<Args>(args)...));
}

/// A part that the kind has: whoever made the tensor has seen to that.
std::vector<std::int64_t> elements_of(const Tensor& tensor, std::string_view part) {
  return tensor.find_part(part)->to<std::int64_t>();
}

/// The columns of a coalesced tensor's indices ascend, in the order of their dimensions. Equal
/// columns do not: coalescing adds up the values of one index. Rows stand one behind the other, so
/// the next number of a column is `count` further on.
void validate_order(const Tensor& tensor, std::span<const std::int64_t> indices,
                    std::size_t count) {
  const auto precedes = [&](std::size_t a, std::size_t b) {
    for (std::size_t at = 0; at < indices.size(); at += count) {
      if (indices[at + a] != indices[at + b]) return indices[at + a] < indices[at + b];
    }
    return false;
  };
  for (std::size_t i = 1; i < count; ++i) {
    if (!precedes(i - 1, i)) reject(tensor, "it is said to be coalesced, but is not");
  }
}

/// Row d of the indices lies within dimension d; the columns of a coalesced tensor ascend.
void validate_coo(const Tensor& tensor) {
  const std::vector<std::int64_t> indices = elements_of(tensor, "indices");
  const auto shape = tensor.find_part("indices")->shape();
  const auto count = static_cast<std::size_t>(shape[1]);
  for (std::size_t i = 0; i < indices.size(); ++i) {
    const std::size_t dimension = i / count;
    const std::int64_t size = tensor.shape()[dimension];
    if (indices[i] < 0 || indices[i] >= size) {
      reject(tensor, "index {} of dimension {}, whose size is {}", indices[i], dimension, size);
    }
  }
  if (tensor.is_coalesced() == true) validate_order(tensor, indices, count);
}

/// The compressed dimension and the other one, in blocks.
struct Grid {
  std::int64_t compressed;
  std::int64_t plain;
};

Grid grid_of(const Tensor& tensor, std::size_t batch) {
  const TensorKind kind = tensor.kind();
  const bool by_row = kind == TensorKind::sparse_csr || kind == TensorKind::sparse_bsr;
  const bool blocked = kind == TensorKind::sparse_bsr || kind == TensorKind::sparse_bsc;
  std::int64_t rows = tensor.shape()[batch];
  std::int64_t columns = tensor.shape()[batch + 1];
  if (blocked) {
    // [batch…, blocks, height, width, dense…]
    const auto values = tensor.find_part("values")->shape();
    const std::int64_t height = values[batch + 1];
    const std::int64_t width = values[batch + 2];
    if (height < 1 || width < 1 || rows % height != 0 || columns % width != 0) {
      reject(tensor, "blocks of {} by {} do not divide {} by {}", height, width, rows, columns);
    }
    rows /= height;
    columns /= width;
  }
  return by_row ? Grid{rows, columns} : Grid{columns, rows};
}

/// One matrix of a batch: offsets begin at 0, never fall, end at the number of values; the plain
/// indices between two offsets ascend within their dimension.
void validate_matrix(const Tensor& tensor, std::span<const std::int64_t> offsets,
                     std::span<const std::int64_t> plain, const Grid& grid) {
  const auto count = static_cast<std::int64_t>(plain.size());
  if (offsets.front() != 0 || offsets.back() != count) {
    reject(tensor, "compressed indices run from {} to {}, 0 to {} is wanted", offsets.front(),
           offsets.back(), count);
  }
  for (std::size_t i = 1; i < offsets.size(); ++i) {
    if (offsets[i] < offsets[i - 1] || offsets[i] > count) {
      reject(tensor, "compressed indices {} and {} do not ascend", offsets[i - 1], offsets[i]);
    }
    std::int64_t last = -1;
    for (std::int64_t at = offsets[i - 1]; at < offsets[i]; ++at) {
      const std::int64_t index = plain[static_cast<std::size_t>(at)];
      if (index <= last || index >= grid.plain) {
        reject(tensor, "index {} after {}, whose dimension has {}", index, last, grid.plain);
      }
      last = index;
    }
  }
}

/// In every compressed layout the parts are, in this order: compressed indices, plain indices and
/// values, each with the same batch dimensions first.
void validate_compressed(const Tensor& tensor) {
  const Tensor& compressed_part = tensor.parts()[0].second;
  const Tensor& plain_part = tensor.parts()[1].second;
  const auto compressed = compressed_part.to<std::int64_t>();
  const auto plain = plain_part.to<std::int64_t>();
  const Grid grid = grid_of(tensor, compressed_part.ndim() - 1);
  const auto offsets = static_cast<std::size_t>(compressed_part.shape().back());
  const auto count = static_cast<std::size_t>(plain_part.shape().back());
  const auto values = tensor.find_part("values")->shape()[compressed_part.ndim() - 1];
  if (compressed_part.shape().back() != grid.compressed + 1 ||
      values != plain_part.shape().back()) {
    reject(tensor, "{} compressed and {} plain indices for {} lines and {} values", offsets, count,
           grid.compressed, values);
  }
  const std::size_t matrices = compressed.size() / offsets;
  if (matrices * count != plain.size()) reject(tensor, "the batches of the indices differ");
  for (std::size_t i = 0; i < matrices; ++i) {
    validate_matrix(tensor, std::span(compressed).subspan(i * offsets, offsets),
                    std::span(plain).subspan(i * count, count), grid);
  }
}

/// Each constituent is a view of the buffer.
void validate_nested(const Tensor& tensor) {
  // A jagged tensor has offsets instead, and no more constituents than values.
  const Tensor* sizes_part = tensor.find_part("sizes");
  if (sizes_part == nullptr) return;
  const auto sizes = sizes_part->to<std::int64_t>();
  const auto strides = elements_of(tensor, "strides");
  const auto offsets = elements_of(tensor, "storage_offsets");
  const std::size_t rank = offsets.empty() ? 0 : sizes.size() / offsets.size();
  const auto numel = static_cast<std::uint64_t>(tensor.find_part("buffer")->numel());
  for (std::size_t i = 0; i < offsets.size(); ++i) {
    const auto extent = view_extent(std::span(sizes).subspan(i * rank, rank),
                                    std::span(strides).subspan(i * rank, rank), offsets[i]);
    if (!extent || *extent > numel) reject(tensor, "constituent {} is outside the buffer", i);
  }
}

}  // namespace

void validate(const Tensor& tensor) {
  switch (tensor.kind()) {
    case TensorKind::sparse_coo: return validate_coo(tensor);
    case TensorKind::sparse_csr:
    case TensorKind::sparse_csc:
    case TensorKind::sparse_bsr:
    case TensorKind::sparse_bsc: return validate_compressed(tensor);
    case TensorKind::nested: return validate_nested(tensor);
    case TensorKind::strided:
    case TensorKind::quantized:
    case TensorKind::meta:
    case TensorKind::subclass: return;
  }
}

}  // namespace flambeau
