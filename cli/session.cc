// Messages are one line, `flambeau: FILE: PLACE: what is wrong`. Errors of the library name the
// file themselves where opening failed, and only the record or tensor later on; `place_of` evens
// that out.
#include "session.h"

#include <fmt/format.h>

#include <utility>

#include "json_writer.h"
#include "terminal.h"
#include "text.h"

namespace flambeau::cli {
namespace {

constexpr std::string_view kStandardInput = "standard input";
// A name of the file that stands in a message may have megabytes.
constexpr std::size_t kLongestMessage = 4000;
// The same ratio as `Limits::max_expansion`, which the library holds copies to.
constexpr std::uint64_t kExpansion = Limits{}.max_expansion;

OpenOptions open_options(const Arguments& arguments) {
  OpenOptions options;
  options.mapped = !arguments.unmapped;
  options.verify = !arguments.no_verify;
  options.strict = arguments.strict;
  options.encoding = arguments.encoding;
  if (arguments.max_output) {
    options.limits.max_output = std::max(options.limits.max_output, *arguments.max_output);
  }
  return options;
}

// The form of docs/cli.md, "For all commands".
void write_error_object(Output& out, const Error& error, std::string_view where) {
  JsonWriter json(out);
  json.begin_object();
  json.key("error").begin_object();
  json.key("code").string(to_string(error.code()));
  json.key("where").string(where);
  json.key("offset");
  error.offset() ? json.unsigned_number(*error.offset()) : json.null();
  json.key("message").string(error.message());
  json.end_object();
  json.end_object();
  out.put('\n');
}

// A zip is read from its end, so the whole stream is needed; but what begins as something else is
// refused by its beginning, as a stream may have no end.
SourcePtr read_checkpoint_stream() {
  return read_stream(terminal::kInput, std::string(kStandardInput),
                     {.wants_more = may_be_checkpoint});
}

}  // namespace

SourcePtr Session::open_source() const {
  if (arguments.file == "-") return read_stream(terminal::kInput, std::string(kStandardInput));
  prepare_for_truncation();
  return open_file(arguments.file, {.mapped = !arguments.unmapped});
}

// By its path where there is one, so that errors name it as the user did.
const Checkpoint& Session::open() {
  if (arguments.file == "-") {
    checkpoint_.emplace(Checkpoint::open(read_checkpoint_stream(), open_options(arguments)));
  } else {
    prepare_for_truncation();
    checkpoint_.emplace(Checkpoint::open(arguments.file, open_options(arguments)));
  }
  return *checkpoint_;
}

// The words have to stand ready: who learns of it can neither allocate nor throw.
void Session::prepare_for_truncation() const {
  const Error error(ErrorCode::truncated, arguments.file, std::nullopt,
                    "the file was truncated while it was being read; --unmapped reads files that "
                    "others change");
  terminal::LastWords words{{}, fmt::format("flambeau: {}\n", error.what()), kFailed};
  if (arguments.json) {
    Output object;
    write_error_object(object, error, error.where());
    words.output = object.waiting();
  }
  terminal::prepare_for_lost_pages(std::move(words));
}

std::string Session::place_of(const Error& error) const {
  const std::string_view file = arguments.file == "-" ? kStandardInput : arguments.file;
  // Not by its start alone: a file may be called as the folder inside it.
  const auto names = [&](std::string_view path) {
    return error.where() == path || error.where().starts_with(fmt::format("{}: ", path));
  };
  const bool is_output = !arguments.output.empty() && names(arguments.output);
  const bool is_placed = names(file) || is_output || error.code() == ErrorCode::usage;
  if (file.empty() || is_placed) return error.where();
  if (error.where().empty()) return std::string(file);
  return fmt::format("{}: {}", file, error.where());
}

// In text form, what was printed so far stays, and comes before the message.
int Session::refuse(const Error& error, int status) {
  std::string message(error.message());
  if (error.code() == ErrorCode::exists) message += "; --force replaces it";
  const Error placed(error.code(), place_of(error), error.offset(), std::move(message));
  if (arguments.json) {
    out.drop();
    write_error_object(out, placed, placed.where());
  }
  out.flush();
  write_message(fmt::format("flambeau: {}", fitted(placed.what(), kLongestMessage)));
  return status;
}

int Session::refuse(ErrorCode code, std::string message, int status) {
  return refuse(Error(code, {}, std::nullopt, std::move(message)), status);
}

void Session::warn(std::string_view text) const {
  write_message(fmt::format("flambeau: {}: {}", escaped(arguments.file), escaped(text)));
}

// A command that did its work but could not say so has failed.
int Session::finish(int status) {
  out.flush();
  if (out.error() == 0) return status;
  write_message(fmt::format("flambeau: standard output: {}", terminal::describe(out.error())));
  return kFailed;
}

void write_message(std::string_view line) {
  std::string text(line);
  text += '\n';
  terminal::write(terminal::Stream::error, text);
}

// Divided and rounded up, since 64 times the input may overflow.
std::optional<Error> refuse_expansion(const Arguments& arguments, std::uint64_t size,
                                      std::uint64_t input) {
  const std::uint64_t needed = size / kExpansion + (size % kExpansion != 0 ? 1 : 0);
  if (needed <= input || size <= arguments.max_output.value_or(0)) return std::nullopt;
  return Error(
      ErrorCode::limit, {}, std::nullopt,
      fmt::format("the result of {} is over {} times its input of {}; --max-output {} lets "
                  "it through",
                  counted(size, "byte"), kExpansion, counted(input, "byte"), size));
}

}  // namespace flambeau::cli
