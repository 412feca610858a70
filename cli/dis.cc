// `flambeau dis`: the pickle of a checkpoint, or a bare one, as Python's pickletools prints it. The
// lines come out as they are decoded, so that a broken pickle shows what it did before it broke.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>

#include "command.h"
#include "flambeau/archive.h"
#include "flambeau/checkpoint.h"
#include "flambeau/pickle.h"
#include "json_writer.h"
#include "session.h"

namespace flambeau::cli {
namespace {

constexpr std::string_view kPickleRecord = "data.pkl";

struct Pickle {
  Block block;
  std::string name;
};

// Writes the lines of `pickle` to the output, or as a list to `json`.
void write_lines(Session& session, const Pickle& pickle, JsonWriter* json) {
  const auto write = [&](std::string_view line) {
    if (json != nullptr) {
      json->string(line);
    } else {
      session.out.append(line);
      session.out.put('\n');
    }
  };
  disassemble(pickle.block.bytes, write, pickle.name);
}

// An error that stops the lines is the document instead, hence the rehearsal in `disassemble_to`.
void write_document(Session& session, const Pickle& pickle) {
  JsonWriter json(session.out);
  json.begin_object();
  json.key("file").string(session.arguments.file);
  json.key("record").string(pickle.name);
  json.key("lines").begin_array();
  write_lines(session, pickle, &json);
  json.end_array();
  json.end_object();
  session.out.put('\n');
}

// Text needs no rehearsal: lines before an error are what is wanted.
int disassemble_to(Session& session, const Pickle& pickle) {
  if (!session.arguments.json) return write_lines(session, pickle, nullptr), kDone;
  session.out.discard(true);
  write_document(session, pickle);
  session.out.discard(false);
  write_document(session, pickle);
  return kDone;
}

// Reads the archive itself instead of opening a checkpoint: a pickle that no checkpoint could be
// made of is what people want to see disassembled.
int run_on_archive(Session& session, SourcePtr source, std::string_view name) {
  ArchiveOptions options;
  options.strict = session.arguments.strict;
  const ArchiveReader archive(std::move(source), options);
  const auto index = archive.find(name);
  if (!index) {
    const std::string message = "the archive has no record '" + std::string(name) + "'";
    return session.refuse(ErrorCode::not_found, message, kNegative);
  }
  const Pickle pickle{archive.read(*index, !session.arguments.no_verify),
                      std::string(archive.record(*index).name)};
  return disassemble_to(session, pickle);
}

// Pickles of a stream follow each other; the fourth is the object's.
int run_on_stream(Session& session, const SourcePtr& source, std::string_view name) {
  constexpr std::string_view kNames[] = {"magic", "version", "system", "object", "keys"};
  if (name.empty()) name = "object";
  const Block all = source->view(0, source->size());
  std::size_t at = 0;
  for (const std::string_view each : kNames) {
    const auto rest = all.bytes.subspan(at);
    if (each == name) return disassemble_to(session, {{rest, all.owner}, std::string(name)});
    InstructionReader reader(rest, each);
    for (Instruction ins; reader.next(ins);) {
    }
    at += reader.offset();
  }
  return session.refuse(ErrorCode::not_found,
                        fmt::format("the pickles of a stream are {}", fmt::join(kNames, ", ")),
                        kNegative);
}

}  // namespace

// No `Session::open`: see `run_on_archive`.
int run_dis(Session& session) {
  const std::string& record = session.arguments.record;
  SourcePtr source = session.open_source();
  if (is_archive(*source)) {
    return run_on_archive(session, std::move(source), record.empty() ? kPickleRecord : record);
  }
  if (is_stream(*source)) return run_on_stream(session, source, record);
  if (!record.empty()) {
    return session.refuse(ErrorCode::usage, "--record needs an archive; this is a bare pickle");
  }
  return disassemble_to(session, {source->view(0, source->size()), "pickle"});
}

}  // namespace flambeau::cli
