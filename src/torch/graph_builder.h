// Makes a graph from a document: one pass over the nodes, in the order in which the pickle made
// them, so that what a call is built of is known when the call is met.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "flambeau/limits.h"
#include "torch/graph.h"
#include "torch/rebuild.h"

namespace flambeau {

/// What a container knows about persistent ids.
class StorageResolver {
 public:
  virtual ~StorageResolver() = default;
  /// Row and element type of the storage that the id names; nothing where the id is none of a
  /// storage. Errors: `malformed_tensor`, `malformed_zip`.
  struct Share {
    std::uint32_t row;
    DType dtype;
    std::optional<View> view{};
  };
  virtual std::optional<Share> resolve(const Graph& graph, Ref id) = 0;
  /// Whether the id names a class by its second item.
  virtual bool is_class(const Document&, Ref) const { return false; }
  /// What the caller's devices made of the rows; empty where the table's own handles are used.
  virtual const std::vector<Storage>& restored() const = 0;
};

struct GraphOptions {
  Limits limits;
  std::string_view encoding = "utf-8";
  /// Name of the pickle for messages.
  std::string_view where = "data.pkl";
  /// Its bytes, where errors are to say at which of them a call stands.
  Bytes pickle;
  /// The file's byte order is not the host's.
  bool swapped = false;
  /// Where tables of tensors get their memory; outlives the graph.
  std::pmr::memory_resource* memory = std::pmr::get_default_resource();
};

class GraphBuilder {
 public:
  GraphBuilder(Document document, std::shared_ptr<const StorageTable> storages,
               StorageResolver& resolver, const GraphOptions& options);
  /// Errors: as `TensorRebuilder` and `StorageResolver`.
  std::unique_ptr<Graph> build();
  /// A graph whose tensors are known already: the nodes of the kind `outside`, ascending, are
  /// these.
  static std::unique_ptr<Graph> of_table(Document document,
                                         std::shared_ptr<const StorageTable> storages,
                                         std::span<const Ref> nodes,
                                         std::vector<std::pair<std::string, TensorRecord>> rows,
                                         const Limits& limits);

 private:
  void find_meanings();
  void recognise_all();
  void recognise(NodeKind kind, Ref ref);
  void recognise_persistent(Ref ref);
  void recognise_text(Ref ref);
  void recognise_object(Ref ref);
  Form container_form(Role role, Ref ref);
  Form bytes_form(Ref ref, std::span<const Ref> args);
  Form ordered_dict_form(Ref ref, std::span<const Ref> args);
  void build_late();
  void refuse_unknown_rebuild(Ref callable) const;
  std::optional<std::uint64_t> current_offset() const;
  void mark(Ref ref, Form form, DType dtype = DType::u8);

  std::unique_ptr<Graph> graph_;
  StorageResolver& resolver_;
  GraphOptions options_;
  TensorRebuilder rebuilder_;
  std::vector<Ref> late_;
  /// The call or id that is being looked at.
  Ref current_ = kNone;
};

}  // namespace flambeau
