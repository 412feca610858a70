// Two passes over what the root leads to: the first finds what of each storage is viewed, the
// second moves the views. Rebuild calls of strided and quantized tensors have storage, offset, size
// and stride first (torch/_utils.py); nothing else of a graph says where in a storage it looks.
#include "torch/compact.h"

#include <algorithm>

#include "base/fail.h"
#include "tensor/record.h"
#include "tensor/storage_table.h"

namespace flambeau {
namespace {

/// A part of another storage.
class StoragePart final : public StorageTable {
 public:
  StoragePart(Storage whole, std::uint64_t begin, std::uint64_t size)
      : whole_(std::move(whole)), begin_(begin), size_(size) {}

  std::uint64_t size(std::uint32_t) const noexcept override { return size_; }
  std::string_view device(std::uint32_t) const noexcept override { return whole_.device(); }
  bool is_available(std::uint32_t) const noexcept override { return whole_.is_available(); }
  Bytes bytes(std::uint32_t) const override { return whole_.bytes().subspan(begin_, size_); }
  Part part(std::uint32_t, std::uint64_t offset, std::uint64_t size) const override {
    return whole_.table()->part(whole_.index(), begin_ + offset, size);
  }
  void copy_to(std::uint32_t, std::uint64_t offset, MutableBytes out) const override {
    whole_.table()->copy_to(whole_.index(), begin_ + offset, out);
  }
  bool is_in_place(std::uint32_t) const noexcept override {
    return whole_.table()->is_in_place(whole_.index());
  }
  bool has_checksum(std::uint32_t) const noexcept override {
    return whole_.table()->has_checksum(whole_.index());
  }
  void verify(std::uint32_t) const override { whole_.verify(); }
  /// The file's checksum is of the whole.
  void check(std::uint32_t, std::uint32_t) const override { whole_.verify(); }

