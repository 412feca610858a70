// `flambeau resave`: a checkpoint decoded to its graph and written again.
#include <string>

#include "command.h"
#include "flambeau/save.h"
#include "json_writer.h"
#include "save_options.h"
#include "session.h"
#include "text.h"

namespace flambeau::cli {
namespace {

void report(Session& session, const SaveReport& saved) {
  const std::string& out = session.arguments.names.front();
  if (!saved.durable) warn_of_crash(out);
  if (!session.arguments.json) {
    std::string text =
        fmt::format("flambeau: {}: wrote {}, {}", escaped(out), counted(saved.size, "byte"),
                    counted(saved.storage_count, "storage"));
    if (session.arguments.compact) {
      text += fmt::format(", left {} out", counted(saved.bytes_left_out, "byte"));
    }
    return write_message(text);
  }
  JsonWriter json(session.out);
  json.begin_object();
  json.key("file").string(session.arguments.file);
  json.key("output").string(out);
  json.key("bytes").unsigned_number(saved.size);
  json.key("storages").unsigned_number(saved.storage_count);
  json.key("storage_bytes").unsigned_number(saved.storage_bytes);
  json.key("bytes_left_out").unsigned_number(saved.bytes_left_out);
  json.end_object();
  session.out.put('\n');
}

}  // namespace

// A file that two readers could see differently would be saved as one of them sees it.
int run_resave(Session& session) {
  if (!session.arguments.force) session.arguments.strict = true;
  const Checkpoint& file = session.open();
  report(session, save(session.arguments.names.front(), file, save_options(session.arguments)));
  return kDone;
}

}  // namespace flambeau::cli
