// Storages cut to what tensors reach of them: a slice of a large tensor that is saved drags all of
// the tensor's storage along, in PyTorch as here.
//
//   CompactGraph compact(graph);
//   SavedGraph saved(compact.graph());    // the same tensors, over smaller storages
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "pickle/document_builder.h"
#include "pickle/step.h"
#include "torch/saved_graph.h"

namespace flambeau {

/// A changed copy of a graph: offsets and sizes of what was cut. Tensors that shared a storage
/// share what is left of it. A storage that stands by itself somewhere stays whole.
class CompactGraph {
 public:
  /// Views `graph`. Reads no elements.
  explicit CompactGraph(const GraphToSave& graph);

  const GraphToSave& graph() const noexcept { return compact_; }
  std::uint64_t bytes_left_out() const noexcept { return bytes_left_out_; }

 private:
  /// What tensors reach of one storage, in bytes.
  struct Reach {
    Storage storage;
    std::uint64_t begin = UINT64_MAX;
    std::uint64_t end = 0;
    /// The largest of the elements that are seen in it: both ends are multiples of it.
    std::uint64_t unit = 1;
    bool is_whole = false;
  };
  using Identity = std::pair<const StorageTable*, std::uint32_t>;

  void visit_document();
  void visit_object(Ref object);
  void visit_tensor(const Tensor& tensor);
  void push(std::span<const Ref> refs);
  /// The storage node that a rebuild of strided elements names first; None for all else.
  Ref viewed_storage(Ref object) const noexcept;
  Reach& reach(const Storage& storage);
  void add_view(const TensorRecord& record);
  void cut();
  void move_view(Ref object);
  Tensor moved(const Tensor& tensor) const;

  const GraphToSave& graph_;
  CurrentStep step_;
  DocumentBuilder builder_;
  std::map<Identity, Reach> reaches_;
  std::vector<bool> seen_;
  std::vector<Ref> open_;
  std::vector<Ref> views_;
  std::vector<std::uint32_t> reached_tensors_;
  std::vector<Tensor> tensors_;
  StorageReplacements replacements_;
  GraphToSave compact_;
  std::uint64_t bytes_left_out_ = 0;
};

}  // namespace flambeau
