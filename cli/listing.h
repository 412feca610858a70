// Which rows `ls` shows, and their text form.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "digest.h"
#include "flambeau/checkpoint.h"
#include "session.h"

namespace flambeau::cli {

/// The rows of FILE whose names match a PATTERN, or all.
struct Listing {
  const Checkpoint* file;
  /// Indices into `file->tensors()`, ascending.
  std::vector<std::size_t> rows;
  /// PATTERNs that match no name.
  std::vector<std::string> unmatched;

  const NamedTensor& entry(std::size_t row) const { return file->tensors()[rows[row]]; }
};

/// A PATTERN selects the names that it matches (see `name_matches`).
Listing select_rows(const Checkpoint& file, const std::vector<std::string>& patterns);

/// Totals of a listing.
struct Totals {
  std::uint64_t tensors = 0;
  std::uint64_t parameters = 0;
  std::uint64_t elements = 0;
  std::uint64_t bytes = 0;
  /// Bytes of rows whose storage an earlier row has already.
  std::uint64_t shared_bytes = 0;
};
Totals totals_of(const Listing& listing);

/// Writes aligned columns and a summary. `digests` may be null.
void write_table(Session& session, const Listing& listing, const Digests* digests);

}  // namespace flambeau::cli
