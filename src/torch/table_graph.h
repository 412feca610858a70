// A graph that no pickle made: tensors by name, for files that hold nothing else.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "flambeau/limits.h"
#include "tensor/record.h"
#include "torch/graph.h"

namespace flambeau {

using TableRows = std::vector<std::pair<std::string, TensorRecord>>;

/// A dict of the rows, in their order. The names are each other's only ones.
std::shared_ptr<const Graph> make_table_graph(std::shared_ptr<const StorageTable> storages,
                                              TableRows rows, const Limits& limits);

}  // namespace flambeau
