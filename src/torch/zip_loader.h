// From an archive of torch.save to a graph (torch/serialization.py, `_load`).
#pragma once

#include "flambeau/archive.h"
#include "torch/loaded.h"

namespace flambeau {

/// Errors: `malformed_zip` for a missing or unreadable `data.pkl`, `version` or `byteorder`, and as
/// `ArchiveReader`, `parse_pickle`, `GraphBuilder`; `ambiguous` when strict.
Loaded load_zip(ArchiveReader archive, const LoadOptions& options);
/// The same for an archive of `torch.jit.save` or `torch::save`, which has its constants in a
/// second pickle (torch/csrc/jit/serialization/export_module.cpp). Code and debug files are left
/// alone.
Loaded load_script(ArchiveReader archive, const LoadOptions& options);

}  // namespace flambeau
