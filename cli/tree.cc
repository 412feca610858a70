// `flambeau tree`: the whole object graph.
#include <optional>

#include "command.h"
#include "json_writer.h"
#include "session.h"
#include "terminal.h"
#include "tree_json.h"
#include "tree_text.h"

namespace flambeau::cli {
namespace {

// What was written when an error comes back is no document.
std::optional<Error> write_document(Session& session, const Checkpoint& file) {
  JsonWriter json(session.out);
  json.begin_object();
  json.key("file").string(session.arguments.file);
  json.key("container").string(to_string(file.container()));
  json.key("root");
  auto error = write_tree(session.out, json, file.root());
  if (error) return error;
  json.end_object();
  session.out.put('\n');
  return std::nullopt;
}

}  // namespace

// JSON is rehearsed: a graph that is nested too deep must be known before the first byte is out.
int run_tree(Session& session) {
  const Checkpoint& file = session.open();
  if (!session.arguments.json) {
    write_tree_text(session.out, file.root(), {session.arguments.all, terminal::width()});
    return kDone;
  }
  session.out.discard(true);
  const auto error = write_document(session, file);
  session.out.discard(false);
  if (error) return session.refuse(*error);
  write_document(session, file);
  return kDone;
}

}  // namespace flambeau::cli
