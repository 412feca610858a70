// Persistent ids of streams: `('storage', class, key, location tag, numel, view)` and `('module',
// class, path, source text)`.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "flambeau/archive.h"
#include "torch/graph_builder.h"
#include "torch/restore.h"
#include "torch/source_storages.h"

namespace flambeau {

/// Makes the rows of all storages that a pickle names before the graph is built: their bytes come
/// behind the pickle, and where each begins follows from the sizes of those before.
class StreamResolver : public StorageResolver {
 public:
  /// Errors: `malformed_tensor` for ids that are none, or that say two things of one key.
  StreamResolver(const Document& document, std::shared_ptr<SourceStorages> storages,
                 const RestoreRules& rules);

  /// Where the data of a key begins. Errors: `malformed_pickle` for a key that the pickle does not
  /// name, or that comes twice.
  void place(std::string_view key, std::uint64_t count, std::uint64_t offset);
  /// Bytes of the data of a key; nothing where the pickle does not name it.
  std::optional<std::uint64_t> size_of(std::string_view key) const;
  /// To be called when all data has its place. Error: `malformed_tensor` for a storage without.
  void finish();

  std::optional<Share> resolve(const Graph& graph, Ref id) override;
  bool is_class(const Document& document, Ref id) const override;
  const std::vector<Storage>& restored() const override { return restored_; }
  std::vector<Note> take_notes() { return std::move(notes_); }

 private:
  struct Id {
    std::string_view key;
    DType dtype;
    std::uint64_t size;
    std::string_view tag;
    std::optional<View> view;
  };
  std::optional<Id> parse(const Document& document, Ref id) const;
  std::optional<View> parse_view(const Document& document, Ref view, const Id& id) const;
  void add(const Id& id);
  [[noreturn]] void refuse(std::string_view what) const;

  std::shared_ptr<SourceStorages> storages_;
  RestoreRules rules_;
  std::unordered_map<std::string_view, std::uint32_t> rows_;
  std::vector<std::string_view> tags_;
  std::vector<Storage> restored_;
  std::vector<Note> notes_;
};

}  // namespace flambeau
