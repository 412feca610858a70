// Files of the safetensors format: names, dtypes, shapes and bytes, and nothing else. They are read
// by `Checkpoint::open`, as a dict of tensors in the order of their data; this is how they are
// written.
//
//   flambeau::save_safetensors("model.safetensors", ckpt.tensors());
//
// Format: https://github.com/huggingface/safetensors, README and safetensors/src/tensor.rs (0.8).
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "flambeau/archive.h"
#include "flambeau/io.h"
#include "flambeau/tensor.h"

namespace flambeau {

/// "F32"; empty for a dtype that the format lacks.
std::string_view safetensors_name(DType dtype) noexcept;

/// Texts by their names, sorted by them in the file.
using SafetensorsMetadata = std::vector<std::pair<std::string, std::string>>;

struct SafetensorsOptions {
  SafetensorsMetadata metadata{};
  /// What floating-point tensors become; the others stay what they are.
  std::optional<DType> dtype{};
  FileSinkOptions file{};
};

/// Writes strided tensors, each contiguous and its elements little-endian, in the order in which
/// safetensors itself puts them: by dtype, then by name. Tensors of one storage are written one by
/// one. Gives what `Sink::commit` does. Errors: `unsupported` for other kinds and for dtypes that
/// the format lacks; `usage` for a name that comes twice, or is "__metadata__"; as
/// `Tensor::copy_to` and `create_file`; `cancelled`.
bool save_safetensors(const std::string& path, std::span<const NamedTensor> tensors,
                      SafetensorsOptions options = {}, const WriteOptions& writing = {});
/// The same into any sink, which is committed; `file` is the sink's.
bool save_safetensors(Sink& sink, std::span<const NamedTensor> tensors,
                      SafetensorsOptions options = {}, const WriteOptions& writing = {});

}  // namespace flambeau
