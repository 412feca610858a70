// The object graph for people: indented, much like Python's repr.
//
//   {
//     'epoch': 3,
//     'model': OrderedDict(
//       'weight': tensor float32 [20, 10] storage 0 cpu,
//       … 12 more,
//     ),
//   }
#pragma once

#include <cstddef>

#include "flambeau/value.h"
#include "output.h"

namespace flambeau::cli {

struct TreeTextOptions {
  /// Fold nothing: every item, every level, every text in full.
  bool all = false;
  /// Columns of the terminal; 0 for none, which is taken as 100.
  std::size_t width = 0;
};

/// Writes `root` and a line end. An object that is shown more than once is marked `&1` the first
/// time and stands as `*1` afterwards. Iterative.
void write_tree_text(Output& out, Value root, const TreeTextOptions& options);

}  // namespace flambeau::cli
