// One JSON document, streamed. RapidJSON's writer places commas, colons and brackets; strings are
// escaped here, because ours may hold lone surrogates and bytes that are no UTF-8.
//
//   JsonWriter json(out);
//   json.begin_object();
//   json.key("numel").number(12);
//   json.end_object();
#pragma once

#include <rapidjson/writer.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "output.h"

namespace flambeau::cli {

/// Appends `text` as a JSON string, quotes included: valid UTF-8 whatever `text` holds. A surrogate
/// stands as its escape, a byte that is not UTF-8 as Python's "surrogateescape" has it (`\udc80` to
/// `\udcff`), and what a terminal would obey as an escape, too.
void append_json_string(Output& out, std::string_view text);

/// Appends the shortest digits that read back as the same number; "nan", "inf" and "-inf" as
/// strings.
void append_json_real(Output& out, double value);

class JsonWriter {
 public:
  explicit JsonWriter(Output& out) : out_(out), stream_{&out}, writer_(stream_) {}

  JsonWriter& key(std::string_view name) { return string(name); }

  void begin_object() { descend(), writer_.StartObject(); }
  void end_object() { --depth_, writer_.EndObject(); }
  void begin_array() { descend(), writer_.StartArray(); }
  void end_array() { --depth_, writer_.EndArray(); }

  JsonWriter& string(std::string_view text) {
    append_json_string(raw(rapidjson::kStringType), text);
    return *this;
  }
  void null() { writer_.Null(); }
  void boolean(bool value) { writer_.Bool(value); }
  void number(std::int64_t value) { writer_.Int64(value); }
  void unsigned_number(std::uint64_t value) { writer_.Uint64(value); }
  /// See `append_json_real`.
  void real(double value) { append_json_real(raw(rapidjson::kNumberType), value); }
  /// Base64 with padding (RFC 4648, section 4), as a string.
  void base64(std::span<const std::byte> bytes);

  /// The place of one value, which the caller writes to the output by itself, whole.
  Output& raw(rapidjson::Type type = rapidjson::kObjectType) {
    writer_.RawValue("", 0, type);
    return out_;
  }
  /// For those who write arrays and objects by `raw`: the deepest nesting that they reach inside.
  void note_depth(std::size_t inside) noexcept {
    if (depth_ + inside > deepest_) deepest_ = depth_ + inside;
  }

  /// Nesting of arrays and objects at its deepest so far.
  std::size_t deepest() const noexcept { return deepest_; }

 private:
  // What RapidJSON writes to; the names are its own.
  struct Stream {
    using Ch = char;
    Output* out;
    void Put(char c) const { out->put(c); }
    void Flush() {}
  };

  void descend() noexcept {
    ++depth_;
    note_depth(0);
  }

  Output& out_;
  Stream stream_;
  rapidjson::Writer<Stream> writer_;
  std::size_t depth_ = 0;
  std::size_t deepest_ = 0;
};

}  // namespace flambeau::cli
