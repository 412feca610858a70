// "Did you mean": the nearest of some names to a mistyped one.
#pragma once

#include <span>
#include <string_view>

namespace flambeau::cli {

/// The candidate with the smallest edit distance (Levenshtein, with neighbours swapped counting
/// one) to `word`; empty where even that one differs in more than a third of the word, rounded up.
/// Of several equally near ones, the first. Takes time in the product of the lengths.
std::string_view nearest(std::string_view word, std::span<const std::string_view> candidates);

}  // namespace flambeau::cli
