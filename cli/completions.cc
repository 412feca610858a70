// `flambeau completions`: scripts for three shells out of the tables. Names of tensors are not
// completed, since that would open the file at every press of a key.
#include <fmt/format.h>

#include <string>
#include <vector>

#include "arguments.h"
#include "command.h"
#include "session.h"

namespace flambeau::cli {
namespace {

constexpr std::string_view kShells[] = {"bash", "zsh", "fish"};

// For the first word, and for the operand of `help`.
std::string command_names() {
  std::vector<std::string_view> names;
  for (const Command& command : commands()) names.push_back(command.name);
  return fmt::format("{}", fmt::join(names, " "));
}

// What stands in the place of FILE for commands that take none.
std::string operand_words(const Command& command) {
  if (command.operands == "[COMMAND]") return command_names();
  if (command.operands == "SHELL") return fmt::format("{}", fmt::join(kShells, " "));
  return {};
}

// Short forms, too, so that -<TAB> shows both.
std::string flags_of(const Command& command) {
  std::string flags;
  for (const std::string_view name : words(command.options)) {
    const OptionRow& row = option_row(name);
    flags += fmt::format("--{} ", row.name);
    if (row.letter != '\0') flags += fmt::format("-{} ", row.letter);
  }
  return flags;
}

// compgen over word lists; file names come from `-o default` where the function offers nothing.
std::string bash_script() {
  std::string script =
      "# bash completion of flambeau\n"
      "_flambeau() {\n"
      "  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]}\n"
      "  COMPREPLY=()\n"
      "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n";
  script += fmt::format("    COMPREPLY=($(compgen -W '{} --help --version' -- \"$current\"))\n",
                        command_names());
  script += "    return\n  fi\n  case $previous in\n";
  for (const OptionRow& row : option_rows()) {
    if (row.choices.empty()) continue;
    script += fmt::format("    --{}) COMPREPLY=($(compgen -W '{}' -- \"$current\")); return ;;\n",
                          row.name, row.choices);
  }
  script += "  esac\n  local flags= operands=\n  case ${COMP_WORDS[1]} in\n";
  for (const Command& command : commands()) {
    script += fmt::format("    {}) flags='{}' operands='{}' ;;\n", command.name, flags_of(command),
                          operand_words(command));
  }
  script +=
      "  esac\n"
      "  case $current in\n"
      "    -*) COMPREPLY=($(compgen -W \"$flags\" -- \"$current\")) ;;\n"
      "    *) [ -z \"$operands\" ] || COMPREPLY=($(compgen -W \"$operands\" -- \"$current\")) ;;\n"
      "  esac\n"
      "}\n"
      "complete -o default -F _flambeau flambeau\n";
  return script;
}

// Text inside single quotes; within a zsh specification brackets and colons have a meaning.
std::string quoted(std::string_view text, bool is_specification) {
  std::string out;
  for (const char c : text) {
    if (c == '\'') {
      out += "'\\''";
      continue;
    }
    if (is_specification && (c == '[' || c == ']' || c == ':')) out += '\\';
    out += c;
  }
  return out;
}

// One specification of _arguments: '(-o --output)'{-o,--output}'[help]:OUT:_files'.
std::string zsh_option(const OptionRow& row) {
  const std::string names = fmt::format("{}--{}", row.repeats() ? "*" : "", row.name);
  std::string spec = fmt::format("[{}]", quoted(row.help, true));
  if (!row.argument.empty()) {
    const std::string values = row.choices.empty() ? "_files" : fmt::format("({})", row.choices);
    spec += fmt::format(":{}:{}", row.argument, values);
  }
  if (row.letter == '\0') return fmt::format("        '{}{}' \\\n", names, spec);
  return fmt::format("        '(-{0} {1})'{{-{0},{1}}}'{2}' \\\n", row.letter, names, spec);
}

// The first word by _describe, the rest by _arguments of the command that it names.
std::string zsh_script() {
  std::string script =
      "#compdef flambeau\n"
      "_flambeau() {\n"
      "  local -a commands\n"
      "  commands=(\n";
  for (const Command& command : commands()) {
    script += fmt::format("    '{}:{}'\n", command.name, quoted(command.summary, true));
  }
  script +=
      "  )\n"
      "  if (( CURRENT == 2 )); then\n"
      "    _describe command commands\n"
      "    return\n"
      "  fi\n"
      "  shift words\n"
      "  (( CURRENT-- ))\n"
      "  case $words[1] in\n";
  for (const Command& command : commands()) {
    script += fmt::format("    {})\n      _arguments \\\n", command.name);
    for (const std::string_view name : words(command.options))
      script += zsh_option(option_row(name));
    const std::string operands = operand_words(command);
    script += operands.empty() ? "        '*:file:_files' ;;\n"
                               : fmt::format("        '*:word:({})' ;;\n", operands);
  }
  script += "  esac\n}\n_flambeau \"$@\"\n";
  return script;
}

// One `complete` for each command and for each option of each command; fish adds files by itself.
std::string fish_script() {
  std::string script = "# fish completion of flambeau\n";
  for (const Command& command : commands()) {
    script += fmt::format("complete -c flambeau -n __fish_use_subcommand -a {} -d '{}'\n",
                          command.name, quoted(command.summary, false));
  }
  for (const Command& command : commands()) {
    const std::string at =
        fmt::format("complete -c flambeau -n '__fish_seen_subcommand_from {}'", command.name);
    for (const std::string_view name : words(command.options)) {
      const OptionRow& row = option_row(name);
      script += fmt::format("{} -l {}", at, row.name);
      if (row.letter != '\0') script += fmt::format(" -s {}", row.letter);
      if (!row.argument.empty()) script += " -r";
      if (!row.choices.empty()) script += fmt::format(" -f -a '{}'", row.choices);
      script += fmt::format(" -d '{}'\n", quoted(row.help, false));
    }
    const std::string operands = operand_words(command);
    if (!operands.empty()) script += fmt::format("{} -f -a '{}'\n", at, operands);
  }
  return script;
}

}  // namespace

// The scripts name every command and option by themselves: nothing runs when a key is pressed.
int run_completions(Session& session) {
  const std::string& shell = session.arguments.names.front();
  if (shell == "bash") return session.out.append(bash_script()), kDone;
  if (shell == "zsh") return session.out.append(zsh_script()), kDone;
  if (shell == "fish") return session.out.append(fish_script()), kDone;
  return session.refuse(
      ErrorCode::usage,
      fmt::format("'{}' is no shell that completions are made for: bash, zsh, fish", shell));
}

}  // namespace flambeau::cli
