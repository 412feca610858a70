// What the command line's words become, for each kind of option and operand.
#include "arguments.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "command.h"

namespace flambeau::cli {
namespace {

struct Parsed {
  Arguments arguments;
  std::string complaint;
};

Parsed parse(std::string_view command, std::vector<std::string> given) {
  std::vector<char*> pointers;
  for (std::string& word : given) pointers.push_back(word.data());
  Parsed parsed;
  const auto wrong = parse_arguments(*find_command(command), pointers, parsed.arguments);
  parsed.complaint = wrong.value_or("");
  return parsed;
}

TEST(Arguments, FileAndPatterns) {
  const auto [arguments, complaint] = parse("ls", {"--json", "m.pt", "a*", "--digest", "b"});
  EXPECT_EQ(complaint, "");
  EXPECT_EQ(arguments.file, "m.pt");
  EXPECT_EQ(arguments.names, (std::vector<std::string>{"a*", "b"}));
  EXPECT_TRUE(arguments.json);
  EXPECT_TRUE(arguments.digest);
  EXPECT_FALSE(arguments.strict);
}

TEST(Arguments, PathsInBracketsAreTakenAsTheyAre) {
  const auto [arguments, complaint] = parse("show", {"m.pt", "['a,b'][0]", "[1, 2]", "[]"});
  EXPECT_EQ(complaint, "");
  EXPECT_EQ(arguments.names, (std::vector<std::string>{"['a,b'][0]", "[1, 2]", "[]"}));
  EXPECT_EQ(parse("show", {"[odd].pt", "w"}).arguments.file, "[odd].pt");
  EXPECT_EQ(parse("get", {"m.pt", "w", "-o", "[x].npy"}).arguments.output, "[x].npy");
}

TEST(Arguments, ValuesInEveryForm) {
  EXPECT_EQ(parse("get", {"m.pt", "w", "-o", "w.npy"}).arguments.output, "w.npy");
  EXPECT_EQ(parse("get", {"m.pt", "w", "--output=w.npy"}).arguments.output, "w.npy");
  EXPECT_EQ(parse("get", {"-ow.npy", "m.pt", "w"}).arguments.output, "w.npy");
  EXPECT_EQ(parse("show", {"--max-output", "18446744073709551615", "m.pt", "w"})
                .arguments.max_output.value_or(0),
            UINT64_MAX);
}

TEST(Arguments, OddOperands) {
  EXPECT_EQ(parse("ls", {"-"}).arguments.file, "-");
  EXPECT_EQ(parse("show", {"m.pt", ""}).arguments.names, std::vector<std::string>{""});
  EXPECT_EQ(parse("ls", {"--", "--json"}).arguments.file, "--json");
  EXPECT_EQ(parse("ls", {"\xff.pt"}).arguments.file, "\xff.pt");
}

TEST(Arguments, HelpNeedsNothingElse) {
  const auto [arguments, complaint] = parse("get", {"-h"});
  EXPECT_EQ(complaint, "");
  EXPECT_TRUE(arguments.help);
}

TEST(Arguments, Complaints) {
  EXPECT_EQ(parse("ls", {}).complaint, "ls needs FILE [PATTERN...]");
  EXPECT_EQ(parse("show", {"m.pt"}).complaint, "show needs FILE NAME...");
  EXPECT_EQ(parse("info", {"m.pt", "x"}).complaint, "info takes no argument 'x'");
  EXPECT_EQ(parse("get", {"m.pt", "a", "b"}).complaint, "get takes no argument 'b'");
  EXPECT_EQ(parse("ls", {"--dgest", "m.pt"}).complaint,
            "ls has no option '--dgest'; the nearest is --digest");
  EXPECT_EQ(parse("ls", {"-z", "m.pt"}).complaint,
            "ls has no option '-z'; `flambeau help ls` lists them");
  EXPECT_EQ(parse("ls", {"--json=1", "m.pt"}).complaint, "--json takes no value");
  EXPECT_EQ(parse("get", {"--durability", "maybe", "m.pt", "w"}).complaint,
            "--durability is one of none, file, full, not 'maybe'");
  for (const char* number : {"-1", "1k", "18446744073709551616", "0x10"}) {
    EXPECT_EQ(parse("show", {std::string("--max-output=") + number, "m.pt", "w"}).complaint,
              std::string("--max-output needs a number of bytes, not '") + number + "'");
  }
}

TEST(Commands, EveryOptionThatARowNamesExists) {
  for (const Command& command : commands()) {
    for (const std::string_view name : words(command.options)) {
      EXPECT_EQ(option_row(name).name, name) << command.name;
    }
    EXPECT_EQ(find_command(command.name), &command);
  }
  EXPECT_EQ(find_command("nothing"), nullptr);
}

TEST(Words, AreSplitAtBlanks) {
  EXPECT_EQ(words("  a bc  d "), (std::vector<std::string_view>{"a", "bc", "d"}));
  EXPECT_TRUE(words("").empty());
}

}  // namespace
}  // namespace flambeau::cli
