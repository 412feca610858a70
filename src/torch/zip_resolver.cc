// Rules: torch/serialization.py, `persistent_load` of `_load` (2.15). A key's first tuple counts
// for size and location. A later one with another element type views the same bytes where the sizes
// agree, and is a storage of its own over the same record where they do not. Keys are looked up as
// records below `data/` and nowhere else, by exact text; storages are met in the directory's order
// in nearly every file, so the record after the last one is tried first.
#include "torch/zip_resolver.h"

#include <utility>

#include "base/checked.h"
#include "torch/arguments.h"

namespace flambeau {
/// Rows that are there already are another pickle's, and no id leads to them.
ZipResolver::ZipResolver(std::shared_ptr<ZipStorages> storages, std::string_view folder,
                         const RestoreRules& options)
    : storages_(std::move(storages)),
      folder_(folder),
      options_(options),
      row_of_record_(storages_->archive().size(), 0) {
  if (options_.is_set()) restored_.resize(storages_->row_count());
}

/// Ids that are no tuple of "storage" and more stay data: other programs have ids of their own.
std::optional<StorageResolver::Share> ZipResolver::resolve(const Graph& graph, Ref id) {
  const Document& document = graph.document();
  if (!document.is(id, NodeKind::tuple)) return std::nullopt;
  const auto items = document.items(id);
  if (items.empty() || !is_storage_word(graph, items[0])) return std::nullopt;
  const Id parsed = parse(graph, items);
  return Share{find_or_add(parsed), parsed.dtype};
}

/// Word, class and location are nearly always the very nodes of the id before, so they are compared
/// by identity first.
bool ZipResolver::is_storage_word(const Graph& graph, Ref word) {
  if (word == last_word_ && is_node(word)) return true;
  const bool is_storage = graph.kind(word) == Kind::string && graph.text(word) == "storage";
  if (is_storage) last_word_ = word;
  return is_storage;
}

/// `UntypedStorage` counts bytes, so that its elements are uint8, as in PyTorch.
ZipResolver::Id ZipResolver::parse(const Graph& graph, std::span<const Ref> items) {
  const auto refuse = [&](std::string_view what) {
    fail(ErrorCode::malformed_tensor, {options_.where}, "persistent id of a storage: {}", what);
  };
  if (items.size() != 5) refuse("5 items are wanted");
  if (items[1] != last_class_ || last_class_ == kNone) {
    if (!graph.document().is(items[1], NodeKind::global)) refuse("item 1 is no storage class");
    class_meaning_ = graph.meaning(items[1]);
    if (class_meaning_.role != Role::storage) refuse("item 1 is no known storage class");
    last_class_ = items[1];
  }
  if (graph.kind(items[2]) != Kind::string) refuse("item 2, the key, is no text");
  if (items[3] != last_tag_ || last_tag_ == kNone) {
    if (graph.kind(items[3]) != Kind::string) refuse("item 3, the location, is no text");
    last_tag_ = items[3];
    tag_text_ = graph.text(items[3]);
    device_ = storages_->tags().ordinal(options_.map_location->tag_for(tag_text_));
  }
  const NodeKind numel_kind = graph.document().kind(items[4]);
  if (numel_kind != NodeKind::integer) refuse("item 4, the number of elements, is no integer");
  const std::int64_t numel = graph.document().integer(items[4]);
  const DType dtype = class_meaning_.dtype.value_or(DType::u8);
  const auto size = checked_mul<std::int64_t>(numel, static_cast<std::int64_t>(item_size(dtype)));
  if (numel < 0 || !size) refuse("the number of elements is negative or overflows");
  return {graph.text(items[2]), dtype, static_cast<std::uint64_t>(*size)};
}

/// Rows are found by record, which costs an array; only missing records need a map.
std::uint32_t* ZipResolver::first_row(const Id& id, std::uint32_t record) {
  if (record != StorageRow::kNoRecord) return &row_of_record_[record];
  const auto found = row_of_missing_.find(id.key);
  if (found != row_of_missing_.end()) return &found->second;
  return &row_of_missing_.emplace(storages_->keep(id.key), 0).first->second;
}

/// Walks the chain of rows over one record until one fits the element type or the size.
std::uint32_t ZipResolver::find_or_add(const Id& id) {
  const ArchiveReader& archive = storages_->archive();
  const auto found = archive.find(folder_, id.key, next_record_);
  if (found) next_record_ = *found + 1;
  const std::uint32_t record = found ? static_cast<std::uint32_t>(*found) : StorageRow::kNoRecord;
  std::uint32_t* const first = first_row(id, record);
  if (*first == 0) {
    const std::uint32_t row = add(id, record);
    *first = row + 1;
    return row;
  }
  std::uint32_t row = *first - 1;
  for (;;) {
    const StorageRow& known = storages_->row(row);
    compare(id, known);
    if (known.key == id.key && (known.dtype == id.dtype || known.size == id.size)) return row;
    if (known.next == 0) break;
    row = known.next;
  }
  const std::uint32_t added = add(id, record);
  storages_->row(row).next = added;
  storages_->row(added).first = *first - 1;
  return added;
}

std::uint32_t ZipResolver::add(const Id& id, std::uint32_t record) {
  check_record(id, record);
  StorageRow row;
  row.key = storages_->keep(id.key);
  row.size = id.size;
  row.record = record;
  row.dtype = id.dtype;
  row.device = device_;
  const std::uint32_t index = storages_->add(row);
  if (options_.is_set()) {
    restored_.push_back(restored_storage(Storage(storages_, index), tag_text_, options_));
  }
  return index;
}

/// A shorter record would be read past its end; a longer one is tolerated and noted.
void ZipResolver::check_record(const Id& id, std::uint32_t record) {
  if (record == StorageRow::kNoRecord) {
    note(id.key, Note::Severity::information, "the record is missing");
    return;
  }
  const Record entry = storages_->archive().record(record);
  if (entry.size < id.size) {
    fail(ErrorCode::malformed_tensor, {entry.name}, "the record has {} bytes, its storage {}",
         entry.size, id.size);
  }
  if (entry.size > id.size) {
    note(id.key, Note::Severity::ambiguity, "the record is longer than its storage");
  }
}

/// Of an empty storage the type says nothing; PyTorch itself saves one under several.
void ZipResolver::compare(const Id& id, const StorageRow& row) {
  if (row.dtype != id.dtype && !(row.size == id.size && id.size == 0)) {
    note(id.key, Note::Severity::ambiguity, "the storage is named with two element types");
  } else if (row.size != id.size) {
    note(id.key, Note::Severity::ambiguity, "the storage is named with two sizes");
  } else if (device_ != row.device) {
    note(id.key, Note::Severity::information, "the storage is named with two locations");
  }
}

/// A file may give a million reasons for notes; the first hundred tell enough.
void ZipResolver::note(std::string_view key, Note::Severity severity, std::string message) {
  constexpr std::size_t kMostNotes = 100;
  if (notes_.size() < kMostNotes) {
    notes_.push_back({severity, std::string(folder_) + std::string(key), std::move(message)});
  }
}

}  // namespace flambeau
