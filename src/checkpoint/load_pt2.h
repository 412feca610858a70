// Programs of torch.export (.pt2): their weights and constants as a dict of tensors. The program
// itself is left alone.
#pragma once

#include "flambeau/archive.h"
#include "torch/loaded.h"

namespace flambeau {

/// Of PyTorch 2.8 and later, by its weights' and constants' configuration records
/// (torch/export/pt2_archive), or of 2.1 to 2.7, whose records are files of torch.save. Constants
/// are called `constants/NAME`. Errors: `malformed_zip`, `malformed_json`, `malformed_tensor`; as
/// `load_zip`.
Loaded load_pt2(ArchiveReader archive, const LoadOptions& options);

}  // namespace flambeau
