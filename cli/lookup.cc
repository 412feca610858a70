// Parts are asked for last, from the longest prefix that names a tensor: keys with dots in them are
// common in checkpoints, parts are not.
#include "lookup.h"

#include <fmt/format.h>

#include <vector>

#include "suggest.h"
#include "text.h"

namespace flambeau::cli {
namespace {

// Edit distances take time in the product of lengths; beyond it a suggestion is not worth it.
constexpr std::size_t kMostCandidates = 20'000;
constexpr std::size_t kLongestCandidate = 200;

// `find` gives the entry's own tensor, so its address tells the entry.
std::string path_of(const Checkpoint& file, const Tensor* tensor) {
  const auto tensors = file.tensors();
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (&tensors[i].tensor == tensor) return file.path(i);
  }
  return {};
}

// Tensors first: their names are looked up in constant time, other values by a walk.
std::optional<Found> look_up_whole(const Checkpoint& file, std::string_view name) {
  if (const Tensor* tensor = file.find(name)) {
    return Found{std::string(name), path_of(file, tensor), *tensor, {}};
  }
  const Value value = file.value(name);
  if (!value) return std::nullopt;
  const bool is_path = name.starts_with('[') || name.starts_with('.');
  return Found{std::string(name), is_path ? std::string(name) : "", value.as_tensor(), value};
}

// Follows `rest`, names of parts with a dot before each.
std::optional<Found> follow_parts(Found found, std::string_view rest) {
  while (!rest.empty()) {
    rest.remove_prefix(1);
    const std::string_view part = rest.substr(0, rest.find('.'));
    rest.remove_prefix(part.size());
    const Tensor* const inner = found.tensor ? found.tensor->find_part(part) : nullptr;
    if (inner == nullptr) return std::nullopt;
    found.name.append(".").append(part);
    found.path.append(".").append(part);
    found.tensor = Tensor(*inner);
    found.value = Value();
  }
  return found;
}

}  // namespace

// The longest prefix that leads somewhere decides; a shorter one is not tried after it.
std::optional<Found> look_up(const Checkpoint& file, std::string_view name) {
  if (auto found = look_up_whole(file, name)) return found;
  for (std::size_t dot = name.rfind('.'); dot != std::string_view::npos && dot > 0;
       dot = name.rfind('.', dot - 1)) {
    auto base = look_up_whole(file, name.substr(0, dot));
    if (base) return follow_parts(std::move(*base), name.substr(dot));
  }
  auto root = look_up_whole(file, "");
  if (!root || name.empty()) return std::nullopt;
  return follow_parts(std::move(*root),
                      name.starts_with('.') ? std::string(name) : fmt::format(".{}", name));
}

int refuse_unknown(Session& session, const Checkpoint& file, std::string_view name) {
  std::vector<std::string_view> candidates;
  for (const NamedTensor& entry : file.tensors()) {
    if (entry.name.size() <= kLongestCandidate) candidates.push_back(entry.name);
    if (candidates.size() == kMostCandidates) break;
  }
  const bool is_short = name.size() <= kLongestCandidate;
  const std::string_view near = is_short ? nearest(name, candidates) : "";
  const std::string hint = near.empty() ? "`flambeau ls` lists the names of tensors"
                                        : fmt::format("the nearest name is '{}'", near);
  return session.refuse(ErrorCode::not_found, fmt::format("nothing is named '{}'; {}", name, hint),
                        kNegative);
}

}  // namespace flambeau::cli
