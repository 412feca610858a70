// Text in aligned columns.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "output.h"

namespace flambeau::cli {

/// One column; the first one gives way where the terminal is too narrow.
struct Column {
  std::string_view title;
  bool right_aligned = false;
};

class Table {
 public:
  /// `width` is the terminal's; 0 lets rows be as long as they are.
  Table(std::vector<Column> columns, std::size_t width) noexcept
      : columns_(std::move(columns)), widths_(columns_.size()), width_(width) {}

  /// First pass, for each row: measures its cells.
  void measure(const std::vector<std::string>& cells);
  /// Between the passes.
  void settle();
  /// Second pass: prints the titles, in bold where `colour`, and then each row again.
  void write_titles(Output& out, bool colour) const;
  void write_row(Output& out, const std::vector<std::string>& cells) const;

 private:
  void write_cells(Output& out, const std::vector<std::string>& cells) const;

  std::vector<Column> columns_;
  std::vector<std::size_t> widths_;
  std::size_t width_;
};

}  // namespace flambeau::cli
