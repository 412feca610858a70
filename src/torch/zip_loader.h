// From an archive of torch.save to a graph (torch/serialization.py, `_load`).
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "flambeau/archive.h"
#include "flambeau/devices.h"
#include "flambeau/limits.h"
#include "torch/graph.h"
#include "torch/graph_builder.h"
#include "torch/zip_storages.h"

namespace flambeau {

struct LoadOptions {
  Limits limits;
  bool verify = true;
  bool strict = false;
  std::string encoding = "utf-8";
  MapLocation map_location;
  const DeviceRegistry* devices = nullptr;
};

/// A loaded archive.
struct LoadedZip {
  std::shared_ptr<const Graph> graph;
  std::shared_ptr<ZipStorages> storages;
  /// "little" or "big".
  std::string byteorder;
  /// What the version record says.
  std::string version;
  /// Found while loading, beside the archive's own.
  std::vector<Note> notes;
};

/// Errors: `malformed_zip` for a missing or unreadable `data.pkl`, `version` or `byteorder`, and as
/// `ArchiveReader`, `parse_pickle`, `GraphBuilder`; `ambiguous` when strict.
LoadedZip load_zip(ArchiveReader archive, const LoadOptions& options);

}  // namespace flambeau
