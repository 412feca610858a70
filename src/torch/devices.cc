// Matching of location tags. Source: torch/serialization.py, `_get_restore_location` and
// `_deserialize`/`_validate_device` of PyTorch 2.15: a backend takes its bare name, its name with
// digits, and its name with ":" and more.
#include "flambeau/devices.h"

#include <algorithm>
#include <utility>

namespace flambeau {

void DeviceRegistry::add(int priority, std::function<bool(std::string_view)> matches,
                         RestoreFunction restore) {
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

std::string MapLocation::tag_for(std::string_view tag) const {
  if (const auto* fixed = std::get_if<std::string>(&rule_)) return *fixed;
  if (const auto* table = std::get_if<2>(&rule_)) {
    const auto found = table->find(tag);
    if (found != table->end()) return found->second;
  }
  return std::string(tag);
}

}  // namespace flambeau
