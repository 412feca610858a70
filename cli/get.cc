// `flambeau get`: one tensor into a file, as numpy's .npy or as bare elements. The file appears
// whole or not at all (`create_file`).
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "command.h"
#include "flambeau/io.h"
#include "flambeau/npy.h"
#include "json_writer.h"
#include "lookup.h"
#include "save_options.h"
#include "session.h"
#include "text.h"

namespace flambeau::cli {
namespace {

// The form is chosen by OUT's ending, which has to be one of these.
constexpr std::string_view kNpy = ".npy";
constexpr std::string_view kRaw = ".bin";

FileSinkOptions sink_options(const Arguments& arguments, std::uint64_t size) {
  FileSinkOptions options;
  options.expected_size = size;
  options.overwrite = arguments.force;
  options.durability = durability_asked(arguments);
  return options;
}

// With or without `torch.` before it.
std::optional<DType> dtype_asked(const Arguments& arguments) {
  std::string_view name = arguments.as;
  if (name.starts_with("torch.")) name.remove_prefix(6);
  return parse_dtype(name);
}

// What --as takes, for messages.
std::string as_choices() {
  std::vector<std::string_view> names;
#define FLAMBEAU_DTYPE(enumerator, name, scalar_type, item_size, packed, category, storage)        \
  if (has_numpy_dtype(DType::enumerator) && DTypeCategory::category != DTypeCategory::quantized) { \
    names.emplace_back(name);                                                                      \
  }
#include "flambeau/dtype.def"
#undef FLAMBEAU_DTYPE
  return fmt::format("--as is one of {}", fmt::join(names, ", "));
}

// What is wrong with the options, before the file is opened.
std::string complaint(const Arguments& arguments) {
  const std::string& out = arguments.output;
  if (out.empty()) return "get needs -o OUT.npy, or -o OUT.bin for the bare elements";
  if (!out.ends_with(kNpy) && !out.ends_with(kRaw)) {
    return fmt::format("OUT ends in {} or {}, unlike '{}'", kNpy, kRaw, out);
  }
  if (arguments.as.empty()) return {};
  if (!dtype_asked(arguments)) {
    return fmt::format("no dtype is called '{}'; {}", arguments.as, as_choices());
  }
  return out.ends_with(kRaw) ? "--as goes with OUT.npy: bare elements are written as they are" : "";
}

// What to do about a dtype that OUT.npy cannot hold; empty where it can.
std::string dtype_message(const Arguments& arguments, const Tensor& tensor) {
  if (arguments.output.ends_with(kRaw)) return {};
  const auto as = dtype_asked(arguments);
  const DType dtype = as.value_or(tensor.dtype());
  if (has_numpy_dtype(dtype)) return {};
  if (as) return fmt::format("numpy has no {}; {}", to_string(dtype), as_choices());
  const DTypeCategory kind = category(dtype);
  if (kind == DTypeCategory::bits || kind == DTypeCategory::sub_byte) {
    return fmt::format("numpy has no {}; -o OUT.bin takes the bare elements", to_string(dtype));
  }
  return fmt::format("numpy has no {}; --as {} converts it, -o OUT.bin takes the bare elements",
                     to_string(dtype), kind == DTypeCategory::complex ? "complex64" : "float32");
}

// Names the parts of a tensor that has no array of its own.
std::string parts_message(const Found& found) {
  std::string message =
      fmt::format("'{}' is {}: its elements stand in parts; get them one by one:", found.name,
                  to_string(found.tensor->kind()));
  for (const auto& part : found.tensor->parts()) {
    message += fmt::format(" {}{}{}", found.name, found.name.empty() ? "" : ".", part.first);
  }
  return message;
}

// Meta tensors are left to the writer, which says that they have no elements at all.
bool has_parts_only(const Tensor& tensor) noexcept {
  return tensor.kind() != TensorKind::strided && tensor.kind() != TensorKind::quantized &&
         tensor.kind() != TensorKind::meta;
}

// Elements that lie as they are written need no copy.
bool lies_ready(const Tensor& tensor) noexcept {
  return tensor.kind() == TensorKind::strided && tensor.nbytes() > 0 && tensor.is_contiguous() &&
         !tensor.is_conj() && !tensor.is_neg() && !tensor.is_byte_swapped();
}

// A view in place needs its checksum asked for; `copy_to` does that by itself.
void write_elements(Sink& sink, const Tensor& tensor) {
  if (lies_ready(tensor)) {
    tensor.storage().verify();
    const auto start = static_cast<std::size_t>(tensor.offset()) * item_size(tensor.dtype());
    return sink.write(tensor.storage().bytes().subspan(start, tensor.nbytes()));
  }
  std::vector<std::byte> elements(tensor.nbytes());
  tensor.copy_to(elements);
  sink.write(elements);
}

// Written after the file is there: whoever reads it may open OUT. In words it is a message like any
// other, so that a standard output that takes nothing cannot make a success look like a failure.
void report(Session& session, const Found& found) {
  const Tensor& tensor = *found.tensor;
  const DType dtype = dtype_asked(session.arguments).value_or(tensor.dtype());
  if (!session.arguments.json) {
    return write_message(fmt::format("flambeau: {}: wrote {}, {} {}",
                                     escaped(session.arguments.output),
                                     found.name.empty() ? "(root)" : escaped(found.name),
                                     to_string(dtype), to_string(tensor.shape())));
  }
  JsonWriter json(session.out);
  json.begin_object();
  json.key("file").string(session.arguments.file);
  json.key("name").string(found.name);
  json.key("dtype").string(to_string(dtype));
  json.key("shape").begin_array();
  for (const std::int64_t size : tensor.shape()) json.number(size);
  json.end_array();
  json.key("output").string(session.arguments.output);
  json.end_object();
  session.out.put('\n');
}

// The size of what will be written, without the header; the largest number where it overflows, as
// a stride of 0 lets a tensor have nearly 2^63 elements.
std::uint64_t result_size(const Arguments& arguments, const Tensor& tensor) {
  const auto as = dtype_asked(arguments);
  if (!as) return tensor.nbytes();
  const auto numel = static_cast<std::uint64_t>(tensor.numel());
  return numel > UINT64_MAX / item_size(*as) ? UINT64_MAX : numel * item_size(*as);
}

// What throws before `commit` takes the sink down, and with it the temporary file.
int write_file(Session& session, const Found& found) {
  const Arguments& arguments = session.arguments;
  const Tensor& tensor = *found.tensor;
  // A tensor without a storage has no elements; the writer says so.
  const std::uint64_t size = tensor.storage() ? result_size(arguments, tensor) : 0;
  const auto sink = create_file(arguments.output, sink_options(arguments, size));
  if (arguments.output.ends_with(kRaw)) {
    write_elements(*sink, tensor);
  } else {
    write_npy(*sink, tensor, dtype_asked(arguments));
  }
  if (!sink->commit()) warn_of_crash(arguments.output);
  report(session, found);
  return kDone;
}

}  // namespace

// Cheap refusals come first: options, then the name, then the size; OUT is touched last.
int run_get(Session& session) {
  const Arguments& arguments = session.arguments;
  if (const std::string wrong = complaint(arguments); !wrong.empty()) {
    return session.refuse(ErrorCode::usage, wrong);
  }
  const Checkpoint& file = session.open();
  const std::string& name = arguments.names.front();
  const auto found = look_up(file, name);
  if (!found) return refuse_unknown(session, file, name);
  if (!found->tensor) {
    const std::string type = found->value.type_name();
    return session.refuse(
        ErrorCode::not_found,
        fmt::format("'{}' is no tensor but {}; `flambeau show` prints it", name, type), kNegative);
  }
  if (has_parts_only(*found->tensor)) {
    return session.refuse(ErrorCode::unsupported, parts_message(*found));
  }
  if (const std::string wrong = dtype_message(arguments, *found->tensor); !wrong.empty()) {
    return session.refuse(ErrorCode::unsupported, wrong);
  }
  if (const Storage& storage = found->tensor->storage()) {
    const std::uint64_t size = result_size(arguments, *found->tensor);
    if (auto error = refuse_expansion(arguments, size, storage.size())) {
      return session.refuse(*error);
    }
  }
  return write_file(session, *found);
}

}  // namespace flambeau::cli
