// UTF-8 by the table of The Unicode Standard, section 3.9 (well-formed byte sequences), with the
// surrogate row let through: pickles hold lone surrogates and must give them back.
#include "base/text.h"

#include <algorithm>
#include <charconv>

namespace flambeau {
namespace {

/// `char` may be signed; its bytes are wanted.
constexpr unsigned byte_at(std::string_view text, std::size_t i) {
  return static_cast<unsigned char>(text[i]);
}

/// Length of the sequence that `lead` opens; 0 where it opens none: 0x80 to 0xbf continue one, 0xc0
/// and 0xc1 could only open overlong forms, and from 0xf5 on all is above U+10FFFF.
constexpr std::size_t sequence_size(unsigned lead) {
  if (lead < 0x80) return 1;
  if (lead < 0xc2) return 0;
  if (lead < 0xe0) return 2;
  if (lead < 0xf0) return 3;
  return lead < 0xf5 ? 4 : 0;
}

/// C0 and C1 controls and DEL; the marks, embeddings, overrides and isolates of text in two
/// directions (Unicode Standard Annex #9, section 2), since they let a name look like another; line
/// and paragraph separators; the byte order mark; lone surrogates.
constexpr bool is_unsafe(char32_t code) {
  return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0x061c || code == 0x200e ||
         code == 0x200f || (code >= 0x2028 && code <= 0x202e) ||
         (code >= 0x2066 && code <= 0x2069) || (code >= 0xd800 && code <= 0xdfff) || code == 0xfeff;
}

std::string hex_digits(std::uint64_t value, std::size_t width) {
  char digits[16];
  const auto end = std::to_chars(std::begin(digits), std::end(digits), value, 16).ptr;
  std::string text(std::begin(digits), end);
  if (text.size() < width) text.insert(0, width - text.size(), '0');
  return text;
}

/// As Python's `repr` spells it. Nothing above U+FFFF is ever escaped.
void append_escape(std::string& out, char32_t code) {
  if (code == '\n') {
    out += "\\n";
  } else if (code == '\r') {
    out += "\\r";
  } else if (code == '\t') {
    out += "\\t";
  } else if (code < 0x100) {
    out.append("\\x").append(hex_digits(code, 2));
  } else {
    out.append("\\u").append(hex_digits(code, 4));
  }
}

}  // namespace

std::optional<CodePoint> decode_utf8(std::string_view text) noexcept {
  if (text.empty()) return std::nullopt;
  const unsigned lead = byte_at(text, 0);
  const std::size_t size = sequence_size(lead);
  if (size == 0 || size > text.size()) return std::nullopt;
  if (size == 1) return CodePoint{lead, 1};
  // A lead of n bytes begins with n ones and a zero; what follows them is the code's top.
  char32_t code = lead & (0xffu >> (size + 1));
  for (std::size_t i = 1; i < size; ++i) {
    const unsigned next = byte_at(text, i);
    if ((next & 0xc0) != 0x80) return std::nullopt;
    code = (code << 6) | (next & 0x3f);
  }
  // Two bytes are never overlong: their leads were refused.
  const bool overlong = (size == 3 && code < 0x800) || (size == 4 && code < 0x10000);
  if (overlong || code > 0x10ffff) return std::nullopt;
  return CodePoint{code, size};
}

bool is_utf8(std::string_view text) noexcept {
  while (!text.empty()) {
    // Names and keys are nearly all ASCII.
    if (byte_at(text, 0) < 0x80) {
      text.remove_prefix(1);
      continue;
    }
    const auto code = decode_utf8(text);
    if (!code) return false;
    text.remove_prefix(code->size);
  }
  return true;
}

void append_utf8(std::string& out, char32_t code) {
  const auto tail = [&](unsigned shift) {
    out += static_cast<char>(0x80 | ((code >> shift) & 0x3f));
  };
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xc0 | (code >> 6));
    tail(0);
  } else if (code < 0x10000) {
    out += static_cast<char>(0xe0 | (code >> 12));
    tail(6);
    tail(0);
  } else {
    out += static_cast<char>(0xf0 | (code >> 18));
    tail(12);
    tail(6);
    tail(0);
  }
}

std::string escape_controls(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const auto code = decode_utf8(text);
    // The byte alone: what follows it may be sound again.
    if (!code) {
      append_escape(out, byte_at(text, 0));
      text.remove_prefix(1);
      continue;
    }
    if (is_unsafe(code->value)) {
      append_escape(out, code->value);
    } else {
      out.append(text.substr(0, code->size));
    }
    text.remove_prefix(code->size);
  }
  return out;
}

std::string to_hex(std::uint64_t value) { return "0x" + hex_digits(value, 1); }

bool equal_ignoring_case(std::string_view a, std::string_view b) noexcept {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return to_lower(x) == to_lower(y); });
}

}  // namespace flambeau
