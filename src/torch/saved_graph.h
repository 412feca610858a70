// What one save has to write: the pickle of a graph, and its storages in the order in which the
// pickle names them (torch/serialization.py, `persistent_id` of `_save`).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/byte_buffer.h"
#include "base/hash.h"
#include "flambeau/limits.h"
#include "pickle/pickler.h"
#include "torch/graph.h"
#include "torch/reduce.h"

namespace flambeau {

/// A storage by its table and its place there.
struct StorageIdentity {
  const StorageTable* table;
  std::uint32_t index;
  bool operator==(const StorageIdentity&) const = default;
};
struct StorageIdentityHash {
  std::size_t operator()(const StorageIdentity& identity) const noexcept {
    constexpr std::uint64_t kMix = 0x9e3779b97f4a7c15;
    return fold_product(std::hash<const void*>()(identity.table) + identity.index, kMix);
  }
};
using StorageReplacements = std::unordered_map<StorageIdentity, Storage, StorageIdentityHash>;

/// A graph that is ready to be saved. Views what it names.
struct GraphToSave {
  const Document& document;
  int protocol = 2;
  /// The graph of the file that the document came from, or null.
  const Graph* base = nullptr;
  /// By the number of their nodes of the kind `outside`, and the names that these need.
  std::span<const Tensor> tensors{};
  const TensorNames* names = nullptr;
  /// Give storages the keys "0", "1", … in the order of their first encounter, as PyTorch does
  /// since 1.9; otherwise those of the file stay.
  bool renumber = true;
  /// Write the ids of streams; where the document has those of archives, its `names` are needed,
  /// and the other way round.
  bool is_stream = false;
  /// Storages that are written in place of others, or null.
  const StorageReplacements* replacements = nullptr;
  Limits limits{};
};

/// Writes the pickle, and collects the storages on the way.
class SavedGraph final : private PicklerHooks, private StorageKeys {
 public:
  /// Errors: as `write_pickle`; `usage` where one storage has elements of two types, as in
  /// PyTorch, or stands in the other byte order.
  explicit SavedGraph(const GraphToSave& graph);

  Bytes pickle() const noexcept { return pickle_.bytes(); }
  std::size_t storage_count() const noexcept { return met_.size(); }
  const Storage& storage(std::size_t index) const noexcept { return met_[index].storage; }
  /// The text of a storage's key.
  std::string key(std::size_t index) const;
  /// Of the elements that the storage was met with first.
  DType dtype(std::size_t index) const noexcept { return met_[index].dtype; }

 private:
  struct Met {
    /// What is written.
    Storage storage;
    /// What it is written for.
    StorageIdentity identity;
    StorageKey key;
    DType dtype;
  };
  void persistent(Ref node) override;
  bool write_id(Ref node, PickleWriter& writer) override;
  bool repeat_id(Ref node, std::span<const Ref> id, PickleWriter& writer);
  bool is_stream() const noexcept override { return graph_.is_stream; }
  std::optional<std::string_view> text_of(Ref string) override;
  void outside(Ref node, PickleWriter& writer) override;
  StorageKey& meet(const Storage& storage, DType dtype) override;

  Met& find_or_add(const Storage& storage, DType dtype);
  std::uint32_t& place_of(const StorageIdentity& identity);
  void grow_places();
  Storage written_for(const Storage& storage, std::uint32_t first) const;
  void find_keys();
  bool is_storage(Ref persistent) const noexcept;

  const GraphToSave graph_;
  std::vector<Met> met_;
  /// Of storages that are not of the base graph: a table of places + 1 among those met, found by
  /// the hash of what each is a storage of, or behind that; a power of two, half full at most.
  std::vector<std::uint32_t> places_;
  std::size_t placed_ = 0;
  /// Of the storages of the base graph: the same, by their ordinal.
  std::vector<std::uint32_t> place_of_row_;
  /// Of streams: nodes whose ids have been written.
  std::unordered_set<std::uint32_t> written_ids_;
  /// Nodes of the keys that the base graph has.
  std::unordered_map<std::uint32_t, Ref> key_of_row_;
  /// The key of the id that is being written, and what is written for it.
  Ref current_key_ = kNone;
  std::string current_text_;
  ByteBuffer pickle_;
};

}  // namespace flambeau
