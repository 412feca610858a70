// From a graph to a stream of pickles and storages (torch/serialization.py, `_legacy_save`).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/byte_buffer.h"
#include "flambeau/io.h"
#include "flambeau/save.h"
#include "torch/compact.h"
#include "torch/draft.h"
#include "torch/saved_graph.h"

namespace flambeau {

/// The parts of one stream, in their order. Views the graph.
class StreamPlan {
 public:
  /// Errors: as `SavedGraph`; `unsupported` for big-endian elements.
  StreamPlan(const GraphToSave& graph, const SaveOptions& options, const SavedForm& form);

  /// Of the whole file, in bytes.
  std::uint64_t size() const noexcept { return size_; }
  /// Writes and commits. Once only. Errors: the sink's, `cancelled`, `checksum`.
  SaveReport write(Sink& sink);

 private:
  void add_head(const GraphToSave& graph, const SavedForm& form);
  void add_keys(const GraphToSave& graph, const SavedForm& form);
  void write_storage(Sink& sink, std::size_t index);
  void write_piece(Sink& sink, Bytes bytes);

  SaveOptions options_;
  std::optional<CompactGraph> compact_;
  SavedGraph graph_;
  /// Places of storages among those of the graph, in the order of their data.
  std::vector<std::size_t> order_;
  std::vector<ByteBuffer> head_;
  ByteBuffer keys_;
  std::uint64_t size_ = 0;
  std::uint64_t written_ = 0;
  SaveReport report_;
};

}  // namespace flambeau
