// transformers' `save_pretrained` and huggingface_hub: `NAME.index.json` beside its shards has
// {"metadata": {…}, "weight_map": {tensor: file}}. Names of files are names only, never paths.
#include "checkpoint/load_sharded.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/fail.h"
#include "json/reader.h"
#include "tensor/storage_table.h"
#include "torch/table_graph.h"

namespace flambeau {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kIndex = ".index.json";

/// Tensor names by their files.
using WeightMap = std::map<std::string, std::set<std::string, std::less<>>, std::less<>>;

class IndexEvents final : public JsonEvents {
 public:
  explicit IndexEvents(std::string_view where) : where_(where) {}
  void begin_object() override { ++depth_; }
  void end_object() override { --depth_; }
  void key(std::string_view key) override {
    if (depth_ == 1) is_map_ = key == "weight_map";
    name_ = key;
  }
  void text(std::string_view text) override {
    if (!is_map_ || depth_ != 2) return;
    const bool is_name = !text.empty() && text != "." && text != ".." &&
                         text.find_first_of("/\\") == std::string_view::npos;
    if (!is_name) fail(ErrorCode::malformed_json, {where_}, "{} is no name of a file", text);
    map_[std::string(text)].insert(name_);
  }
  WeightMap take() { return std::move(map_); }

 private:
  std::string where_;
  std::string name_;
  WeightMap map_;
  int depth_ = 0;
  bool is_map_ = false;
};

WeightMap read_index(const SourcePtr& source) {
  const Block block = source->view(0, source->size());
  IndexEvents events(source->name());
  read_json(as_text(block.bytes), events, source->name());
  WeightMap map = events.take();
  if (map.empty()) {
    fail(ErrorCode::malformed_json, {source->name()}, "there is no weight_map with files");
  }
  return map;
}

/// Names of what is in a folder, sorted.
std::vector<std::string> names_in(const fs::path& folder) {
  std::error_code code;
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder, code)) {
    names.push_back(entry.path().filename().string());
  }
  if (code) fail(ErrorCode::io, {folder.string()}, "cannot be listed: {}", code.message());
  std::sort(names.begin(), names.end());
  return names;
}

/// The index of a folder, or nothing where it consists of shards alone.
std::optional<std::string> find_index(const fs::path& folder,
                                      const std::vector<std::string>& names) {
  std::optional<std::string> found;
  for (const std::string& name : names) {
    if (!name.ends_with(kIndex)) continue;
    if (found) {
      fail(ErrorCode::ambiguous, {folder.string()}, "{} and {} are both indexes: name one",
           fs::path(*found).filename().string(), name);
    }
    found = (folder / name).string();
  }
  return found;
}

bool is_shard(std::string_view name) {
  return name.ends_with(".safetensors") || name.ends_with(".bin");
}

/// The storages of all shards under keys that no two of them share: `FILE:KEY`.
class ShardStorages final : public StorageTable {
 public:
  std::uint32_t add(const Storage& storage, const std::string& file) {
    const auto [place, is_new] = known_.try_emplace({storage.table().get(), storage.index()},
                                                    static_cast<std::uint32_t>(rows_.size()));
    if (is_new) rows_.push_back({storage, file + ":" + std::string(storage.key())});
    return place->second;
  }

  std::uint64_t size(std::uint32_t i) const noexcept override { return rows_[i].storage.size(); }
  std::string_view key(std::uint32_t i) const noexcept override { return rows_[i].key; }
  std::string_view device(std::uint32_t i) const noexcept override {
    return rows_[i].storage.device();
  }
  bool is_available(std::uint32_t i) const noexcept override {
    return table(i).is_available(at(i));
  }
  Bytes bytes(std::uint32_t i) const override { return table(i).bytes(at(i)); }
  Part part(std::uint32_t i, std::uint64_t offset, std::uint64_t size) const override {
    return table(i).part(at(i), offset, size);
  }
  void verify(std::uint32_t i) const override { table(i).verify(at(i)); }
  bool is_in_place(std::uint32_t i) const noexcept override { return table(i).is_in_place(at(i)); }
  void copy_to(std::uint32_t i, std::uint64_t offset, MutableBytes out) const override {
    table(i).copy_to(at(i), offset, out);
  }
  bool has_checksum(std::uint32_t i) const noexcept override {
    return table(i).has_checksum(at(i));
  }
  void check(std::uint32_t i, std::uint32_t crc) const override { table(i).check(at(i), crc); }

