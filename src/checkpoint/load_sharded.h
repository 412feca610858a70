// Sets of files that share the tensors of one model: a folder, or the index that names its files.
#pragma once

#include <optional>
#include <string>

#include "flambeau/checkpoint.h"
#include "torch/loaded.h"

namespace flambeau {

struct ShardedFiles {
  Loaded loaded;
  /// The index, or the first shard where there is none.
  SourcePtr source;
};

/// The index of a folder with shards, or of a path that is an index itself; nothing for a path that
/// is neither a folder nor ends in ".index.json". Errors: `not_a_checkpoint` for other folders.
bool is_sharded_path(const std::string& path);

/// A dict of all shards' tensors, shard by shard in the order of their names. With an index, the
/// names that it has. Errors: `malformed_json` for an index without a map of names;
/// `malformed_tensor` for a name that its shard lacks; `ambiguous` for one that two shards have;
/// `unsupported` for shards that hold chunks of tensors; as `Checkpoint::open`.
ShardedFiles load_sharded(const std::string& path, const OpenOptions& options);

}  // namespace flambeau
