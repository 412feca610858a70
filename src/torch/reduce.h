// The inverse of rebuild: a tensor as the calls that make it (torch/_tensor.py,
// `_reduce_ex_internal`; torch/nn/parameter.py, `__reduce_ex__`).
//
//   names.prepare(builder, tensor);                  // while the graph is being built
//   TensorReduction(names, storages, writer).write(tensor);   // while it is being saved
//
// What Python has as one object throughout a program (functions, classes, the literals 'storage'
// and 'cpu') is one node; what it makes anew for each tensor (shapes, ids, the empty hooks) is
// written out each time.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "flambeau/tensor.h"
#include "pickle/document_builder.h"
#include "pickle/pickler.h"

namespace flambeau {

/// The objects that reductions name; the rows stand in reduce.cc.
enum class Name : std::uint8_t {
  rebuild_tensor_v2,
  rebuild_tensor_v3,
  rebuild_parameter,
  rebuild_qtensor,
  rebuild_sparse,
  rebuild_nested,
  rebuild_meta,
  ordered_dict,
  size,
  get_layout,
  per_tensor_affine,
  per_channel_affine,
  untyped_storage,
  storage,
  cpu,
  mps,
  meta,
};
inline constexpr std::size_t kNameCount = static_cast<std::size_t>(Name::meta) + 1;

/// Their nodes in one document.
class TensorNames {
 public:
  TensorNames() noexcept;
  /// Makes the nodes of all names.
  void prepare(DocumentBuilder& builder);
  /// Makes the nodes that the tensor and its parts need beside them. Errors: `unsupported` for what
  /// PyTorch cannot save either (sub-byte integers), and for subclasses, which only a file's own
  /// graph has.
  void prepare(DocumentBuilder& builder, const Tensor& tensor);
  /// Takes the node of a literal from a file's own ids, where it is one object with theirs.
  void adopt(Name literal, Ref node) noexcept { names_[static_cast<std::size_t>(literal)] = node; }

  Ref operator[](Name name) const noexcept { return names_[static_cast<std::size_t>(name)]; }
  /// The node of a literal; nothing for other texts.
  std::optional<Ref> literal(std::string_view text) const noexcept;
  /// The class of a typed storage.
  Ref storage_class(DType dtype) const noexcept {
    return storage_classes_[static_cast<std::size_t>(dtype)];
  }
  Ref dtype(DType dtype) const noexcept { return dtypes_[static_cast<std::size_t>(dtype)]; }

 private:
  static constexpr std::size_t kDTypes = 64;

  std::array<Ref, kNameCount> names_;
  std::array<Ref, kDTypes> storage_classes_;
  std::array<Ref, kDTypes> dtypes_;
};

/// A storage's key while it is being saved: one string object for all tensors that share it.
struct StorageKey {
  /// The string's node, where a file's graph has one; else None, and `text` and `memo` hold it.
  Ref node = kNone;
  std::uint32_t number = 0;
  /// The string's number in the memo, once it has been written.
  std::uint32_t memo = UINT32_MAX;
  /// Bytes that are written for the storage.
  std::uint64_t size = 0;
};

/// Numbers storages as they are met.
class StorageKeys {
 public:
  virtual ~StorageKeys() = default;
  /// Error: `usage` where the storage has been met with elements of another type.
  virtual StorageKey& meet(const Storage& storage, DType dtype) = 0;
  /// Whether ids are those of streams: each key a string of its own, and a sixth item.
  virtual bool is_stream() const noexcept { return false; }
};

class TensorReduction {
 public:
  TensorReduction(const TensorNames& names, StorageKeys& storages, PickleWriter& writer) noexcept
      : names_(names), storages_(storages), writer_(writer), out_(writer.out()) {}

  /// All but the memo number of the tensor.
  void write(const Tensor& tensor);
  /// The id of a storage, without the opcode behind it.
  void storage_id(Ref storage_class, StorageKey& key, std::string_view device, std::int64_t numel);

 private:
  void parameter(const Tensor& tensor);
  void data(const Tensor& tensor, bool requires_grad);
  void strided(const Tensor& tensor, bool requires_grad);
  void quantized(const Tensor& tensor, bool requires_grad);
  void sparse(const Tensor& tensor);
  void nested(const Tensor& tensor);
  void meta(const Tensor& tensor, bool requires_grad);

  /// A tensor that is one of the arguments.
  void part(const Tensor& tensor, std::string_view name);
  void storage(const Tensor& tensor, bool is_typed);
  void key(StorageKey& key);
  void location(std::string_view tag);
  void quantizer(const Tensor& tensor);
  void math_bits(const Tensor& tensor);
  void integers(std::span<const std::int64_t> values);
  void size(std::span<const std::int64_t> shape);
  void hooks();

  void value(Name name) { writer_.value(names_[name]); }
  void boolean(bool value);
  void integer(std::int64_t value);
  void real(double value);
  void text(std::string_view value);
  void begin_tuple(std::size_t count);
  /// With its memo number.
  void end_tuple(std::size_t count);
  void empty_tuple();
  void call() { out_.op(Opcode::REDUCE); }

  const TensorNames& names_;
  StorageKeys& storages_;
  PickleWriter& writer_;
  Emitter& out_;
};

}  // namespace flambeau
