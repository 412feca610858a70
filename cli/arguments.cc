// Parsing is CLI11's, told by the table; the values are taken raw, because CLI11 would split
// `['model']['w']`, a path of ours, as a list in brackets (see `shield`).
#include "arguments.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <deque>

#include "command.h"
#include "suggest.h"

namespace flambeau::cli {
namespace {

constexpr OptionRow kOptions[] = {
    {"json", '\0', "", "One JSON document on standard output; errors, too.", "", &Arguments::json},
    {"digest", '\0', "", "Add the SHA-256 of each tensor's elements; reads all data.", "",
     &Arguments::digest},
    {"long", 'l', "", "More columns: strides, offset, storage, device, flags, parts.", "",
     &Arguments::long_form},
    {"all", 'a', "", "Unfold long and deep containers, and long texts.", "", &Arguments::all},
    {"full", '\0', "", "Print every element instead of the first and last ones.", "",
     &Arguments::full},
    {"record", '\0', "NAME", "The record to take, instead of data.pkl.", "", &Arguments::record},
    {"output", 'o', "OUT", "The file to write: OUT.npy, or OUT.bin for the bare elements.", "",
     &Arguments::output},
    {"as", '\0', "DTYPE", "Convert to this dtype: float32, int64, ...", "", &Arguments::as},
    {"force", 'f', "", "Replace OUT if it exists, atomically.", "", &Arguments::force},
    {"durability", '\0', "LEVEL", "What has reached the disk before success is reported.",
     "none file full", &Arguments::durability},
    {"layout", '\0', "LAYOUT", "The file as these releases write it.",
     "torch_2_7 torch_2_1 torch_1_6 legacy", &Arguments::layout},
    {"alignment", '\0', "BYTES", "Where the data of records may start: at multiples of this.", "",
     &Arguments::alignment},
    {"no-crc", '\0', "", "Write no checksums.", "", &Arguments::no_crc},
    {"compact", '\0', "", "Leave out the bytes of storages that no tensor reaches.", "",
     &Arguments::compact},
    {"archive-name", '\0', "NAME", "The folder in the archive, instead of FILE's.", "",
     &Arguments::archive_name},
    {"to", '\0', "KIND", "What OUT is, where its extension does not say.", "pt safetensors",
     &Arguments::to},
    {"dtype", '\0', "DTYPE", "What floating-point tensors become: bfloat16, float32, ...", "",
     &Arguments::dtype},
    {"select", '\0', "PATTERN", "Only the tensors of these names; may be repeated.", "",
     &Arguments::select},
    {"exclude", '\0', "PATTERN", "Not the tensors of these names; may be repeated.", "",
     &Arguments::exclude},
    {"metadata", '\0', "NAME=TEXT", "A text beside the tensors; may be repeated.", "",
     &Arguments::metadata},
    {"drop", '\0', "PATTERN", "Leave out the entries of these names; may be repeated.", "",
     &Arguments::drop},
    {"rename", '\0', "OLD=NEW", "Give an entry another key, at its place; may be repeated.", "",
     &Arguments::rename},
    {"set", '\0', "NAME=VALUE", "Give an entry this value, a Python literal; may be repeated.", "",
     &Arguments::set},
    {"max-output", '\0', "BYTES", "Allow results of this size that are over 64 times their input.",
     "", &Arguments::max_output},
    {"strict", '\0', "", "Refuse what two readers could see differently.", "", &Arguments::strict},
    {"no-verify", '\0', "", "Do not check checksums.", "", &Arguments::no_verify},
    {"unmapped", '\0', "", "Read FILE instead of mapping it (it may change meanwhile).", "",
     &Arguments::unmapped},
    {"encoding", '\0', "NAME", "How to read byte strings that Python 2 wrote.",
     "utf-8 ascii latin1 bytes", &Arguments::encoding},
    {"man", '\0', "", "The man page of all commands, as roff.", "", &Arguments::man},
    {"help", 'h', "", "What the command does, with examples.", "", &Arguments::help},
};

// CLI11 takes a value in brackets apart, and takes the next word for one that is empty; behind this
// character, which it passes through, it lets both be.
constexpr char kShield = '\x1f';

// Before CLI11 sees an argument; `unshield` undoes it for what comes back. In `--option=value` the
// value is what needs it.
std::string shield(std::string_view given) {
  std::string text(given);
  std::size_t start = 0;
  if (text.starts_with("--")) {
    start = text.find('=');
    if (start++ == std::string::npos) return text;
  }
  if (start == text.size() || text[start] == '[') text.insert(start, 1, kShield);
  return text;
}

std::string unshield(std::string text) {
  if (text.starts_with(kShield)) text.erase(text.begin());
  return text;
}

// As CLI11 wants them: "--output,-o".
std::string flag_names(const OptionRow& row) {
  std::string names = "--" + std::string(row.name);
  if (row.letter != '\0') names += std::string(",-") + row.letter;
  return names;
}

// Values are not bound to variables: `take` reads the raw texts afterwards, and its complaints are
// in the program's own words.
CLI::Option* add_row(CLI::App& app, const OptionRow& row) {
  if (row.argument.empty()) return app.add_flag(flag_names(row));
  const auto accept = [](const CLI::results_t&) { return true; };
  // A value that is missing comes back as an empty one.
  return app.add_option(flag_names(row), accept)->expected(0, 1)->take_all();
}

// What is wrong with the value, in words; nothing where it was taken.
std::optional<std::string> take(const OptionRow& row, std::string value, Arguments& arguments) {
  if (auto* flag = std::get_if<bool Arguments::*>(&row.target)) {
    if (value != "true") return fmt::format("--{} takes no value", row.name);
    arguments.*(*flag) = true;
  } else if (value.empty()) {
    return fmt::format("--{} needs {}", row.name, row.argument);
  } else if (auto* text = std::get_if<std::string Arguments::*>(&row.target)) {
    const auto allowed = words(row.choices);
    if (!allowed.empty() && std::find(allowed.begin(), allowed.end(), value) == allowed.end()) {
      return fmt::format("--{} is one of {}, not '{}'", row.name, fmt::join(allowed, ", "), value);
    }
    arguments.*(*text) = std::move(value);
  } else if (auto* list = std::get_if<std::vector<std::string> Arguments::*>(&row.target)) {
    (arguments.*(*list)).push_back(std::move(value));
  } else {
    std::uint64_t number = 0;
    const char* const end = value.data() + value.size();
    if (const auto [at, error] = std::from_chars(value.data(), end, number);
        error != std::errc() || at != end) {
      return fmt::format("--{} needs a number of bytes, not '{}'", row.name, value);
    }
    arguments.*std::get<std::optional<std::uint64_t> Arguments::*>(row.target) = number;
  }
  return std::nullopt;
}

// What the operands of a command's row stand for.
struct Operands {
  bool has_file = false;
  std::size_t least = 0;
  std::size_t most = 0;
};

// "FILE NAME... [MORE]" is the grammar: the row that people read is the one that is checked.
Operands operands_of(const Command& command) {
  Operands operands;
  for (const std::string_view word : words(command.operands)) {
    if (word == "FILE") {
      operands.has_file = true;
      continue;
    }
    if (!word.starts_with('[')) ++operands.least;
    operands.most = word.find("...") != std::string_view::npos ? SIZE_MAX : operands.most + 1;
  }
  return operands;
}

// FILE is the first word where the command has one; all others are names.
std::optional<std::string> take_operands(const Command& command, std::deque<std::string> given,
                                         Arguments& arguments) {
  const Operands operands = operands_of(command);
  const std::size_t file = operands.has_file ? 1 : 0;
  if (given.size() < file + operands.least) {
    return fmt::format("{} needs {}", command.name, command.operands);
  }
  if (operands.has_file) {
    arguments.file = std::move(given.front());
    given.pop_front();
    if (arguments.file.empty()) return fmt::format("{} needs a FILE, not ''", command.name);
  }
  if (given.size() > operands.most) {
    return fmt::format("{} takes no argument '{}'", command.name, given[operands.most]);
  }
  arguments.names.assign(given.begin(), given.end());
  return std::nullopt;
}

std::optional<std::string> take_options(const std::vector<CLI::Option*>& options,
                                        const std::vector<const OptionRow*>& rows,
                                        Arguments& arguments) {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const CLI::results_t values = options[i]->results();
    if (values.size() > 1 && !rows[i]->argument.empty() && !rows[i]->repeats()) {
      return fmt::format("--{} is given twice", rows[i]->name);
    }
    for (const std::string& value : values) {
      if (auto wrong = take(*rows[i], unshield(value), arguments)) return wrong;
    }
  }
  return std::nullopt;
}

// An option is most often a mistyped one of the same command.
std::string describe_unknown(const Command& command, const std::string& option) {
  const std::size_t dashes = std::min(option.find_first_not_of('-'), option.size());
  const std::string_view name = std::string_view(option).substr(dashes);
  const std::string_view near = nearest(name.substr(0, name.find('=')), words(command.options));
  const std::string hint = near.empty() ? fmt::format("`flambeau help {}` lists them", command.name)
                                        : fmt::format("the nearest is --{}", near);
  return fmt::format("{} has no option '{}'; {}", command.name, option, hint);
}

}  // namespace

