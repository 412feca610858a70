// The usual way with one point to return to: when something after a `*` does not fit, that `*`
// takes one character more. Earlier ones need not be tried again, since the last can take anything.
#include <string_view>

#include "base/text.h"
#include "flambeau/checkpoint.h"

namespace flambeau {
namespace {

/// Bytes that are not UTF-8 equal themselves and nothing else.
char32_t take(std::string_view& text) noexcept {
  const auto code = decode_utf8(text);
  const char32_t taken =
      code ? code->value : static_cast<unsigned char>(text.front()) | char32_t{0x80000000};
  text.remove_prefix(code ? code->size : 1);
  return taken;
}

/// Where the set at the start of `pattern` ends (past its `]`); 0 where there is no set. A `]`
/// right after the opening is a member.
std::size_t set_size(std::string_view pattern) noexcept {
  std::size_t at = pattern.size() > 1 && pattern[1] == '!' ? 2 : 1;
  const std::size_t end = pattern.find(']', at + 1);
  return end == std::string_view::npos ? 0 : end + 1;
}

/// "a-z" is a range where something stands behind the dash; a dash at an end is a member.
bool set_has(std::string_view members, char32_t code) noexcept {
  while (!members.empty()) {
    const char32_t low = take(members);
    if (members.size() < 2 || members.front() != '-') {
      if (code == low) return true;
      continue;
    }
    members.remove_prefix(1);
    const char32_t high = take(members);
    if (low <= code && code <= high) return true;
  }
  return false;
}

/// Takes one element of `pattern`, no `*`, and one character of `name`; whether they fit.
bool take_one(std::string_view& pattern, std::string_view& name) noexcept {
  if (name.empty()) return false;
  const std::size_t set = pattern.front() == '[' ? set_size(pattern) : 0;
  if (set == 0) {
    const char32_t wanted = take(pattern);
    const char32_t found = take(name);
    return wanted == '?' || wanted == found;
  }
  const bool negated = pattern[1] == '!';
  const std::size_t start = negated ? 2 : 1;
  const std::string_view members = pattern.substr(start, set - 1 - start);
  pattern.remove_prefix(set);
  return set_has(members, take(name)) != negated;
}

/// `after_star` is the pattern behind the last `*`, `retry` what is left of the name for it.
bool fits(std::string_view pattern, std::string_view name) noexcept {
  bool starred = false;
  std::string_view after_star;
  std::string_view retry;
  for (;;) {
    if (pattern.empty() && name.empty()) return true;
    if (!pattern.empty() && pattern.front() == '*') {
      pattern.remove_prefix(1);
      starred = true;
      after_star = pattern;
      retry = name;
      continue;
    }
    if (!pattern.empty() && take_one(pattern, name)) continue;
    if (!starred || retry.empty()) return false;
    take(retry);
    pattern = after_star;
    name = retry;
  }
}

}  // namespace

bool name_matches(std::string_view pattern, std::string_view name) noexcept {
  return pattern == name || fits(pattern, name);
}

}  // namespace flambeau
