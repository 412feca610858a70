// Tensors go from where they lie to the new file; nothing is held but a piece at a time.
#include "flambeau/convert.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string_view>
#include <tuple>

#include "base/fail.h"
#include "checkpoint/state.h"
#include "flambeau/make.h"
#include "flambeau/save.h"
#include "tensor/convert.h"
#include "tensor/record.h"
#include "tensor/storage_table.h"
#include "torch/entries.h"

namespace flambeau {
namespace {

ConvertTo target_of(const std::string& out, const ConvertOptions& options) {
  if (options.to) return *options.to;
  const auto dot = out.find_last_of('.');
  const std::string_view extension =
      dot == std::string::npos ? std::string_view() : std::string_view(out).substr(dot);
  if (extension == ".safetensors") return ConvertTo::safetensors;
  for (const std::string_view known : {".pt", ".pth", ".bin", ".ckpt"}) {
    if (extension == known) return ConvertTo::pt;
  }
  fail(ErrorCode::usage, {out}, "the extension does not say what kind of file is wanted");
}

bool matches_any(const std::vector<std::string>& patterns, std::string_view name) {
  return std::any_of(patterns.begin(), patterns.end(),
                     [&](const std::string& pattern) { return name_matches(pattern, name); });
}

/// The tensors that are asked for. A name has to mean one thing.
std::vector<NamedTensor> chosen(const Checkpoint& checkpoint, const ConvertOptions& options) {
  std::vector<NamedTensor> tensors;
  std::set<std::string_view> names;
  std::vector<std::string> odd;
  for (const NamedTensor& each : checkpoint.tensors()) {
    const bool wanted = (options.select.empty() || matches_any(options.select, each.name)) &&
                        !matches_any(options.exclude, each.name);
    if (!wanted) continue;
    if (!names.insert(each.name).second) {
      fail(ErrorCode::usage, {}, "two tensors are called {}", each.name);
    }
    if (each.tensor.kind() != TensorKind::strided) {
      odd.push_back(fmt::format("{} ({})", each.name, to_string(each.tensor.kind())));
    }
    tensors.push_back(each);
  }
  constexpr std::size_t kMostNamed = 10;
  if (!odd.empty()) {
    const std::size_t named = std::min(odd.size(), kMostNamed);
    fail(ErrorCode::unsupported, {}, "{} of the tensors {} not strided: {}{}", odd.size(),
         odd.size() == 1 ? "is" : "are",
         fmt::join(odd.begin(), odd.begin() + static_cast<std::ptrdiff_t>(named), ", "),
         odd.size() > named ? ", …" : "");
  }
  return tensors;
}

/// What makes two tensors the same: storage and view.
using View = std::tuple<const StorageTable*, std::uint32_t, DType, std::int64_t,
                        std::vector<std::int64_t>, std::vector<std::int64_t>, bool, bool>;

View view_of(const Tensor& tensor) {
  const Storage& storage = tensor.storage();
  return {storage.table().get(),
          storage.table()->first_of_same_bytes(storage.index()),
          tensor.dtype(),
          tensor.offset(),
          {tensor.shape().begin(), tensor.shape().end()},
          {tensor.strides().begin(), tensor.strides().end()},
          tensor.is_conj(),
          tensor.is_neg()};
}

/// Of equal views the first name in order keeps the data, as safetensors' `save_model` has it.
void untie(std::vector<NamedTensor>& tensors, ConvertReport& report) {
  std::map<View, std::vector<std::size_t>> groups;
  std::map<std::pair<const StorageTable*, std::uint32_t>, std::set<const View*>> of_storage;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (tensors[i].tensor.numel() == 0) continue;
    groups[view_of(tensors[i].tensor)].push_back(i);
  }
  std::set<std::size_t> removed;
  for (auto& [view, group] : groups) {
    of_storage[{std::get<0>(view), std::get<1>(view)}].insert(&view);
    std::sort(group.begin(), group.end(),
              [&](std::size_t a, std::size_t b) { return tensors[a].name < tensors[b].name; });
    for (std::size_t i = 1; i < group.size(); ++i) {
      report.tied.emplace_back(tensors[group[i]].name, tensors[group[0]].name);
      removed.insert(group[i]);
    }
  }
  for (const auto& [storage, views] : of_storage) {
    if (views.size() < 2) continue;
    for (const View* view : views) report.copied.emplace_back(tensors[groups[*view][0]].name);
  }
  std::sort(report.tied.begin(), report.tied.end());
  std::sort(report.copied.begin(), report.copied.end());
  std::vector<NamedTensor> kept;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (!removed.contains(i)) kept.push_back(tensors[i]);
  }
  tensors = std::move(kept);
}

