// Records and their order by release: torch/serialization.py `_save`, and `writeEndOfFile` of
// caffe2/serialize/inline_container.cc.
//
//   torch_1_6   data.pkl, data/* by the text of their keys, version
//   torch_2_1   data.pkl, byteorder, data/* likewise, version, .data/serialization_id
//   torch_2_7   data.pkl, .format_version, .storage_alignment, byteorder, data/* as they are met,
//               version, .data/serialization_id
#include "torch/save.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <numeric>
#include <utility>

#include "base/fail.h"
#include "flambeau/archive.h"
#include "pickle/text_argument.h"
#include "tensor/storage_table.h"
#include "torch/save_stream.h"

namespace flambeau {

std::string_view to_string(Layout layout) noexcept {
  switch (layout) {
    case Layout::legacy: return "legacy";
    case Layout::torch_1_6: return "torch_1_6";
    case Layout::torch_2_1: return "torch_2_1";
    case Layout::torch_2_7: return "torch_2_7";
  }
  return "";
}

std::string folder_for(std::string_view path) {
  if (!is_ascii(path)) return "archive";
  const auto slash = path.find_last_of("/\\");
  if (slash != std::string_view::npos) path.remove_prefix(slash + 1);
  const auto dot = path.find_last_of('.');
  if (dot != std::string_view::npos) path = path.substr(0, dot);
  if (path.empty()) fail(ErrorCode::usage, {}, "the file's name has nothing before its extension");
  return std::string(path);
}

namespace {

std::uint32_t checked_alignment(std::uint64_t alignment) {
  constexpr std::uint64_t kMost = 65'536;
  if (alignment == 0 || alignment > kMost) {
    fail(ErrorCode::usage, {}, "an alignment of {} bytes, 1 to {} are possible", alignment, kMost);
  }
  return static_cast<std::uint32_t>(alignment);
}

}  // namespace

ArchivePlan::ArchivePlan(const GraphToSave& graph, const SaveOptions& options,
                         const SavedForm& form)
    : options_(options),
      form_(form),
      layout_(options.layout.value_or(form.layout)),
      alignment_(options.alignment.value_or(form.alignment)),
      graph_(options.compact ? compact_.emplace(graph).graph() : graph),
      writer_({.folder = options.folder.value_or(form.folder),
               .alignment = checked_alignment(alignment_),
               .checksums = options.checksums.value_or(form.checksums),
               .serialization_id = layout_ != Layout::torch_1_6}) {
  if (compact_) report_.bytes_left_out = compact_->bytes_left_out();
  add_head();
  add_storages();
  add_text("version", form_.version);
  // Told to leave the record out, PyTorch writes it here.
  if (form_.byteorder_is_late) add_text("byteorder", form_.is_big_endian ? "big" : "little");
}

void ArchivePlan::add_text(std::string_view name, std::string text) {
  texts_.push_back(std::make_unique<const std::string>(std::move(text)));
  writer_.add(name, std::as_bytes(std::span(*texts_.back())));
}

void ArchivePlan::add_head() {
  writer_.add("data.pkl", graph_.pickle());
  if (layout_ == Layout::torch_2_7) {
    add_text(".format_version", "1");
    add_text(".storage_alignment", fmt::format("{}", alignment_));
  }
  if (layout_ != Layout::torch_1_6 && !form_.byteorder_is_late) {
    add_text("byteorder", form_.is_big_endian ? "big" : "little");
  }
}

void ArchivePlan::add_storages() {
  std::vector<std::size_t> order(graph_.storage_count());
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (layout_ != Layout::torch_2_7) {
    std::vector<std::string> keys(order.size());
    for (const std::size_t i : order) keys[i] = graph_.key(i);
    std::sort(order.begin(), order.end(),
              [&](std::size_t a, std::size_t b) { return keys[a] < keys[b]; });
  }
  storage_records_.reserve(order.size());
  writer_.reserve(order.size() + 8);
  for (const std::size_t index : order) add_storage(index);
}

/// Bytes that are in memory are written from there; others are fetched in pieces.
void ArchivePlan::add_storage(std::size_t index) {
  const Storage& storage = graph_.storage(index);
  const StorageTable& table = *storage.table();
  const std::uint32_t place = storage.index();
  const std::string name = "data/" + graph_.key(index);
  const bool checksum = table.has_checksum(place);
  storage_records_.emplace_back(index, writer_.size());
  ++report_.storage_count;
  report_.storage_bytes += storage.size();
  if (table.is_in_place(place)) {
    writer_.add(name, table.bytes(place), checksum);
    return;
  }
  const auto fill = [&table, place](std::uint64_t offset, std::span<std::byte> out) {
    table.copy_to(place, offset, out);
  };
  writer_.add(name, storage.size(), fill, checksum);
}

/// The checksum of what was written is that of what was read.
void ArchivePlan::check_sources() const {
  for (const auto& [index, record] : storage_records_) {
    const Storage& storage = graph_.storage(index);
    const StorageTable& table = *storage.table();
    if (const auto crc = writer_.checksum(record)) {
      table.check(storage.index(), *crc);
    } else {
      table.verify(storage.index());
    }
  }
}

SaveReport ArchivePlan::write(Sink& sink) {
  report_.size = size();
  writer_.finish(sink, {.threads = options_.threads,
                        .progress = options_.progress,
                        .stop = options_.stop,
                        .predecessor = form_.archive});
  check_sources();
  report_.durable = sink.commit();
  return report_;
}

namespace {

/// The same options for either kind of file.
FileSinkOptions sink_options(const SaveOptions& options, std::uint64_t size) {
  return {.overwrite = options.overwrite, .durability = options.durability, .expected_size = size};
}

}  // namespace

bool writes_stream(const SaveOptions& options, const SavedForm& form) noexcept {
  return options.layout.value_or(form.layout) == Layout::legacy;
}

SaveReport save_graph(const std::string& path, const GraphToSave& graph, SaveOptions options,
                      const SavedForm& form) {
  return with_context(path, [&] {
    if (graph.is_stream) {
      StreamPlan plan(graph, options, form);
      const auto sink = create_file(path, sink_options(options, plan.size()));
      return plan.write(*sink);
    }
    if (!options.folder && form.folder.empty()) options.folder = folder_for(path);
    ArchivePlan plan(graph, options, form);
    const auto sink = create_file(path, sink_options(options, plan.size()));
    return plan.write(*sink);
  });
}

SaveReport save_graph(Sink& sink, const GraphToSave& graph, SaveOptions options,
                      const SavedForm& form) {
  if (graph.is_stream) return StreamPlan(graph, options, form).write(sink);
  if (!options.folder && form.folder.empty()) options.folder = "archive";
  return ArchivePlan(graph, options, form).write(sink);
}

GraphToSave graph_of(Draft& draft, const SaveOptions& options) {
  Draft::State& state = draft.state();
  const bool is_stream = writes_stream(options, state.form);
  return {.document = state.seal(),
          .protocol = state.protocol,
          .base = state.base.get(),
          .tensors = state.tensors,
          .names = &state.names,
          .renumber = !is_stream || state.form.layout != Layout::legacy || !state.tensors.empty(),
          .is_stream = is_stream,
          .limits = options.limits};
}

StateDict::StateDict() : draft_(std::make_unique<Draft>()), root_(draft_->ordered_dict()) {
  draft_->set_root(root_);
}

StateDict& StateDict::add(std::string_view name, const Tensor& tensor) {
  root_.set(name, tensor);
  return *this;
}

SaveReport save(const std::string& path, Draft& draft, const SaveOptions& options) {
  return save_graph(path, graph_of(draft, options), options, draft.state().form);
}
SaveReport save(Sink& sink, Draft& draft, const SaveOptions& options) {
  return save_graph(sink, graph_of(draft, options), options, draft.state().form);
}
SaveReport save(const std::string& path, StateDict& state, const SaveOptions& options) {
  return save(path, state.draft(), options);
}
SaveReport save(Sink& sink, StateDict& state, const SaveOptions& options) {
  return save(sink, state.draft(), options);
}

}  // namespace flambeau
