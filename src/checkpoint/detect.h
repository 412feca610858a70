// What a file is, by its first bytes: every sniffing of the project stands here.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "flambeau/archive.h"
#include "flambeau/io.h"

namespace flambeau {

enum class FileKind : std::uint8_t {
  zip,
  stream,  ///< torch.save before 1.6
  safetensors,
  exported,  ///< a zip of torch.export
  script,    ///< a zip of torch.jit.save or torch::save
  other,     ///< see `description`
};

struct Sniffed {
  FileKind kind = FileKind::other;
  /// What it is and what a person can do about it, for a message; empty for a zip.
  std::string description;
  /// Whether it is a torch file of a kind that this version does not read.
  bool is_torch = false;
};

/// Reads at most a few hundred bytes.
Sniffed sniff(const Source& source);

/// What a zip archive is by its records: of torch.save, of others that can be read, or something
/// else.
Sniffed sniff_archive(const ArchiveReader& archive);

}  // namespace flambeau
