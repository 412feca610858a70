// miniz sorts the entries by name with a heap
// (`mz_zip_reader_sort_central_dir_offsets_by_filename`) and finds a name by binary search
// (`mz_zip_locate_file_binary_search`). A heap sort does not keep the order of equal names, so
// which of them the search meets depends on all the others. Both are done here step by step as
// miniz does them: any other sort would give another answer.
#include "zip/duplicate_names.h"

#include <algorithm>
#include <compare>
#include <numeric>
#include <utility>

#include "base/text.h"
#include "zip/directory.h"

namespace flambeau::zip {
namespace {

/// Byte by byte as unsigned numbers, ASCII letters as lower case, a prefix before what it begins.
std::strong_ordering compare_names(std::string_view a, std::string_view b) noexcept {
  const auto number = [](char c) { return static_cast<unsigned char>(to_lower(c)); };
  return std::lexicographical_compare_three_way(
      a.begin(), a.end(), b.begin(), b.end(),
      [&](char x, char y) { return number(x) <=> number(y); });
}

}  // namespace

SortedNames::SortedNames(const Directory& directory)
    : directory_(directory), ordinals_(directory.size()) {
  std::iota(ordinals_.begin(), ordinals_.end(), std::uint32_t{0});
  const std::size_t size = ordinals_.size();
  if (size < 2) return;
  for (std::size_t root = (size - 2) / 2 + 1; root-- > 0;) sift_down(root, size);
  for (std::size_t end = size - 1; end > 0; --end) {
    std::swap(ordinals_[end], ordinals_[0]);
    sift_down(0, end);
  }
}

bool SortedNames::is_less(std::size_t a, std::size_t b) const noexcept {
  return compare_names(directory_.name(ordinals_[a]), directory_.name(ordinals_[b])) < 0;
}

void SortedNames::sift_down(std::size_t root, std::size_t size) noexcept {
  for (std::size_t child = 2 * root + 1; child < size; child = 2 * root + 1) {
    if (child + 1 < size && is_less(child, child + 1)) ++child;
    if (!is_less(root, child)) return;
    std::swap(ordinals_[root], ordinals_[child]);
    root = child;
  }
}

std::optional<std::uint32_t> SortedNames::find(std::string_view name) const noexcept {
  std::size_t low = 0;
  std::size_t high = ordinals_.size();
  while (low < high) {
    // miniz includes the upper bound: l + (h - l) / 2 with h = high - 1.
    const std::size_t middle = low + (high - 1 - low) / 2;
    const auto order = compare_names(directory_.name(ordinals_[middle]), name);
    if (order == 0) return ordinals_[middle];
    if (order < 0) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return std::nullopt;
}

}  // namespace flambeau::zip
