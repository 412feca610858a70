// Looking for notes in tests.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "flambeau/archive.h"

namespace flambeau::testing {

/// "where: message" of the notes of one severity, in order.
inline std::vector<std::string> texts(const std::vector<Note>& notes, Note::Severity severity) {
  std::vector<std::string> found;
  for (const Note& note : notes) {
    if (note.severity == severity) found.push_back(note.where + ": " + note.message);
  }
  return found;
}

inline std::vector<std::string> ambiguities(const std::vector<Note>& notes) {
  return texts(notes, Note::Severity::ambiguity);
}

inline std::vector<std::string> information(const std::vector<Note>& notes) {
  return texts(notes, Note::Severity::information);
}

}  // namespace flambeau::testing
