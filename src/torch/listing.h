// The tensors of a graph with the paths that lead to them.
#pragma once

#include <cstdint>
#include <memory_resource>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/arena.h"
#include "torch/graph.h"
#include "torch/paths.h"

namespace flambeau {

/// How many containers are entered before each is entered once.
std::uint64_t most_visits(const Graph& graph) noexcept;

/// One row for each path to a tensor, in the order in which the pickle first meets them. Names are
/// views of the pickle or of the listing's arena; paths are spelled when they are asked for.
class Listing {
 public:
  /// Walks the graph, which must outlive the listing. Takes time linear in the rows and in the
  /// containers entered; see `first_paths_only`. Error: `limit` where even then names and
  /// rows take more than `Limits::max_expansion` and `max_output` let through.
  /// Names begin with `prefix`, which must outlive the listing, and a dot, where there is one.
  explicit Listing(const Graph& graph, std::string_view prefix = {});

  std::span<const NamedTensor> rows() const noexcept { return rows_; }
  /// Of row `index`.
  std::string path(std::size_t index) const;
  bool first_paths_only() const noexcept { return first_paths_only_; }

 private:
  /// The parent of the root.
  static constexpr std::uint32_t kNoParent = UINT32_MAX;

  /// A container on the way to rows.
  struct Entered {
    std::uint32_t parent;
    Step step;
    /// Spelled when the first row below needs it: a deep nest has names at its ends only.
    std::string_view name;
    bool is_spelled = false;
  };
  /// The last step to a row.
  struct LastStep {
    std::uint32_t parent;
    Step step;
  };
  struct Pending {
    Ref value;
    std::uint32_t parent;
    Step step;
  };
  void walk(bool first_paths_only);
  void step();
  bool enter(const Pending& at);
  void push_children(Ref container, std::uint32_t entered);
  void add_row(const Pending& at);
  bool is_nameless(std::uint32_t entered) const noexcept {
    return prefix_.empty() && entered_[entered].parent == kNoParent;
  }
  std::string_view name_of(std::uint32_t parent, const Step& step);
  std::string_view container_name(std::uint32_t entered);
  std::string_view keep(std::string_view name);

  const Graph& graph_;
  std::string_view prefix_;
  std::pmr::vector<NamedTensor> rows_;
  std::pmr::vector<LastStep> last_steps_;
  std::vector<Entered> entered_;
  std::pmr::vector<Pending> pending_;
  std::vector<std::uint32_t> unspelled_;
  /// By node: whether a container is open on the current path, or was entered at all.
  std::vector<bool> closed_;
  Arena<char> names_;
  std::string scratch_;
  std::size_t next_tensor_ = 0;
  std::uint64_t visits_ = 0;
  /// Of rows and of names that are no views of the pickle.
  std::uint64_t bytes_ = 0;
  bool first_paths_only_ = false;
};

}  // namespace flambeau
