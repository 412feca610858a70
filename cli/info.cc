// `flambeau info`: the file as a whole, and what is unusual about it.
#include <string>

#include "command.h"
#include "json_writer.h"
#include "session.h"
#include "text.h"

namespace flambeau::cli {
namespace {

// The same words in text and JSON.
std::string_view to_string(Note::Severity severity) noexcept {
  return severity == Note::Severity::ambiguity ? "ambiguity" : "information";
}

void write_notes(JsonWriter& json, const std::vector<Note>& notes) {
  json.key("notes").begin_array();
  for (const Note& note : notes) {
    json.begin_object();
    json.key("severity").string(to_string(note.severity));
    json.key("where").string(note.where);
    json.key("message").string(note.message);
    json.end_object();
  }
  json.end_array();
}

// Sizes are plain numbers of bytes: programs group digits as they like.
void write_document(Session& session, const Checkpoint& file, const FileFacts& facts) {
  JsonWriter json(session.out);
  json.begin_object();
  json.key("file").string(session.arguments.file);
  json.key("container").string(flambeau::to_string(facts.container));
  json.key("producer").string(facts.producer);
  json.key("byteorder").string(facts.byteorder);
  json.key("version").string(facts.version);
  json.key("pickle_protocol").number(facts.pickle_protocol);
  json.key("file_size").unsigned_number(facts.file_size);
  json.key("records").unsigned_number(facts.record_count);
  json.key("alignment").unsigned_number(facts.alignment);
  json.key("checksums").boolean(facts.has_checksums);
  json.key("tensors").unsigned_number(file.tensors().size());
  json.key("storages").unsigned_number(facts.storage_count);
  json.key("storage_bytes").unsigned_number(facts.storage_bytes);
  json.key("unreached_storages").unsigned_number(facts.unreached_storages);
  json.key("unreached_bytes").unsigned_number(facts.unreached_bytes);
  write_notes(json, facts.notes);
  json.end_object();
  session.out.put('\n');
}

// Everything that comes from the file may hold anything, so every line is escaped.
void write_text(Session& session, const Checkpoint& file, const FileFacts& facts) {
  const auto line = [&](std::string_view label, const std::string& text) {
    session.out.print("{:<16}{}\n", label, escaped(text));
  };
  line("file", session.arguments.file);
  line("size", full_size(facts.file_size));
  line("container", std::string(flambeau::to_string(facts.container)));
  line("producer", facts.producer.empty() ? "unknown" : facts.producer);
  line("version", facts.version.empty() ? "none" : facts.version);
  line("byte order", facts.byteorder);
  line("pickle protocol", std::to_string(facts.pickle_protocol));
  line("records", grouped(facts.record_count));
  line("alignment", facts.alignment == 0 ? "none" : counted(facts.alignment, "byte"));
  line("checksums", facts.has_checksums                     ? "on"
                    : facts.container == Container::sharded ? "as each shard has them"
                    : facts.container == Container::zip
                        ? "off: PyTorch was told not to compute them"
                        : "none: files of this kind have no checksums");
  line("tensors", grouped(file.tensors().size()));
  line("storages",
       fmt::format("{}, {}", grouped(facts.storage_count), full_size(facts.storage_bytes)));
  line("unreached",
       fmt::format("{}, {}", grouped(facts.unreached_storages), full_size(facts.unreached_bytes)));
  for (const Note& note : facts.notes) {
    const std::string where = note.where.empty() ? "" : note.where + ": ";
    line(to_string(note.severity), where + note.message);
  }
}

}  // namespace

// Facts are computed before anything is written, since local headers may be unreadable.
int run_info(Session& session) {
  const Checkpoint& file = session.open();
  const FileFacts facts = file.facts();
  if (session.arguments.json) {
    write_document(session, file, facts);
  } else {
    write_text(session, file, facts);
  }
  return kDone;
}

}  // namespace flambeau::cli
