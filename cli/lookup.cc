// Parts are asked for last, from the longest prefix that names a tensor: keys with dots in them are
// common in checkpoints, parts are not.
#include "lookup.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "suggest.h"
#include "text.h"

namespace flambeau::cli {
namespace {

// Edit distances take time in the product of lengths; beyond it a suggestion is not worth it.
constexpr std::size_t kMostCandidates = 20'000;
constexpr std::size_t kLongestCandidate = 200;
// What texts call the loaded object, whose name is empty.
constexpr std::string_view kRoot = "(root)";

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
  return Found{std::string(name), file.value_path(name), value.as_tensor(), value};
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

// The longest prefix that leads somewhere decides; a shorter one is not tried after it.
std::optional<Found> look_up_exactly(const Checkpoint& file, std::string_view name) {
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

bool is_path(std::string_view name) noexcept {
  return name.starts_with('[') || name.starts_with('.');
}

// What stands between brackets: a position, or a text without its quotes.
struct Subscript {
  std::string key;
  bool is_text = false;
};

// Taken off the front of `text`; nothing where it is neither.
std::optional<Subscript> take_subscript(std::string_view& text) {
  const char quote = text.size() > 1 ? text[1] : '\0';
  Subscript taken{{}, quote == '\'' || quote == '"'};
  const char end = taken.is_text ? quote : ']';
  std::size_t at = taken.is_text ? 2 : 1;
  for (; at < text.size() && text[at] != end; ++at) {
    const std::string_view pair = text.substr(at, 2);
    if (taken.is_text && (pair == "\\'" || pair == "\\\"")) ++at;
    taken.key += text[at];
  }
  if (taken.is_text) ++at;
  if (at >= text.size() || text[at] != ']') return std::nullopt;
  const bool is_number = taken.key.find_first_not_of("0123456789") == std::string::npos;
  if (!taken.is_text && (!is_number || taken.key.empty())) return std::nullopt;
  text.remove_prefix(at + 1);
  return taken;
}

// As paths have it, which is how Python's `repr` chooses quotes.
std::string to_path(const Subscript& subscript) {
  std::string text = subscript.key;
  if (!subscript.is_text) return fmt::format("[{}]", text);
  if (text.find('\'') == std::string::npos) return fmt::format("['{}']", text);
  if (text.find('"') == std::string::npos) return fmt::format("[\"{}\"]", text);
  for (std::size_t at = 0; (at = text.find('\'', at)) != std::string::npos; at += 2) {
    text.insert(at, 1, '\\');
  }
  return fmt::format("['{}']", text);
}

// What one would write in Python, `["a"]` or `a[3]["b"]`, as the path or name that it means.
// Nothing where it is no such expression.
std::optional<std::string> respelled(std::string_view text) {
  const bool as_path = is_path(text);
  std::string result;
  while (!text.empty()) {
    if (text.front() != '[') {
      const std::size_t size = std::min(text.find('['), text.size());
      result += text.substr(0, size);
      text.remove_prefix(size);
      continue;
    }
    const auto subscript = take_subscript(text);
    if (!subscript) return std::nullopt;
    result += as_path ? to_path(*subscript) : "." + subscript->key;
  }
  return result;
}

// As it can be typed: the path where the name has characters that are shown escaped.
std::string spelling(const Checkpoint& file, std::size_t row, bool as_path) {
  const std::string_view name = file.tensors()[row].name;
  if (as_path || escaped(name) != name) return file.path(row);
  return fmt::format("'{}'", name.empty() ? kRoot : name);
}

// The nearest name or path, by what was given; nothing where there is none.
std::optional<std::string> suggestion(const Checkpoint& file, std::string_view name) {
  const auto tensors = file.tensors();
  const std::size_t count = std::min(tensors.size(), kMostCandidates);
  const bool as_path = is_path(name);
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < count; ++i) {
    texts.push_back(as_path ? file.path(i) : std::string(tensors[i].name));
    if (texts.back().size() > kLongestCandidate) texts.back().clear();
  }
  const std::vector<std::string_view> candidates(texts.begin(), texts.end());
  const std::string_view near = nearest(name, candidates);
  if (near.empty()) return std::nullopt;
  const auto at = std::find(candidates.begin(), candidates.end(), near);
  return spelling(file, static_cast<std::size_t>(at - candidates.begin()), as_path);
}

}  // namespace

std::optional<Found> look_up(const Checkpoint& file, std::string_view name) {
  if (auto found = look_up_exactly(file, name)) return found;
  const auto other = name == kRoot ? std::make_optional<std::string>() : respelled(name);
  return other && *other != name ? look_up_exactly(file, *other) : std::nullopt;
}

int refuse_unknown(Session& session, const Checkpoint& file, std::string_view name) {
  const auto near = name.size() <= kLongestCandidate ? suggestion(file, name) : std::nullopt;
  std::string hint = near ? "the nearest is " + *near : "`flambeau ls` lists the names of tensors";
  if (name.find("[-") != std::string_view::npos) hint = "positions count from 0 at the front";
  return session.refuse(ErrorCode::not_found, fmt::format("nothing is named '{}'; {}", name, hint),
                        kNegative);
}

}  // namespace flambeau::cli
