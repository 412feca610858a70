// What the name of a directory entry says: its hash without regard to case, and whether it is a
// name that readers may take differently.
#pragma once

#include <cstdint>
#include <string_view>

namespace flambeau::zip {

/// Chosen once for each process, so that nobody can prepare names that all collide.
struct HashSeed {
  std::uint64_t start = 0;
  std::uint64_t multiplier = 0;  // odd
};
HashSeed process_seed();

struct NameScan {
  /// Equal for names that are equal but for the case of ASCII letters, as miniz compares them.
  std::uint64_t hash = 0;
  /// Only printable ASCII, no backslash, no part that is empty or begins with a dot: nothing to
  /// look at closer.
  bool is_plain = true;
};
NameScan scan_name(std::string_view name, const HashSeed& seed) noexcept;

/// Why readers may take the name differently, or unpack it to an unexpected place; empty for most.
/// Such names are data like any other here: nothing is opened by them.
std::string_view name_oddity(std::string_view name) noexcept;

/// Whether macOS adds such an entry by itself: `__MACOSX/…`, `.DS_Store`, `._*`.
bool is_macos_litter(std::string_view name) noexcept;

}  // namespace flambeau::zip
