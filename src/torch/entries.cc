// A depth-first walk with its own stack. All entries of one container share the start of their
// names, so one text serves: it is cut back to that start before each entry's own part is added.
#include "torch/entries.h"

#include <algorithm>
#include <string>
#include <vector>

#include "base/fail.h"
#include "torch/listing.h"

namespace flambeau {
namespace {

class EntryWalk {
 public:
  EntryWalk(const Graph& graph, bool first_paths_only)
      : graph_(graph), first_paths_only_(first_paths_only) {}

  /// Gives up, and says so, past `most_visits` containers.
  bool run(std::uint64_t most_visits, const std::function<void(const GraphEntry&)>* visit);

 private:
  struct Pending {
    Ref container;
    Step step;
    Ref value;
    std::size_t name_size;
    std::size_t path_size;
    bool is_end = false;
  };
  void spell(const Pending& at);
  void enter(Ref container);

  const Graph& graph_;
  const bool first_paths_only_;
  std::vector<Pending> pending_;
  std::vector<bool> closed_;
  std::string name_;
  std::string path_;
  std::uint64_t visits_ = 0;
};

void EntryWalk::spell(const Pending& at) {
  name_.resize(at.name_size);
  path_.resize(at.path_size);
  if (at.container != graph_.within(graph_.document().root())) name_ += '.';
  append_name(graph_, at.step, name_);
  append_path(graph_, at.step, path_);
}

/// Below its end mark, everything on the stack belongs to the container.
void EntryWalk::enter(Ref container) {
  if (!is_node(container) || closed_[bits_of(container)] || !is_container(graph_.kind(container))) {
    return;
  }
  ++visits_;
  closed_[bits_of(container)] = true;
  pending_.push_back({container, {}, container, 0, 0, true});
  const auto first = static_cast<std::ptrdiff_t>(pending_.size());
  for_each_child(graph_, container, [&](const Step& step, Ref child) {
    pending_.push_back({container, step, child, name_.size(), path_.size()});
  });
  std::reverse(pending_.begin() + first, pending_.end());
}

bool EntryWalk::run(std::uint64_t most_visits,
                    const std::function<void(const GraphEntry&)>* visit) {
  const std::uint64_t most_bytes = text_budget(graph_);
  std::uint64_t bytes = 0;
  closed_.assign(graph_.document().node_count(), false);
  enter(graph_.within(graph_.document().root()));
  while (!pending_.empty() && visits_ <= most_visits) {
    const Pending at = pending_.back();
    pending_.pop_back();
    if (at.is_end) {
      closed_[bits_of(at.value)] = first_paths_only_;
      continue;
    }
    if (visit != nullptr) {
      spell(at);
      bytes += name_.size() + path_.size();
      if (bytes > most_bytes) {
        fail(ErrorCode::limit, {}, "the names of the entries take more than {} bytes", most_bytes);
      }
      (*visit)({at.container, at.step, at.value, name_, path_, at.name_size, at.path_size});
    }
    enter(at.value);
  }
  return pending_.empty();
}

}  // namespace

/// A first walk without names tells whether every path can be followed.
void for_each_entry(const Graph& graph, const std::function<void(const GraphEntry&)>& visit) {
  const bool all_paths = EntryWalk(graph, false).run(most_visits(graph), nullptr);
  EntryWalk(graph, !all_paths).run(UINT64_MAX, &visit);
}

}  // namespace flambeau
