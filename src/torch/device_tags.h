// The location tags of one file, each once: a storage keeps a number.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/fail.h"

namespace flambeau {

class DeviceTags {
 public:
  /// Ordinal of a tag; the same for equal tags. A file has a handful, so a scan finds them.
  std::uint16_t ordinal(std::string_view tag) {
    const auto found = std::find(tags_.begin(), tags_.end(), tag);
    const auto ordinal = static_cast<std::size_t>(found - tags_.begin());
    if (found == tags_.end()) {
      if (ordinal > UINT16_MAX) fail(ErrorCode::limit, {}, "more than 65,536 location tags");
      tags_.emplace_back(tag);
    }
    return static_cast<std::uint16_t>(ordinal);
  }
  std::string_view tag(std::uint16_t ordinal) const noexcept { return tags_[ordinal]; }

 private:
  std::vector<std::string> tags_;
};

}  // namespace flambeau
