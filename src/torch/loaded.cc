#include "torch/loaded.h"

#include "base/fail.h"

namespace flambeau {

void note_pickle(const Document& document, const std::string& where, std::vector<Note>& notes) {
  if (document.left_on_stack() > 0) {
    notes.push_back(
        {Note::Severity::information, where, "values are left on the stack at the end"});
  }
  if (document.duplicate_keys() > 0) {
    notes.push_back({Note::Severity::ambiguity, where,
                     "dicts in which a key is set more than once, where the last value counts: " +
                         std::to_string(document.duplicate_keys())});
  }
}

void refuse_ambiguities(const std::vector<Note>& notes) {
  for (const Note& note : notes) {
    if (note.severity == Note::Severity::ambiguity) {
      fail(ErrorCode::ambiguous, {note.where}, "{}", note.message);
    }
  }
}

}  // namespace flambeau
