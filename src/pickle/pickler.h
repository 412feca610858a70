// A document as the pickle that CPython's C pickler would write for it: memo numbers by first
// appearance, batches of a thousand items, objects that contain themselves.
//
//   ByteBuffer again = write_pickle(document);   // the bytes that the document was parsed from,
//                                                // where a C pickler wrote them
#pragma once

#include <cstdint>
#include <memory_resource>
#include <optional>
#include <string_view>

#include "base/byte_buffer.h"
#include "flambeau/limits.h"
#include "pickle/document.h"
#include "pickle/emitter.h"

namespace flambeau {

/// What a pickler asks while it writes. Values that are written by `outside` go through this.
class PickleWriter {
 public:
  virtual ~PickleWriter() = default;
  /// Where opcodes go.
  virtual Emitter& out() noexcept = 0;
  /// Writes a text, a class, a constant, or anything else that has been written before, from the
  /// memo where it can.
  virtual void value(Ref leaf) = 0;
  /// Writes a node of the kind `outside`, from the memo where it can.
  virtual void outside(Ref node) = 0;
};

/// The layer above, which knows what persistent ids and nodes of the kind `outside` are.
class PicklerHooks {
 public:
  virtual ~PicklerHooks() = default;
  /// A persistent node's id is about to be written. Once for each time that it is.
  virtual void persistent(Ref) {}
  /// Writes the persistent node's id in the place of its own, and says so.
  virtual bool write_id(Ref, PickleWriter&) { return false; }
  /// The text to be written for a string node, if another than its own.
  virtual std::optional<std::string_view> text_of(Ref) { return std::nullopt; }
  /// Writes a node of the kind `outside`: all but the memo number of the whole.
  virtual void outside(Ref, PickleWriter&) {}
};

struct PicklerOptions {
  /// 1 to 5; 0 takes the document's own. Nodes that need a later protocol are `unsupported`.
  int protocol = 0;
  Limits limits{};
  PicklerHooks* hooks = nullptr;
  /// About how many bytes will be written: room for them is asked for at once.
  std::size_t expected_size = 0;
  std::pmr::memory_resource* memory = std::pmr::get_default_resource();
};

/// Iterative, in time and memory linear in the document. Errors: `unsupported`; `limit` for texts
/// and integers that the protocol cannot hold; those of the hooks.
ByteBuffer write_pickle(const Document& document, const PicklerOptions& options = {});

}  // namespace flambeau
