// From a stream of torch.save before 1.6 to a graph (torch/serialization.py, `_legacy_load`).
#pragma once

#include "flambeau/io.h"
#include "torch/loaded.h"

namespace flambeau {

/// Five pickles, then the storages. Only the pickles and each storage's count are looked at.
/// Errors: `malformed_pickle`, `truncated`, `unsupported`; as `parse_pickle`, `GraphBuilder` and
/// `StreamResolver`; `ambiguous` when strict.
Loaded load_stream(const SourcePtr& source, const LoadOptions& options);

}  // namespace flambeau