std::span<const OptionRow> option_rows() noexcept { return kOptions; }

// The last row stands in for names that no row has; a test looks every name of the commands up.
const OptionRow& option_row(std::string_view name) noexcept {
  return *std::find_if(std::begin(kOptions), std::end(kOptions) - 1,
                       [&](const OptionRow& row) { return row.name == name; });
}

// Several spaces count as one, so that rows may be broken over lines.
std::vector<std::string_view> words(std::string_view list) {
  std::vector<std::string_view> found;
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(' '), list.size());
    if (end > 0) found.push_back(list.substr(0, end));
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return found;
}

std::optional<std::string> parse_arguments(const Command& command, std::span<char* const> given,
                                           Arguments& arguments) {
  CLI::App app;
  app.set_help_flag();
  app.allow_extras();
  std::vector<const OptionRow*> rows;
  std::vector<CLI::Option*> options;
  for (const std::string_view name : words(command.options)) {
    rows.push_back(&option_row(name));
    options.push_back(add_row(app, *rows.back()));
  }
  const auto accept = [](const CLI::results_t&) { return true; };
  CLI::Option* const operands = app.add_option("operands", accept)->expected(0, -1);
  operands->allow_extra_args();
  // CLI11 takes a vector from its end.
  std::vector<std::string> reversed;
  for (auto text = given.rbegin(); text != given.rend(); ++text) reversed.push_back(shield(*text));
  app.parse(std::move(reversed));
  // CLI11 leaves the mark `--` here, too.
  for (const std::string& unknown : app.remaining()) {
    if (unknown != "--") return describe_unknown(command, unknown);
  }
  if (auto wrong = take_options(options, rows, arguments)) return wrong;
  // `ls --help` needs no FILE.
  if (arguments.help) return std::nullopt;
  std::deque<std::string> words_given;
  for (const std::string& text : operands->results()) words_given.push_back(unshield(text));
  return take_operands(command, std::move(words_given), arguments);
}

}  // namespace flambeau::cli
