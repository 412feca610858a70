// Aligned columns, and the first one giving way on a narrow terminal.
#include "table.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support.h"

namespace flambeau::cli {
namespace {

using Rows = std::vector<std::vector<std::string>>;

std::string table_of(const Rows& rows, std::size_t width, bool colour = false) {
  Table table({{"name"}, {"bytes", true}, {"flags"}}, width);
  for (const auto& row : rows) table.measure(row);
  table.settle();
  return written([&](Output& out) {
    table.write_titles(out, colour);
    for (const auto& row : rows) table.write_row(out, row);
  });
}

TEST(Table, AlignsWithoutBlanksAtLineEnds) {
  EXPECT_EQ(table_of({{"weight", "80", "grad"}, {"b", "4", ""}}, 0),
            "name    bytes  flags\n"
            "weight     80  grad\n"
            "b           4\n");
}

TEST(Table, CountsCharactersNotBytes) {
  EXPECT_EQ(table_of({{"žluť", "1", "x"}}, 0),
            "name  bytes  flags\n"
            "žluť      1  x\n");
}

TEST(Table, TheFirstColumnGivesWay) {
  EXPECT_EQ(table_of({{"encoder.layers.11.attention.weight", "1", "x"}}, 30),
            "name              bytes  flags\n"
            "…ttention.weight      1  x\n");
}

TEST(Table, ButNotAllOfIt) {
  EXPECT_EQ(table_of({{"encoder.layers.11", "1", "x"}}, 5),
            "name          bytes  flags\n"
            "…r.layers.11      1  x\n");
}

TEST(Table, TitlesAreBoldInColour) {
  EXPECT_EQ(table_of({}, 0, true), "\x1b[1mname  bytes  flags\x1b[0m\n");
}

}  // namespace
}  // namespace flambeau::cli