 private:
  struct Row {
    Storage storage;
    std::string key;
  };
  const StorageTable& table(std::uint32_t i) const noexcept { return *rows_[i].storage.table(); }
  std::uint32_t at(std::uint32_t i) const noexcept { return rows_[i].storage.index(); }

  std::vector<Row> rows_;
  std::map<std::pair<const StorageTable*, std::uint32_t>, std::uint32_t> known_;
};

/// Tensors of the shards, one by one.
class Shards {
 public:
  Shards(fs::path folder, const OpenOptions& options)
      : folder_(std::move(folder)), options_(options) {}

  /// All of a shard's tensors, or those of these names.
  void add(const std::string& name, const std::set<std::string, std::less<>>* wanted) {
    const std::string path = (folder_ / name).string();
    const Checkpoint shard = Checkpoint::open(path, options_);
    for (const auto& [key, value] : shard.metadata()) {
      if (key == "DCP_SHARDING_INFO") {
        fail(ErrorCode::unsupported, {path}, "this shard holds chunks of tensors");
      }
    }
    if (first_ == nullptr) first_ = shard.source();
    std::size_t found = 0;
    for (const NamedTensor& each : shard.tensors()) {
      if (wanted != nullptr && !wanted->contains(each.name)) continue;
      ++found;
      if (!names_.insert(std::string(each.name)).second) {
        fail(ErrorCode::ambiguous, {path}, "another shard has the tensor {}, too", each.name);
      }
      TensorRecord record = each.tensor.record();
      if (record.storage) record.storage = Storage(storages_, storages_->add(record.storage, name));
      rows_.emplace_back(each.name, std::move(record));
    }
    if (wanted != nullptr && found < wanted->size()) {
      for (const std::string& missing : *wanted) {
        if (names_.contains(missing)) continue;
        fail(ErrorCode::malformed_tensor, {path}, "the index has {} in it, the file has not",
             missing);
      }
    }
  }

  ShardedFiles finish(SourcePtr index) {
    ShardedFiles files;
    files.source = index ? std::move(index) : first_;
    files.loaded.storages = std::make_shared<SourceStorages>(files.source, nullptr);
    files.loaded.graph = make_table_graph(storages_, std::move(rows_), options_.limits);
    return files;
  }

 private:
  fs::path folder_;
  const OpenOptions& options_;
  std::shared_ptr<ShardStorages> storages_ = std::make_shared<ShardStorages>();
  TableRows rows_;
  std::set<std::string, std::less<>> names_;
  SourcePtr first_;
};

}  // namespace

bool is_sharded_path(const std::string& path) {
  std::error_code code;
  return path.ends_with(kIndex) || fs::is_directory(path, code);
}

ShardedFiles load_sharded(const std::string& path, const OpenOptions& options) {
  std::error_code code;
  const bool is_folder = fs::is_directory(path, code);
  const fs::path folder = is_folder ? fs::path(path) : fs::path(path).parent_path();
  const std::vector<std::string> names = is_folder ? names_in(folder) : std::vector<std::string>();
  const auto index = is_folder ? find_index(folder, names) : std::optional(path);
  Shards shards(folder, options);
  if (index) {
    const SourcePtr source = open_file(*index, {.mapped = options.mapped});
    for (const auto& [file, wanted] : read_index(source)) shards.add(file, &wanted);
    return shards.finish(source);
  }
  const bool has_only_shards = !names.empty() && std::all_of(names.begin(), names.end(), is_shard);
  if (!has_only_shards) {
    fail(ErrorCode::not_a_checkpoint, {path},
         "this is a folder with neither an index of shards nor shards alone");
  }
  for (const std::string& name : names) shards.add(name, nullptr);
  return shards.finish(nullptr);
}

}  // namespace flambeau
