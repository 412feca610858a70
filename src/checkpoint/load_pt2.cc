// Facts from torch/export/pt2_archive/_package.py and torch/_export/serde/schema.py of 2.15.
#include "checkpoint/load_pt2.h"

#include <bit>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/fail.h"
#include "json/reader.h"
#include "tensor/record.h"
#include "torch/listing.h"
#include "torch/restore.h"
#include "torch/table_graph.h"
#include "torch/zip_loader.h"

namespace flambeau {
namespace {

/// The numbers of `ScalarType` in the schema, which are not those of c10.
std::optional<DType> dtype_of(std::uint64_t number) {
  constexpr std::pair<std::uint64_t, DType> kTypes[] = {
      {1, DType::u8},          {2, DType::i8},           {3, DType::i16},
      {4, DType::i32},         {5, DType::i64},          {6, DType::f16},
      {7, DType::f32},         {8, DType::f64},          {9, DType::c32},
      {10, DType::c64},        {11, DType::c128},        {12, DType::boolean},
      {13, DType::bf16},       {28, DType::u16},         {29, DType::f8_e4m3fn},
      {30, DType::f8_e5m2},    {31, DType::f8_e4m3fnuz}, {32, DType::f8_e5m2fnuz},
      {33, DType::f8_e8m0fnu}, {34, DType::u32},         {35, DType::u64}};
  for (const auto& [each, dtype] : kTypes) {
    if (each == number) return dtype;
  }
  return std::nullopt;
}

/// One entry of a configuration record.
struct Entry {
  std::string name{};
  std::string path{};
  std::uint64_t dtype = 0;
  std::uint64_t offset = 0;
  std::vector<std::int64_t> sizes{};
  std::vector<std::int64_t> strides{};
  std::string device_type = "cpu";
  std::optional<std::uint64_t> device_index{};
  bool is_parameter = false;
  bool requires_grad = false;
  bool is_pickled = false;
  /// Objects have none.
  bool has_meta = false;
};

/// {"config": {NAME: {"path_name", "is_param", "use_pickle", "tensor_meta": {…}}}}; every number of
/// a size stands in an object of its own.
class ConfigEvents final : public JsonEvents {
 public:
  explicit ConfigEvents(std::string_view where) : where_(where) {}

  std::vector<Entry> take() { return std::move(entries_); }

  void begin_object() override {
    keys_.emplace_back();
    if (keys_.size() == kEntryDepth) entry_ = {.name = keys_[1]};
    if (keys_.size() == kEntryDepth + 1 && field() == "tensor_meta") entry_.has_meta = true;
  }
  void end_object() override {
    if (keys_.size() == kEntryDepth && keys_[0] == "config") entries_.push_back(std::move(entry_));
    keys_.pop_back();
  }
  void key(std::string_view key) override { keys_.back() = key; }
  void text(std::string_view text) override {
    if (is_at(kEntryDepth, "path_name")) entry_.path = text;
    if (is_meta("device") && keys_.back() == "type") entry_.device_type = text;
  }
  void boolean(bool value) override {
    if (is_at(kEntryDepth, "is_param")) entry_.is_parameter = value;
    if (is_at(kEntryDepth, "use_pickle")) entry_.is_pickled = value;
    if (is_meta("requires_grad")) entry_.requires_grad = value;
  }
  void unsigned_number(std::uint64_t number) override {
    if (is_meta("dtype")) entry_.dtype = number;
    if (is_meta("storage_offset")) entry_.offset = number;
    if (is_meta("device") && keys_.back() == "index") entry_.device_index = number;
    if (is_meta("sizes")) add(entry_.sizes, number);
    if (is_meta("strides")) add(entry_.strides, number);
  }
  void other() override {
    if (is_meta("sizes") || is_meta("strides") || is_meta("storage_offset")) {
      fail(ErrorCode::malformed_tensor, {where_}, "{}: a size that is no number", entry_.name);
    }
  }

