// The ways to look at a Python 2 string. The rest of Document is in its header.
#include "pickle/document.h"

#include "base/text.h"
#include "pickle/text_argument.h"

namespace flambeau {

/// The names that unpicklers are given as `encoding`, of those that CPython's
/// Lib/encodings/aliases.py has. "bytes" is none of them: nothing is decoded then.
std::optional<std::string> decode_byte_string(std::string_view encoding, std::string_view bytes) {
  const auto is = [encoding](std::string_view name) { return equal_ignoring_case(encoding, name); };
  if (is("latin1") || is("latin-1") || is("iso-8859-1")) {
    std::string text;
    text.reserve(bytes.size());
    for (const char byte : bytes) append_utf8(text, static_cast<unsigned char>(byte));
    return text;
  }
  if (is("utf-8") || is("utf8")) {
    return is_strict_utf8(bytes) ? std::optional<std::string>(bytes) : std::nullopt;
  }
  if (is("ascii")) return is_ascii(bytes) ? std::optional<std::string>(bytes) : std::nullopt;
  return std::nullopt;
}

}  // namespace flambeau
