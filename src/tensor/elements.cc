// Reading elements. `stored_elements` is where a view meets its bytes: whatever made the record,
// its bounds are compared with the bytes that are really there. Contiguous elements that need no
// change are used in place; all others pass through a gatherer, and the lazy bits are applied to
// what it gathered.
#include "tensor/elements.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <utility>

#include "base/checked.h"
#include "tensor/element_bits.h"
#include "tensor/memory.h"
#include "tensor/packed.h"
#include "tensor/record.h"
#include "tensor/storage_table.h"

namespace flambeau {
namespace {

/// Whether a lazily negated or conjugated view has anything to resolve.
bool has_lazy_bits(const Tensor& tensor) noexcept {
  return tensor.is_neg() ||
         (tensor.is_conj() && category(tensor.dtype()) == DTypeCategory::complex);
}

bool is_plain(const Tensor& tensor) noexcept {
  return tensor.is_contiguous() && !has_lazy_bits(tensor) &&
         !(tensor.is_byte_swapped() && swap_unit(tensor.dtype()) > 1);
}

}  // namespace

std::string names_of_parts(const Tensor& tensor) {
  std::string names;
  for (const auto& [name, part] : tensor.parts()) names += (names.empty() ? "" : ", ") + name;
  return names;
}

void check_has_elements(const Tensor& tensor) {
  const TensorKind kind = tensor.kind();
  if (kind == TensorKind::strided || kind == TensorKind::quantized) return;
  if (kind == TensorKind::meta) {
    fail(ErrorCode::unsupported, {}, "a meta tensor has no elements");
  }
  fail(ErrorCode::unsupported, {}, "a {} tensor has no single array of elements; its parts are: {}",
       to_string(kind), names_of_parts(tensor));
}

/// Checked although the record was when it was made: a caller's function may have restored the
/// storage to other memory since.
Bytes stored_elements(const Tensor& tensor) {
  check_has_elements(tensor);
  const Bytes bytes = tensor.storage().bytes();
  check_view(tensor.record(), bytes.size(), tensor.storage().key());
  if (tensor.numel() == 0) return {};
  return bytes.subspan(static_cast<std::size_t>(tensor.offset()) * item_size(tensor.dtype()));
}

ElementStream::ElementStream(const Tensor& tensor, std::endian order)
    : tensor_(tensor), is_native_(order == std::endian::native) {
  const DType dtype = tensor.dtype();
  check_has_elements(tensor);
  if (tensor.is_neg() && !is_negatable(dtype)) {
    fail(ErrorCode::unsupported, {}, "{} has no negative", to_string(dtype));
  }
  // What `nbytes` gives where the true number overflows.
  if (tensor.nbytes() == std::numeric_limits<std::uint64_t>::max()) {
    fail(ErrorCode::limit, {}, "{} elements are more bytes than can be counted", tensor.numel());
  }
  // Several integers share a byte, across the ends of rows too: strides do not lead to bytes.
  if (is_packed_quantized(dtype) && !tensor.is_contiguous()) {
    fail(ErrorCode::unsupported, {}, "a view of {} elements that are not contiguous",
         to_string(dtype));
  }
  const bool is_slice = tensor.record().is_slice;
  if (!is_slice) tensor.storage().verify();
  const Bytes stored = is_slice ? slice_elements() : stored_elements(tensor);
  // Swapped elements that are wanted in the other order are in order as they lie.
  const bool is_ordered = tensor.is_byte_swapped() != is_native_ || swap_unit(dtype) == 1;
  if (tensor.is_contiguous() && !has_lazy_bits(tensor) && is_ordered) {
    in_place_ = stored.first(static_cast<std::size_t>(tensor.nbytes()));
  } else {
    gatherer_.emplace(stored.data(), tensor.shape(), tensor.strides(), item_size(dtype));
  }
}

/// As `stored_elements`, but of a storage that is not in memory only what the slice spans is read.
Bytes ElementStream::slice_elements() {
  const Storage& storage = tensor_.storage();
  check_view(tensor_.record(), storage.size(), storage.key());
  if (tensor_.numel() == 0) return {};
  const auto item = std::uint64_t{item_size(tensor_.dtype())};
  const auto extent = view_extent(tensor_.shape(), tensor_.strides(), 0).value_or(0);
  auto part = storage.table()->part(
      storage.index(), static_cast<std::uint64_t>(tensor_.offset()) * item, extent * item);
  owner_ = std::move(part.owner);
  return part.bytes;
}

std::size_t ElementStream::remaining() const noexcept {
  return gatherer_ ? gatherer_->remaining() : in_place_.size();
}

/// Whole items only, so that the bits of an item can be resolved in one piece.
Bytes ElementStream::next(MutableBytes scratch) noexcept {
  if (!gatherer_) return std::exchange(in_place_, {});
  const std::size_t whole = scratch.size() - scratch.size() % item_size(tensor_.dtype());
  const MutableBytes piece = scratch.first(std::min(whole, gatherer_->remaining()));
  gatherer_->read(piece);
  resolve(piece);
  return piece;
}

void ElementStream::read(MutableBytes out) noexcept {
  if (gatherer_) {
    // At once: a transpose is fast over many rows only.
    gatherer_->read(out);
    resolve(out);
  } else {
    if (!out.empty()) std::memcpy(out.data(), in_place_.data(), out.size());
    in_place_ = in_place_.subspan(out.size());
  }
}

/// Signs are those of native elements, so the byte order comes before them and the wanted one last.
void ElementStream::resolve(MutableBytes piece) const noexcept {
  const DType dtype = tensor_.dtype();
  const std::size_t unit = swap_unit(dtype);
  if (tensor_.is_byte_swapped()) swap_bytes(piece, unit);
  if (tensor_.is_neg()) negate(piece, dtype);
  if (tensor_.is_conj() && category(dtype) == DTypeCategory::complex) conjugate(piece, dtype);
  if (!is_native_) swap_bytes(piece, unit);
}

void Tensor::copy_to(std::span<std::byte> out) const {
  check_has_elements(*this);
  if (out.size() != nbytes()) {
    fail(ErrorCode::usage, {}, "a buffer of {} bytes for elements of {}", out.size(), nbytes());
  }
  ElementStream(*this).read(out);
}

/// Only the place of the elements changes: a quantizer's channels, for one, run along a dimension,
/// not along a stride.
Tensor Tensor::contiguous(std::uint64_t max_expansion) const {
  check_has_elements(*this);
  if (is_plain(*this)) return *this;
  const std::uint64_t size = nbytes();
  const auto most = checked_mul(max_expansion, storage().size());
  if (most && size > *most) {
    fail(ErrorCode::limit, {}, "{} bytes would be made of a storage of {}: over {} times", size,
         storage().size(), max_expansion);
  }
  const std::shared_ptr<std::byte[]> copy(new std::byte[static_cast<std::size_t>(size)]);
  const MutableBytes bytes(copy.get(), static_cast<std::size_t>(size));
  copy_to(bytes);
  TensorRecord record = *record_;
  record.storage = memory_storage(bytes, copy, device());
  record.offset = 0;
  record.dimensions =
      Dimensions(shape(), contiguous_strides(shape()).value_or(std::vector<std::int64_t>(ndim())));
  record.is_conj = record.is_neg = record.is_byte_swapped = record.is_slice = false;
  return Tensor(std::make_shared<const TensorRecord>(std::move(record)));
}

const void* Tensor::elements_as(DType dtype, std::size_t alignment) const {
  const auto refuse = [&](std::string_view why) {
    fail(ErrorCode::not_viewable, {}, "{} elements cannot be viewed as {}: {}; to<T>() copies them",
         to_string(this->dtype()), to_string(dtype), why);
  };
  if (kind() != TensorKind::strided) refuse("the tensor is " + std::string(to_string(kind())));
  if (dtype != this->dtype()) refuse("the types differ");
  if (has_lazy_bits(*this)) refuse("a conjugate or negative bit is set");
  if (is_byte_swapped() && item_size(dtype) > 1) refuse("the byte order is not this machine's");
  if (!is_contiguous()) refuse("strides " + to_string(strides()) + " are not contiguous");
  if (numel() == 0) return nullptr;
  // Writers may align records to a single byte, and the pickle's offset adds to that.
  const std::byte* elements = stored_elements(*this).data();
  if (std::bit_cast<std::uintptr_t>(elements) % alignment != 0) refuse("they are not aligned");
  return elements;
}

}  // namespace flambeau
