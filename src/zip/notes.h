// What is remarkable about an archive, gathered while it is read.
//
//   notes.add(Note::Severity::ambiguity, name, "{} bytes follow the end record", count);
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "flambeau/archive.h"

namespace flambeau::zip {

/// The start of a name, for messages: a name may have 65,535 bytes.
inline std::string shown(std::string_view name) {
  constexpr std::size_t kMost = 200;
  return name.size() <= kMost ? std::string(name) : std::string(name.substr(0, kMost)) + "…";
}

/// Keeps the first notes of each severity and counts the others, so that a million odd entries do
/// not become a million texts.
class NoteList {
 public:
  template <typename... Args>
  void add(Note::Severity severity, std::string_view where, fmt::format_string<Args...> format,
           Args&&... args) {
    std::size_t& count = counts_[static_cast<std::size_t>(severity)];
    if (count++ >= kMost) return;
    notes_.push_back({severity, shown(where), fmt::format(format, std::forward<Args>(args)...)});
  }

  const std::vector<Note>& notes() const noexcept { return notes_; }
  /// The notes, closed by the number of those that were only counted.
  std::vector<Note> take() &&;

  static constexpr std::size_t kMost = 500;

 private:
  std::vector<Note> notes_;
  std::size_t counts_[2] = {};
};

}  // namespace flambeau::zip
