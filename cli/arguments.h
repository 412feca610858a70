// What the command line asked for, and the table of all options: one row each, which the parser,
// the help, the man page and the completions read.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace flambeau::cli {

struct Command;

/// The options of all commands; a command looks at those that its row lists.
struct Arguments {
  std::string file;
  /// NAMEs, PATTERNs, or whatever else follows FILE.
  std::vector<std::string> names;

  bool json = false;
  bool strict = false;
  bool no_verify = false;
  bool unmapped = false;
  std::string encoding = "utf-8";
  std::optional<std::uint64_t> max_output;

  bool digest = false;
  bool long_form = false;
  bool all = false;
  bool full = false;
  std::string record;
  std::string output;
  std::string as;
  bool force = false;
  std::string durability = "full";
  std::string layout;
  std::optional<std::uint64_t> alignment;
  bool no_crc = false;
  bool compact = false;
  std::string archive_name;
  std::string to;
  std::string dtype;
  std::vector<std::string> select;
  std::vector<std::string> exclude;
  std::vector<std::string> metadata;
  std::vector<std::string> drop;
  std::vector<std::string> rename;
  std::vector<std::string> set;
  bool man = false;
  bool help = false;
};

/// Where an option's value goes; the type says what it takes, a list that it may be repeated.
using OptionTarget =
    std::variant<bool Arguments::*, std::string Arguments::*,
                 std::optional<std::uint64_t> Arguments::*, std::vector<std::string> Arguments::*>;

struct OptionRow {
  /// Long form without dashes.
  std::string_view name;
  /// Short form, or '\0'.
  char letter;
  /// What the value is called; empty for a flag.
  std::string_view argument;
  std::string_view help;
  /// The values that are allowed, separated by spaces; empty where any is.
  std::string_view choices;
  OptionTarget target;

  bool repeats() const noexcept {
    return std::holds_alternative<std::vector<std::string> Arguments::*>(target);
  }
};

std::span<const OptionRow> option_rows() noexcept;

/// The row of that name, which must exist.
const OptionRow& option_row(std::string_view name) noexcept;

/// Splits a row's list of words at spaces.
std::vector<std::string_view> words(std::string_view list);

/// Parses what follows the command's name. Gives back what is wrong with it, in words; nothing
/// where all is well.
std::optional<std::string> parse_arguments(const Command& command, std::span<char* const> given,
                                           Arguments& arguments);

}  // namespace flambeau::cli
