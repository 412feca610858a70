// What the loaders of all containers take, and what they give.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "flambeau/archive.h"
#include "flambeau/devices.h"
#include "flambeau/limits.h"
#include "torch/graph.h"
#include "torch/source_storages.h"
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

/// The pickles of a stream around that of the object (torch/serialization.py, `_legacy_save`).
struct StreamFrame {
  /// Magic number, protocol version, facts about the writer's machine.
  std::vector<Document> head;
  /// The storages' keys, in the order of their data.
  std::vector<Document> keys;
};

/// A pickle beside that of the object.
struct MorePickle {
  std::string record;
  /// What its names begin with.
  std::string prefix;
  std::shared_ptr<const Graph> graph;
};

struct Loaded {
  std::shared_ptr<const Graph> graph;
  std::vector<MorePickle> more;
  /// Null where the file is no archive.
  std::shared_ptr<ZipStorages> zip;
  /// Null where the file is one.
  std::shared_ptr<const SourceStorages> storages;
  std::shared_ptr<const StreamFrame> stream;
  /// "little" or "big".
  std::string byteorder = "little";
  /// What the version record says, or the stream.
  std::string version;
  /// Texts that a safetensors file has beside its tensors.
  std::vector<std::pair<std::string, std::string>> metadata;
  /// Found while loading, beside the archive's own.
  std::vector<Note> notes;
};

/// Adds what is to be told of a pickle.
void note_pickle(const Document& document, const std::string& where, std::vector<Note>& notes);
/// Strict mode: the first ambiguity is the error.
void refuse_ambiguities(const std::vector<Note>& notes);

}  // namespace flambeau
