// The JSON row of a tensor: the object that `ls`, `tree` and `show` describe tensors with.
//
//   RowWriter rows(out);
//   rows.write(tensor);                                  // {"kind":"strided","dtype":"float32",…}
//   rows.write_named(entry.name, ckpt.path(i), tensor);  // {"name":"w","path":"['w']","kind":…}
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "digest.h"
#include "flambeau/tensor.h"
#include "output.h"

namespace flambeau::cli {

class RowWriter {
 public:
  /// With `digests`, rows have `sha256`.
  explicit RowWriter(Output& out, const Digests* digests = nullptr) noexcept
      : out_(out), digests_(digests) {}

  /// Gives back how deep arrays and objects are nested in the row.
  std::size_t write(const Tensor& tensor);
  /// `record` is the pickle's, where that is not the object's own.
  void write_named(std::string_view name, std::string_view path, const Tensor& tensor,
                   std::string_view record = {});

  /// What stopped a row: tensors inside tensors, shared at every level, could multiply without end.
  /// Nothing where all rows are whole.
  std::optional<Error> error() const;

 private:
  struct Level {
    const Tensor* tensor;
    std::size_t next_part;
  };

  void write_fields(const Tensor& tensor);
  void write_view(const Tensor& tensor);
  void write_storage(const Tensor& tensor);
  void write_kind_fields(const Tensor& tensor);
  void write_quantizer(const Quantizer& quantizer);
  void write_sizes(std::span<const std::int64_t> sizes);
  void write_rest(const Tensor& tensor);
  void finish(const Tensor& tensor);

  Output& out_;
  const Digests* digests_;
  std::vector<Level> levels_;
  std::size_t part_count_ = 0;
  std::size_t deepest_ = 0;
};

}  // namespace flambeau::cli