 private:
  static constexpr std::size_t kEntryDepth = 3;

  std::string_view field() const { return keys_[kEntryDepth - 1]; }
  bool is_at(std::size_t depth, std::string_view key) const {
    return keys_.size() == depth && keys_.back() == key;
  }
  /// Within `tensor_meta`, in or below that key of it.
  bool is_meta(std::string_view key) const {
    return keys_.size() > kEntryDepth && field() == "tensor_meta" && keys_[kEntryDepth] == key;
  }
  void add(std::vector<std::int64_t>& list, std::uint64_t number) const {
    constexpr std::size_t kMost = 1024;
    if (number > INT64_MAX || list.size() == kMost) {
      fail(ErrorCode::malformed_tensor, {where_}, "{}: sizes out of range", entry_.name);
    }
    list.push_back(static_cast<std::int64_t>(number));
  }

  std::string where_;
  std::vector<std::string> keys_;
  Entry entry_;
  std::vector<Entry> entries_;
};

/// Reads the records of the later layout.
class Pt2Load {
 public:
  Pt2Load(ArchiveReader archive, const LoadOptions& options)
      : options_(options),
        rules_{
            .map_location = &options.map_location, .devices = options.devices, .where = "config"} {
    loaded_.zip = std::make_shared<ZipStorages>(
        std::move(archive), Block{},
        ZipStorageOptions{.verify = options.verify, .limits = options.limits});
    loaded_.byteorder = text_of("byteorder").value_or("little");
    loaded_.version = text_of("archive_version").value_or("");
  }

  Loaded finish() {
    add_folder("data/weights/", "_weights_config.json", "");
    add_folder("data/constants/", "_constants_config.json", "constants/");
    loaded_.zip->finish();
    loaded_.graph = make_table_graph(loaded_.zip, std::move(rows_), options_.limits);
    return std::move(loaded_);
  }

 private:
  const ArchiveReader& archive() const { return loaded_.zip->archive(); }

  std::optional<std::string> text_of(std::string_view name) const {
    const auto record = archive().find(name);
    if (!record) return std::nullopt;
    return std::string(as_text(archive().read(*record, options_.verify).bytes));
  }

  /// All models' configuration records of a folder.
  void add_folder(const std::string& folder, std::string_view suffix, const std::string& prefix) {
    const std::string start = std::string(archive().folder()) + "/" + folder;
    for (std::size_t i = 0; i < archive().size(); ++i) {
      const Record record = archive().record(i);
      if (!record.name.starts_with(start) || !record.name.ends_with(suffix)) continue;
      const std::string text(as_text(archive().read(i, options_.verify).bytes));
      ConfigEvents events(record.name);
      read_json(text, events, record.name);
      for (const Entry& entry : events.take()) add(entry, folder, prefix);
    }
  }

  void add(const Entry& entry, const std::string& folder, const std::string& prefix) {
    const std::string name = prefix + entry.name;
    if (!entry.has_meta || entry.is_pickled) {
      loaded_.notes.push_back({Note::Severity::information, folder + entry.path,
                               name + " is an object of a record of its own"});
      return;
    }
    const auto dtype = dtype_of(entry.dtype);
    if (!dtype) {
      fail(ErrorCode::unsupported, {folder + entry.path}, "the dtype {} of {} is unknown",
           entry.dtype, name);
    }
    if (entry.sizes.size() != entry.strides.size() || entry.offset > INT64_MAX) {
      fail(ErrorCode::malformed_tensor, {folder + entry.path}, "{}: sizes and strides differ",
           name);
    }
    if (!names_.insert(name).second) {
      fail(ErrorCode::ambiguous, {folder}, "two tensors are called {}", name);
    }
    TensorRecord record;
    record.dtype = *dtype;
    record.dimensions = Dimensions(entry.sizes, entry.strides);
    record.offset = static_cast<std::int64_t>(entry.offset);
    record.is_parameter = entry.is_parameter;
    record.requires_grad = entry.requires_grad;
    record.is_byte_swapped =
        item_size(*dtype) > 1 &&
        (loaded_.byteorder == "big") == (std::endian::native == std::endian::little);
    const std::uint32_t row = row_of(entry, folder);
    check_view(record, loaded_.zip->size(row), {folder + entry.path});
    record.storage = Storage(loaded_.zip, row);
    if (rules_.is_set()) {
      record.storage = restored_storage(record.storage, tag_of(entry), rules_);
      if (!record.storage) record.kind = TensorKind::meta;
    }
    rows_.emplace_back(name, std::move(record));
  }

