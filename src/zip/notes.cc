// The closing line of a list that grew too long.
#include "zip/notes.h"

namespace flambeau::zip {

/// One line for each severity, since only ambiguity makes `strict` refuse a file.
std::vector<Note> NoteList::take() && {
  for (const auto severity : {Note::Severity::information, Note::Severity::ambiguity}) {
    const std::size_t count = counts_[static_cast<std::size_t>(severity)];
    if (count <= kMost) continue;
    notes_.push_back({severity, "", fmt::format("and {} more like these", count - kMost)});
  }
  return std::move(notes_);
}

}  // namespace flambeau::zip