 private:
  Storage whole_;
  std::uint64_t begin_;
  std::uint64_t size_;
};

bool is_view(Role role) noexcept {
  return role == Role::rebuild_tensor || role == Role::rebuild_tensor_v2 ||
         role == Role::rebuild_tensor_v3 || role == Role::rebuild_qtensor;
}

Form form_of(const Document& document, Ref ref) noexcept {
  return is_node(ref) ? static_cast<Form>(document.tag(ref) & 0xff) : Form::none;
}

}  // namespace

namespace {

ParseOptions builder_options(const Limits& limits) {
  ParseOptions options;
  options.limits = limits;
  options.where = "graph";
  return options;
}

}  // namespace

CompactGraph::CompactGraph(const GraphToSave& graph)
    : graph_(graph),
      builder_(Document(graph.document, nullptr), builder_options(graph.limits), step_),
      seen_(graph.document.node_count()),
      tensors_(graph.tensors.begin(), graph.tensors.end()),
      compact_{.document = builder_.document(),
               .protocol = graph.protocol,
               .base = graph.base,
               .names = graph.names,
               .renumber = graph.renumber,
               .is_stream = graph.is_stream,
               .limits = graph.limits} {
  visit_document();
  cut();
  for (const Ref view : views_) move_view(view);
  for (const std::uint32_t i : reached_tensors_) tensors_[i] = moved(tensors_[i]);
  builder_.seal(graph.document.root(), graph.document.protocol());
  compact_.tensors = tensors_;
  compact_.replacements = &replacements_;
}

void CompactGraph::push(std::span<const Ref> refs) {
  for (const Ref ref : refs) {
    if (!is_node(ref) || seen_[bits_of(ref)]) continue;
    seen_[bits_of(ref)] = true;
    open_.push_back(ref);
  }
}

/// Depth first, each node once.
void CompactGraph::visit_document() {
  const Document& document = graph_.document;
  const Ref root = document.root();
  push({&root, 1});
  while (!open_.empty()) {
    const Ref ref = open_.back();
    open_.pop_back();
    switch (document.kind(ref)) {
      case NodeKind::list:
      case NodeKind::tuple:
      case NodeKind::dict:
      case NodeKind::set:
      case NodeKind::frozenset: push(document.items(ref)); break;
      case NodeKind::object: visit_object(ref); break;
      case NodeKind::persistent:
        if (form_of(document, ref) == Form::storage) {
          reach(graph_.base->storage(ref)).is_whole = true;
        }
        break;
      case NodeKind::outside:
        reached_tensors_.push_back(document.outside_number(ref));
        visit_tensor(graph_.tensors[document.outside_number(ref)]);
        break;
      case NodeKind::none:
      case NodeKind::boolean:
      case NodeKind::integer:
      case NodeKind::big_integer:
      case NodeKind::real:
      case NodeKind::string:
      case NodeKind::byte_string:
      case NodeKind::bytes:
      case NodeKind::bytearray:
      case NodeKind::global:
      case NodeKind::extension: break;
    }
  }
}

Ref CompactGraph::viewed_storage(Ref object) const noexcept {
  const Document& document = graph_.document;
  if (graph_.base == nullptr || form_of(document, object) != Form::tensor) return kNone;
  const Ref callable = document.callable(object);
  if (!document.is(callable, NodeKind::global) || !is_view(graph_.base->meaning(callable).role)) {
    return kNone;
  }
  const Ref storage = document.items(document.args(object))[0];
  return form_of(document, storage) == Form::storage ? storage : kNone;
}

/// The storage of a view is no way to it by itself.
void CompactGraph::visit_object(Ref object) {
  const Document& document = graph_.document;
  const Ref args = document.args(object);
  if (viewed_storage(object) != kNone) {
    views_.push_back(object);
    add_view(graph_.base->record(object));
    push(document.items(args).subspan(1));
  } else {
    push({&args, 1});
  }
  const Ref callable = document.callable(object);
  push({&callable, 1});
  const ObjectExtra* extra = document.extra(object);
  if (extra == nullptr) return;
  push(extra->list_items);
  push(extra->dict_items);
  if (extra->kwargs) push({&*extra->kwargs, 1});
  if (extra->state) push({&*extra->state, 1});
}

void CompactGraph::visit_tensor(const Tensor& tensor) {
  if (tensor.storage()) add_view(tensor.record());
  for (const auto& [name, part] : tensor.parts()) visit_tensor(part);
}

CompactGraph::Reach& CompactGraph::reach(const Storage& storage) {
  const StorageTable& table = *storage.table();
  const std::uint32_t first = table.first_of_same_bytes(storage.index());
  Reach& reach = reaches_[{&table, first}];
  if (!reach.storage) reach.storage = Storage(storage.table(), first);
  return reach;
}

/// A view without elements reaches nothing, wherever it stands.
void CompactGraph::add_view(const TensorRecord& record) {
  if (!record.storage) return;
  Reach& reach = this->reach(record.storage);
  const std::uint64_t unit = item_size(record.dtype);
  reach.unit = std::max(reach.unit, unit);
  if (values_per_item(record.dtype) > 1) reach.is_whole = true;  // sizes count parts of items
  const auto extent =
      view_extent(record.dimensions.shape(), record.dimensions.strides(), record.offset);
  if (!extent || *extent == 0) return;
  reach.begin = std::min(reach.begin, static_cast<std::uint64_t>(record.offset) * unit);
  reach.end = std::max(reach.end, *extent * unit);
}

void CompactGraph::cut() {
  for (auto& [identity, reach] : reaches_) {
    const std::uint64_t size = reach.storage.size();
    if (reach.is_whole || size % reach.unit != 0) reach.begin = 0, reach.end = size;
    if (reach.end == 0) reach.begin = 0;
    reach.begin -= reach.begin % reach.unit;
    reach.end = std::min(size, (reach.end + reach.unit - 1) / reach.unit * reach.unit);
    const std::uint64_t left = reach.end - reach.begin;
    if (left == size) continue;
    bytes_left_out_ += size - left;
    const auto part = std::make_shared<const StoragePart>(reach.storage, reach.begin, left);
    replacements_[{identity.first, identity.second}] = Storage(part, 0);
  }
}

/// Offset and size stand in the arguments of the call and in the storage's id.
void CompactGraph::move_view(Ref object) {
  const Ref args = graph_.document.args(object);
  const TensorRecord& record = graph_.base->record(object);
  const Reach& reach = this->reach(record.storage);
  if (reach.end - reach.begin == reach.storage.size()) return;
  const std::uint64_t unit = item_size(record.dtype);
  const auto old_args = graph_.document.items(args);
  std::vector<Ref> new_args(old_args.begin(), old_args.end());
  const bool has_elements =
      view_extent(record.dimensions.shape(), record.dimensions.strides(), record.offset)
          .value_or(0) > 0;
  const std::int64_t offset =
      has_elements ? record.offset - static_cast<std::int64_t>(reach.begin / unit) : 0;
  new_args[1] = builder_.add_integer(offset);
  builder_.replace_items(args, new_args);
  const Ref id = graph_.document.persistent_id(old_args[0]);
  const auto old_id = graph_.document.items(id);
  std::vector<Ref> new_id(old_id.begin(), old_id.end());
  const auto numel = (reach.end - reach.begin) / item_size(graph_.base->dtype(old_args[0]));
  new_id[4] = builder_.add_integer(static_cast<std::int64_t>(numel));
  // Of a stream: offsets count from the storage's start now, whatever part of it was meant.
  if (new_id.size() > 5) new_id[5] = kNone;
  builder_.replace_items(id, new_id);
}

/// New tensors name their storage by the one that replaces it.
Tensor CompactGraph::moved(const Tensor& tensor) const {
  TensorRecord record = tensor.record();
  if (record.storage) {
    const std::uint32_t first = record.storage.table()->first_of_same_bytes(record.storage.index());
    const auto found = reaches_.find({record.storage.table().get(), first});
    const Reach& reach = found->second;
    if (reach.end - reach.begin != reach.storage.size()) {
      record.offset = std::max<std::int64_t>(
          0, record.offset - static_cast<std::int64_t>(reach.begin / item_size(record.dtype)));
    }
  }
  if (!tensor.parts().empty()) {
    auto extension = std::make_shared<TensorExtension>(*record.extension);
    for (auto& [name, part] : extension->parts) part = moved(part);
    record.extension = std::move(extension);
  }
  return Tensor(std::make_shared<const TensorRecord>(std::move(record)));
}

}  // namespace flambeau
