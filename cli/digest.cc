// Every core takes a run of neighbours, cut so that the runs have about the same number of bytes.
// Runs are waited for in order, so the error that is reported is that of the first tensor which has
// one, whatever the cores were doing: the same file gives the same message.
#include "digest.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <thread>
#include <vector>

#include "progress.h"

namespace flambeau::cli {
namespace {

// A stride of 0 makes any size out of one element, and views any sum out of one storage. Both
// bounds are part of the form of a row (docs/cli.md, "ls").
constexpr std::uint64_t kLargeResult = std::uint64_t{1} << 30;
constexpr std::uint64_t kLargeRatio = 16;

// For one tensor and its storage, and for all tensors and their storages.
bool is_too_large(std::uint64_t size, std::uint64_t storage) noexcept {
  return size > kLargeResult && size / kLargeRatio > storage;
}

}  // namespace

Digests::Digests(std::span<const Tensor* const> tensors) {
  collect(tensors);
  compute();
}

// Depth first over tensors and parts; a record that was met already, under another name or inside
// another tensor, is not entered again.
void Digests::collect(std::span<const Tensor* const> tensors) {
  std::vector<const Tensor*> left(tensors.rbegin(), tensors.rend());
  while (!left.empty()) {
    const Tensor* const tensor = left.back();
    left.pop_back();
    const auto [at, is_new] = digests_.try_emplace(&tensor->record());
    if (!is_new) continue;
    if (affords(*tensor)) jobs_.push_back({tensor, &at->second});
    const auto parts = tensor->parts();
    for (auto part = parts.rbegin(); part != parts.rend(); ++part) left.push_back(&part->second);
  }
}

// In the order of the rows, so that the same file always lacks the same digests. The tensors of a
// file share one table.
bool Digests::affords(const Tensor& tensor) {
  const Storage& storage = tensor.storage();
  if (!storage || !storage.is_available()) return false;
  if (met_.size() <= storage.index()) met_.resize(storage.index() + std::size_t{1});
  if (!met_[storage.index()]) storage_bytes_ += storage.size();
  met_[storage.index()] = true;
  const std::uint64_t size = tensor.nbytes();
  if (is_too_large(size, storage.size()) || is_too_large(bytes_ + size, storage_bytes_)) {
    return false;
  }
  bytes_ += size;
  return true;
}

// The run that is being filled ends where the bytes so far pass its share of the total. At most
// eight, as for reading: hashing more than that at once is bound by memory.
std::vector<std::span<const Digests::Job>> Digests::cut() const {
  const std::size_t threads = std::clamp<std::size_t>(std::thread::hardware_concurrency(), 1, 8);
  std::vector<std::span<const Job>> runs;
  std::uint64_t bytes = 0;
  std::size_t start = 0;
  for (std::size_t i = 0; i < jobs_.size(); ++i) {
    bytes += jobs_[i].tensor->nbytes();
    const bool is_last_run = runs.size() + 1 == threads;
    const bool is_full = !is_last_run && bytes > bytes_ / threads * (runs.size() + 1);
    if (!is_full && i + 1 < jobs_.size()) continue;
    runs.push_back(std::span(jobs_).subspan(start, i + 1 - start));
    start = i + 1;
  }
  return runs;
}

// `std::async` carries an exception to `get`, so no worker needs to catch. With `deferred`, a run
// that the system has no thread for is done by `get` instead.
void Digests::compute() {
  std::atomic<std::uint64_t> done = 0;
  const auto work = [&done](std::span<const Job> run) {
    for (const Job& job : run) {
      *job.digest = sha256(*job.tensor);
      done += job.tensor->nbytes();
    }
  };
  constexpr auto kPolicy = std::launch::async | std::launch::deferred;
  std::vector<std::future<void>> results;
  for (const auto run : cut()) {
    results.push_back(std::async(kPolicy, work, run));
  }
  ProgressLine line("digests");
  for (auto& result : results) {
    while (result.wait_for(line.interval()) == std::future_status::timeout) line.show(done, bytes_);
  }
  line.clear();
  for (auto& result : results) result.get();
}

const std::optional<Sha256>& Digests::of(const Tensor& tensor) const {
  return digests_.at(&tensor.record());
}

}  // namespace flambeau::cli
