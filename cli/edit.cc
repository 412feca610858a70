// `flambeau edit`: a checkpoint with some entries dropped, renamed or set, written again.
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "command.h"
#include "flambeau/edit.h"
#include "flambeau/save.h"
#include "json_writer.h"
#include "lookup.h"
#include "save_options.h"
#include "session.h"
#include "text.h"

namespace flambeau::cli {
namespace {

// "OLD=NEW" at the first `=`, which keys and Python's paths rarely have.
std::optional<std::string> split(std::string_view option, const std::vector<std::string>& given,
                                 std::vector<std::pair<std::string, std::string>>& out) {
  for (const std::string& text : given) {
    const auto equals = text.find('=');
    if (equals == std::string::npos || equals == 0) {
      return fmt::format("--{} needs a name, '=' and what follows, not '{}'", option, text);
    }
    out.emplace_back(text.substr(0, equals), text.substr(equals + 1));
  }
  return std::nullopt;
}

void report(Session& session, const EditReport& edited, const SaveReport& saved) {
  const std::string& out = session.arguments.names.front();
  for (const std::string& pattern : edited.unmatched) {
    session.warn(fmt::format("nothing is named '{}'", pattern));
  }
  for (const std::string& path : edited.added) session.warn(fmt::format("{} is new", path));
  if (!saved.durable) warn_of_crash(out);
  if (!session.arguments.json) {
    return write_message(fmt::format("flambeau: {}: wrote {}: {} dropped, {} renamed, {} set",
                                     escaped(out), counted(saved.size, "byte"), edited.dropped,
                                     edited.renamed, edited.set));
  }
  JsonWriter json(session.out);
  json.begin_object();
  json.key("file").string(session.arguments.file);
  json.key("output").string(out);
  json.key("bytes").unsigned_number(saved.size);
  json.key("dropped").unsigned_number(edited.dropped);
  json.key("renamed").unsigned_number(edited.renamed);
  json.key("set").unsigned_number(edited.set);
  json.key("unmatched").begin_array();
  for (const std::string& pattern : edited.unmatched) json.string(pattern);
  json.end_array();
  json.key("added").begin_array();
  for (const std::string& path : edited.added) json.string(path);
  json.end_array();
  json.end_object();
  session.out.put('\n');
}

}  // namespace

int run_edit(Session& session) {
  Edits edits{.drop = session.arguments.drop};
  auto wrong = split("rename", session.arguments.rename, edits.rename);
  if (!wrong) wrong = split("set", session.arguments.set, edits.set);
  if (wrong) return session.refuse(ErrorCode::usage, *wrong);
  if (!session.arguments.force) session.arguments.strict = true;
  const Checkpoint& file = session.open();
  for (const auto& [name, new_name] : edits.rename) {
    if (!file.value(name)) return refuse_unknown(session, file, name);
  }
  Draft draft(file);
  const EditReport edited = edit(draft, edits);
  const SaveReport saved =
      save(session.arguments.names.front(), draft, save_options(session.arguments));
  report(session, edited, saved);
  return kDone;
}

}  // namespace flambeau::cli
