// Tensors for tests, from shapes, strides and bytes.
#pragma once

#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tensor/memory.h"
#include "tensor/record.h"

namespace flambeau::testing {

/// A storage that owns a copy of `bytes`.
inline Storage storage_of(Bytes bytes, std::string_view device = "cpu") {
  const auto copy = std::make_shared<const std::vector<std::byte>>(bytes.begin(), bytes.end());
  return memory_storage(*copy, copy, device);
}

template <typename T>
Storage storage_of(const std::vector<T>& elements, std::string_view device = "cpu") {
  return storage_of(std::as_bytes(std::span(elements)), device);
}

inline Storage storage_of_bytes(std::initializer_list<unsigned> values) {
  std::vector<std::byte> bytes;
  for (const unsigned value : values) bytes.push_back(static_cast<std::byte>(value));
  return storage_of(Bytes(bytes));
}

inline TensorRecord record_of(DType dtype, std::vector<std::int64_t> shape,
                              std::vector<std::int64_t> strides, std::int64_t offset,
                              Storage storage) {
  TensorRecord record;
  record.dtype = dtype;
  record.dimensions = Dimensions(shape, strides);
  record.offset = offset;
  record.storage = std::move(storage);
  return record;
}

inline Tensor tensor_of(TensorRecord record) {
  return Tensor(std::make_shared<const TensorRecord>(std::move(record)));
}

/// A view of `storage`, as a file could describe it.
inline Tensor view_of(DType dtype, std::vector<std::int64_t> shape,
                      std::vector<std::int64_t> strides, std::int64_t offset, Storage storage) {
  return tensor_of(
      record_of(dtype, std::move(shape), std::move(strides), offset, std::move(storage)));
}

/// A contiguous tensor of the given elements.
template <typename T>
Tensor tensor_of(std::vector<std::int64_t> shape, const std::vector<T>& elements,
                 DType dtype = kDTypeOf<T>) {
  return Tensor(dtype, std::move(shape), storage_of(elements));
}

/// A tensor of a kind that is made of parts.
inline Tensor whole_of(TensorKind kind, DType dtype, std::vector<std::int64_t> shape,
                       std::vector<std::pair<std::string, Tensor>> parts) {
  TensorRecord record;
  record.kind = kind;
  record.dtype = dtype;
  record.has_shape = kind != TensorKind::nested;
  record.dimensions = Dimensions(shape, {});
  const auto extension = std::make_shared<TensorExtension>();
  extension->parts = std::move(parts);
  record.extension = extension;
  return tensor_of(std::move(record));
}

/// `tensor` with a quantizer and, for one per channel, its parts.
inline Tensor quantized_of(const Tensor& tensor, Quantizer quantizer,
                           std::vector<std::pair<std::string, Tensor>> parts = {}) {
  TensorRecord record = tensor.record();
  record.kind = TensorKind::quantized;
  const auto extension = std::make_shared<TensorExtension>();
  extension->parts = std::move(parts);
  extension->quantizer = std::move(quantizer);
  record.extension = extension;
  return tensor_of(std::move(record));
}

/// The bytes that `copy_to` gives.
inline std::vector<std::byte> bytes_of(const Tensor& tensor) {
  std::vector<std::byte> bytes(static_cast<std::size_t>(tensor.nbytes()));
  tensor.copy_to(bytes);
  return bytes;
}

/// The code of the `Error` that `f` throws; `io` where it throws none.
template <typename F>
std::pair<ErrorCode, std::string> error_of(F f) {
  try {
    f();
  } catch (const Error& error) {
    return {error.code(), error.message()};
  }
  return {ErrorCode::io, "no error"};
}

}  // namespace flambeau::testing
