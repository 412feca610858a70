// The commands, one row each. Parser, help, man page and completions read the table; to add a
// command, write its function in a file of its own and add its row to commands.cc.
#pragma once

#include <span>
#include <string_view>

namespace flambeau::cli {

class Session;

struct Command {
  std::string_view name;
  /// What follows the name: FILE, and words with `...` for several or in brackets for optional.
  std::string_view operands;
  /// One line, lower case, for lists of commands.
  std::string_view summary;
  /// Names of the option rows that it takes, separated by spaces.
  std::string_view options;
  /// Paragraphs, each one line of the table's text, for `help COMMAND` and the man page. A line
  /// that starts with two spaces stands as it is.
  std::string_view description;
  /// Lines `command   # what it shows`.
  std::string_view examples;
  /// Does it and returns the exit status.
  int (*run)(Session& session);
};

std::span<const Command> commands() noexcept;

/// The row of that name; null where there is none.
const Command* find_command(std::string_view name) noexcept;

int run_ls(Session& session);
int run_tree(Session& session);
int run_show(Session& session);
int run_dis(Session& session);
int run_info(Session& session);
int run_get(Session& session);
int run_resave(Session& session);
int run_edit(Session& session);
int run_convert(Session& session);
int run_help(Session& session);
int run_completions(Session& session);

}  // namespace flambeau::cli
