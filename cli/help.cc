// Texts for people, wrapped at 80 columns; and the man page, in the macros of man(7). All of it is
// made from the tables, so that none of it can be out of date.
#include "help.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "arguments.h"
#include "session.h"
#include "suggest.h"

namespace flambeau::cli {
namespace {

constexpr std::size_t kWidth = 80;

constexpr std::string_view kAbout =
    "Reads PyTorch checkpoint files (.pt, .pth, .ckpt, .bin), with neither Python nor PyTorch. "
    "Nothing in a file is ever executed.";
constexpr std::string_view kCommon =
    "FILE is read by its content, whatever its name; - is standard input. Data goes to standard "
    "output, messages to standard error. With --json, every command gives one JSON document, and "
    "an "
    "error is one, too: {\"error\": {\"code\", \"where\", \"offset\", \"message\"}}.";
constexpr std::string_view kStatus =
    "0 done; 1 the answer is no (nothing has that name, no name matches); 2 no answer: wrong "
    "usage, "
    "or a file that is missing, damaged or refused.";

// Texts of the tables hold one paragraph or one example in each line.
std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

// `text` broken at spaces; every line but the first starts with `indent` blanks, and the first is
// taken to start at column `at`.
std::string wrapped(std::string_view text, std::size_t indent, std::size_t at) {
  std::string out;
  std::string_view gap;
  for (const std::string_view word : words(text)) {
    if (at + gap.size() + word.size() > kWidth) {
      out.append("\n").append(indent, ' ');
      at = indent;
      gap = "";
    }
    out.append(gap).append(word);
    at += gap.size() + word.size();
    gap = " ";
  }
  return out;
}

// "-o, --output OUT"
std::string option_names(const OptionRow& row) {
  std::string names = row.letter == '\0' ? "    " : fmt::format("-{}, ", row.letter);
  names.append("--").append(row.name);
  if (!row.argument.empty()) names.append(" ").append(row.argument);
  return names;
}

// The help of the row, and the values where there are only a few.
std::string option_text(const OptionRow& row) {
  std::string text(row.help);
  if (row.choices.empty()) return text;
  return fmt::format("{} One of: {}.", text, fmt::join(words(row.choices), ", "));
}

struct Example {
  std::string_view command;
  std::string_view comment;
};

// "flambeau ls model.pt  # every tensor"; two blanks before the mark, as shells need one.
Example example_of(std::string_view line) {
  const std::size_t mark = line.find("  # ");
  if (mark == std::string_view::npos) return {line, ""};
  return {line.substr(0, mark), line.substr(mark + 4)};
}

// All commands have options, if only --help.
std::string usage(const Command& command) {
  return fmt::format("flambeau {} [OPTIONS] {}", command.name, command.operands);
}

// Summaries start with a lower-case letter, for lists; on their own they are sentences.
std::string sentence(std::string_view text) {
  std::string out(text);
  out.front() = static_cast<char>(out.front() - 'a' + 'A');
  return out + ".";
}

// The text in roff: nothing in it is a request, an escape or a typographic dash.
std::string roff(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else if ((c == '.' || c == '\'') && out.empty()) {
      out.append("\\&") += c;
    } else {
      out += c;
    }
  }
  return out;
}

// One subsection: usage, paragraphs, options as tagged paragraphs, examples without filling.
void append_man_command(std::string& page, const Command& command) {
  page += fmt::format(".SS {}\n{}\n", roff(usage(command)), roff(sentence(command.summary)));
  for (const std::string_view line : lines_of(command.description)) {
    page += fmt::format(".PP\n{}\n", roff(line));
  }
  for (const std::string_view name : words(command.options)) {
    const OptionRow& row = option_row(name);
    std::string names = option_names(row);
    names.erase(0, names.find_first_not_of(' '));
    page += fmt::format(".TP\n.B {}\n{}\n", roff(names), roff(option_text(row)));
  }
  page += ".PP\nExamples:\n.PP\n.nf\n";
  for (const std::string_view line : lines_of(command.examples)) {
    const auto [example, comment] = example_of(line);
    page += fmt::format("    {}\n", roff(example));
    if (!comment.empty()) page += fmt::format("        {}\n", roff(comment));
  }
  page += ".fi\n";
}

}  // namespace

