// `flambeau convert`: the tensors of a checkpoint in a file of another kind.
#include "flambeau/convert.h"

#include <string>

#include "command.h"
#include "json_writer.h"
#include "save_options.h"
#include "session.h"
#include "text.h"

namespace flambeau::cli {
namespace {

void write_document(Session& session, const ConvertReport& done) {
  JsonWriter json(session.out);
  json.begin_object();
  json.key("file").string(session.arguments.file);
  json.key("output").string(session.arguments.names.front());
  json.key("tensors").unsigned_number(done.tensors);
  json.key("tied").begin_object();
  for (const auto& [name, kept] : done.tied) json.key(name).string(kept);
  json.end_object();
  json.key("copied").begin_array();
  for (const std::string& name : done.copied) json.string(name);
  json.end_array();
  json.key("left_out").unsigned_number(done.left_out_count);
  json.key("left_out_paths").begin_array();
  for (const std::string& path : done.left_out) json.string(path);
  json.end_array();
  json.end_object();
  session.out.put('\n');
}

void report(Session& session, const ConvertReport& done) {
  const std::string& out = session.arguments.names.front();
  if (!done.durable) warn_of_crash(out);
  for (const std::string& name : done.copied) {
    session.warn(fmt::format("{} shared its bytes with another tensor and has its own now", name));
  }
  if (done.left_out_count > 0) {
    session.warn(fmt::format("{} that {} no tensor left out, {} first",
                             counted(done.left_out_count, "value"),
                             done.left_out_count == 1 ? "is" : "are", done.left_out.front()));
  }
  if (session.arguments.json) return write_document(session, done);
  write_message(fmt::format("flambeau: {}: wrote {}, {} tied", escaped(out),
                            counted(done.tensors, "tensor"), done.tied.size()));
}

}  // namespace

int run_convert(Session& session) {
  const Arguments& arguments = session.arguments;
  ConvertOptions options;
  if (!arguments.to.empty()) {
    options.to = arguments.to == "pt" ? ConvertTo::pt : ConvertTo::safetensors;
  }
  if (!arguments.dtype.empty()) {
    options.dtype = parse_dtype(arguments.dtype);
    if (!options.dtype) {
      return session.refuse(ErrorCode::usage,
                            fmt::format("there is no dtype '{}'", arguments.dtype));
    }
  }
  options.select = arguments.select;
  options.exclude = arguments.exclude;
  for (const std::string& text : arguments.metadata) {
    const auto equals = text.find('=');
    if (equals == std::string::npos) {
      return session.refuse(ErrorCode::usage, "--metadata needs a name, '=' and a text");
    }
    options.metadata.emplace_back(text.substr(0, equals), text.substr(equals + 1));
  }
  options.file.overwrite = arguments.force;
  options.file.durability = durability_asked(arguments);
  if (!arguments.force) session.arguments.strict = true;
  const ConvertReport done = convert(session.open(), arguments.names.front(), options);
  report(session, done);
  return kDone;
}

}  // namespace flambeau::cli
