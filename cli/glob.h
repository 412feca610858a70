// Shell-style patterns on names.
#pragma once

#include <string_view>

namespace flambeau::cli {

/// Whether all of `name` matches `pattern`, as Python's `fnmatch.fnmatchcase`: `*` any characters,
/// dots among them, `?` any one, `[abc]`, `[a-z]` and `[!a-z]` one of a set. A `[` without its `]`
/// is itself. Takes time in the product of the lengths at worst.
bool matches(std::string_view pattern, std::string_view name) noexcept;

}  // namespace flambeau::cli
