// Rows are made twice, once to measure and once to print, instead of being kept: a million rows of
// text would be the largest thing in memory.
#include "table.h"

#include <algorithm>
#include <numeric>

#include "text.h"

namespace flambeau::cli {
namespace {

constexpr std::size_t kGap = 2;
// The first column keeps this much however narrow the terminal is.
constexpr std::size_t kLeast = 12;

}  // namespace

void Table::measure(const std::vector<std::string>& cells) {
  for (std::size_t i = 0; i < cells.size(); ++i) {
    widths_[i] = std::max(widths_[i], columns(cells[i]));
  }
}

// What is too wide is taken from the first column, whose cells are names.
void Table::settle() {
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    widths_[i] = std::max(widths_[i], columns(columns_[i].title));
  }
  const std::size_t others =
      std::accumulate(widths_.begin() + 1, widths_.end(), kGap * (widths_.size() - 1));
  if (width_ == 0 || widths_[0] + others <= width_) return;
  widths_[0] = std::max(kLeast, width_ - std::min(others, width_));
}

// Bold by SGR 1 (ECMA-48), around the whole line: codes have no columns.
void Table::write_titles(Output& out, bool colour) const {
  std::vector<std::string> titles;
  titles.reserve(columns_.size());
  for (const Column& column : columns_) titles.emplace_back(column.title);
  if (colour) out.append("\x1b[1m");
  write_cells(out, titles);
  out.append(colour ? "\x1b[0m\n" : "\n");
}

void Table::write_row(Output& out, const std::vector<std::string>& cells) const {
  write_cells(out, cells);
  out.put('\n');
}

void Table::write_cells(Output& out, const std::vector<std::string>& cells) const {
  std::size_t owed = 0;  // blanks before the next cell, written only when there is one
  for (std::size_t i = 0; i < cells.size(); ++i) {
    // Names of one model differ at their ends.
    const std::string cell = i == 0 ? fitted_tail(cells[i], widths_[0]) : cells[i];
    const std::size_t blanks = widths_[i] - std::min(widths_[i], columns(cell));
    if (!cell.empty()) {
      out.put(' ', owed + (columns_[i].right_aligned ? blanks : 0));
      out.append(cell);
      owed = columns_[i].right_aligned ? 0 : blanks;
    } else {
      owed += blanks;
    }
    owed += kGap;
  }
}

}  // namespace flambeau::cli
