// Type checks of rebuild arguments. PyTorch takes booleans where it wants integers and any sequence
// where it wants a shape (torch/csrc/utils/python_arg_parser.cpp), and so do we.
#include "torch/arguments.h"

namespace flambeau {

/// PyTorch added arguments over the years, at the end: a range covers them all.
void Arguments::refuse_count(std::size_t least, std::size_t most) const {
  reject("{} arguments, {} to {} are wanted", items_.size(), least, most);
}

void Arguments::refuse(std::size_t i, std::string_view what, std::string_view wanted) const {
  reject("argument {} ({}) is {}, {} is wanted", i, what, to_string(graph_.kind(items_[i])),
         wanted);
}

namespace {

std::optional<std::int64_t> integer_of(const Document& document, Ref ref) {
  if (document.is(ref, NodeKind::integer)) return document.integer(ref);
  if (document.is(ref, NodeKind::boolean)) return ref == kTrue ? 1 : 0;
  return std::nullopt;
}

}  // namespace

std::int64_t Arguments::integer(std::size_t i, std::string_view what) const {
  const auto value = integer_of(graph_.document(), items_[i]);
  if (!value) refuse(i, what, "an integer of 64 bits");
  return *value;
}

bool Arguments::boolean(std::size_t i, std::string_view what) const {
  if (!graph_.document().is(items_[i], NodeKind::boolean)) refuse(i, what, "a boolean");
  return items_[i] == kTrue;
}

/// `scale` is a Python float in every file, but an integer is as good.
double Arguments::real(std::size_t i, std::string_view what) const {
  const Document& document = graph_.document();
  if (document.is(items_[i], NodeKind::real)) return document.real(items_[i]);
  return static_cast<double>(integer(i, what));
}

/// A Python 2 string counts where it is text in the encoding of the options.
std::string_view Arguments::text(std::size_t i, std::string_view what) const {
  if (graph_.kind(items_[i]) != Kind::string) refuse(i, what, "text");
  return graph_.text(items_[i]);
}

DType Arguments::dtype(std::size_t i) const {
  if (graph_.form(items_[i]) != Form::dtype) refuse(i, "dtype", "a dtype");
  return graph_.dtype(items_[i]);
}

/// The bound on dimensions comes before the loop, so that a long list costs nothing.
void Arguments::integers(std::size_t i, std::string_view what,
                         std::vector<std::int64_t>& out) const {
  const Kind kind = graph_.kind(items_[i]);
  if (kind != Kind::tuple && kind != Kind::list && kind != Kind::size) {
    refuse(i, what, "a tuple of integers");
  }
  const auto items = graph_.elements(items_[i]);
  if (items.size() > graph_.limits().max_dimensions) {
    fail(ErrorCode::limit, {where_}, "{}: {} dimensions, the limit is {}", function_, items.size(),
         graph_.limits().max_dimensions);
  }
  out.resize(items.size());
  for (std::size_t k = 0; k < items.size(); ++k) {
    const auto value = integer_of(graph_.document(), items[k]);
    if (!value) refuse(i, what, "a tuple of integers of 64 bits");
    out[k] = *value;
  }
}

/// Arguments are made before the call that takes them, so the tensor is known by now.
const TensorRecord& Arguments::tensor(std::size_t i, std::string_view what) const {
  if (graph_.form(items_[i]) != Form::tensor) refuse(i, what, "a tensor");
  return graph_.record(items_[i]);
}

}  // namespace flambeau
