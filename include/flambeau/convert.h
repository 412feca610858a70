// The tensors of a checkpoint in a file of another kind.
//
//   flambeau::convert(ckpt, "model.safetensors", {.select = {"model.*"}});
//
// Names are the dotted names of `Checkpoint::tensors`. Of a nested file only tensors are carried
// over; the report says what was not.
#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "flambeau/checkpoint.h"
#include "flambeau/io.h"
#include "flambeau/safetensors.h"

namespace flambeau {

enum class ConvertTo : std::uint8_t {
  pt,  ///< a dict of tensors, as torch.save writes it
  safetensors,
};

struct ConvertOptions {
  /// By OUT's extension where it is unset: .pt, .pth, .bin, .ckpt; .safetensors.
  std::optional<ConvertTo> to{};
  /// Of floating-point tensors; the others keep theirs. Numbers are rounded to the nearest, halves
  /// to even.
  std::optional<DType> dtype{};
  /// Globs on names: only these, without those.
  std::vector<std::string> select{};
  std::vector<std::string> exclude{};
  /// Of a safetensors file.
  SafetensorsMetadata metadata{};
  FileSinkOptions file{};
  unsigned threads = 0;
  ProgressCallback progress{};
  std::stop_token stop{};
};

struct ConvertReport {
  std::uint64_t tensors = 0;
  /// Names that mean the tensor of another name, which keeps the data: in a safetensors file
  /// `__metadata__` says so, in others they share a storage.
  std::vector<std::pair<std::string, std::string>> tied{};
  /// Tensors that shared a part of their bytes with another, and have their own now.
  std::vector<std::string> copied{};
  /// Paths of values that are no tensors, the first hundred, and how many there are.
  std::vector<std::string> left_out{};
  std::uint64_t left_out_count = 0;
  /// What `Sink::commit` gave.
  bool durable = true;
};

/// Writes OUT. Errors: `usage` for an extension that says nothing and for names that two tensors
/// have; `unsupported` for tensors that the file cannot hold (sparse, say), naming them; `exists`;
/// as `save_safetensors` and `save`.
ConvertReport convert(const Checkpoint& checkpoint, const std::string& out,
                      const ConvertOptions& options = {});

}  // namespace flambeau
