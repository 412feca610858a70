// torch/serialization.py, `_get_restore_location`: a function is asked first; what it leaves, and
// every other rule, goes on by the tag.
#include "torch/restore.h"

#include <optional>
#include <string>

#include "base/fail.h"

namespace flambeau {

Storage restored_storage(const Storage& plain, std::string_view tag, const RestoreRules& rules) {
  const MapLocation& rule = *rules.map_location;
  const std::string target = rule.tag_for(tag);
  std::optional<Storage> made;
  if (rule.function() != nullptr) made = (*rule.function())(plain, tag);
  if (!made && rule.is_set() && target == "meta") made = Storage();
  if (!made && rules.devices != nullptr) made = rules.devices->restore(plain, target);
  if (made && *made && made->size() < plain.size()) {
    fail(ErrorCode::usage, {rules.where}, "storage {} of {} bytes was restored to {}", plain.key(),
         plain.size(), made->size());
  }
  return made.value_or(plain);
}

}  // namespace flambeau
