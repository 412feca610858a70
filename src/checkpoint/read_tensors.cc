// Many tensors at once. Each request becomes parts of at most a few megabytes; threads take them in
// order, so the file is read nearly front to back. A part of a stored record is read straight into
// the caller's memory, and its checksum taken in pieces that are still in the cache; the pieces'
// checksums are joined when all are there. Whatever is not a plain run of bytes goes through
// `Tensor::copy_to`.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <thread>
#include <utility>

#include "base/checked.h"
#include "base/fail.h"
#include "flambeau/checkpoint.h"
#include "io/pages.h"
#include "io/parallel.h"
#include "tensor/record.h"
#include "tensor/storage_table.h"
#include "torch/zip_storages.h"

namespace flambeau {
namespace {

/// Large enough to make a thread's switch between parts cheap, small enough to share them evenly.
constexpr std::uint64_t kPartSize = std::uint64_t{8} << 20;
/// Read and checksummed at a time: it should still be in the second-level cache.
constexpr std::uint64_t kPieceSize = std::uint64_t{256} << 10;
/// Below this, copying from a mapping is cheaper than a call of the system.
constexpr std::uint64_t kSmall = std::uint64_t{64} << 10;
/// Bytes of small requests that make one task.
constexpr std::uint64_t kTaskSize = std::uint64_t{1} << 20;

/// A piece of work: some bytes of one request.
struct Part {
  const ReadRequest* request;
  /// Null where the tensor goes through `copy_to`.
  const ZipStorages* storages = nullptr;
  std::uint32_t record = 0;
  /// First byte within the record, and within the request's buffer.
  std::uint64_t record_offset = 0;
  std::uint64_t out_offset = 0;
  std::uint64_t size = 0;
  /// Whether the request is the whole record, so that its checksum is that of the parts.
  bool checked = false;
  std::uint32_t crc = 0;
};

/// Tasks are runs of parts.
struct Plan {
  std::vector<Part> parts;
  std::vector<std::size_t> task_begins;
  std::uint64_t total = 0;
};

/// Whether the elements as stored are the elements as asked for.
bool is_plain_run(const TensorRecord& record, const Tensor& tensor) {
  return (record.kind == TensorKind::strided || record.kind == TensorKind::quantized) &&
         !record.is_conj && !record.is_neg && !record.is_byte_swapped && tensor.is_contiguous();
}

/// The table of a tensor whose bytes are a run of a stored record, else null.
const ZipStorages* stored_in(const Tensor& tensor) {
  if (!tensor.storage() || !is_plain_run(tensor.record(), tensor)) return nullptr;
  const auto* storages = dynamic_cast<const ZipStorages*>(tensor.storage().table().get());
  const std::uint32_t index = tensor.storage().index();
  if (storages == nullptr || !storages->is_available(index)) return nullptr;
  return storages->archive().record(storages->row(index).record).is_stored() ? storages : nullptr;
}

/// A request for a part of a record cannot check the record's checksum on the way, so that is done
/// first, once for each storage.
void plan_request(const ReadRequest& request, bool verify, Plan& plan) {
  const std::uint64_t size = request.tensor.nbytes();
  if (request.out.size() != size) {
    fail(ErrorCode::usage, {}, "a tensor of {} bytes and a buffer of {}", size, request.out.size());
  }
  Part part{.request = &request, .size = size};
  part.storages = stored_in(request.tensor);
  if (part.storages == nullptr) {
    plan.parts.push_back(part);
    return;
  }
  const std::uint32_t index = request.tensor.storage().index();
  part.record = part.storages->row(index).record;
  part.record_offset =
      static_cast<std::uint64_t>(request.tensor.offset()) * item_size(request.tensor.dtype());
  const bool wanted = verify && !part.storages->is_verified(index);
  const bool whole = size == part.storages->archive().record(part.record).size;
  part.checked = wanted && whole;
  const bool is_slice = request.tensor.record().is_slice;
  if (wanted && !whole && !is_slice) request.tensor.storage().verify();
  const std::uint64_t first = part.record_offset;
  do {
    Part piece = part;
    piece.size = std::min(kPartSize, size - part.out_offset);
    piece.record_offset = first + part.out_offset;
    plan.parts.push_back(piece);
    part.out_offset += piece.size;
  } while (part.out_offset < size);
}

/// Small requests share a task: handing one out costs more than reading a few bytes.
Plan make_plan(std::span<const ReadRequest> requests, bool verify) {
  Plan plan;
  plan.parts.reserve(requests.size());
  for (const ReadRequest& request : requests) plan_request(request, verify, plan);
  std::uint64_t in_task = kTaskSize;
  for (std::size_t i = 0; i < plan.parts.size(); ++i) {
    if (in_task >= kTaskSize) {
      plan.task_begins.push_back(i);
      in_task = 0;
    }
    in_task += plan.parts[i].size;
    plan.total += plan.parts[i].size;
  }
  plan.task_begins.push_back(plan.parts.size());
  return plan;
}

/// Pieces are read and checksummed in turn, so that the second step finds them in the cache.
void run_part(Part& part) {
  if (part.storages == nullptr) {
    part.request->tensor.copy_to(part.request->out);
    return;
  }
  const ArchiveReader& archive = part.storages->archive();
  const Source& source = *archive.source();
  const std::uint64_t begin = archive.data_offset(part.record) + part.record_offset;
  const MutableBytes out = part.request->out.subspan(static_cast<std::size_t>(part.out_offset),
                                                     static_cast<std::size_t>(part.size));
  // `read` of a mapped file is a system call: large parts fill the caller's huge pages by it
  // without a fault for each small page of the mapping.
  const bool copies = part.size < kSmall && source.in_memory();
  for (std::uint64_t done = 0; done < part.size; done += kPieceSize) {
    const auto piece =
        out.subspan(static_cast<std::size_t>(done),
                    static_cast<std::size_t>(std::min(kPieceSize, part.size - done)));
    if (copies) {
      std::memcpy(piece.data(), source.view(begin + done, piece.size()).bytes.data(), piece.size());
    } else {
      source.read(begin + done, piece);
    }
    if (part.checked) part.crc = crc32(piece, part.crc);
  }
}

/// Joins the checksums of each request's parts and compares them with the directory's.
void check_parts(const std::vector<Part>& parts) {
  for (std::size_t i = 0; i < parts.size();) {
    const Part& first = parts[i];
    std::uint32_t crc = first.crc;
    std::size_t next = i + 1;
    while (next < parts.size() && parts[next].request == first.request) {
      crc = crc32_combine(crc, parts[next].crc, parts[next].size);
      ++next;
    }
    if (first.checked) {
      first.storages->check(first.request->tensor.storage().index(), crc);
    }
    i = next;
  }
}

}  // namespace

/// Checksums are compared at the end, when the parts of each request are all there.
void read_tensors(std::span<const ReadRequest> requests, const ReadOptions& options) {
  Plan plan = make_plan(requests, options.verify);
  const std::size_t tasks = plan.task_begins.size() - 1;
  const unsigned threads = plan.total < 2 * kTaskSize ? 1 : thread_count(options.threads);
  std::atomic<std::uint64_t> done = 0;
  const auto caller = std::this_thread::get_id();
  parallel_for(
      tasks, threads,
      [&](std::size_t task) {
        std::uint64_t bytes = 0;
        for (std::size_t i = plan.task_begins[task]; i < plan.task_begins[task + 1]; ++i) {
          run_part(plan.parts[i]);
          bytes += plan.parts[i].size;
        }
        const std::uint64_t so_far = done.fetch_add(bytes) + bytes;
        if (options.progress && std::this_thread::get_id() == caller) {
          options.progress({so_far, plan.total});
        }
      },
      options.stop);
  check_parts(plan.parts);
  if (options.progress) options.progress({plan.total, plan.total});
}

namespace {

/// The storages of one batch: runs of one allocation.
class BatchStorages : public StorageTable {
 public:
  BatchStorages(Pages pages, std::vector<MutableBytes> runs)
      : pages_(std::move(pages)), runs_(std::move(runs)) {}
  std::uint64_t size(std::uint32_t index) const noexcept override { return runs_[index].size(); }
  Bytes bytes(std::uint32_t index) const override { return runs_[index]; }