// Short enough for one screen; everything else is told by command.
std::string program_help() {
  std::string text = wrapped(kAbout, 0, 0);
  text += "\n\nUsage: flambeau COMMAND [OPTIONS] FILE ...\n\nCommands:\n";
  for (const Command& command : commands()) {
    text += fmt::format("  {:<12} {}\n", command.name, command.summary);
  }
  text += fmt::format("\n{}\n\nExit status: {}\n", wrapped(kCommon, 0, 0), wrapped(kStatus, 0, 13));
  text += "\n`flambeau help COMMAND` explains a command, with examples.\n";
  return text;
}

// The same parts as the man page has for the command, for a terminal.
std::string command_help(const Command& command) {
  std::string text = fmt::format("Usage: {}\n\n{}\n", usage(command), sentence(command.summary));
  for (const std::string_view line : lines_of(command.description)) {
    text += fmt::format("\n{}\n", wrapped(line, 0, 0));
  }
  text += "\nOptions:\n";
  for (const std::string_view name : words(command.options)) {
    const OptionRow& row = option_row(name);
    text += fmt::format("  {:<24}  {}\n", option_names(row), wrapped(option_text(row), 28, 28));
  }
  text += "\nExamples:\n";
  for (const std::string_view line : lines_of(command.examples)) {
    const auto [example, comment] = example_of(line);
    text += fmt::format("  {}\n", example);
    if (!comment.empty()) text += fmt::format("      {}\n", comment);
  }
  return text;
}

// Without a date, which would differ from build to build.
std::string man_page() {
  std::string page = fmt::format(
      ".\\\" Made by `flambeau help --man`.\n.TH FLAMBEAU 1 \"\" \"flambeau {}\" \"User "
      "Commands\"\n"
      ".SH NAME\nflambeau \\- read PyTorch checkpoint files\n"
      ".SH SYNOPSIS\n.B flambeau\nCOMMAND [OPTIONS] FILE ...\n"
      ".SH DESCRIPTION\n{}\n.PP\n{}\n.SH COMMANDS\n",
      FLAMBEAU_VERSION, roff(kAbout), roff(kCommon));
  for (const Command& command : commands()) append_man_command(page, command);
  page += fmt::format(".SH EXIT STATUS\n{}\n", roff(kStatus));
  page +=
      ".SH ENVIRONMENT\n.TP\n.B NO_COLOR\nWhen set to anything, output is never coloured.\n"
      ".SH SEE ALSO\n.BR python3 (1)\n";
  return page;
}

int run_help(Session& session) {
  const auto& names = session.arguments.names;
  if (session.arguments.man) return session.out.append(man_page()), kDone;
  if (names.empty()) return session.out.append(program_help()), kDone;
  const Command* const command = find_command(names.front());
  if (command == nullptr) return run_without_command(session, names.front());
  session.out.append(command_help(*command));
  return kDone;
}

// `--help` and `--version` are the only words in the place of a command that are none.
int run_without_command(Session& session, std::string_view word) {
  if (word == "--help" || word == "-h") return session.out.append(program_help()), kDone;
  if (word == "--version" || word == "-V") {
    session.out.append("flambeau " FLAMBEAU_VERSION "\n");
    return kDone;
  }
  if (word.empty()) {
    return session.refuse(ErrorCode::usage, "a command is needed; `flambeau help` lists them");
  }
  if (word.starts_with('-')) {
    const std::string message = fmt::format("options stand after the command, unlike '{}'", word);
    return session.refuse(ErrorCode::usage, message);
  }
  std::vector<std::string_view> names;
  for (const Command& command : commands()) names.push_back(command.name);
  const std::string_view near = nearest(word, names);
  const std::string hint = near.empty() ? "`flambeau help` lists the commands"
                                        : fmt::format("the nearest one is '{}'", near);
  return session.refuse(ErrorCode::usage, fmt::format("no command is named '{}'; {}", word, hint));
}

}  // namespace flambeau::cli
