// A pickle's document with what its nodes mean: the object graph behind `Value`.
//
// The document stays as the pickle built it. Meaning stands beside it: a form in each node's tag, a
// table of tensors in the order of their nodes, and decoded texts. A graph is made by
// `GraphBuilder` and immutable afterwards.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <memory_resource>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/arena.h"
#include "flambeau/limits.h"
#include "flambeau/value.h"
#include "pickle/document.h"
#include "tensor/record.h"
#include "tensor/storage_table.h"
#include "torch/globals.h"

namespace flambeau {

/// What a node was recognised as; `none` leaves it to its node kind.
enum class Form : std::uint8_t {
  none,
  text,  ///< a Python 2 byte string that is valid in the encoding
  bytes,
  bytearray,
  set,
  frozenset,
  complex,
  ordered_dict,
  size,
  dtype,
  device,
  layout,
  tensor,
  storage,
  class_with_source,  ///< a persistent id that names a class, with its source text
  tagged,             ///< a call that says the type of its first argument and gives it back
};

/// What a node is that has no form, in the order of `NodeKind`.
inline constexpr Kind kKindOfNode[] = {
    Kind::none,   Kind::boolean,    Kind::integer, Kind::integer,   Kind::real,
    Kind::string, Kind::bytes,      Kind::bytes,   Kind::bytearray, Kind::list,
    Kind::tuple,  Kind::dict,       Kind::set,     Kind::frozenset, Kind::global,
    Kind::object, Kind::persistent, Kind::global,  Kind::tensor};
static_assert(kKindOfNode[static_cast<std::size_t>(NodeKind::extension)] == Kind::global &&
              kKindOfNode[static_cast<std::size_t>(NodeKind::object)] == Kind::object &&
              kKindOfNode[static_cast<std::size_t>(NodeKind::dict)] == Kind::dict);

/// What a node of a form is, in the order of `Form`.
inline constexpr Kind kKindOfForm[] = {
    Kind::missing, Kind::string,       Kind::bytes,  Kind::bytearray, Kind::set,    Kind::frozenset,
    Kind::complex, Kind::ordered_dict, Kind::size,   Kind::dtype,     Kind::device, Kind::layout,
    Kind::tensor,  Kind::storage,      Kind::global, Kind::object};
static_assert(kKindOfForm[static_cast<std::size_t>(Form::class_with_source)] == Kind::global &&
              kKindOfForm[static_cast<std::size_t>(Form::ordered_dict)] == Kind::ordered_dict);

/// Class and attributes of a tensor that has them.
struct TensorTraits {
  /// The class, where it is neither Tensor nor Parameter; else None.
  Ref type = kNone;
  /// The attributes; None where there are none.
  Ref state = kNone;
};

/// A part of a storage, in elements.
struct View {
  std::int64_t offset = 0;
  std::int64_t size = 0;
};

/// Tensors of one graph, in chunks that never move. The handles given out share the whole table.
class TensorTable {
 public:
  /// Makes room by chunks of about `expected` rows, within reason.
  TensorTable(std::pmr::memory_resource* memory, std::size_t expected);
  TensorTable(const TensorTable&) = delete;
  TensorTable& operator=(const TensorTable&) = delete;
  ~TensorTable();

  void add(Ref node, TensorRecord&& record) {
    append(std::move(record));
    nodes_.push_back(bits_of(node));
  }
  /// The same for a node that is below the last, in any order; these few are looked up in a map.
  void add_late(Ref node, TensorRecord&& record);
  std::size_t size() const noexcept { return nodes_.size() + late_nodes_.size(); }
  const TensorRecord& record(std::size_t row) const noexcept { return at(row); }
  /// The row of a node. `hint` is looked at first: rows are in node order, so a walk in that order
  /// finds the next one there.
  std::optional<std::size_t> find(Ref node, std::size_t hint = 0) const noexcept;

 private:
  void append(TensorRecord&& record);
  TensorRecord& at(std::size_t row) const noexcept {
    return chunks_[row >> chunk_bits_][row & ((std::size_t{1} << chunk_bits_) - 1)];
  }

  std::pmr::memory_resource* memory_;
  int chunk_bits_;
  /// Room; as many records in it are made as there are rows.
  std::vector<Run<TensorRecord>> chunks_;
  /// Nodes of the rows, ascending, and the rows of the late ones.
  std::pmr::vector<std::uint32_t> nodes_;
  std::map<std::uint32_t, std::size_t> late_nodes_;
};

class Graph {
 public:
  const Document& document() const noexcept { return document_; }
  const Limits& limits() const noexcept { return limits_; }
  const std::shared_ptr<const StorageTable>& storages() const noexcept { return storages_; }

