// A storage is known by its identity, whatever tensors name it. Ids of a file's graph keep their
// nodes; only the text of the key changes, so that strings that were one object stay one.
#include "torch/saved_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "base/fail.h"
#include "io/pages.h"

namespace flambeau {

SavedGraph::SavedGraph(const GraphToSave& graph) : graph_(graph) {
  if (graph.base != nullptr && !graph.tensors.empty()) find_keys();
  // A pickle of a file is about as long as it was; a plain tensor takes some 110 bytes.
  constexpr std::size_t kTensorSize = 128;
  met_.reserve(graph.tensors.size());
  places_.resize(std::bit_ceil(2 * graph.tensors.size() + 2));
  pickle_ = write_pickle(graph.document, {.protocol = graph.protocol,
                                          .limits = graph.limits,
                                          .hooks = this,
                                          .expected_size = graph.document.source_size() +
                                                           graph.tensors.size() * kTensorSize,
                                          .memory = page_memory()});
}

/// New tensors may name the file's storages before its own ids do.
void SavedGraph::find_keys() {
  const Document& document = graph_.document;
  const StorageTable& storages = *graph_.base->storages();
  for (std::uint32_t i = 0; i < document.node_count(); ++i) {
    const Ref node = node_ref(i);
    if (!document.is(node, NodeKind::persistent) || !is_storage(node)) continue;
    const std::uint32_t row = storages.first_of_same_bytes(document.row(node));
    key_of_row_.try_emplace(row, document.items(document.persistent_id(node))[2]);
  }
}

bool SavedGraph::is_storage(Ref persistent) const noexcept {
  return graph_.base != nullptr &&
         static_cast<Form>(graph_.document.tag(persistent) & 0xff) == Form::storage;
}

std::string SavedGraph::key(std::size_t index) const {
  const StorageKey& key = met_[index].key;
  if (graph_.renumber || key.node == kNone) return fmt::format("{}", key.number);
  return std::string(graph_.document.text(key.node));
}

/// Ids that are no storage's stay what they are.
void SavedGraph::persistent(Ref node) {
  current_key_ = kNone;
  if (!is_storage(node)) return;
  const auto dtype = static_cast<DType>(graph_.document.tag(node) >> 8);
  Met& met = find_or_add(graph_.base->storage(node), dtype);
  const Ref key = graph_.document.items(graph_.document.persistent_id(node))[2];
  if (met.key.node == kNone) met.key.node = key;
  if (!graph_.renumber) return;
  current_key_ = key;
  current_text_ = fmt::format_int(met.key.number).str();
}

/// Ids of the other kind of container are made anew.
bool SavedGraph::write_id(Ref node, PickleWriter& writer) {
  if (!is_storage(node)) return false;
  const auto id = graph_.document.items(graph_.document.persistent_id(node));
  constexpr std::size_t kOfStream = 6;
  // Without names the file stays of its kind, whatever its ids look like.
  const bool is_own = graph_.names == nullptr || (id.size() == kOfStream) == graph_.is_stream;
  if (is_own && graph_.is_stream) return repeat_id(node, id, writer);
  if (is_own) return false;
  if (id.size() == kOfStream && id.back() != kNone) {
    fail(ErrorCode::unsupported, {},
         "parts of storages, as PyTorch before 1.0 saved them, have "
         "no place in an archive");
  }
  const auto dtype = static_cast<DType>(graph_.document.tag(node) >> 8);
  const Storage storage = graph_.base->storage(node);
  StorageKey& key = find_or_add(storage, dtype).key;
  TensorReduction(*graph_.names, *this, writer)
      .storage_id(id[1], key, graph_.document.text(id[3]),
                  static_cast<std::int64_t>(key.size / item_size(dtype)));
  return true;
}

/// Python makes the key's string for each time that it writes an id, also where that is the same id
/// again: of a tensor that holds itself.
bool SavedGraph::repeat_id(Ref node, std::span<const Ref> id, PickleWriter& writer) {
  if (written_ids_.insert(bits_of(node)).second || id.back() != kNone) return false;
  Emitter& out = writer.out();
  out.boundary();
  out.begin_tuple(id.size());
  for (const Ref item : id) {
    if (item != id[2]) {
      writer.value(item);
      continue;
    }
    out.boundary();
    out.string(text_of(item).value_or(graph_.document.text(item)));
    out.put();
  }
  out.end_tuple(id.size());
  out.put();
  return true;
}

std::optional<std::string_view> SavedGraph::text_of(Ref string) {
  if (string != current_key_) return std::nullopt;
  return current_text_;
}

void SavedGraph::outside(Ref node, PickleWriter& writer) {
  const Tensor& tensor = graph_.tensors[graph_.document.outside_number(node)];
  TensorReduction(*graph_.names, *this, writer).write(tensor);
}

/// Of a storage without bytes there is nothing that two types could disagree on.
StorageKey& SavedGraph::meet(const Storage& storage, DType dtype) {
  Met& met = find_or_add(storage, dtype);
  if (met.dtype != dtype && storage.size() > 0) {
    fail(ErrorCode::usage, {},
         "tensors of {} and of {} share a storage, which PyTorch cannot save as one",
         to_string(met.dtype), to_string(dtype));
  }
  // The texts of keys that a file's graph has are written for its nodes.
  if (met.key.node != kNone && graph_.renumber) {
    current_key_ = met.key.node;
    current_text_ = fmt::format_int(met.key.number).str();
  }
  return met.key;
}

Storage SavedGraph::written_for(const Storage& storage, std::uint32_t first) const {
  if (graph_.replacements != nullptr) {
    const auto found = graph_.replacements->find({storage.table().get(), first});
    if (found != graph_.replacements->end()) return found->second;
  }
  return {storage.table(), first};
}

/// Room comes first, so that the place stays where it is until it is set.
std::uint32_t& SavedGraph::place_of(const StorageIdentity& identity) {
  if ((placed_ + 1) * 2 > places_.size()) grow_places();
  const std::size_t mask = places_.size() - 1;
  std::size_t at = StorageIdentityHash()(identity) & mask;
  while (places_[at] != 0 && met_[places_[at] - 1].identity != identity) at = (at + 1) & mask;
  return places_[at];
}

void SavedGraph::grow_places() {
  constexpr std::size_t kFirst = 64;
  std::vector<std::uint32_t> old(std::max(kFirst, places_.size() * 2));
  old.swap(places_);
  for (const std::uint32_t place : old) {
    if (place != 0) place_of(met_[place - 1].identity) = place;
  }
}

SavedGraph::Met& SavedGraph::find_or_add(const Storage& storage, DType dtype) {
  const StorageTable* const table = storage.table().get();
  const std::uint32_t first = table->first_of_same_bytes(storage.index());
  const bool is_of_base = graph_.base != nullptr && table == graph_.base->storages().get();
  if (is_of_base && first >= place_of_row_.size()) place_of_row_.resize(first + 1);
  std::uint32_t& place = is_of_base ? place_of_row_[first] : place_of({table, first});
  if (place == 0) {
    const auto number = static_cast<std::uint32_t>(met_.size());
    const auto key = is_of_base ? key_of_row_.find(first) : key_of_row_.end();
    const Ref node = key == key_of_row_.end() ? kNone : key->second;
    Storage written = written_for(storage, first);
    const std::uint64_t size = written.size();
    met_.push_back({std::move(written),
                    {table, first},
                    {.node = node, .number = number, .size = size},
                    dtype});
    if (!is_of_base) ++placed_;
    place = number + 1;
  }
  return met_[place - 1];
}

}  // namespace flambeau
