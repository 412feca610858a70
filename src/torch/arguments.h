// The arguments of one rebuild call, read by position with their types checked: every number of a
// tensor's description passes through here.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/fail.h"
#include "torch/graph.h"

namespace flambeau {

/// Views the graph. `function` and `where` are for messages.
class Arguments {
 public:
  /// Error: `malformed_tensor` where `args` is no tuple.
  Arguments(const Graph& graph, Ref args, std::string_view function, std::string_view where)
      : graph_(graph), function_(function), where_(where) {
    if (!graph.document().is(args, NodeKind::tuple)) reject("the arguments are no tuple");
    items_ = graph.document().items(args);
  }

  std::size_t size() const noexcept { return items_.size(); }
  Ref operator[](std::size_t i) const noexcept { return items_[i]; }
  /// Error: `malformed_tensor` unless there are `least` to `most` arguments.
  void require(std::size_t least, std::size_t most) const {
    if (size() < least || size() > most) [[unlikely]]
      refuse_count(least, most);
  }

  /// Integers and booleans; `malformed_tensor` for all else and for what 64 bits cannot hold.
  std::int64_t integer(std::size_t i, std::string_view what) const;
  bool boolean(std::size_t i, std::string_view what) const;
  double real(std::size_t i, std::string_view what) const;
  std::string_view text(std::size_t i, std::string_view what) const;
  DType dtype(std::size_t i) const;
  /// A tuple, list or torch.Size of integers; `limit` beyond `max_dimensions`.
  void integers(std::size_t i, std::string_view what, std::vector<std::int64_t>& out) const;
  /// The record of a tensor argument, to copy from.
  const TensorRecord& tensor(std::size_t i, std::string_view what) const;

  [[noreturn]] void refuse(std::size_t i, std::string_view what, std::string_view wanted) const;
  template <typename... Args>
  [[noreturn]] void reject(fmt::format_string<Args...> format, Args&&... args) const {
    fail(ErrorCode::malformed_tensor, {where_}, "{}: {}", function_,
         fmt::format(format, std::forward<Args>(args)...));
  }
  std::string_view function() const noexcept { return function_; }
  std::string_view where() const noexcept { return where_; }

 private:
  [[noreturn, gnu::cold]] void refuse_count(std::size_t least, std::size_t most) const;

  const Graph& graph_;
  std::span<const Ref> items_;
  std::string_view function_;
  std::string_view where_;
};

}  // namespace flambeau
