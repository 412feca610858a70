// What a NAME on the command line leads to.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "flambeau/checkpoint.h"
#include "session.h"

namespace flambeau::cli {

/// A tensor or another value of the file, found by its name or path.
struct Found {
  std::string name;
  /// The Python expression from the root; empty where it is the root itself.
  std::string path;
  /// Of tensors, their parts, and numpy's arrays.
  std::optional<Tensor> tensor;
  /// Of what is no row of `ls`.
  Value value;
};

/// Looks among the names and paths of tensors, then among all values, then, for `NAME.indices` and
/// the like, among the parts of tensors. Nothing where the name leads nowhere.
/// `(root)` is the loaded object; `["a"]` and `a[3]` are taken for `['a']` and `a.3` where nothing
/// has the name that was given.
/// Error: `ambiguous` for a name that several paths share.
std::optional<Found> look_up(const Checkpoint& file, std::string_view name);

/// Refuses a name that leads nowhere, with the nearest one that exists. Gives back `kNegative`.
int refuse_unknown(Session& session, const Checkpoint& file, std::string_view name);

}  // namespace flambeau::cli
