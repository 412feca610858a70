// RFC 8259, section 7. Most strings are plain ASCII: a table tells which bytes may be copied as
// they are, and whole runs of them are appended at once. Beyond ASCII the text stays UTF-8, except
// for what `is_control` names.
#include "json_writer.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "text.h"

namespace flambeau::cli {
namespace {

constexpr std::array<bool, 256> kPlain = [] {
  std::array<bool, 256> plain{};
  for (std::size_t c = 0x20; c < 0x7F; ++c) plain[c] = c != '"' && c != '\\';
  return plain;
}();

constexpr std::string_view kHex = "0123456789abcdef";

// Code points beyond U+FFFF never come here: none of them is a control.
void append_unicode_escape(Output& out, char32_t code) {
  out.append("\\u");
  for (int shift = 12; shift >= 0; shift -= 4) out.put(kHex[(code >> shift) & 0xF]);
}

// The short escapes of RFC 8259 where there is one that people know.
void append_escape(Output& out, CodePoint code) {
  if (!code.valid) return append_unicode_escape(out, 0xDC00 + code.value);
  switch (code.value) {
    case '"': return out.append("\\\"");
    case '\\': return out.append("\\\\");
    case '\n': return out.append("\\n");
    case '\r': return out.append("\\r");
    case '\t': return out.append("\\t");
    default: return append_unicode_escape(out, code.value);
  }
}

bool needs_escape(CodePoint code) noexcept {
  return !code.valid || code.value == '"' || code.value == '\\' || is_control(code.value);
}

// Bytes at the start of `text` that stand for themselves.
// A byte of the table needs no decoding; what is no ASCII is decoded, since a control may hide in
// it.
std::size_t plain_run(std::string_view text) noexcept {
  std::size_t at = 0;
  while (at < text.size()) {
    if (kPlain[static_cast<unsigned char>(text[at])]) {
      ++at;
      continue;
    }
    const CodePoint code = next_code_point(text.substr(at));
    if (needs_escape(code)) break;
    at += code.size;
  }
  return at;
}

}  // namespace

// Run, escape, run, escape, …; most strings are one run.
void append_json_string(Output& out, std::string_view text) {
  out.put('"');
  for (;;) {
    const std::size_t run = plain_run(text);
    out.append(text.substr(0, run));
    text.remove_prefix(run);
    if (text.empty()) break;
    const CodePoint code = next_code_point(text);
    append_escape(out, code);
    text.remove_prefix(code.size);
  }
  out.put('"');
}

// JSON has no literal for what is not finite; `float_repr` always has a digit and a point or an
// exponent, so that readers see a number that is not an integer.
void append_json_real(Output& out, double value) {
  const bool is_number = std::isfinite(value);
  if (!is_number) out.put('"');
  out.append(float_repr(value));
  if (!is_number) out.put('"');
}

// Three bytes are four digits; what the last group lacks is padded.
void JsonWriter::base64(std::span<const std::byte> bytes) {
  static constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  Output& out = raw(rapidjson::kStringType);
  out.put('"');
  for (; !bytes.empty(); bytes = bytes.subspan(std::min<std::size_t>(3, bytes.size()))) {
    std::uint32_t group = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      group = (group << 8) | (i < bytes.size() ? std::to_integer<std::uint32_t>(bytes[i]) : 0);
    }
    for (std::size_t i = 0; i < 4; ++i) {
      out.put(i <= bytes.size() ? kDigits[(group >> (18 - 6 * i)) & 0x3F] : '=');
    }
  }
  out.put('"');
}

}  // namespace flambeau::cli