  Form form(Ref ref) const noexcept {
    return is_node(ref) ? static_cast<Form>(document_.tag(ref) & 0xff) : Form::none;
  }
  /// Element type of a `dtype` or `storage` node. An untyped storage counts as bytes.
  DType dtype(Ref ref) const noexcept { return static_cast<DType>(document_.tag(ref) >> 8); }
  Kind kind(Ref ref) const noexcept {
    const Form form = this->form(ref);
    return form == Form::none ? kKindOfNode[static_cast<std::size_t>(document_.kind(ref))]
                              : kKindOfForm[static_cast<std::size_t>(form)];
  }
  const GlobalMeaning& meaning(Ref global) const noexcept {
    return meanings_[document_.global_ordinal(global)];
  }

  /// Of a `tensor` node.
  Tensor tensor(Ref ref, std::size_t hint = 0) const;
  Tensor tensor_at(std::size_t row) const;
  std::size_t tensor_count() const noexcept { return tensors_->size(); }
  std::optional<std::size_t> tensor_row(Ref ref, std::size_t hint) const noexcept {
    return tensors_->find(ref, hint);
  }
  const TensorRecord& record(Ref ref) const noexcept {
    return tensors_->record(*tensors_->find(ref, tensors_->size() - 1));
  }
  TensorTraits traits(Ref ref) const noexcept;
  /// Of a `storage` node.
  Storage storage(Ref ref) const noexcept;
  /// What names and paths see of a value: what a call that tells its type gives back. Such calls
  /// stand in the order of their nodes, so this ends.
  Ref within(Ref ref) const noexcept {
    while (form(ref) == Form::tagged) ref = document_.items(document_.args(ref))[0];
    return ref;
  }
  /// The part of it that is meant, where that is not all of it.
  std::optional<View> view(Ref ref) const noexcept {
    const auto found = views_.find(bits_of(ref));
    return found == views_.end() ? std::nullopt : std::optional(found->second);
  }
  /// The global that a node of the kind `global` names.
  const GlobalName& global(Ref ref) const noexcept {
    if (form(ref) != Form::class_with_source) return document_.global(ref);
    return document_.global(document_.items(document_.persistent_id(ref))[1]);
  }
  /// Its size in bytes, wherever its bytes are or were dropped to.
  std::uint64_t storage_size(Ref ref) const noexcept { return storages_->size(document_.row(ref)); }

  /// Text of a string or of a Python 2 string that is text; content of bytes and bytearrays.
  std::string_view text(Ref ref) const noexcept;
  /// Items of list, tuple, set, frozenset, size, or the list items of an object.
  std::span<const Ref> elements(Ref ref) const noexcept;
  /// Keys and values in turn of a dict, ordered_dict, or the dict items of an object.
  std::span<const Ref> pairs(Ref ref) const noexcept;
  /// Attributes: what BUILD sets, or the state that a tensor's rebuild gives it; None without.
  Ref state(Ref ref) const noexcept;
  bool has_state(Ref ref) const noexcept;

  std::string device(Ref ref) const;
  std::string_view layout(Ref ref) const noexcept;

 private:
  friend class GraphBuilder;
  Document document_;
  Limits limits_;
  std::shared_ptr<const StorageTable> storages_;
  std::vector<Storage> restored_;
  /// Of `storage` nodes that are views of their storage; only the oldest files have any.
  std::map<std::uint32_t, View> views_;
  std::shared_ptr<TensorTable> tensors_;
  std::vector<GlobalMeaning> meanings_;
  /// Texts that had to be decoded and pairs that stood as arguments, by node, ascending.
  std::vector<std::pair<std::uint32_t, std::string>> decoded_;
  std::vector<std::pair<std::uint32_t, std::vector<Ref>>> spread_;
};

/// Bytes that names or paths of one walk may take: each may be as long as the graph is deep or a
/// key long, and few bytes of a pickle may lead to very many of them.
std::uint64_t text_budget(const Graph& graph) noexcept;

/// A dict, an ordered_dict or a tuple of two such dicts or Nones: the forms of a state that gives
/// attributes by name. Looks one up; nothing where there is none.
std::optional<Ref> find_attribute(const Graph& graph, Ref state, std::string_view name) noexcept;
/// The value of a text key in keys and values in turn.
std::optional<Ref> find_key(const Graph& graph, std::span<const Ref> pairs,
                            std::string_view key) noexcept;

}  // namespace flambeau
