// The writer of safetensors files. All places are known before the first byte is written, so that
// several threads can write at once.
#include "flambeau/safetensors.h"

#include <algorithm>
#include <atomic>
#include <thread>

#include "base/bytes.h"
#include "base/endian.h"
#include "base/fail.h"
#include "formats/safetensors_header.h"
#include "io/parallel.h"
#include "tensor/convert.h"
#include "tensor/elements.h"
#include "tensor/record.h"

namespace flambeau {
namespace {

constexpr std::uint64_t kPiece = std::uint64_t{1} << 20;

/// What the elements are in the file.
DType written_dtype(const Tensor& tensor, const std::optional<DType>& dtype) {
  return dtype && category(tensor.dtype()) == DTypeCategory::floating ? *dtype : tensor.dtype();
}

void check_tensor(const NamedTensor& named, const std::optional<DType>& dtype) {
  if (named.name == "__metadata__") {
    fail(ErrorCode::usage, {}, "a tensor of a safetensors file cannot be called {}", named.name);
  }
  check_has_elements(named.tensor);
  const DType written = written_dtype(named.tensor, dtype);
  if (safetensors_name(written).empty()) {
    fail(ErrorCode::unsupported, {named.name}, "safetensors has no dtype {}", to_string(written));
  }
}

/// What goes where. Views the tensors.
class SafetensorsPlan {
 public:
  SafetensorsPlan(std::span<const NamedTensor> tensors, SafetensorsOptions options)
      : tensors_(tensors), dtype_(options.dtype) {
    std::vector<std::size_t> order(tensors.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    for (const NamedTensor& each : tensors) check_tensor(each, dtype_);
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      const auto key = [&](std::size_t i) {
        return std::pair(safetensors_rank(written_dtype(tensors[i].tensor, dtype_)),
                         tensors[i].name);
      };
      return key(a) < key(b);
    });
    std::sort(options.metadata.begin(), options.metadata.end());
    add_entries(order);
    header_ = safetensors_header_text(entries_, options.metadata);
  }

  std::uint64_t size() const {
    return sizeof(std::uint64_t) + header_.size() + (entries_.empty() ? 0 : entries_.back().end);
  }

  void write(Sink& sink, const WriteOptions& options) {
    options_ = &options;
    std::vector<std::byte> head(sizeof(std::uint64_t));
    store_le(head.data(), std::uint64_t{header_.size()});
    const Bytes text = as_bytes(header_);
    head.insert(head.end(), text.begin(), text.end());
    if (!sink.writes_anywhere()) {
      put(
          head, [&](std::uint64_t, Bytes bytes) { sink.write(bytes); }, 0);
      for (std::size_t i = 0; i < entries_.size(); ++i) {
        write_tensor(i, [&](std::uint64_t, Bytes bytes) { sink.write(bytes); });
      }
      return;
    }
    const auto write_at = [&](std::uint64_t at, Bytes bytes) { sink.write_at(at, bytes); };
    put(head, write_at, 0);
    parallel_for(
        entries_.size(), thread_count(options.threads),
        [&](std::size_t i) { write_tensor(i, write_at); }, options.stop);
  }

 private:
  void add_entries(const std::vector<std::size_t>& order) {
    std::uint64_t at = 0;
    for (const std::size_t i : order) {
      const Tensor& tensor = tensors_[i].tensor;
      SafetensorsEntry entry;
      entry.name = tensors_[i].name;
      entry.dtype = written_dtype(tensor, dtype_);
      entry.shape.assign(tensor.shape().begin(), tensor.shape().end());
      entry.begin = at;
      entry.end = at += static_cast<std::uint64_t>(tensor.numel()) * item_size(entry.dtype);
      if (!entries_.empty() && entries_.back().name == entry.name) {
        fail(ErrorCode::usage, {}, "two tensors are called {}", entry.name);
      }
      entries_.push_back(std::move(entry));
      tensor_of_.push_back(i);
    }
    std::vector<std::string_view> names;
    for (const NamedTensor& each : tensors_) names.push_back(each.name);
    std::sort(names.begin(), names.end());
    const auto twice = std::adjacent_find(names.begin(), names.end());
    if (twice != names.end()) {
      fail(ErrorCode::usage, {}, "two tensors are called {}", *twice);
    }
  }

  template <typename Write>
  void put(Bytes bytes, Write&& write, std::uint64_t at) {
    if (options_->stop.stop_requested()) {
      fail(ErrorCode::cancelled, {}, "the caller asked to stop");
    }
    write(at, bytes);
    const std::uint64_t done = done_.fetch_add(bytes.size()) + bytes.size();
    if (options_->progress && std::this_thread::get_id() == caller_) {
      options_->progress({done, size()});
    }
  }

  template <typename Write>
  void write_tensor(std::size_t i, Write&& write) {
    std::uint64_t at = sizeof(std::uint64_t) + header_.size() + entries_[i].begin;
    const Tensor& tensor = tensors_[tensor_of_[i]].tensor;
    if (entries_[i].dtype != tensor.dtype()) {
      Converter converter(tensor, entries_[i].dtype);
      for (Bytes piece = converter.next(); !piece.empty(); piece = converter.next()) {
        put(piece, write, at);
        at += piece.size();
      }
      return;
    }
    ElementStream stream(tensor, std::endian::little);
    std::vector<std::byte> scratch;
    if (stream.remaining() > 0) {
      scratch.resize(static_cast<std::size_t>(std::min<std::uint64_t>(kPiece, stream.remaining())));
    }
    for (Bytes piece = stream.next(scratch); !piece.empty(); piece = stream.next(scratch)) {
      for (; !piece.empty(); piece = piece.subspan(std::min<std::size_t>(piece.size(), kPiece))) {
        const Bytes part = piece.first(std::min<std::size_t>(piece.size(), kPiece));
        put(part, write, at);
        at += part.size();
      }
    }
  }

  std::span<const NamedTensor> tensors_;
  std::optional<DType> dtype_;
  std::vector<SafetensorsEntry> entries_;
  /// Of each entry, its place among the tensors.
  std::vector<std::size_t> tensor_of_;
  std::string header_;
  const WriteOptions* options_ = nullptr;
  std::atomic<std::uint64_t> done_ = 0;
  const std::thread::id caller_ = std::this_thread::get_id();
};

}  // namespace

bool save_safetensors(const std::string& path, std::span<const NamedTensor> tensors,
                      SafetensorsOptions options, const WriteOptions& writing) {
  return with_context(path, [&] {
    FileSinkOptions file = options.file;
    SafetensorsPlan plan(tensors, std::move(options));
    file.expected_size = plan.size();
    const auto sink = create_file(path, file);
    plan.write(*sink, writing);
    return sink->commit();
  });
}

bool save_safetensors(Sink& sink, std::span<const NamedTensor> tensors, SafetensorsOptions options,
                      const WriteOptions& writing) {
  SafetensorsPlan(tensors, std::move(options)).write(sink, writing);
  return sink.commit();
}

}  // namespace flambeau
