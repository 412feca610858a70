// The object graph of one pickle, as data. A node is 16 bytes in an arena; containers keep runs of
// references in a second arena. Nothing is freed before the document is, so cycles cost nothing and
// no destructor walks the graph.
//
//   Ref              32 bits: a node's ordinal, or a small constant in place (bit 31 set)
//   Node             kind, flags, and by kind: a text view, items, an integer, …
//
// Texts are views of the pickle's own bytes, or of the document's side arena where they had to be
// decoded. Identity is the node: a string that the pickle spells twice is two nodes, one that it
// takes from the memo is one.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <memory_resource>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/arena.h"
#include "base/bytes.h"
#include "flambeau/limits.h"
#include "pickle/ref.h"

namespace flambeau {

enum class NodeKind : std::uint8_t {
  none,
  boolean,
  integer,      ///< fits 64 bits
  big_integer,  ///< does not; kept as little-endian two's complement
  real,
  string,       ///< UTF-8, lone surrogates in their three-byte form ("surrogatepass")
  byte_string,  ///< a Python 2 `str` (STRING, BINSTRING, SHORT_BINSTRING): bytes of unknown
                ///< encoding
  bytes,
  bytearray,
  list,
  tuple,
  dict,
  set,
  frozenset,
  global,
  object,      ///< REDUCE, NEWOBJ, NEWOBJ_EX, OBJ, INST: a call that is not made
  persistent,  ///< PERSID, BINPERSID
  extension,   ///< EXT1, EXT2, EXT4: a code of Python's copyreg registry, which we do not have
  outside,     ///< no value of a pickle: something that the layer above writes when it is saved
};

/// How an object was made.
enum class CallForm : std::uint8_t {
  reduce,     ///< callable(*args)
  newobj,     ///< cls.__new__(cls, *args)
  newobj_ex,  ///< cls.__new__(cls, *args, **kwargs)
  inst,       ///< OBJ and INST of protocols 0 and 1: callable(*args), and an "old-style" instance
};

/// What an object's node holds beside the callable.
struct Call {
  Ref args;
  std::uint32_t extra;  ///< ordinal + 1 in the table of extras, 0 for none
};

struct Node {
  NodeKind kind;
  /// Form of an object's call; of a list, dict or set that has room for more items, log2 of that
  /// room, else 0.
  std::uint8_t detail;
  /// Free for the layer above (see `Document::annotate`).
  std::uint16_t tag;
  /// Items of a container (pairs of a dict), bytes of a text (`kLargeText` where 32 bits do not
  /// hold them), callable of an object, id of a persistent node, ordinal of a global.
  std::uint32_t count;
  union {
    std::int64_t integer;
    double real;
    const char* text;
    Ref* items;
    Ref near[2];  ///< the items of a tuple that has not more than these; texts of a global
    Call call;
    std::uint64_t bits;
  };
};
static_assert(sizeof(Node) == 16);

inline constexpr std::uint32_t kNearItems = 2;

/// Count of a text of 4 GiB or more; `Node::bits` is its place in a table of such texts.
inline constexpr std::uint32_t kLargeText = UINT32_MAX;

/// What few objects have: state, items, keyword arguments.
struct ObjectExtra {
  std::optional<Ref> state;
  std::optional<Ref> kwargs;
  std::vector<Ref> list_items;
  /// Keys and values in turn.
  std::vector<Ref> dict_items;
};

struct GlobalName {
  std::string_view module;
  std::string_view name;
};

/// A class or function is one node however often the pickle spells it, as it is one Python object.
class Document {
 public:
  /// Takes a share in whatever keeps the pickle's bytes alive.
  explicit Document(std::shared_ptr<const void> source_owner = nullptr,
                    std::pmr::memory_resource* memory = std::pmr::get_default_resource())
      : items_(memory), texts_(memory), source_owner_(std::move(source_owner)) {}
  Document(Document&&) noexcept = default;
  Document& operator=(Document&&) noexcept = default;
  /// The same nodes, to be changed. Texts and items stay where they are, in `base`, which `owner`
  /// keeps alive.
  Document(const Document& base, std::shared_ptr<const void> owner);

  Ref root() const noexcept { return root_; }
  std::uint32_t node_count() const noexcept { return node_count_; }
  const Node& node(std::uint32_t ordinal) const noexcept {
    return nodes_[ordinal >> kChunkBits][ordinal & (kChunkSize - 1)];
  }

  /// The nodes from `ordinal` on that lie side by side: for passes over all of them.
  std::span<const Node> run_from(std::uint32_t ordinal) const noexcept {
    const std::uint32_t to_chunk_end = kChunkSize - (ordinal & (kChunkSize - 1));
    return {&node(ordinal), std::min(to_chunk_end, node_count_ - ordinal)};
  }

  NodeKind kind(Ref ref) const noexcept {
    if (is_node(ref)) return node(bits_of(ref)).kind;
    if (is_small_integer(ref)) return NodeKind::integer;
    return ref == kNone ? NodeKind::none : NodeKind::boolean;
  }
  bool is(Ref ref, NodeKind kind) const noexcept { return this->kind(ref) == kind; }

  // Each accessor below needs a reference of the kind that its name says.

