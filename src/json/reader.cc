// RapidJSON's reader in its iterative mode, which keeps a stack of its own.
#include "json/reader.h"

#include <rapidjson/error/en.h>
#include <rapidjson/memorystream.h>
#include <rapidjson/reader.h>

#include "base/fail.h"

namespace flambeau {
namespace {

/// RapidJSON's handler, by its names.
class Handler {
 public:
  explicit Handler(JsonEvents& events) noexcept : events_(events) {}

  bool Null() { return other(); }
  bool Bool(bool value) { return events_.boolean(value), true; }
  bool Int(int) { return other(); }
  bool Int64(std::int64_t) { return other(); }
  bool Uint(unsigned value) { return Uint64(value); }
  bool Uint64(std::uint64_t value) { return events_.unsigned_number(value), true; }
  bool Double(double) { return other(); }
  bool RawNumber(const char*, rapidjson::SizeType, bool) { return other(); }
  bool String(const char* text, rapidjson::SizeType size, bool) {
    return events_.text({text, size}), true;
  }
  bool Key(const char* text, rapidjson::SizeType size, bool) {
    return events_.key({text, size}), true;
  }
  bool StartObject() { return events_.begin_object(), true; }
  bool EndObject(rapidjson::SizeType) { return events_.end_object(), true; }
  bool StartArray() { return events_.begin_array(), true; }
  bool EndArray(rapidjson::SizeType) { return events_.end_array(), true; }

 private:
  bool other() { return events_.other(), true; }

  JsonEvents& events_;
};

}  // namespace

void read_json(std::string_view text, JsonEvents& events, std::string_view where) {
  constexpr unsigned kFlags =
      rapidjson::kParseIterativeFlag | rapidjson::kParseValidateEncodingFlag;
  rapidjson::MemoryStream stream(text.data(), text.size());
  rapidjson::Reader reader;
  Handler handler(events);
  const rapidjson::ParseResult result = reader.Parse<kFlags>(stream, handler);
  if (!result) {
    fail(ErrorCode::malformed_json, {where, result.Offset()}, "{}",
         rapidjson::GetParseError_En(result.Code()));
  }
}

}  // namespace flambeau
