// Optimal string alignment distance, three rows of the matrix at a time. Bytes are compared, not
// code points: a suggestion need not be exact.
#include "suggest.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

namespace flambeau::cli {
namespace {

// Row i holds the distances of the first i bytes of `a` to every start of `b`; an exchange of
// neighbours looks two rows back.
std::size_t distance(std::string_view a, std::string_view b) {
  std::array<std::vector<std::size_t>, 3> rows;
  rows.fill(std::vector<std::size_t>(b.size() + 1));
  auto& [before, last, now] = rows;
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    now[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t change = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      now[j] = std::min({last[j] + 1, now[j - 1] + 1, change});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) now[j] = std::min(now[j], before[j - 2] + 1);
    }
    std::swap(before, last);
    std::swap(last, now);
  }
  return last[b.size()];
}

}  // namespace

// Lengths alone rule most candidates out before any row of the matrix is filled.
std::string_view nearest(std::string_view word, std::span<const std::string_view> candidates) {
  std::string_view best;
  std::size_t least = (word.size() + 2) / 3 + 1;
  for (const std::string_view candidate : candidates) {
    const std::size_t longer = std::max(candidate.size(), word.size());
    const std::size_t shorter = std::min(candidate.size(), word.size());
    if (longer - shorter >= least) continue;
    const std::size_t away = distance(word, candidate);
    if (away >= least) continue;
    least = away;
    best = candidate;
  }
  return best;
}

}  // namespace flambeau::cli
