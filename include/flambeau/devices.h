// Location tags: where a file says that its storages lived, and where a program wants them.
//
//   auto c = Checkpoint::open("gpu.pt", {.map_location = MapLocation("cuda:1")});
//   auto c = Checkpoint::open("gpu.pt", {.map_location = MapLocation({{"cuda:0", "cpu"}})});
//   auto c = Checkpoint::open("gpu.pt", {.map_location = MapLocation(function)});
//
// Without a `map_location` and without a registry, storages stay on the CPU and their tags stay
// what the file says. Rules: torch/serialization.py, `_get_restore_location`.
#pragma once

#include <functional>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "flambeau/tensor.h"

namespace flambeau {

/// Gives a storage for the CPU storage and the tag of the file; nothing for "go on by the tag".
/// Called once for each storage, from the thread that opens the file. What it gives must be at
/// least as large as `storage`; `usage` otherwise. It may read and verify `storage`, whose bytes
/// may be a mapping.
using RestoreFunction =
    std::function<std::optional<Storage>(const Storage& storage, std::string_view tag)>;

/// The backends that storages can be restored to, by location tag.
class DeviceRegistry {
 public:
  /// `matches` tells whether the backend takes a tag; `restore` makes the storage there. Backends
  /// are asked in ascending `priority`, those of one priority in the order of their adding.
  void add(int priority, std::function<bool(std::string_view tag)> matches,
           RestoreFunction restore);
  /// As PyTorch matches backends: the bare name, the name and digits, or the name, ":" and
  /// anything.
  void add(int priority, std::string name, RestoreFunction restore);

  /// The storage that the first fitting backend makes, or nothing where none fits.
  std::optional<Storage> restore(const Storage& storage, std::string_view tag) const;

 private:
  struct Backend {
    int priority;
    std::function<bool(std::string_view)> matches;
    RestoreFunction restore;
  };
  std::vector<Backend> backends_;
};

/// A rule from the file's tags to the program's. The tag "meta" drops the bytes: tensors become
/// meta tensors of their shape.
class MapLocation {
 public:
  MapLocation() = default;
  /// Every storage goes to this tag.
  MapLocation(std::string tag) : rule_(std::move(tag)) {}    // NOLINT: a tag is a rule
  MapLocation(const char* tag) : rule_(std::string(tag)) {}  // NOLINT: a tag is a rule
  /// Tags in the table change, others stay.
  MapLocation(std::map<std::string, std::string, std::less<>> table)  // NOLINT: a table is a rule
      : rule_(std::move(table)) {}
  /// The same written out: without it, one pair in braces would be two ends of a text, too.
  MapLocation(std::initializer_list<std::pair<const std::string, std::string>> table)
      : rule_(std::map<std::string, std::string, std::less<>>(table)) {}
  MapLocation(RestoreFunction function) : rule_(std::move(function)) {}  // NOLINT: so is a function

  bool is_set() const noexcept { return rule_.index() != 0; }
  /// The tag that `tag` becomes; itself for a function and for no rule.
  std::string tag_for(std::string_view tag) const;
  const RestoreFunction* function() const noexcept { return std::get_if<RestoreFunction>(&rule_); }

 private:
  std::variant<std::monostate, std::string, std::map<std::string, std::string, std::less<>>,
               RestoreFunction>
      rule_;
};

}  // namespace flambeau
