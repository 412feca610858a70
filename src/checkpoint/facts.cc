// Facts about a zip file, for `info`: what its layout tells of its writer, and what of it no tensor
// reaches.
#include <algorithm>
#include <bit>
#include <charconv>
#include <set>
#include <unordered_set>
#include <vector>

#include "checkpoint/state.h"
#include "flambeau/checkpoint.h"
#include "tensor/record.h"

namespace flambeau {
namespace {

/// Releases 1.4 to 1.8 named storages by the decimal address of their memory.
bool has_address_keys(const ZipStorages& storages) {
  for (std::uint32_t i = 0; i < storages.row_count(); ++i) {
    const std::string_view key = storages.key(i);
    std::uint64_t number = 0;
    const auto [end, code] = std::from_chars(key.data(), key.data() + key.size(), number);
    // Small numbers may count up; an address is larger than any count of storages.
    const bool is_number = code == std::errc() && end == key.data() + key.size();
    if (is_number && number >= storages.row_count() && number > UINT16_MAX) return true;
  }
  return false;
}

}  // namespace

/// The newest trait decides.
std::string producer_of(const Loaded& loaded, Container container) {
  if (loaded.stream != nullptr) return "torch >= 0.2, as a stream";
  if (container == Container::sharded) return "shards";
  if (container == Container::pt2) return loaded.zip ? "torch >= 2.8" : "torch 2.1 to 2.7";
  if (loaded.zip == nullptr) return "safetensors";
  const ArchiveReader& archive = loaded.zip->archive();
  if (archive.find(".format_version")) return "torch >= 2.7";
  if (archive.find(".data/serialization_id")) return "torch 2.1 to 2.6";
  if (has_address_keys(*loaded.zip)) return "torch 1.4 to 1.8";
  return "torch 1.6 to 2.0";
}

namespace {

/// Whether tensors reach the rows of a table. Parts have parts, and may share them: each set of
/// parts is looked at once.
std::vector<bool> reached_rows(const StorageTable& storages, std::uint32_t row_count,
                               std::span<const NamedTensor> tensors) {
  std::vector<bool> reached(row_count);
  std::vector<const Tensor*> open;
  std::unordered_set<const TensorExtension*> seen;
  for (const NamedTensor& each : tensors) {
    open.push_back(&each.tensor);
    while (!open.empty()) {
      const Tensor& tensor = *open.back();
      open.pop_back();
      const Storage& storage = tensor.storage();
      if (storage.table().get() == &storages) reached[storage.index()] = true;
      if (tensor.parts().empty() || !seen.insert(tensor.record().extension.get()).second) continue;
      for (const auto& [name, part] : tensor.parts()) open.push_back(&part);
    }
  }
  return reached;
}

/// By record and not by row: two rows may share a record, and a record may have no row.
void count_storages(const ZipStorages& storages, const std::vector<bool>& reached,
                    FileFacts& facts) {
  std::vector<bool> record_reached(storages.archive().size());
  for (std::uint32_t i = 0; i < storages.row_count(); ++i) {
    const std::uint32_t record = storages.row(i).record;
    if (reached[i] && record != StorageRow::kNoRecord) record_reached[record] = true;
  }
  const std::string folder = std::string(storages.archive().folder()) + "/data/";
  for (std::size_t i = 0; i < storages.archive().size(); ++i) {
    const Record record = storages.archive().record(i);
    if (!record.name.starts_with(folder) || record.name == folder) continue;
    ++facts.storage_count;
    facts.storage_bytes += record.size;
    if (!record.has_checksum()) facts.has_checksums = false;
    if (record_reached[i]) continue;
    ++facts.unreached_storages;
    facts.unreached_bytes += record.size;
  }
}

/// Of the records that storages name. Others may be of kinds that nothing here reads. A record
/// that cannot be found has no place; the notes on local headers tell of it. The lowest bit that
/// any place has is the lowest of all places joined by OR.
std::uint64_t common_alignment(const ZipStorages& storages) {
  std::uint64_t places = 0;
  for (std::uint32_t i = 0; i < storages.row_count(); ++i) {
    if (!storages.is_available(i)) continue;
    places |= storages.archive().find_data(storages.row(i).record).value_or(0);
  }
  return places == 0 ? 0 : std::uint64_t{1} << std::countr_zero(places);
}

/// A stream has no records but its storages.
void add_stream_facts(const SourceStorages& storages, const std::vector<bool>& reached,
                      FileFacts& facts) {
  facts.has_checksums = false;
  for (std::uint32_t i = 0; i < storages.row_count(); ++i) {
    ++facts.storage_count;
    facts.storage_bytes += storages.size(i);
    if (reached[i]) continue;
    ++facts.unreached_storages;
    facts.unreached_bytes += storages.size(i);
  }
}

void add_archive_facts(const ZipStorages& storages, const std::vector<bool>& reached,
                       FileFacts& facts) {
  const ArchiveReader& archive = storages.archive();
  facts.record_count = archive.size();
  facts.alignment = common_alignment(storages);
  count_storages(storages, reached, facts);
  facts.notes = archive.notes();
  for (Note& note : archive.inspect_headers()) facts.notes.push_back(std::move(note));
}

/// Of files that are put together from others: the storages that tensors have.
void count_storages_of(std::span<const NamedTensor> tensors, FileFacts& facts) {
  std::set<std::pair<const StorageTable*, std::uint32_t>> seen;
  facts.has_checksums = false;
  for (const auto& [name, tensor] : tensors) {
    const Storage& storage = tensor.storage();
    if (!storage || !seen.insert({storage.table().get(), storage.index()}).second) continue;
    ++facts.storage_count;
    facts.storage_bytes += storage.size();
  }
}

}  // namespace

/// Notes come in the order in which they are found: directory, local headers, loading.
FileFacts Checkpoint::facts() const {
  const Loaded& loaded = state_->loaded;
  FileFacts facts;
  facts.container = state_->container;
  facts.producer = state_->producer;
  facts.byteorder = loaded.byteorder;
  facts.version = loaded.version;
  facts.file_size = state_->source->size();
  facts.pickle_protocol = loaded.graph->document().protocol();
  if (!loaded.zip && loaded.storages->row_count() == 0) {
    count_storages_of(tensors(), facts);
    return facts;
  }
  const std::uint32_t rows = loaded.zip ? loaded.zip->row_count() : loaded.storages->row_count();
  const StorageTable& table = loaded.zip ? static_cast<const StorageTable&>(*loaded.zip)
                                         : static_cast<const StorageTable&>(*loaded.storages);
  // Tensors that were restored to devices do not say which storages of the file they had.
  const bool is_restored = state_->options.map_location.is_set() || state_->options.devices;
  const std::vector<bool> reached =
      is_restored ? std::vector<bool>(rows, true) : reached_rows(table, rows, tensors());
  if (loaded.zip) add_archive_facts(*loaded.zip, reached, facts);
  if (loaded.storages) add_stream_facts(*loaded.storages, reached, facts);
  facts.notes.insert(facts.notes.end(), loaded.notes.begin(), loaded.notes.end());
  return facts;
}

}  // namespace flambeau
