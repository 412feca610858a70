// `flambeau show`: tensors as PyTorch prints them, anything else as its part of the tree. All names
// are looked up before anything is written, and JSON is rehearsed, so that an error is one
// document.
#include <limits>
#include <utility>
#include <vector>

#include "command.h"
#include "json_writer.h"
#include "lookup.h"
#include "session.h"
#include "terminal.h"
#include "text.h"
#include "tree_json.h"
#include "tree_text.h"
#include "values_json.h"

namespace flambeau::cli {
namespace {

// Inner tensors that are shown inside a tensor; more levels than any class in use has.
constexpr std::size_t kMostPartLevels = 8;

bool has_elements(const Tensor& tensor) noexcept {
  return tensor.kind() == TensorKind::strided || tensor.kind() == TensorKind::quantized;
}

void write_sizes(JsonWriter& json, const Tensor& tensor) {
  json.key("shape");
  if (!tensor.has_shape()) return json.null();
  json.begin_array();
  for (const std::int64_t size : tensor.shape()) json.number(size);
  json.end_array();
}

using Parts = std::span<const std::pair<std::string, Tensor>>;

// Dtype, shape, and the values; kinds whose elements stand in parts have these opened, and the
// parts that are still to be written are appended to `levels`.
void write_tensor_fields(JsonWriter& json, const Tensor& tensor, std::vector<Parts>& levels) {
  json.key("dtype").string(to_string(tensor.dtype()));
  write_sizes(json, tensor);
  if (tensor.kind() != TensorKind::strided) json.key("kind").string(to_string(tensor.kind()));
  if (has_elements(tensor)) {
    json.key("values");
    return write_values(json, tensor);
  }
  if (tensor.kind() == TensorKind::meta || levels.size() == kMostPartLevels) return;
  json.key("parts").begin_object();
  levels.push_back(tensor.parts());
}

// Levels of parts that are open, innermost last; each holds the parts that are still to be written.
void write_tensor(JsonWriter& json, const Tensor& tensor) {
  std::vector<Parts> levels;
  write_tensor_fields(json, tensor, levels);
  while (!levels.empty()) {
    if (levels.back().empty()) {
      levels.pop_back();
      json.end_object();
      if (!levels.empty()) json.end_object();
      continue;
    }
    const auto& [name, part] = levels.back().front();
    levels.back() = levels.back().subspan(1);
    json.key(name).begin_object();
    const std::size_t before = levels.size();
    write_tensor_fields(json, part, levels);
    if (levels.size() == before) json.end_object();
  }
}

// Errors of the tree come back, for `run_show` to report; those of tensors are thrown.
std::optional<Error> write_found(Session& session, JsonWriter& json, const Checkpoint& file,
                                 const Found& found) {
  json.begin_object();
  json.key("name").string(found.name);
  std::optional<Error> error;
  if (found.tensor) {
    json.key("path").string(found.path);
    write_tensor(json, *found.tensor);
  } else {
    json.key("file").string(session.arguments.file);
    json.key("container").string(to_string(file.container()));
    json.key("root");
    error = write_tree(session.out, json, found.value);
  }
  if (!error) json.end_object();
  return error;
}

// One object, or a list of them where several names were given.
std::optional<Error> write_document(Session& session, const Checkpoint& file,
                                    const std::vector<Found>& all) {
  JsonWriter json(session.out);
  const bool is_list = all.size() > 1;
  if (is_list) json.begin_array();
  for (const Found& found : all) {
    if (auto error = write_found(session, json, file, found)) return error;
  }
  if (is_list) json.end_array();
  session.out.put('\n');
  if (json.deepest() <= Limits{}.json_depth) return std::nullopt;
  return Error(
      ErrorCode::limit, {}, std::nullopt,
      fmt::format("the values need JSON nested deeper than {} levels", Limits{}.json_depth));
}

// Folding is the library's: without --full it reads the elements that it shows, and no others.
std::string printed(const Arguments& arguments, const Tensor& tensor) {
  PrintOptions options;
  if (arguments.full) options.threshold = std::numeric_limits<std::int64_t>::max();
  return to_string(tensor, options);
}

// A title for each value only where there are several.
void write_text(Session& session, const std::vector<Found>& all) {
  for (const Found& found : all) {
    if (all.size() > 1) session.out.print("{}:\n", escaped(found.name));
    if (found.tensor) {
      session.out.append(printed(session.arguments, *found.tensor));
      session.out.put('\n');
    } else {
      write_tree_text(session.out, found.value, {session.arguments.full, terminal::width()});
    }
  }
}

// Of elements that would all be written, whether there are too many of them.
std::optional<Error> refuse_large(const Arguments& arguments, const Tensor& tensor) {
  if (!has_elements(tensor) || !tensor.storage()) return std::nullopt;
  return refuse_expansion(arguments, tensor.nbytes(), tensor.storage().size());
}

}  // namespace

int run_show(Session& session) {
  const Arguments& arguments = session.arguments;
  const Checkpoint& file = session.open();
  std::vector<Found> all;
  for (const std::string& name : arguments.names) {
    auto found = look_up(file, name);
    if (!found) return refuse_unknown(session, file, name);
    const bool whole = arguments.json || arguments.full;
    if (whole && found->tensor) {
      if (auto error = refuse_large(arguments, *found->tensor)) return session.refuse(*error);
    }
    all.push_back(std::move(*found));
  }
  if (!arguments.json) return write_text(session, all), kDone;
  session.out.discard(true);
  const auto error = write_document(session, file, all);
  session.out.discard(false);
  if (error) return session.refuse(*error);
  write_document(session, file, all);
  return kDone;
}

}  // namespace flambeau::cli
