// Deflated records (RFC 1951, raw, as zip stores them).
#pragma once

#include "base/bytes.h"
#include "base/fail.h"

namespace flambeau::zip {

/// The most that deflate makes of one byte: 258 bytes for a match of 2 bits.
inline constexpr std::uint64_t kMostInflation = 1032;

/// Inflates all of `stored` into all of `out`, never past it. Error: `malformed_zip` where the
/// stream is broken, ends before its last byte, or gives more or fewer bytes than `out` has.
void inflate(Bytes stored, MutableBytes out, Place place);

}  // namespace flambeau::zip
