// What becomes of a storage that is sent elsewhere while its file is opened.
#pragma once

#include <string_view>

#include "flambeau/devices.h"

namespace flambeau {

struct RestoreRules {
  const MapLocation* map_location = nullptr;
  const DeviceRegistry* devices = nullptr;
  /// The pickle, for messages.
  std::string_view where = "data.pkl";

  bool is_set() const noexcept { return map_location->is_set() || devices != nullptr; }
};

/// The storage that takes the place of `plain`: itself where no rule is for it, null for `meta`.
/// Error: `usage` where a device gives less than the storage's bytes; what functions throw.
Storage restored_storage(const Storage& plain, std::string_view tag, const RestoreRules& rules);

}  // namespace flambeau
