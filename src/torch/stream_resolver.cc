// Rules: torch/serialization.py, `persistent_load` of `_legacy_load` (2.15). A key's first id
// counts for size, element type and location. Texts may be byte strings, which is what Python 2
// wrote.
#include "torch/stream_resolver.h"

#include <utility>

#include "base/checked.h"
#include "base/fail.h"
#include "torch/globals.h"

namespace flambeau {
namespace {

bool is_text(const Document& document, Ref ref) {
  return document.is(ref, NodeKind::string) || document.is(ref, NodeKind::byte_string);
}

/// The items of a tuple that begins with `word`; none otherwise.
std::span<const Ref> items_of(const Document& document, Ref id, std::string_view word) {
  if (!document.is(id, NodeKind::tuple)) return {};
  const auto items = document.items(id);
  const bool begins =
      !items.empty() && is_text(document, items[0]) && document.text(items[0]) == word;
  return begins ? items : std::span<const Ref>();
}

}  // namespace

StreamResolver::StreamResolver(const Document& document, std::shared_ptr<SourceStorages> storages,
                               const RestoreRules& rules)
    : storages_(std::move(storages)), rules_(rules) {
  for (std::uint32_t i = 0; i < document.node_count(); ++i) {
    if (!document.is(node_ref(i), NodeKind::persistent)) continue;
    if (const auto id = parse(document, document.persistent_id(node_ref(i)))) add(*id);
  }
}

void StreamResolver::refuse(std::string_view what) const {
  fail(ErrorCode::malformed_tensor, {rules_.where}, "persistent id of a storage: {}", what);
}

/// Ids that are no tuple of "storage" and more stay data.
std::optional<StreamResolver::Id> StreamResolver::parse(const Document& document, Ref ref) const {
  const auto items = items_of(document, ref, "storage");
  if (items.empty()) return std::nullopt;
  if (items.size() != 5 && items.size() != 6) refuse("5 or 6 items are wanted");
  if (!document.is(items[1], NodeKind::global)) refuse("item 1 is no storage class");
  const GlobalName& global = document.global(items[1]);
  const GlobalMeaning meaning = meaning_of(global.module, global.name);
  if (meaning.role != Role::storage) refuse("item 1 is no known storage class");
  if (!is_text(document, items[2])) refuse("item 2, the key, is no text");
  if (!is_text(document, items[3])) refuse("item 3, the location, is no text");
  if (!document.is(items[4], NodeKind::integer)) {
    refuse("item 4, the number of elements, is no integer");
  }
  const std::int64_t numel = document.integer(items[4]);
  Id id;
  id.dtype = meaning.dtype.value_or(DType::u8);
  const auto size =
      checked_mul<std::int64_t>(numel, static_cast<std::int64_t>(item_size(id.dtype)));
  if (numel < 0 || !size) refuse("the number of elements is negative or overflows");
  id.size = static_cast<std::uint64_t>(*size);
  id.key = document.text(items[2]);
  id.tag = document.text(items[3]);
  if (items.size() == 6) id.view = parse_view(document, items[5], id);
  return id;
}

/// `(key of the view, first element, elements)`, as PyTorch before 1.0 wrote it.
std::optional<View> StreamResolver::parse_view(const Document& document, Ref view,
                                               const Id& id) const {
  if (view == kNone) return std::nullopt;
  if (!document.is(view, NodeKind::tuple)) refuse("item 5, the view, is no tuple");
  const auto items = document.items(view);
  const bool is_view = items.size() == 3 && document.is(items[1], NodeKind::integer) &&
                       document.is(items[2], NodeKind::integer);
  if (!is_view) refuse("item 5, the view, has not a key, an offset and a size");
  const std::int64_t first = document.integer(items[1]);
  const std::int64_t count = document.integer(items[2]);
  const std::uint64_t numel = id.size / item_size(id.dtype);
  if (first < 0 || count < 0 ||
      !fits(static_cast<std::uint64_t>(first), static_cast<std::uint64_t>(count), numel)) {
    refuse("item 5, the view, reaches past its storage");
  }
  return View{first, count};
}

/// A storage of one size under two element types is one storage, as in PyTorch 2.15.
void StreamResolver::add(const Id& id) {
  const auto [place, is_new] = rows_.try_emplace(id.key, storages_->row_count());
  if (is_new) {
    SourceRow row;
    row.key = id.key;
    row.size = id.size;
    row.dtype = id.dtype;
    row.device = storages_->tags().ordinal(rules_.map_location->tag_for(id.tag));
    storages_->add(row);
    tags_.push_back(id.tag);
    return;
  }
  const SourceRow& row = storages_->row(place->second);
  if (row.size != id.size) refuse("two sizes for one key");
  constexpr std::size_t kMostNotes = 100;
  if (row.dtype != id.dtype && row.size > 0 && notes_.size() < kMostNotes) {
    notes_.push_back({Note::Severity::ambiguity, std::string(id.key),
                      "the storage is named with two element types"});
  }
}

std::optional<std::uint64_t> StreamResolver::size_of(std::string_view key) const {
  const auto found = rows_.find(key);
  if (found == rows_.end()) return std::nullopt;
  return storages_->row(found->second).size;
}

void StreamResolver::place(std::string_view key, std::uint64_t count, std::uint64_t offset) {
  const auto found = rows_.find(key);
  if (found == rows_.end()) {
    fail(ErrorCode::malformed_pickle, {rules_.where}, "no tensor names the storage {}", key);
  }
  SourceRow& row = storages_->row(found->second);
  if (row.offset != SourceRow::kNowhere) {
    fail(ErrorCode::malformed_pickle, {rules_.where}, "the storage {} comes twice", key);
  }
  const std::uint64_t numel = row.size / item_size(row.dtype);
  if (count != numel) {
    fail(ErrorCode::malformed_tensor, {rules_.where}, "storage {} has {} elements, its data {}",
         key, numel, count);
  }
  row.offset = offset;
}

void StreamResolver::finish() {
  for (std::uint32_t i = 0; i < storages_->row_count(); ++i) {
    if (storages_->row(i).offset == SourceRow::kNowhere) {
      fail(ErrorCode::malformed_tensor, {rules_.where}, "the storage {} has no data",
           storages_->key(i));
    }
    if (rules_.is_set()) {
      restored_.push_back(restored_storage(Storage(storages_, i), tags_[i], rules_));
    }
  }
}

std::optional<StorageResolver::Share> StreamResolver::resolve(const Graph& graph, Ref ref) {
  const auto id = parse(graph.document(), ref);
  if (!id) return std::nullopt;
  return Share{rows_.at(id->key), id->dtype, id->view};
}

/// An nn.Module's class stood with its source text, once for each class.
bool StreamResolver::is_class(const Document& document, Ref id) const {
  const auto items = items_of(document, id, "module");
  return items.size() == 4 && document.is(items[1], NodeKind::global);
}

}  // namespace flambeau
