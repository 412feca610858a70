// From a graph to the records of an archive (torch/serialization.py, `_save`).
//
//   ArchivePlan plan(graph, options, form);        // pickles; all sizes are known now
//   auto sink = create_file(path, {.expected_size = plan.size()});
//   SaveReport report = plan.write(*sink);
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "flambeau/archive.h"
#include "flambeau/io.h"
#include "flambeau/save.h"
#include "torch/compact.h"
#include "torch/draft.h"
#include "torch/saved_graph.h"

namespace flambeau {

/// The folder in the archive of a file of that path: its name without folders and without what
/// follows the last dot (caffe2/serialize/inline_container.cc, the constructor of
/// `PyTorchStreamWriter`); "archive" for names that are not ASCII, which newer releases write
/// through Python. Error: `usage` for a name of which nothing is left.
std::string folder_for(std::string_view path);

/// The records of one archive, in their order. Views the graph.
class ArchivePlan {
 public:
  /// What `options` leave unset is as in `form`. Errors: as `SavedGraph`; `usage`.
  ArchivePlan(const GraphToSave& graph, const SaveOptions& options, const SavedForm& form);

  /// Of the whole file, in bytes.
  std::uint64_t size() const { return writer_.file_size(); }
  /// Writes and commits. Compares what was read of other files with their checksums before the
  /// commit. Once only.
  SaveReport write(Sink& sink);

 private:
  void add_text(std::string_view name, std::string text);
  void add_head();
  void add_storages();
  void add_storage(std::size_t index);
  void check_sources() const;

  SaveOptions options_;
  SavedForm form_;
  Layout layout_;
  std::uint64_t alignment_;
  std::optional<CompactGraph> compact_;
  SavedGraph graph_;
  ArchiveWriter writer_;
  std::vector<std::unique_ptr<const std::string>> texts_;
  /// Each storage and its record's ordinal.
  std::vector<std::pair<std::size_t, std::size_t>> storage_records_;
  SaveReport report_;
};

/// The file of that path, or any sink.
SaveReport save_graph(const std::string& path, const GraphToSave& graph, SaveOptions options,
                      const SavedForm& form);
SaveReport save_graph(Sink& sink, const GraphToSave& graph, SaveOptions options,
                      const SavedForm& form);

/// Whether the file will be a stream.
bool writes_stream(const SaveOptions& options, const SavedForm& form) noexcept;

/// A sealed draft as what is to be saved.
GraphToSave graph_of(Draft& draft, const SaveOptions& options);

}  // namespace flambeau
