// A document as the pickle that CPython's C pickler would write for it: memo numbers by first
// appearance, batches of a thousand items, objects that contain themselves.
//
//   Pickled again = write_pickle(document);   // the bytes that the document was parsed from,
//                                             // where a C pickler wrote them
#pragma once

#include <cstdint>
#include <memory_resource>
#include <vector>

#include "base/byte_buffer.h"
#include "flambeau/limits.h"
#include "pickle/document.h"

namespace flambeau {

struct PicklerOptions {
  /// 1 to 5; 0 takes the document's own. Nodes that need a later protocol are `unsupported`.
  int protocol = 0;
  Limits limits;
  std::pmr::memory_resource* memory = std::pmr::get_default_resource();
};

struct Pickled {
  ByteBuffer bytes;
  /// Persistent nodes in the order in which their ids stand in the pickle, one for each.
  std::vector<Ref> persistent;
};

/// Iterative, in time and memory linear in the document. Errors: `unsupported`; `limit` for texts
/// and integers that the protocol cannot hold.
Pickled write_pickle(const Document& document, const PicklerOptions& options = {});

}  // namespace flambeau
