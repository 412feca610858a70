// The program's entry: find the command, parse its arguments, run it, turn what it throws into one
// line and an exit status. This is the only place of the command line that catches.
#include <CLI/Error.hpp>
#include <algorithm>
#include <exception>
#include <new>
#include <span>
#include <string_view>

#include "command.h"
#include "help.h"
#include "session.h"
#include "terminal.h"

namespace flambeau::cli {
namespace {

// A command that was not recognised yet cannot say --json by itself.
bool asks_for_json(std::span<char* const> given) {
  return std::find(given.begin(), given.end(), std::string_view("--json")) != given.end();
}

int report(Session& session, const std::exception& error) {
  if (const auto* known = dynamic_cast<const Error*>(&error)) return session.refuse(*known);
  if (dynamic_cast<const CLI::Error*>(&error) != nullptr) {
    return session.refuse(ErrorCode::usage, error.what());
  }
  const bool memory = dynamic_cast<const std::bad_alloc*>(&error) != nullptr;
  return session.refuse(ErrorCode::limit, memory ? "out of memory" : error.what());
}

int run(Session& session, std::span<char* const> given) {
  const std::string_view name = given.empty() ? "" : given.front();
  const Command* const command = find_command(name);
  if (command == nullptr) return run_without_command(session, name);
  if (const auto wrong = parse_arguments(*command, given.subspan(1), session.arguments)) {
    return session.refuse(ErrorCode::usage, *wrong);
  }
  if (session.arguments.help) return session.out.append(command_help(*command)), kDone;
  return command->run(session);
}

int run_and_report(Session& session, std::span<char* const> given) try {
  session.arguments.json = asks_for_json(given);
  return run(session, given);
} catch (const std::exception& error) {
  return report(session, error);
}

}  // namespace
}  // namespace flambeau::cli

int main(int argc, char** argv) {
  using flambeau::cli::Session;
  flambeau::cli::terminal::prepare();
  // Never destroyed: see `Session::open`.
  static Session& session = *new Session;
  const std::span<char* const> given(argv, static_cast<std::size_t>(std::max(argc, 1)));
  return session.finish(flambeau::cli::run_and_report(session, given.subspan(1)));
}
