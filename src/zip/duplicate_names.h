// Which of several entries of one name PyTorch reads.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace flambeau::zip {

class Directory;

/// The entries in the order in which miniz has them. Needed only where names are repeated, as the
/// order takes n log n comparisons of names. Views the directory.
class SortedNames {
 public:
  explicit SortedNames(const Directory& directory);

  /// The entry that miniz finds for a full name.
  std::optional<std::uint32_t> find(std::string_view name) const noexcept;

 private:
  /// Whether the entry at place `a` stands before the one at place `b` by its name.
  bool is_less(std::size_t a, std::size_t b) const noexcept;
  void sift_down(std::size_t root, std::size_t size) noexcept;

  const Directory& directory_;
  std::vector<std::uint32_t> ordinals_;
};

}  // namespace flambeau::zip
