// Bounds on what one file may cost, against files that are made to exhaust the reader.
//
//   auto checkpoint = flambeau::Checkpoint::open("upload.pt", {.limits = {.max_nodes = 100'000}});
//
// The defaults let every real checkpoint through (a million tensors are about ten million nodes).
// Reaching a bound is an `Error` with code `limit`. Parsing never recurses, so there is no depth
// bound on it.
#pragma once

#include <cstdint>

namespace flambeau {

/// Bounds of one open file. Plain data: set what you need, keep the rest.
struct Limits {
  /// Records of a zip directory. 46 bytes of directory each, so this is 740 MB of it.
  std::uint64_t max_records = std::uint64_t{1} << 24;
  /// Bytes of one pickle. PyTorch itself builds `data.pkl` in memory before it writes it.
  std::uint64_t max_pickle_size = std::uint64_t{1} << 33;
  /// Nodes of one object graph, 16 bytes each and some more for containers.
  std::uint64_t max_nodes = std::uint64_t{1} << 30;
  /// Dimensions of one tensor. PyTorch's own operators stop at 64; files with more exist as tests.
  std::uint32_t max_dimensions = 1024;
  /// Decimal digits of an integer that is written or read as text; CPython stops at 4,300, too
  /// (`sys.int_info.default_max_str_digits`), because the conversion takes quadratic time.
  std::uint32_t max_integer_digits = 4300;
  /// Nesting that a JSON document may have, since readers of JSON recurse.
  std::uint32_t json_depth = 1000;
  /// How many times larger than its input a result may be:
  ///   - the names and rows of a listing, and the paths of a walk, against the pickle: containers
  ///     shared by containers multiply;
  ///   - the deflated records that an open file has inflated and keeps, against the file: deflate
  ///     makes up to 1,032 bytes of one. The declared size is compared before inflating;
  ///   - `Tensor::to` and `contiguous`, which know no file, against the storage: a stride of 0 can
  ///     make any size.
  std::uint64_t max_expansion = 64;
  /// Bytes of a listing, a walk, or of inflated records that are let through whatever their ratio.
  std::uint64_t max_output = std::uint64_t{256} << 20;
};

}  // namespace flambeau
