// Matching of location tags: torch/serialization.py, `default_restore_location` (backends in the
// order of their priorities, the first that gives a storage) and `_deserialize` of PyTorch 2.15: a
// backend takes its bare name, its name with digits, and its name with ":" and more. PyTorch's
// pattern has no end, so that `cuda1x` passes there and not here; no writer makes such tags.
#include "flambeau/devices.h"

#include <algorithm>
#include <utility>

namespace flambeau {

void DeviceRegistry::add(int priority, std::function<bool(std::string_view)> matches,
                         RestoreFunction restore) {
  // Behind those of the same priority: `register_package` sorts, and Python's sort is stable.
  const auto after = std::find_if(backends_.begin(), backends_.end(),
                                  [&](const Backend& other) { return other.priority > priority; });
  backends_.insert(after, {priority, std::move(matches), std::move(restore)});
}

void DeviceRegistry::add(int priority, std::string name, RestoreFunction restore) {
  const auto matches = [name = std::move(name)](std::string_view tag) {
    if (!tag.starts_with(name)) return false;
    tag.remove_prefix(name.size());
    const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
    return tag.empty() || tag.front() == ':' || std::all_of(tag.begin(), tag.end(), is_digit);
  };
  add(priority, matches, std::move(restore));
}

std::optional<Storage> DeviceRegistry::restore(const Storage& storage, std::string_view tag) const {
  for (const Backend& backend : backends_) {
    if (!backend.matches(tag)) continue;
    if (auto made = backend.restore(storage, tag)) return made;
  }
  return std::nullopt;
}

/// A function decides by itself, so for it the file's tag stays.
std::string MapLocation::tag_for(std::string_view tag) const {
  if (const auto* fixed = std::get_if<std::string>(&rule_)) return *fixed;
  if (const auto* table = std::get_if<2>(&rule_)) {
    const auto found = table->find(tag);
    if (found != table->end()) return found->second;
  }
  return std::string(tag);
}

}  // namespace flambeau
