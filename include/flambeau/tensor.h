// Tensors as values: a dtype, a shape, strides, and a share in a storage.
//
//   const flambeau::Tensor& w = ckpt.tensor("layer1.weight");
//   std::span<const float> view = w.as<float>();     // in place; lives as long as the tensor
//   std::vector<float> copy = w.to<float>();          // any dtype, any strides
//   flambeau::Tensor rows = w.slice(0, 10, 20);       // a view of rows 10 to 19
//   fmt::print("{}\n", flambeau::to_string(w));        // as PyTorch prints it
//
// A `Tensor` is one pointer to immutable data: copying it is cheap and copies nothing of the
// elements, and const use from many threads is safe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "flambeau/dtype.h"

namespace flambeau {

class StorageTable;
struct TensorRecord;

/// Fills `out` with the bytes of a device's memory from `offset` on, and returns when they are
/// there. Called from several threads at once.
using CopyToHost = std::function<void(std::uint64_t offset, std::span<std::byte> out)>;

/// A share in a run of bytes that tensors view. Equality is identity: two handles are equal when
/// they share the bytes.
class Storage {
 public:
  /// No storage, as meta tensors have it.
  Storage() noexcept = default;
  /// One of the storages of a table, which the handle keeps alive.
  Storage(std::shared_ptr<const StorageTable> table, std::uint32_t index) noexcept
      : table_(std::move(table)), index_(index) {}
  /// Bytes that the caller keeps alive and unchanged.
  static Storage borrow(std::span<const std::byte> bytes);
  /// Bytes that `owner` keeps alive.
  static Storage own(std::span<const std::byte> bytes, std::shared_ptr<const void> owner);
  /// Memory that the CPU cannot read, `size` bytes behind `memory`; `device` is its location tag.
  /// With `copy` it can be saved: piece by piece, through a buffer of a few megabytes.
  static Storage on_device(std::string device, std::uint64_t size, std::shared_ptr<void> memory,
                           CopyToHost copy = {});

  explicit operator bool() const noexcept { return table_ != nullptr; }
  /// Size in bytes, as the file's first reference to the storage claims it.
  std::uint64_t size() const noexcept;
  /// The storage's name in its file ("0", "1", …); empty for memory.
  std::string_view key() const noexcept;
  /// Location tag, such as "cpu" or "cuda:0".
  std::string_view device() const noexcept;
  /// Whether the file has the bytes; a record may be missing.
  bool is_available() const noexcept;
  /// The bytes in place where they are in memory or mapped; else they are read, inflated and kept
  /// with the storage. Lives as long as any handle to the same file. Checks no checksum.
  /// Errors: `io`, `truncated`, `malformed_zip`, `not_found` for a missing record;
  /// `unsupported` for device memory.
  std::span<const std::byte> bytes() const;
  /// Checks the checksum of the bytes, once: later calls cost nothing. Passes where the file has
  /// none or was opened with `verify = false`. Errors: `checksum`, and as `bytes`.
  void verify() const;
  /// The memory given to `on_device`; null for all others.
  std::shared_ptr<void> device_memory() const noexcept;

  /// The table and the place in it. Storages of one file are numbered from 0 as the pickle meets
  /// them, so the index can key an array.
  const std::shared_ptr<const StorageTable>& table() const noexcept { return table_; }
  std::uint32_t index() const noexcept { return index_; }
  friend bool operator==(const Storage& a, const Storage& b) noexcept {
    return a.table_ == b.table_ && a.index_ == b.index_;
  }