  std::int64_t integer(Ref ref) const noexcept {
    return is_node(ref) ? node(bits_of(ref)).integer : small_integer(ref);
  }
  double real(Ref ref) const noexcept { return node(bits_of(ref)).real; }
  /// Of string, byte_string, bytes, bytearray, big_integer (two's complement).
  std::string_view text(Ref ref) const noexcept {
    const Node& text = node(bits_of(ref));
    return text.count == kLargeText ? large_texts_[text.bits]
                                    : std::string_view(text.text, text.count);
  }
  /// Of list, tuple, set, frozenset: the items. Of a dict: keys and values in turn, each key once,
  /// at the place of its first and with the value of its last setting.
  std::span<const Ref> items(Ref ref) const noexcept {
    const Node& container = node(bits_of(ref));
    if (container.kind == NodeKind::tuple && container.count <= kNearItems) {
      return {container.near, container.count};
    }
    const std::size_t width = container.kind == NodeKind::dict ? 2 : 1;
    return {container.items, container.count * width};
  }
  const GlobalName& global(Ref ref) const noexcept { return globals_[node(bits_of(ref)).count]; }
  /// The texts that STACK_GLOBAL made a global of; None where another opcode did.
  std::pair<Ref, Ref> global_texts(Ref ref) const noexcept {
    const Node& global = node(bits_of(ref));
    return {global.near[0], global.near[1]};
  }
  /// Ordinal of a global among the document's distinct globals; names come by `global_name`.
  std::uint32_t global_ordinal(Ref ref) const noexcept { return node(bits_of(ref)).count; }
  std::size_t global_count() const noexcept { return globals_.size(); }
  const GlobalName& global_name(std::uint32_t ordinal) const noexcept { return globals_[ordinal]; }
  /// Of object: what would be called.
  Ref callable(Ref ref) const noexcept { return Ref{node(bits_of(ref)).count}; }
  /// Of object: the arguments (a tuple node wherever CPython wrote the pickle).
  Ref args(Ref ref) const noexcept { return node(bits_of(ref)).call.args; }
  CallForm call_form(Ref ref) const noexcept {
    return static_cast<CallForm>(node(bits_of(ref)).detail);
  }
  /// Of object: what it has beside callable and arguments, or null.
  const ObjectExtra* extra(Ref ref) const noexcept {
    const std::uint32_t place = node(bits_of(ref)).call.extra;
    return place == 0 ? nullptr : &extras_[place - 1];
  }
  /// Of persistent: the id.
  Ref persistent_id(Ref ref) const noexcept { return Ref{node(bits_of(ref)).count}; }
  /// Of outside: the number that the layer above gave it.
  std::uint32_t outside_number(Ref ref) const noexcept { return node(bits_of(ref)).count; }
  /// Of extension: the code.
  std::int64_t extension_code(Ref ref) const noexcept { return node(bits_of(ref)).integer; }

  /// Dicts and OrderedDicts in which a key was set more than once.
  std::uint64_t duplicate_keys() const noexcept { return duplicate_keys_; }
  /// The highest of the protocols of the opcodes that occur and of those that PROTO states.
  int protocol() const noexcept { return protocol_; }
  /// Bytes of the pickle, STOP included.
  std::uint64_t source_size() const noexcept { return source_size_; }
  /// Values and marks left on the stack below the result at STOP; well-made pickles leave none.
  std::uint64_t left_on_stack() const noexcept { return left_on_stack_; }

  /// Notes what the layer above recognised a node as; 0 is "nothing". The document only keeps it.
  void annotate(Ref ref, std::uint16_t tag) noexcept { mutable_node(bits_of(ref)).tag = tag; }
  std::uint16_t tag(Ref ref) const noexcept { return node(bits_of(ref)).tag; }
  /// The same for a number of the layer above, which persistent nodes have room for.
  void set_row(Ref ref, std::uint32_t row) noexcept { mutable_node(bits_of(ref)).bits = row; }
  std::uint32_t row(Ref ref) const noexcept {
    return static_cast<std::uint32_t>(node(bits_of(ref)).bits);
  }

 private:
  friend class DocumentBuilder;
  static constexpr std::uint32_t kChunkBits = 17;
  static constexpr std::uint32_t kChunkSize = 1u << kChunkBits;
  Node& mutable_node(std::uint32_t ordinal) noexcept {
    return nodes_[ordinal >> kChunkBits][ordinal & (kChunkSize - 1)];
  }

  std::vector<Run<Node>> nodes_;
  std::uint32_t node_count_ = 0;
  Arena<Ref> items_;
  Arena<char> texts_;
  std::vector<ObjectExtra> extras_;
  std::vector<GlobalName> globals_;
  std::vector<std::string_view> large_texts_;
  std::shared_ptr<const void> source_owner_;
  Ref root_ = kNone;
  std::uint64_t duplicate_keys_ = 0;
  std::uint64_t source_size_ = 0;
  std::uint64_t left_on_stack_ = 0;
  int protocol_ = 0;
};

struct ParseOptions {
  Limits limits;
  /// For messages.
  std::string_view where = "pickle";
  /// Keeps the pickle's bytes alive.
  std::shared_ptr<const void> owner;
  /// Where the document's memory comes from; outlives the document.
  std::pmr::memory_resource* memory = std::pmr::get_default_resource();
};

/// Runs the pickle at the start of `pickle` and gives what it builds. Iterative, in time and memory
/// linear in the pickle. Errors: as `InstructionReader`; `malformed_pickle` for what the machine
/// refuses (stack underflow, a missing memo entry, APPEND on what is no list, …); `limit`.
Document parse_pickle(Bytes pickle, const ParseOptions& options = {});

/// Where the instruction that makes node `ordinal` begins. Documents don't keep this: the pickle is
/// run once more, up to there. It must be the one that `parse_pickle` took with these options.
std::uint64_t offset_of_node(Bytes pickle, const ParseOptions& options, std::uint32_t ordinal);

/// A tensor library's own bytes in a Python 2 string are text in some encoding; these two are the
/// ways to look at them. `decode_byte_string("utf-8" | "ascii" | "latin1", bytes)` gives UTF-8, or
/// nothing where the bytes are not in that encoding.
std::optional<std::string> decode_byte_string(std::string_view encoding, std::string_view bytes);

}  // namespace flambeau
