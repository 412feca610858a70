// Dimensions, the checks of a view, and the end of a chain of parts.
//
// A view is sound where PyTorch's `Tensor.set_` takes it (aten/src/ATen/native/Resize.h:
// checkSetStorage): no negative number, at least as many bytes as its last element needs, any
// offset for a view without elements, any stride along a dimension of size 1.
#include "tensor/record.h"

#include <algorithm>

#include "base/checked.h"
#include "tensor/packed.h"

namespace flambeau {

static_assert(sizeof(void*) != 8 || sizeof(TensorRecord) <= 104);

Dimensions::Dimensions(std::span<const std::int64_t> shape, std::span<const std::int64_t> strides)
    : rank_(static_cast<std::uint32_t>(shape.size())), has_strides_(!strides.empty()) {
  std::int64_t* to = near_;
  if (rank_ > kInline) {
    const std::shared_ptr<std::int64_t[]> far(new std::int64_t[2 * shape.size()]());
    to = far.get();
    far_ = far;
  }
  std::copy(shape.begin(), shape.end(), to);
  std::copy(strides.begin(), strides.end(), to + rank_);
}

TensorExtension::~TensorExtension() {
  // Children of a part that nobody else holds move into this list before it ends, so that its own
  // destructor finds them shared and leaves them to this loop.
  while (!parts.empty()) {
    const Tensor part = std::move(parts.back().second);
    parts.pop_back();
    if (part.record_.use_count() != 1) continue;
    for (const auto& [name, child] : part.parts()) parts.emplace_back(std::string(), child);
  }
}

namespace {

/// Each number by itself, so that the message names the wrong one.
void check_numbers(const TensorRecord& record, Place place) {
  const auto shape = record.dimensions.shape();
  const auto strides = record.dimensions.strides();
  if (shape.size() != strides.size()) {
    fail(ErrorCode::malformed_tensor, place, "{} sizes, but {} strides", shape.size(),
         strides.size());
  }
  if (record.offset < 0) {
    fail(ErrorCode::malformed_tensor, place, "storage offset {} is negative", record.offset);
  }
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] < 0) {
      fail(ErrorCode::malformed_tensor, place, "size {} of dimension {} is negative", shape[i], i);
    }
    if (strides[i] < 0) {
      fail(ErrorCode::malformed_tensor, place, "stride {} of dimension {} is negative", strides[i],
           i);
    }
  }
}

/// Bytes of the storage up to the end of the view's last element; nothing where they overflow.
std::optional<std::uint64_t> needed_bytes(const TensorRecord& record) {
  const auto shape = record.dimensions.shape();
  if (is_packed_quantized(record.dtype)) {
    const auto packed = packed_bytes(record.dtype, shape);
    if (!packed || *packed == 0) return packed;
    return checked_add(*packed, static_cast<std::uint64_t>(record.offset));
  }
  const auto extent = view_extent(shape, record.dimensions.strides(), record.offset);
  if (!extent) return std::nullopt;
  return checked_mul(*extent, std::uint64_t{item_size(record.dtype)});
}

/// The answer for nearly every tensor, in one loop: up to four dimensions whose numbers have at
/// most 30 bits, so that nothing below can overflow. False leaves it to the full check.
bool is_plainly_inside(const TensorRecord& record, std::uint64_t storage_size) {
  constexpr std::uint64_t kSmall = std::uint64_t{1} << 30;
  const auto shape = record.dimensions.shape();
  const auto strides = record.dimensions.strides();
  if (shape.size() > 4 || shape.size() != strides.size() || values_per_item(record.dtype) != 1) {
    return false;
  }
  auto last = static_cast<std::uint64_t>(record.offset);
  std::uint64_t largest = last;
  std::uint64_t numel = 1;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const auto size = static_cast<std::uint64_t>(shape[i]);
    const auto stride = static_cast<std::uint64_t>(strides[i]);
    largest |= size | stride;
    last += (size - 1) * stride;
    if (size == 0 || numel >= kSmall) return false;
    numel *= size;
  }
  return largest < kSmall && (last + 1) * item_size(record.dtype) <= storage_size;
}

}  // namespace

void check_view(const TensorRecord& record, std::uint64_t storage_size, Place place) {
  if (is_plainly_inside(record, storage_size)) return;
  check_numbers(record, place);
  const auto shape = record.dimensions.shape();
  if (!checked_product(shape)) {
    fail(ErrorCode::malformed_tensor, place, "the number of elements of shape {} overflows",
         to_string(shape));
  }
  const auto needed = needed_bytes(record);
  if (!needed || *needed > storage_size) {
    fail(ErrorCode::malformed_tensor, place,
         "{} view of shape {}, strides {}, offset {} needs {} bytes of a storage of {}",
         to_string(record.dtype), to_string(shape), to_string(record.dimensions.strides()),
         record.offset, needed ? std::to_string(*needed) : "over 2^64", storage_size);
  }
}

}  // namespace flambeau
