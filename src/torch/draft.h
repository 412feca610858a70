// What a draft owns.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "flambeau/archive.h"
#include "flambeau/draft.h"
#include "flambeau/save.h"
#include "pickle/document_builder.h"
#include "pickle/step.h"
#include "torch/graph.h"
#include "torch/loaded.h"
#include "torch/reduce.h"

namespace flambeau {

/// How the file was written that a graph came from.
struct SavedForm {
  Layout layout = Layout::torch_2_7;
  std::uint64_t alignment = 64;
  bool checksums = true;
  /// Empty: to be chosen.
  std::string folder;
  bool is_big_endian = false;
  /// Content of the record `version`.
  std::string version = "3\n";
  /// Whether the record `byteorder` stands behind `version`.
  bool byteorder_is_late = false;
  /// The file itself, or null; the graph keeps it alive.
  const ArchiveReader* archive = nullptr;
  /// The other pickles of a stream, or null.
  std::shared_ptr<const StreamFrame> stream{};
};

struct Draft::State {
  /// New, or a copy of the graph of a file.
  State();
  State(std::shared_ptr<const Graph> graph, SavedForm form);

  const Document& document() const noexcept { return builder.document(); }
  /// The node of a new text.
  Ref text(std::string_view text);
  /// Dicts to which keys were added are given each key once.
  void settle(Ref container);
  void settle_all();
  /// The document as it is now, to be saved.
  const Document& seal();

  // `builder` names those before it.
  CurrentStep step;
  std::shared_ptr<const Graph> base;
  SavedForm form;
  int protocol = 2;
  DocumentBuilder builder;
  Ref root = kNone;
  TensorNames names;
  /// By the number of their node of the kind `outside`.
  std::vector<Tensor> tensors;
  std::map<std::string, Ref, std::less<>> literals;
  std::unordered_set<std::uint32_t> unsettled;
  /// Texts that CPython has once, and whether those of the file are among them.
  std::map<std::string, Ref, std::less<>> singles;
  bool knows_singles = false;

 private:
  void adopt_singles();
};

}  // namespace flambeau