  static std::string tag_of(const Entry& entry) {
    if (!entry.device_index) return entry.device_type;
    return entry.device_type + ":" + std::to_string(*entry.device_index);
  }

  /// Tied weights and views name one record.
  std::uint32_t row_of(const Entry& entry, const std::string& folder) {
    const std::string path = folder + entry.path;
    const auto known = row_of_path_.find(path);
    if (known != row_of_path_.end()) return known->second;
    const auto record = archive().find(path);
    if (!record) fail(ErrorCode::malformed_zip, {path}, "there is no such record");
    StorageRow row;
    row.key = loaded_.zip->keep(entry.path);
    row.size = archive().record(*record).size;
    row.record = static_cast<std::uint32_t>(*record);
    row.device = loaded_.zip->tags().ordinal(options_.map_location.tag_for(tag_of(entry)));
    return row_of_path_.emplace(path, loaded_.zip->add(row)).first->second;
  }

  const LoadOptions& options_;
  RestoreRules rules_;
  Loaded loaded_;
  TableRows rows_;
  std::set<std::string> names_;
  std::map<std::string, std::uint32_t> row_of_path_;
};

/// A file of torch.save within the archive; nothing where there is none.
std::optional<Loaded> load_inner(const ArchiveReader& archive, std::string_view name,
                                 const LoadOptions& options) {
  for (std::size_t i = 0; i < archive.size(); ++i) {
    const Record record = archive.record(i);
    if (!record.name.ends_with(name)) continue;
    if (!record.is_stored()) {
      fail(ErrorCode::unsupported, {record.name}, "a deflated file within the archive");
    }
    if (options.verify) archive.read(i, true);
    SourcePtr inner =
        slice(archive.source(), archive.data_offset(i), record.size, std::string(record.name));
    return load_zip(ArchiveReader(std::move(inner), {.limits = options.limits}), options);
  }
  return std::nullopt;
}

void add_rows(const Loaded& inner, const std::string& prefix, TableRows& rows) {
  const Listing listing(*inner.graph);
  for (const NamedTensor& each : listing.rows()) {
    rows.emplace_back(prefix + std::string(each.name), each.tensor.record());
  }
}

Loaded load_old(const ArchiveReader& archive, const LoadOptions& options) {
  const auto weights = load_inner(archive, "serialized_state_dict.pt", options);
  const auto constants = load_inner(archive, "serialized_constants.pt", options);
  if (!weights) fail(ErrorCode::malformed_zip, {}, "there is no serialized_state_dict.pt");
  Loaded loaded;
  TableRows rows;
  add_rows(*weights, "", rows);
  if (constants) add_rows(*constants, "constants/", rows);
  std::set<std::string_view> names;
  for (const auto& [name, record] : rows) {
    if (!names.insert(name).second)
      fail(ErrorCode::ambiguous, {}, "two tensors are called {}", name);
  }
  loaded.byteorder = weights->byteorder;
  loaded.storages = std::make_shared<SourceStorages>(archive.source(), nullptr);
  loaded.graph = make_table_graph(loaded.storages, std::move(rows), options.limits);
  return loaded;
}

}  // namespace

Loaded load_pt2(ArchiveReader archive, const LoadOptions& options) {
  if (!archive.find("archive_format")) return load_old(archive, options);
  return Pt2Load(std::move(archive), options).finish();
}

}  // namespace flambeau
