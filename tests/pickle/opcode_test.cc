#include "pickle/opcode.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>

namespace flambeau {
namespace {

/// The table of docs/pickle.md as opcodes.def makes it.
std::string documented_table() {
  std::string table =
      "| opcode | byte | argument | protocol | takes | leaves | what it does |\n"
      "|---|---|---|---|---|---|---|\n";
  for (const OpcodeRow& row : kOpcodeRows) {
    const bool has_argument = row.argument != Argument::none;
    table += fmt::format("| {} | 0x{:02x} | {} | {} | {} | {} | {} |\n", row.name, row.byte,
                         has_argument ? row.argument_name : "", row.protocol, row.before, row.after,
                         row.meaning);
  }
  return table;
}

TEST(OpcodeTable, HasThe68OpcodesOfProtocols0To5) {
  std::set<std::uint8_t> bytes;
  std::array<int, 6> of_protocol{};
  for (const OpcodeRow& row : kOpcodeRows) {
    bytes.insert(row.byte);
    ++of_protocol.at(row.protocol);
  }
  EXPECT_EQ(bytes.size(), 68u);
  EXPECT_EQ(of_protocol, (std::array<int, 6>{22, 19, 12, 2, 10, 3}));
}

TEST(OpcodeTable, RowsAreFoundByOpcode) {
  for (const OpcodeRow& row : kOpcodeRows) {
    EXPECT_EQ(row_of(Opcode{row.byte}).name, row.name);
    EXPECT_EQ(to_string(Opcode{row.byte}), row.name);
    EXPECT_EQ(argument_of(Opcode{row.byte}), row.argument);
  }
  EXPECT_EQ(to_string(Opcode::LONG_BINPUT), "LONG_BINPUT");
  EXPECT_EQ(static_cast<int>(Opcode::MARK), '(');
}

TEST(OpcodeTable, StandsInTheDocumentation) {
  const auto root = std::filesystem::path(__FILE__).parent_path().parent_path().parent_path();
  std::ifstream file(root / "docs" / "pickle.md");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const std::string table = documented_table();
  EXPECT_NE(text.find(table), std::string::npos) << "the table has to be:\n" << table;
}

}  // namespace
}  // namespace flambeau
