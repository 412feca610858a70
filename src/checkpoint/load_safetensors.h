// Safetensors files as checkpoints: a dict of tensors.
#pragma once

#include "flambeau/io.h"
#include "torch/loaded.h"

namespace flambeau {

/// Only the header is read. Errors: as `read_safetensors_header`.
Loaded load_safetensors(const SourcePtr& source, const LoadOptions& options);

}  // namespace flambeau
