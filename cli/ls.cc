// `flambeau ls`: one row for each path that leads to a tensor. Whatever can fail (digests, rows
// that multiply) is done before the first byte is written, so that --json gives one document.
#include <algorithm>

#include "command.h"
#include "json_writer.h"
#include "listing.h"
#include "row.h"
#include "session.h"
#include "text.h"

namespace flambeau::cli {
namespace {

// Of the rows that are shown, and of no others: a PATTERN saves the reading of the rest.
std::optional<Digests> digests_of(const Listing& listing) {
  std::vector<const Tensor*> tensors;
  for (std::size_t row = 0; row < listing.rows.size(); ++row) {
    tensors.push_back(&listing.entry(row).tensor);
  }
  return std::make_optional<Digests>(tensors);
}

// What would stop the rows that have parts; the others cannot fail.
std::optional<Error> rehearse(Output& out, const Listing& listing) {
  RowWriter rows(out);
  std::size_t deepest = 0;
  out.discard(true);
  for (std::size_t row = 0; row < listing.rows.size(); ++row) {
    const Tensor& tensor = listing.entry(row).tensor;
    if (!tensor.parts().empty()) deepest = std::max(deepest, rows.write(tensor));
  }
  out.discard(false);
  if (auto error = rows.error()) return error;
  // The document itself is two levels around a row.
  if (deepest + 2 <= Limits{}.json_depth) return std::nullopt;
  return Error(ErrorCode::limit, {}, std::nullopt, "tensors inside tensors are nested too deep");
}

// One row in each line: such output can be searched and compared line by line, too.
void write_document(Session& session, const Listing& listing, const Digests* digests) {
  const Checkpoint& file = *listing.file;
  JsonWriter json(session.out);
  json.begin_object();
  json.key("file").string(session.arguments.file);
  json.key("container").string(to_string(file.container()));
  json.key("producer").string(file.producer());
  json.key("byteorder").string(file.byteorder());
  if (file.first_paths_only()) json.key("paths").string("first");
  json.key("tensors").begin_array();
  RowWriter rows(session.out, digests);
  for (std::size_t row = 0; row < listing.rows.size(); ++row) {
    const NamedTensor& entry = listing.entry(row);
    json.raw().put('\n');
    const std::size_t index = listing.rows[row];
    rows.write_named(entry.name, file.path(index), entry.tensor, file.record(index));
  }
  json.end_array();
  json.end_object();
  session.out.put('\n');
}

}  // namespace

// Each pattern is tried on each name, although one match would do: those without any are reported.
Listing select_rows(const Checkpoint& file, const std::vector<std::string>& patterns) {
  const auto tensors = file.tensors();
  Listing listing{&file, {}, {}};
  std::vector<bool> matched(patterns.size());
  for (std::size_t index = 0; index < tensors.size(); ++index) {
    bool wanted = patterns.empty();
    for (std::size_t i = 0; i < patterns.size(); ++i) {
      if (!name_matches(patterns[i], tensors[index].name)) continue;
      wanted = true;
      matched[i] = true;
    }
    if (wanted) listing.rows.push_back(index);
  }
  for (std::size_t i = 0; i < patterns.size(); ++i) {
    if (!matched[i]) listing.unmatched.push_back(patterns[i]);
  }
  return listing;
}

int run_ls(Session& session) {
  const Arguments& arguments = session.arguments;
  const Listing listing = select_rows(session.open(), arguments.names);
  if (auto error = rehearse(session.out, listing)) return session.refuse(*error);
  const auto digests = arguments.digest ? digests_of(listing) : std::nullopt;
  const Digests* const column = digests ? &*digests : nullptr;
  if (arguments.json) {
    write_document(session, listing, column);
  } else {
    write_table(session, listing, column);
  }
  session.out.flush();
  for (const std::string& pattern : listing.unmatched) {
    session.warn("no tensor's name matches '" + pattern + "'");
  }
  return listing.unmatched.empty() ? kDone : kNegative;
}

}  // namespace flambeau::cli