 private:
  std::shared_ptr<const StorageTable> table_;
  std::uint32_t index_ = 0;
};

/// How a tensor keeps its elements.
enum class TensorKind : std::uint8_t {
  strided,
  quantized,
  sparse_coo,
  sparse_csr,
  sparse_csc,
  sparse_bsr,
  sparse_bsc,
  nested,
  meta,      ///< a shape without elements
  subclass,  ///< a class of its own around inner tensors, which are its parts
};
/// "sparse_coo". The text lives forever.
std::string_view to_string(TensorKind kind) noexcept;

/// How a quantized tensor's integers map to real numbers: real = scale × (integer − zero_point).
struct Quantizer {
  /// "per_tensor_affine" or "per_channel_affine" (files know no other).
  std::string scheme;
  double scale = 1;
  std::int64_t zero_point = 0;
  /// For per-channel schemes: the dimension that `scales` and `zero_points` (parts) run along.
  std::optional<std::int64_t> axis;
};

class Tensor {
 public:
  /// An empty float32 tensor of shape [0].
  Tensor();
  explicit Tensor(std::shared_ptr<const TensorRecord> record) noexcept
      : record_(std::move(record)) {}

  /// A contiguous tensor over `elements`, which the caller keeps alive and unchanged.
  /// Error: `malformed_tensor` where the shape does not have that many elements.
  template <typename T>
  static Tensor borrow(std::span<const T> elements, std::vector<std::int64_t> shape) {
    return Tensor(kDTypeOf<T>, std::move(shape), Storage::borrow(std::as_bytes(elements)));
  }
  /// A contiguous tensor of `dtype` over all of `storage`.
  /// Error: `malformed_tensor` where the sizes do not agree.
  Tensor(DType dtype, std::vector<std::int64_t> shape, Storage storage);

  TensorKind kind() const noexcept;
  /// Of a sparse, nested or subclass tensor: of its values.
  DType dtype() const noexcept;
  /// Elements along each dimension; empty for a 0-dimensional tensor, which has one element.
  /// Empty for a nested tensor, which has no single shape (`has_shape` tells).
  std::span<const std::int64_t> shape() const noexcept;
  bool has_shape() const noexcept;
  /// Distance in elements between neighbours along each dimension; empty where there are none.
  std::span<const std::int64_t> strides() const noexcept;
  /// Elements of the storage before the first of the tensor.
  std::int64_t offset() const noexcept;
  std::size_t ndim() const noexcept { return shape().size(); }
  /// Number of elements: the product of the shape; for a nested tensor the elements of its buffer.
  std::int64_t numel() const noexcept;
  /// Bytes of the elements laid out contiguously; the sum over the parts for kinds without a
  /// storage of their own. Saturates at the largest number.
  std::uint64_t nbytes() const noexcept;
  /// Empty for meta tensors and for kinds whose elements stand in parts.
  const Storage& storage() const noexcept;
  /// Location tag of the storage; "meta" for meta tensors.
  std::string_view device() const noexcept;
  bool requires_grad() const noexcept;
  bool is_parameter() const noexcept;
  /// Bits of lazily conjugated and negated views; `to`, `contiguous` and `copy_to` resolve them.
  bool is_conj() const noexcept;
  bool is_neg() const noexcept;
  /// Row-major without gaps (dimensions of size 1 do not count).
  bool is_contiguous() const noexcept;
  /// Whether the elements stand in the other byte order than this host's.
  bool is_byte_swapped() const noexcept;

  /// The inner tensors of the kinds that have them, by name ("indices", "values", "scales", …).
  std::span<const std::pair<std::string, Tensor>> parts() const noexcept;
  const Tensor* find_part(std::string_view name) const noexcept;
  const Quantizer* quantizer() const noexcept;
  /// Of sparse COO where the file says; else empty.
  std::optional<bool> is_coalesced() const noexcept;

  /// The elements in place. Needs them contiguous, aligned for `T`, in native byte order, without
  /// conjugate or negative bit, and of that very dtype; anything else is `not_viewable`, and
  /// `to<T>()` works. The view lives as long as the storage's file or owner; no checksum is
  /// checked. Errors: as `Storage::bytes`.
  template <typename T>
  std::span<const T> as() const {
    return {static_cast<const T*>(elements_as(kDTypeOf<T>, alignof(T))),
            static_cast<std::size_t>(numel())};
  }

