// Tensors as values: construction and everything that is answered from the record alone. Reading
// elements stands in elements.cc and convert.cc, slices in slice.cc.
#include "flambeau/tensor.h"

#include <algorithm>
#include <iterator>
#include <unordered_map>

#include "base/checked.h"
#include "tensor/packed.h"
#include "tensor/record.h"

namespace flambeau {
namespace {

constexpr auto kMaxBytes = std::numeric_limits<std::uint64_t>::max();
constexpr auto kMaxCount = std::numeric_limits<std::int64_t>::max();

/// One record for all default tensors, so that making one allocates nothing.
std::shared_ptr<const TensorRecord> empty_record() {
  static const auto record = [] {
    constexpr std::int64_t kSize[] = {0};
    constexpr std::int64_t kStride[] = {1};
    TensorRecord empty;
    empty.storage = Storage::borrow({});
    empty.dimensions = Dimensions(kSize, kStride);
    return std::make_shared<const TensorRecord>(std::move(empty));
  }();
  return record;
}

/// Bytes of the elements of a tensor with elements of its own, laid out contiguously. What
/// overflows is as large as a number can be, so that whoever compares it with a bound refuses it.
std::uint64_t own_bytes(const Tensor& tensor) noexcept {
  if (is_packed_quantized(tensor.dtype())) {
    return packed_bytes(tensor.dtype(), tensor.shape()).value_or(kMaxBytes);
  }
  const auto count = static_cast<std::uint64_t>(tensor.numel());
  return checked_mul(count, std::uint64_t{item_size(tensor.dtype())}).value_or(kMaxBytes);
}

/// Whether the elements stand in parts.
bool is_made_of_parts(const Tensor& tensor) noexcept {
  switch (tensor.kind()) {
    case TensorKind::strided:
    case TensorKind::quantized:
    case TensorKind::meta: return false;
    case TensorKind::sparse_coo:
    case TensorKind::sparse_csr:
    case TensorKind::sparse_csc:
    case TensorKind::sparse_bsr:
    case TensorKind::sparse_bsc:
    case TensorKind::nested:
    case TensorKind::subclass: break;
  }
  return true;
}

/// Parts may have parts, and may be shared; so the sums are built bottom up, each record once.
std::uint64_t bytes_of_parts(const Tensor& whole) {
  std::unordered_map<const TensorRecord*, std::uint64_t> sums;
  std::vector<const Tensor*> open = {&whole};
  while (!open.empty()) {
    const Tensor& tensor = *open.back();
    const auto before = open.size();
    for (const auto& [name, part] : tensor.parts()) {
      if (is_made_of_parts(part) && !sums.contains(&part.record())) open.push_back(&part);
    }
    if (open.size() > before) continue;
    std::uint64_t sum = 0;
    for (const auto& [name, part] : tensor.parts()) {
      const auto size = is_made_of_parts(part) ? sums[&part.record()] : own_bytes(part);
      sum = checked_add(sum, size).value_or(kMaxBytes);
    }
    sums[&tensor.record()] = sum;
    open.pop_back();
  }
  return sums[&whole.record()];
}

/// The part that has the values of a sparse, nested or subclass tensor.
const Tensor* values_part(const Tensor& tensor) noexcept {
  for (const std::string_view name : {"values", "buffer"}) {
    if (const Tensor* part = tensor.find_part(name)) return part;
  }
  return tensor.parts().empty() ? nullptr : &tensor.parts().front().second;
}

}  // namespace

// In the order of the enumerators, in tensor.h.
std::string_view to_string(TensorKind kind) noexcept {
  static constexpr std::string_view kNames[] = {
      "strided",    "quantized",  "sparse_coo", "sparse_csr", "sparse_csc",
      "sparse_bsr", "sparse_bsc", "nested",     "meta",       "subclass"};
  return kNames[static_cast<std::size_t>(kind)];
}

Tensor::Tensor() : record_(empty_record()) {}

/// Strides overflow only beside a size of 0, where nothing uses them, or where `check_view` finds
/// the product of the sizes too large.
Tensor::Tensor(DType dtype, std::vector<std::int64_t> shape, Storage storage) {
  const std::vector<std::int64_t> none(shape.size());
  TensorRecord record;
  record.dtype = dtype;
  record.dimensions = Dimensions(shape, contiguous_strides(shape).value_or(none));
  record.storage = std::move(storage);
  check_view(record, record.storage.size(), {});
  record_ = std::make_shared<const TensorRecord>(std::move(record));
  if (nbytes() != this->storage().size()) {
    fail(ErrorCode::malformed_tensor, {}, "{} elements of shape {} are {} bytes, not the {} given",
         to_string(dtype), to_string(shape), nbytes(), this->storage().size());
  }
}

TensorKind Tensor::kind() const noexcept { return record_->kind; }

DType Tensor::dtype() const noexcept { return record_->dtype; }

std::span<const std::int64_t> Tensor::shape() const noexcept { return record_->dimensions.shape(); }

bool Tensor::has_shape() const noexcept { return record_->has_shape; }

std::span<const std::int64_t> Tensor::strides() const noexcept {
  return record_->dimensions.strides();
}

std::int64_t Tensor::offset() const noexcept { return record_->offset; }

/// A ragged tensor has as many elements as its values. The chain of parts ends, since a record is
/// made after those that it holds.
std::int64_t Tensor::numel() const noexcept {
  const Tensor* tensor = this;
  while (!tensor->has_shape()) {
    tensor = values_part(*tensor);
    if (!tensor) return 0;
  }
  return checked_product(tensor->shape()).value_or(kMaxCount);
}

std::uint64_t Tensor::nbytes() const noexcept {
  return is_made_of_parts(*this) ? bytes_of_parts(*this) : own_bytes(*this);
}

const Storage& Tensor::storage() const noexcept { return record_->storage; }

/// A tag that the rebuild call names counts before the storage's: the inner tensors of a wrapper
/// may live elsewhere, and a device without storages saves its elements on the CPU.
std::string_view Tensor::device() const noexcept {
  for (const Tensor* tensor = this; tensor; tensor = values_part(*tensor)) {
    const auto& extension = tensor->record_->extension;
    if (extension && !extension->device.empty()) return extension->device;
    if (tensor->kind() == TensorKind::meta) return "meta";
    if (tensor->storage()) return tensor->storage().device();
  }
  return "cpu";
}

bool Tensor::requires_grad() const noexcept { return record_->requires_grad; }

bool Tensor::is_parameter() const noexcept { return record_->is_parameter; }

bool Tensor::is_conj() const noexcept { return record_->is_conj; }

bool Tensor::is_neg() const noexcept { return record_->is_neg; }

bool Tensor::is_byte_swapped() const noexcept { return record_->is_byte_swapped; }

/// c10/core/Contiguity.h, `_compute_contiguous`: the stride of a dimension of size 1 means nothing,
/// and a tensor without elements is contiguous whatever its strides.
bool Tensor::is_contiguous() const noexcept {
  const auto sizes = shape();
  const auto steps = strides();
  if (steps.size() != sizes.size()) return false;
  if (std::find(sizes.begin(), sizes.end(), 0) != sizes.end()) return true;
  std::uint64_t expected = 1;
  for (std::size_t i = sizes.size(); i-- > 0;) {
    if (sizes[i] == 1) continue;
    if (static_cast<std::uint64_t>(steps[i]) != expected) return false;
    expected *= static_cast<std::uint64_t>(sizes[i]);
  }
  return true;
}

std::span<const std::pair<std::string, Tensor>> Tensor::parts() const noexcept {
  if (!record_->extension) return {};
  return record_->extension->parts;
}

/// Parts are a handful, so a search does.
const Tensor* Tensor::find_part(std::string_view name) const noexcept {
  for (const auto& [key, part] : parts()) {
    if (key == name) return &part;
  }
  return nullptr;
}

const Quantizer* Tensor::quantizer() const noexcept {
  const auto& extension = record_->extension;
  return extension && extension->quantizer ? &*extension->quantizer : nullptr;
}

std::optional<bool> Tensor::is_coalesced() const noexcept {
  return record_->extension ? record_->extension->is_coalesced : std::nullopt;
}

}  // namespace flambeau
