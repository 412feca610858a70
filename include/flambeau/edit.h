// A checkpoint with some of its entries dropped, renamed or set anew, and all else as it was.
//
//   flambeau::Draft draft(checkpoint);
//   flambeau::edit(draft, {.drop = {"optimizer*"}, .set = {{"epoch", "0"}}});
//   flambeau::save("small.pt", draft);
//
// Names and paths are those of the checkpoint, as `Checkpoint::value` takes them; they stay valid
// whatever the other changes do. What leaves no name (a position in a list, say) can be dropped and
// set, but not renamed.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "flambeau/draft.h"

namespace flambeau {

struct Edits {
  /// Globs on the dotted names of entries (see `name_matches`), or exact names or paths: tensors,
  /// numbers, whole containers. The entry leaves its dict, list, set or object.
  std::vector<std::string> drop{};
  /// Names or paths of dict keys and attributes, and the new name of each. It begins like the old
  /// one, since an entry stays in its container, and at its place.
  std::vector<std::pair<std::string, std::string>> rename{};
  /// Names or paths, and the new value of each as a Python literal. A new name becomes the last
  /// entry of the innermost dict or object whose name it begins with, at the root at last.
  std::vector<std::pair<std::string, std::string>> set{};
};

struct EditReport {
  std::uint64_t dropped = 0;
  std::uint64_t renamed = 0;
  std::uint64_t set = 0;
  /// Of `drop`: what matched nothing.
  std::vector<std::string> unmatched{};
  /// Of `set`: paths of entries that were not there before.
  std::vector<std::string> added{};
};

/// Changes a draft that was made of a checkpoint. An error leaves the draft as it was. Errors:
/// `not_found` for a name that `rename` or `set` has no place for; `ambiguous` for one that several
/// entries share; `exists` where a new name is taken; `usage` for values that are no literals, for
/// arguments of calls that are dropped, and for a draft of nothing; `limit` where the names of all
/// entries together are too long.
EditReport edit(Draft& draft, const Edits& edits);

}  // namespace flambeau
