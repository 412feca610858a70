// The header of a safetensors file: what stands before the tensors' bytes.
//
//   u64 size, little-endian
//   {"name":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]},…,"__metadata__":{"k":"v"}}
//   blanks up to a multiple of 8
//   the tensors' bytes, without a gap
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "flambeau/dtype.h"
#include "flambeau/io.h"
#include "flambeau/limits.h"

namespace flambeau {

struct SafetensorsEntry {
  std::string name;
  DType dtype = DType::u8;
  /// As PyTorch counts: of float4 a pair is an element.
  std::vector<std::int64_t> shape;
  /// Bytes from the start of the data.
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

struct SafetensorsHeader {
  /// In the order of their data.
  std::vector<SafetensorsEntry> entries;
  std::vector<std::pair<std::string, std::string>> metadata;
  /// Where the data starts in the file.
  std::uint64_t data_offset = 0;
};

/// Reads and checks: names once, sizes that fit dtype and shape, data without gap or overlap up to
/// the file's end. Errors: `truncated`, `malformed_json`, `malformed_tensor`, `unsupported` for an
/// unknown dtype, `limit` for a header of more than 100 MB.
SafetensorsHeader read_safetensors_header(const Source& source, const Limits& limits);

/// The header of entries that are in the order of their data, with the blanks.
std::string safetensors_header_text(
    const std::vector<SafetensorsEntry>& entries,
    const std::vector<std::pair<std::string, std::string>>& metadata);

/// The rank of a dtype in the order in which the format's own writer puts tensors; 0 comes first.
std::size_t safetensors_rank(DType dtype) noexcept;

}  // namespace flambeau
