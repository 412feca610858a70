// Persistent ids of zip files: `('storage', class, key, location tag, numel)`.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "flambeau/archive.h"
#include "torch/graph_builder.h"
#include "torch/restore.h"
#include "torch/zip_storages.h"

namespace flambeau {

/// Makes rows of a `ZipStorages` as ids are met. One key is one storage, however often it is named;
/// the first reference says how long it is and where it lived.
class ZipResolver : public StorageResolver {
 public:
  /// `folder`, "data/" in files of torch.save, is where the storages' records stand.
  ZipResolver(std::shared_ptr<ZipStorages> storages, std::string_view folder,
              const RestoreRules& options);

  std::optional<Share> resolve(const Graph& graph, Ref id) override;
  const std::vector<Storage>& restored() const override { return restored_; }
  /// What differed between references to one key, and records longer than what they hold.
  std::vector<Note> take_notes() { return std::move(notes_); }

 private:
  struct Id {
    std::string_view key;
    DType dtype;
    std::uint64_t size;
  };
  bool is_storage_word(const Graph& graph, Ref word);
  Id parse(const Graph& graph, std::span<const Ref> items);
  std::uint32_t find_or_add(const Id& id);
  std::uint32_t add(const Id& id, std::uint32_t record);
  std::uint32_t* first_row(const Id& id, std::uint32_t record);
  void check_record(const Id& id, std::uint32_t record);
  void compare(const Id& id, const StorageRow& row);
  void note(std::string_view key, Note::Severity severity, std::string message);

  std::shared_ptr<ZipStorages> storages_;
  std::string_view folder_;
  RestoreRules options_;
  /// Row + 1 of each record's first storage, 0 for none.
  std::vector<std::uint32_t> row_of_record_;
  std::unordered_map<std::string_view, std::uint32_t> row_of_missing_;
  std::size_t next_record_ = 0;
  std::vector<Storage> restored_;
  std::vector<Note> notes_;
  /// The last word, class and tag looked at: nearly every id repeats them.
  Ref last_word_ = kNone;
  Ref last_class_ = kNone;
  Ref last_tag_ = kNone;
  GlobalMeaning class_meaning_;
  std::string_view tag_text_;
  std::uint16_t device_ = 0;
};

}  // namespace flambeau
