// Every entry of every container of a graph, tensor or not, with the name and the path that lead
// to it.
#pragma once

#include <cstddef>
#include <functional>
#include <string_view>

#include "torch/graph.h"
#include "torch/paths.h"

namespace flambeau {

/// One entry, while it is visited. The texts change afterwards.
struct GraphEntry {
  Ref container;
  Step step;
  Ref value;
  std::string_view name;
  std::string_view path;
  /// How much of `name` and `path` is the container's own, without a dot behind it.
  std::size_t container_name_size;
  std::size_t container_path_size;
};

/// Calls `visit` for each entry, in the order of the pickle. A container is entered at every path
/// that leads to it, never inside itself; past the visits that a listing makes, once.
/// Error: `limit` where the names take more bytes than `text_budget` lets through.
void for_each_entry(const Graph& graph, const std::function<void(const GraphEntry&)>& visit);

}  // namespace flambeau
