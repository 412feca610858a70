#include "torch/table_graph.h"

#include "io/pages.h"
#include "pickle/document_builder.h"
#include "torch/graph_builder.h"

namespace flambeau {

std::shared_ptr<const Graph> make_table_graph(std::shared_ptr<const StorageTable> storages,
                                              TableRows rows, const Limits& limits) {
  ParseOptions options;
  options.limits = limits;
  options.where = "names";
  options.memory = page_memory();
  const CurrentStep step;
  DocumentBuilder builder(options, step);
  std::vector<Ref> pairs;
  std::vector<Ref> nodes;
  std::uint64_t size = 0;
  pairs.reserve(rows.size() * 2);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    size += rows[i].first.size() + sizeof(TensorRecord);
    pairs.push_back(builder.add_decoded_text(NodeKind::string, rows[i].first));
    nodes.push_back(builder.add_outside(static_cast<std::uint32_t>(i)));
    pairs.push_back(nodes.back());
  }
  const Ref dict = builder.add_empty(NodeKind::dict);
  if (!pairs.empty()) builder.set_items(dict, pairs);
  constexpr int kProtocol = 2;
  return GraphBuilder::of_table(builder.finish(dict, size, 0, kProtocol), std::move(storages),
                                nodes, std::move(rows), limits);
}

}  // namespace flambeau
