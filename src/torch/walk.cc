// The walk over a whole graph, each node once. It has a stack of its own and one path, which is cut
// back to the parent's and extended as each value is taken from the stack.
#include <algorithm>
#include <string>
#include <vector>

#include "base/fail.h"
#include "flambeau/value.h"
#include "torch/graph.h"
#include "torch/paths.h"

namespace flambeau {

/// Bounded in depth and in bytes because each step has a path of its own: along a nest of a million
/// lists, or below a key of a megabyte, they would be far larger than the file.
std::vector<WalkStep> walk(Value root) {
  struct Pending {
    Ref value;
    Step step;
    std::size_t parent_path_size;
    std::uint32_t depth;
  };
  if (!root) return {};
  const Graph& graph = *root.graph();
  std::vector<WalkStep> steps;
  std::vector<Pending> pending = {{root.ref(), {}, 0, 0}};
  std::vector<bool> seen(graph.document().node_count());
  std::string path;
  std::uint64_t path_bytes = 0;
  const std::uint64_t most_bytes = text_budget(graph);
  while (!pending.empty()) {
    const Pending at = pending.back();
    pending.pop_back();
    const Value value(&graph, at.value);
    // Marked when visited, not when pushed: the first visit is the one by the first path.
    if (value.has_identity()) {
      if (seen[bits_of(at.value)]) continue;
      seen[bits_of(at.value)] = true;
    }
    if (at.depth > graph.limits().json_depth) {
      fail(ErrorCode::limit, {}, "nested deeper than {} levels", graph.limits().json_depth);
    }
    path.resize(at.parent_path_size);
    append_path(graph, at.step, path);
    path_bytes += path.size();
    if (path_bytes > most_bytes) {
      fail(ErrorCode::limit, {}, "the paths take more than {} bytes", most_bytes);
    }
    steps.push_back({path, value});
    // The stack gives the last child first, so they are turned around.
    const auto first = static_cast<std::ptrdiff_t>(pending.size());
    for_each_child(graph, at.value, [&](const Step& step, Ref child) {
      pending.push_back({child, step, path.size(), at.depth + 1});
    });
    std::reverse(pending.begin() + first, pending.end());
  }
  return steps;
}

}  // namespace flambeau
