// The object graph as JSON, lossless: each object once with an `id`, a `ref` to it afterwards.
#pragma once

#include <optional>

#include "flambeau/error.h"
#include "flambeau/value.h"
#include "json_writer.h"

namespace flambeau::cli {

/// Writes `root` at the writer's place. Rehearse first (`Output::discard`) to meet the errors
/// before anything is out; what is written after an error is not a document. Iterative. Errors:
/// `limit` where the document is nested deeper than `Limits::json_depth`, since readers of JSON
/// recurse, or where tensors inside tensors multiply.
std::optional<Error> write_tree(Output& out, JsonWriter& json, Value root);

}  // namespace flambeau::cli