 private:
  Pages pages_;
  std::vector<MutableBytes> runs_;
};

/// Each tensor starts at a multiple of the alignment; the sum is checked as it grows.
std::vector<std::uint64_t> place(std::span<const Tensor> tensors, std::uint64_t& total) {
  std::vector<std::uint64_t> places;
  places.reserve(tensors.size());
  for (const Tensor& tensor : tensors) {
    places.push_back(total);
    const auto end = checked_add(total, tensor.nbytes());
    const auto aligned = end ? checked_add<std::uint64_t>(*end, kPageAlignment - 1) : std::nullopt;
    if (!aligned) fail(ErrorCode::limit, {}, "the tensors together have more than 2^64 bytes");
    total = *aligned / kPageAlignment * kPageAlignment;
  }
  return places;
}

/// The tensor's description over run `index` of a batch.
TensorRecord batch_record(const Tensor& tensor, Storage storage) {
  TensorRecord record;
  record.storage = std::move(storage);
  record.kind = tensor.kind();
  record.dtype = tensor.dtype();
  record.requires_grad = tensor.requires_grad();
  record.is_parameter = tensor.is_parameter();
  record.extension = tensor.record().extension;
  // Strides overflow only beside a size of 0, where they do not matter.
  record.dimensions = Dimensions(
      tensor.shape(),
      contiguous_strides(tensor.shape()).value_or(std::vector<std::int64_t>(tensor.ndim())));
  return record;
}

}  // namespace

std::vector<Tensor> read_tensors(std::span<const Tensor> tensors, const ReadOptions& options) {
  std::uint64_t total = 0;
  const std::vector<std::uint64_t> places = place(tensors, total);
  Pages pages = allocate_pages(total);
  std::vector<ReadRequest> requests;
  std::vector<MutableBytes> runs;
  requests.reserve(tensors.size());
  runs.reserve(tensors.size());
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    runs.push_back(pages.bytes.subspan(static_cast<std::size_t>(places[i]),
                                       static_cast<std::size_t>(tensors[i].nbytes())));
    requests.push_back({tensors[i], runs.back()});
  }
  read_tensors(requests, options);
  const auto table = std::make_shared<BatchStorages>(std::move(pages), std::move(runs));
  const auto records = std::make_shared<TensorRecord[]>(tensors.size());
  std::vector<Tensor> result;
  result.reserve(tensors.size());
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    TensorRecord& record = records.get()[i];
    record = batch_record(tensors[i], Storage(table, static_cast<std::uint32_t>(i)));
    result.emplace_back(std::shared_ptr<const TensorRecord>(records, &record));
  }
  return result;
}

}  // namespace flambeau
