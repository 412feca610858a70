// From a rebuild call to a tensor: every form of torch/_utils.py and torch/_tensor.py, each checked
// like the call it stands for, none called.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "torch/arguments.h"
#include "torch/graph.h"

namespace flambeau {

class TensorRebuilder {
 public:
  /// `swapped`: the file's byte order is not the host's. All must outlive the rebuilder.
  TensorRebuilder(const Graph& graph, std::string_view where, bool swapped) noexcept
      : graph_(graph), where_(where), swapped_(swapped) {}

  /// Fills `out` from the call of a global with `role` on `args`; false where the call is none
  /// that makes a tensor. Errors: `malformed_tensor`, `limit`, `unsupported`.
  bool rebuild(Role role, Ref args, TensorRecord& out);
  /// The old forms that get their content by BUILD: `torch.FloatTensor()` and a state of (storage,
  /// offset, size, stride), `Parameter` and a state of 3 or 5 items.
  bool rebuild_from_state(Ref object, const GlobalMeaning& meaning, TensorRecord& out);

 private:
  // Each fills `out` from the arguments of the function it is named after.
  void tensor(const Arguments& args, TensorRecord& out);
  void tensor_v3(const Arguments& args, TensorRecord& out);
  void parameter(const Arguments& args, TensorRecord& out);
  void qtensor(const Arguments& args, TensorRecord& out);
  void sparse(const Arguments& args, TensorRecord& out);
  void nested(const Arguments& args, TensorRecord& out);
  void jagged(const Arguments& args, TensorRecord& out);
  void meta(const Arguments& args, TensorRecord& out);
  void wrapper(const Arguments& args, TensorRecord& out);
  void device_tensor(const Arguments& args, TensorRecord& out);
  bool from_type(const Arguments& args, TensorRecord& out);

  void view(const Arguments& args, DType dtype, TensorRecord& out);
  std::uint64_t enter_view(const Arguments& args, const View& view, TensorRecord& out) const;
  void math_bits(const Arguments& args, std::size_t i, TensorRecord& out);
  void quantizer(const Arguments& args, TensorRecord& out);
  void per_channel(const Arguments& params, const Arguments& args, TensorRecord& out);
  void sparse_of_cpp(const Arguments& args, TensorRecord& out);
  void coo_parts(const Arguments& data, std::size_t first, TensorRecord& out);
  void sparse_coo(const Arguments& data, TensorRecord& out);
  void sparse_compressed(const Arguments& data, TensorKind kind, TensorRecord& out);
  void finish_parts(std::shared_ptr<const TensorExtension> extension, const TensorRecord& values,
                    TensorRecord& out);
  void subclass(const Arguments& args, TensorRecord& out);
  void inner_tensors(Ref state, TensorExtension& extension) const;
  void add_inner(Ref pairs_of, TensorExtension& extension) const;
  void local_shards(Ref shards, TensorExtension& extension) const;
  Tensor channel_numbers(const Arguments& params, std::size_t i, std::string_view what) const;
  Tensor part(Ref tensor) const;

  const Graph& graph_;
  std::string_view where_;
  bool swapped_;
  std::vector<std::int64_t> size_;
  std::vector<std::int64_t> stride_;
};

}  // namespace flambeau
