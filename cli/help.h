// The texts about the program, made from the tables of commands and options.
#pragma once

#include <string>
#include <string_view>

#include "command.h"

namespace flambeau::cli {

class Session;

/// What `flambeau --help` prints: the commands, one line each, and where to read on.
std::string program_help();
/// What `flambeau help COMMAND` prints.
std::string command_help(const Command& command);
/// The man page, as roff (man 7).
std::string man_page();
/// Answers `flambeau`, `flambeau --help` and `flambeau --version`; refuses any other `word` in the
/// place of a command.
int run_without_command(Session& session, std::string_view word);

}  // namespace flambeau::cli
