// SHA-256 of many tensors, on all cores.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "flambeau/checkpoint.h"

namespace flambeau::cli {

/// The digests of some tensors and of their parts, each tensor once however many names it has.
class Digests {
 public:
  /// Reads all data of `tensors`; tells progress on standard error when that is a terminal.
  /// Errors: as `sha256`, that of the first tensor which has one.
  explicit Digests(std::span<const Tensor* const> tensors);

  /// Nothing where the bytes are absent (meta, a missing record), where the kind has no array of
  /// its own, and where the tensor is over 1 GiB and over 16 times its storage, or with those
  /// before it over 1 GiB and over 16 times their storages.
  const std::optional<Sha256>& of(const Tensor& tensor) const;

 private:
  struct Job {
    const Tensor* tensor;
    std::optional<Sha256>* digest;
  };

  /// Whether the tensor is to have a digest; counts it where it is.
  bool affords(const Tensor& tensor);
  void collect(std::span<const Tensor* const> tensors);
  /// The jobs as runs of neighbours, one for each core.
  std::vector<std::span<const Job>> cut() const;
  void compute();

  std::unordered_map<const TensorRecord*, std::optional<Sha256>> digests_;
  std::vector<Job> jobs_;
  /// Of the jobs.
  std::uint64_t bytes_ = 0;
  /// Of all storages met so far, each once, by their index.
  std::uint64_t storage_bytes_ = 0;
  std::vector<bool> met_;
};

}  // namespace flambeau::cli