  /// The elements converted, in row-major order. Real numbers become integers by truncation toward
  /// zero, NaN becomes 0, and what does not fit an integer type becomes the nearest number that
  /// does (PyTorch's `to` keeps the low bits of integers there, and leaves real numbers to the
  /// processor). Complex numbers become real ones by dropping the imaginary part;
  /// quantized tensors give real numbers, rounded as PyTorch's `dequantize()`, or their integers
  /// when `T` is an integer; float4_e2m1fn_x2 gives two numbers per element, the lower half first.
  /// Errors: as `copy_to`; `unsupported` where the dtype has no numbers (bits, sub-byte) or the
  /// kind no single array of them (sparse, nested, subclass); `limit` where over 2^27 numbers would
  /// be made of a storage 64 times smaller.
  template <typename T>
  std::vector<T> to() const {
    std::vector<T> out(checked_numel());
    convert_into(kDTypeOf<T>, out.data());
    return out;
  }

  /// Writes the elements in row-major order, strides resolved, conjugate and negative bits
  /// applied, in native byte order. `out` has exactly `nbytes()` bytes (`usage` otherwise). Checks
  /// the storage's checksum first, unless the tensor is a `slice`, which touches its own elements
  /// only. Errors: `checksum`, `not_found` and others as `Storage::bytes`; `unsupported` for kinds
  /// without one array of elements.
  void copy_to(std::span<std::byte> out) const;
  /// The tensor itself where it is contiguous and plain, else a copy that owns its elements.
  /// Error: `limit` where the result were over `max_expansion` times the storage's size.
  Tensor contiguous(std::uint64_t max_expansion = 64) const;
  /// Elements start, start + step, … below stop along `dim`, as a view. Python's rules for
  /// negative numbers and for what lies outside; `step` is at least 1. Errors: `usage`;
  /// `unsupported` for kinds without strides and for packed quantized types.
  Tensor slice(std::int64_t dim, std::int64_t start,
               std::int64_t stop = std::numeric_limits<std::int64_t>::max(),
               std::int64_t step = 1) const;

  const TensorRecord& record() const noexcept { return *record_; }

 private:
  friend struct TensorExtension;  // whose destructor asks for the last owner

  const void* elements_as(DType dtype, std::size_t alignment) const;
  std::size_t checked_numel() const;
  void convert_into(DType dtype, void* out) const;

  std::shared_ptr<const TensorRecord> record_;
};

/// A tensor and one of the paths that lead to it.
struct NamedTensor {
  /// Keys joined with "."; positions and integer keys as decimal digits; "" for the root itself.
  std::string_view name;
  Tensor tensor;
};

/// How a tensor is printed; the defaults are PyTorch's (torch/_tensor_str.py).
struct PrintOptions {
  int precision = 4;
  /// More elements than this are folded to the first and last `edge_items` of each dimension.
  std::int64_t threshold = 1000;
  std::int64_t edge_items = 3;
  int line_width = 80;
  /// Unset: scientific notation where PyTorch would choose it.
  std::optional<bool> scientific;
};
/// As PyTorch prints it: `tensor([[1., 2.], [3., 4.]], dtype=torch.float64)`.
/// Errors: as `Tensor::copy_to`; `usage` for a negative precision.
std::string to_string(const Tensor& tensor, const PrintOptions& options = {});

/// "[256, 784]".
std::string to_string(std::span<const std::int64_t> shape);

/// Checks what only the elements tell: that the indices of a sparse tensor lie within its shape and
/// are as its layout wants them, and that the constituents of a nested one lie within its buffer.
/// Reads the parts that hold indices; does nothing for other kinds. Takes time linear in them.
/// Errors: `malformed_tensor`, and as `Tensor::copy_to`.
void validate(const Tensor& tensor);

using Sha256 = std::array<std::byte, 32>;
/// SHA-256 of the elements in row-major order, little-endian, conjugate and negative bits
/// resolved; of the integers of a quantized tensor, the packed bytes of the packed ones.
/// Errors: as `Tensor::copy_to`.
Sha256 sha256(const Tensor& tensor);
/// 64 lower-case hexadecimal digits.
std::string to_string(const Sha256& digest);

}  // namespace flambeau