void note_left_out(const Checkpoint& checkpoint, ConvertReport& report) {
  constexpr std::size_t kMostNamed = 100;
  const Graph& graph = *checkpoint.root().graph();
  for_each_entry(graph, [&](const GraphEntry& entry) {
    const Kind kind = graph.kind(entry.value);
    if (kind == Kind::tensor || is_container(kind)) return;
    ++report.left_out_count;
    if (report.left_out.size() < kMostNamed) report.left_out.emplace_back(entry.path);
  });
}

bool is_cast(const Tensor& tensor, const std::optional<DType>& dtype) {
  return dtype && tensor.dtype() != *dtype && category(tensor.dtype()) == DTypeCategory::floating;
}

/// A contiguous tensor whose elements are made while it is written, which asks for them in order.
Tensor cast_while_written(const Tensor& tensor, DType dtype) {
  const std::vector<std::int64_t> shape(tensor.shape().begin(), tensor.shape().end());
  const auto size = static_cast<std::uint64_t>(tensor.numel()) * item_size(dtype);
  if (size == 0) return Tensor(dtype, shape, Storage::borrow({}));
  struct Source {
    Source(const Tensor& from, DType to) : tensor(from), stream(tensor, to) {}
    Tensor tensor;
    Converter stream;
    Bytes left;
  };
  std::shared_ptr<Source> source;
  const auto copy = [tensor, dtype, source](std::uint64_t offset, MutableBytes out) mutable {
    if (offset == 0) source = std::make_shared<Source>(tensor, dtype);
    while (!out.empty()) {
      if (source->left.empty()) source->left = source->stream.next();
      const std::size_t count = std::min(out.size(), source->left.size());
      std::copy_n(source->left.begin(), count, out.begin());
      source->left = source->left.subspan(count);
      out = out.subspan(count);
    }
    if (source->left.empty() && source->stream.is_done()) source.reset();
  };
  return Tensor(dtype, shape, Storage::on_device("cpu", size, nullptr, copy));
}

ConvertReport to_safetensors(std::vector<NamedTensor> tensors, const std::string& out,
                             const ConvertOptions& options, ConvertReport report) {
  untie(tensors, report);
  SafetensorsMetadata metadata = options.metadata;
  for (const auto& [name, kept] : report.tied) {
    const bool is_set = std::any_of(metadata.begin(), metadata.end(),
                                    [&](const auto& each) { return each.first == name; });
    if (!is_set) metadata.emplace_back(name, kept);
  }
  report.tensors = tensors.size();
  report.durable = save_safetensors(
      out, tensors, {.metadata = std::move(metadata), .dtype = options.dtype, .file = options.file},
      {.threads = options.threads, .progress = options.progress, .stop = options.stop});
  return report;
}

/// A plain dict. Tensors that shared a storage still do, where they are not cast.
ConvertReport to_pt(const Checkpoint& checkpoint, const std::vector<NamedTensor>& tensors,
                    const std::string& out, const ConvertOptions& options, ConvertReport report) {
  Draft draft;
  const Object dict = draft.dict();
  std::map<std::string_view, Tensor> made;
  for (const auto& [name, tensor] : tensors) {
    const Tensor written =
        is_cast(tensor, options.dtype) ? cast_while_written(tensor, *options.dtype) : tensor;
    dict.set(name, written);
    made.emplace(name, written);
  }
  for (const auto& [name, kept] : checkpoint.metadata()) {
    const auto found = made.find(kept);
    if (found == made.end() || made.contains(name)) continue;
    dict.set(name, found->second);
    report.tied.emplace_back(name, kept);
  }
  draft.set_root(dict);
  report.tensors = tensors.size();
  report.durable = save(out, draft,
                        {.overwrite = options.file.overwrite,
                         .durability = options.file.durability,
                         .threads = options.threads,
                         .progress = options.progress,
                         .stop = options.stop})
                       .durable;
  return report;
}

}  // namespace

ConvertReport convert(const Checkpoint& checkpoint, const std::string& out,
                      const ConvertOptions& options) {
  const ConvertTo target = target_of(out, options);
  ConvertReport report;
  note_left_out(checkpoint, report);
  std::vector<NamedTensor> tensors = chosen(checkpoint, options);
  if (target == ConvertTo::pt) {
    return to_pt(checkpoint, tensors, out, options, std::move(report));
  }
  return to_safetensors(std::move(tensors), out, options, std::move(report));
}

}  // namespace flambeau
