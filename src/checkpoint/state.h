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
#include "torch/loaded.h"

namespace flambeau {

struct Checkpoint::State {
  OpenOptions options;
  SourcePtr source;
  Container container = Container::zip;
  Loaded loaded;
  std::string producer;
  /// Of each pickle, the object's first.
  std::vector<std::unique_ptr<Listing>> listings;
  /// All rows, where there is more than one pickle with rows.
  std::vector<NamedTensor> joined;

  void list();
  std::span<const NamedTensor> rows() const noexcept {
    return joined.empty() ? listings.front()->rows() : std::span<const NamedTensor>(joined);
  }
  /// The pickle of a row, by its place, and the row within its listing.
  std::pair<std::size_t, std::size_t> find_row(std::size_t index) const noexcept;
  std::string path(std::size_t index) const;
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

/// The releases that write such files: of archives by the records they add (format.md of the
/// documents, "record order").
std::string producer_of(const Loaded& loaded, Container container);

}  // namespace flambeau
