// What a `Tensor` points to, and the checks that make one from numbers of a file.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/fail.h"
#include "flambeau/tensor.h"

namespace flambeau {

/// Shape and strides of one tensor. Up to two dimensions stand in place.
class Dimensions {
 public:
  Dimensions() noexcept = default;
  /// `strides` is as long as `shape`, or empty for kinds that have none.
  Dimensions(std::span<const std::int64_t> shape, std::span<const std::int64_t> strides);

  std::span<const std::int64_t> shape() const noexcept { return {data(), rank_}; }
  std::span<const std::int64_t> strides() const noexcept {
    return {data() + rank_, has_strides_ ? rank_ : 0};
  }

 private:
  static constexpr std::uint32_t kInline = 2;
  const std::int64_t* data() const noexcept { return rank_ <= kInline ? near_ : far_.get(); }

  std::uint32_t rank_ = 0;
  bool has_strides_ = false;
  std::int64_t near_[2 * kInline] = {};
  std::shared_ptr<const std::int64_t[]> far_;
};

/// What only some kinds have. Parts may have parts: the destructor takes such a chain apart in a
/// loop, however long a file made it.
struct TensorExtension {
  ~TensorExtension();

  std::vector<std::pair<std::string, Tensor>> parts;
  std::optional<Quantizer> quantizer;
  std::optional<bool> is_coalesced;
  /// The location tag of a tensor whose rebuild names one beside its storage's; else empty.
  std::string device;
};

/// 104 bytes: a file of a hundred thousand tensors keeps them in one array. The small members stand
/// in the tail of `storage`.
struct TensorRecord {
  [[no_unique_address]] Storage storage;
  TensorKind kind = TensorKind::strided;
  DType dtype = DType::f32;
  bool has_shape : 1 = true;
  bool requires_grad : 1 = false;
  bool is_parameter : 1 = false;
  bool is_conj : 1 = false;
  bool is_neg : 1 = false;
  bool is_byte_swapped : 1 = false;
  /// A view cut out by `Tensor::slice`: copying it touches its own elements, not the whole record.
  bool is_slice : 1 = false;
  std::int64_t offset = 0;
  Dimensions dimensions;
  std::shared_ptr<const TensorExtension> extension;
};

/// The strides of a contiguous tensor, as PyTorch computes them (a size of 0 counts as 1).
/// Nothing where they overflow.
std::optional<std::vector<std::int64_t>> contiguous_strides(std::span<const std::int64_t> shape);

/// The product of `shape`; nothing where a size is negative or the product overflows. A size of 0
/// makes it 0 whatever the others are.
std::optional<std::int64_t> checked_product(std::span<const std::int64_t> shape) noexcept;

/// One past the last element of a storage that the view reaches, counted from the storage's start;
/// 0 for a view without elements. Nothing where a number is negative or the sum overflows.
std::optional<std::uint64_t> view_extent(std::span<const std::int64_t> shape,
                                         std::span<const std::int64_t> strides,
                                         std::int64_t offset) noexcept;

/// Throws `malformed_tensor` unless shape, strides and offset are sound and the view lies within
/// `storage_size` bytes: what PyTorch's `Tensor.set_` demands. For quint4x2 and quint2x4 the bytes
/// are product(shape[:-1]) × ceil(shape[-1] / values per item).
void check_view(const TensorRecord& record, std::uint64_t storage_size, Place place);

}  // namespace flambeau
