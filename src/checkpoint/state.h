// What an open checkpoint owns.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "flambeau/checkpoint.h"
#include "torch/listing.h"
#include "torch/zip_loader.h"

namespace flambeau {

struct Checkpoint::State {
  OpenOptions options;
  SourcePtr source;
  Container container = Container::zip;
  LoadedZip zip;
  std::string producer;
  std::unique_ptr<Listing> listing;

  /// Entries by name and by path, made when the first name or path is asked for. Names that several
  /// paths share keep the first entry and are listed in `ambiguous`.
  struct Index {
    std::unordered_map<std::string_view, std::size_t> by_name;
    std::unordered_map<std::string_view, std::vector<std::size_t>> ambiguous;
  };
  const Index& names() const;
  const std::unordered_map<std::string, std::size_t>& paths() const;

 private:
  mutable std::once_flag names_once_;
  mutable std::once_flag paths_once_;
  mutable Index names_;
  mutable std::unordered_map<std::string, std::size_t> paths_;
};

/// The releases that write archives of this layout, by the records they add (format.md of the
/// documents, "record order").
std::string producer_of(const ArchiveReader& archive, const ZipStorages& storages);

}  // namespace flambeau
