// JSON from files: read event by event, never recursing, and never kept as a tree.
//
//   struct Names : JsonEvents { void key(std::string_view name) override { … } };
//   read_json(text, names, "header");
#pragma once

#include <cstdint>
#include <string_view>

namespace flambeau {

/// What a document consists of, in its order. Texts live until the call returns. What is not
/// overridden is passed over.
class JsonEvents {
 public:
  virtual ~JsonEvents() = default;
  virtual void begin_object() {}
  virtual void end_object() {}
  virtual void begin_array() {}
  virtual void end_array() {}
  virtual void key(std::string_view) {}
  virtual void text(std::string_view) {}
  /// Integers from 0 on that fit 64 bits.
  virtual void unsigned_number(std::uint64_t) {}
  virtual void boolean(bool) { other(); }
  /// All other numbers, and null.
  virtual void other() {}
};

/// Errors, with the offset in the text: `malformed_json` for what is no JSON document in UTF-8, or
/// is followed by more than white space; those of the events.
void read_json(std::string_view text, JsonEvents& events, std::string_view where);

}  // namespace flambeau
