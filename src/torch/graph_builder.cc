// Recognition. Calls of known constructors with arguments of the right shape get a form; with any
// other arguments they stay objects, as data, except that a tensor's description must be sound:
// PyTorch would refuse it, and so do we. Nothing is called, whatever the arguments are.
#include "torch/graph_builder.h"

#include <algorithm>
#include <utility>

namespace flambeau {

GraphBuilder::GraphBuilder(Document document, std::shared_ptr<const StorageTable> storages,
                           StorageResolver& resolver, const GraphOptions& options)
    : graph_(std::make_unique<Graph>()),
      resolver_(resolver),
      options_(options),
      rebuilder_(*graph_, options_.where, options.swapped) {
  graph_->document_ = std::move(document);
  graph_->limits_ = options.limits;
  graph_->storages_ = std::move(storages);
  // A tensor takes at least a storage's id, two tuples, a call and its arguments.
  constexpr std::size_t kNodesPerTensor = 8;
  graph_->tensors_ = std::make_shared<TensorTable>(
      options.memory, graph_->document_.node_count() / kNodesPerTensor);
}

/// Arguments have lower ordinals than the calls that take them, so one pass in order is enough for
/// all but the forms that get their content by BUILD.
std::unique_ptr<Graph> GraphBuilder::build() {
  find_meanings();
  with_offset(
      options_.where, [&] { return current_offset(); }, [&] { recognise_all(); });
  return std::move(graph_);
}

std::unique_ptr<Graph> GraphBuilder::of_table(
    Document document, std::shared_ptr<const StorageTable> storages, std::span<const Ref> nodes,
    std::vector<std::pair<std::string, TensorRecord>> rows, const Limits& limits) {
  auto graph = std::make_unique<Graph>();
  graph->document_ = std::move(document);
  graph->limits_ = limits;
  graph->storages_ = std::move(storages);
  graph->tensors_ = std::make_shared<TensorTable>(std::pmr::get_default_resource(), nodes.size());
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    graph->tensors_->add(nodes[i], std::move(rows[i].second));
    graph->document_.annotate(nodes[i], static_cast<std::uint16_t>(Form::tensor));
  }
  return graph;
}

void GraphBuilder::recognise_all() {
  const std::uint32_t count = graph_->document_.node_count();
  for (std::uint32_t first = 0; first < count;) {
    const auto run = graph_->document_.run_from(first);
    for (std::uint32_t i = 0; i < run.size(); ++i) recognise(run[i].kind, node_ref(first + i));
    first += static_cast<std::uint32_t>(run.size());
  }
  build_late();
}

std::optional<std::uint64_t> GraphBuilder::current_offset() const {
  if (options_.pickle.empty() || !is_node(current_)) return std::nullopt;
  ParseOptions options;
  options.limits = options_.limits;
  return offset_of_node(options_.pickle, options, bits_of(current_));
}

/// Each distinct global is looked up once, however many tensors name it.
void GraphBuilder::find_meanings() {
  const Document& document = graph_->document_;
  for (std::uint32_t i = 0; i < document.global_count(); ++i) {
    const GlobalName& global = document.global_name(i);
    graph_->meanings_.push_back(meaning_of(global.module, global.name));
  }
}

/// Form in the lower byte of a node's tag, element type in the upper.
void GraphBuilder::mark(Ref ref, Form form, DType dtype) {
  const auto tag =
      static_cast<std::uint16_t>(static_cast<unsigned>(form) | static_cast<unsigned>(dtype) << 8);
  graph_->document_.annotate(ref, tag);
}

/// Strings, numbers and containers mean what they are.
inline void GraphBuilder::recognise(NodeKind kind, Ref ref) {
  if (kind == NodeKind::object) {
    current_ = ref;
    recognise_object(ref);
  } else if (kind == NodeKind::persistent) {
    current_ = ref;
    recognise_persistent(ref);
  } else if (kind == NodeKind::byte_string) {
    recognise_text(ref);
  } else if (kind == NodeKind::global) {
    const GlobalMeaning& meaning = graph_->meaning(ref);
    if (meaning.role == Role::dtype) mark(ref, Form::dtype, *meaning.dtype);
  }
}

/// The row goes into the node, so that a tensor finds its storage without a search.
void GraphBuilder::recognise_persistent(Ref ref) {
  if (graph_->form(ref) != Form::none) return;
  const Ref id = graph_->document_.persistent_id(ref);
  const auto share = resolver_.resolve(*graph_, id);
  if (!share) {
    if (resolver_.is_class(graph_->document_, id)) mark(ref, Form::class_with_source);
    return;
  }
  if (share->view) graph_->views_.emplace(bits_of(ref), *share->view);
  mark(ref, Form::storage, share->dtype);
  graph_->document_.set_row(ref, share->row);
  const auto& restored = resolver_.restored();
  for (std::size_t i = graph_->restored_.size(); i < restored.size(); ++i) {
    graph_->restored_.push_back(restored[i]);
  }
}

/// A Python 2 string is text where the encoding has its bytes. Text that is not UTF-8 already is
/// decoded once, here.
void GraphBuilder::recognise_text(Ref ref) {
  const std::string_view bytes = graph_->document_.text(ref);
  auto decoded = decode_byte_string(options_.encoding, bytes);
  if (!decoded) return;
  mark(ref, Form::text);
  if (*decoded != bytes) graph_->decoded_.emplace_back(bits_of(ref), std::move(*decoded));
}

/// Calls of unknown callables, and of known ones with no tuple of arguments, stay objects.
void GraphBuilder::recognise_object(Ref ref) {
  const Document& document = graph_->document_;
  const Ref callable = document.callable(ref);
  if (!document.is(callable, NodeKind::global)) return;
  const GlobalMeaning& meaning = graph_->meaning(callable);
  if (meaning.role == Role::other) return refuse_unknown_rebuild(callable);
  if (!document.is(document.args(ref), NodeKind::tuple)) return;
  const bool is_class = meaning.role == Role::tensor_typed || meaning.role == Role::tensor_class ||
                        (meaning.role == Role::parameter_class && document.extra(ref) != nullptr);
  if (is_class) {
    late_.push_back(ref);
    return;
  }
  if (meaning.role < Role::tensor_class) {
    const Form form = container_form(meaning.role, ref);
    if (form != Form::none) mark(ref, form);
    return;
  }
  TensorRecord record;
  if (!rebuilder_.rebuild(meaning.role, document.args(ref), record)) return;
  graph_->tensors_->add(ref, std::move(record));
  mark(ref, Form::tensor);
}

/// A rebuild function of a release to come: guessing would lose a tensor silently.
void GraphBuilder::refuse_unknown_rebuild(Ref callable) const {
  const GlobalName& global = graph_->document_.global(callable);
  if (global.module == "torch._utils" && global.name.starts_with("_rebuild_")) {
    fail(ErrorCode::unsupported, {options_.where}, "{}.{}: this way to rebuild a tensor is unknown",
         global.module, global.name);
  }
}

namespace {

bool is_number(Kind kind) { return kind == Kind::real || kind == Kind::integer; }

/// Latin-1 text as bytes; nothing where a character is above U+00FF.
std::optional<std::string> latin1_bytes(std::string_view text) {
  std::string bytes;
  bytes.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto lead = static_cast<unsigned char>(text[i]);
    if (lead < 0x80) {
      bytes += text[i];
    } else if ((lead == 0xc2 || lead == 0xc3) && i + 1 < text.size()) {
      const auto low = static_cast<unsigned char>(text[++i]) & 0x3f;
      bytes += static_cast<char>((lead & 0x03) << 6 | low);
    } else {
      return std::nullopt;
    }
  }
  return bytes;
}

bool is_latin1(std::string_view encoding) {
  return encoding == "latin1" || encoding == "latin-1" || encoding == "iso-8859-1";
}

}  // namespace

/// Objects with state or items beyond what the constructor makes are of some subclass or damaged;
/// only OrderedDict has both.
Form GraphBuilder::container_form(Role role, Ref ref) {
  const Document& document = graph_->document_;
  const auto args = document.items(document.args(ref));
  const ObjectExtra* extra = document.extra(ref);
  if (role == Role::ordered_dict) return ordered_dict_form(ref, args);
  if (extra != nullptr) return Form::none;
  const auto kind_of = [&](std::size_t i) {
    return i < args.size() ? graph_->kind(args[i]) : Kind::missing;
  };
  if (role == Role::bytes && args.empty()) return Form::bytes;
  if (role == Role::codecs_encode || role == Role::bytearray) {
    const Form form = bytes_form(ref, args);
    return role == Role::bytearray && form != Form::none ? Form::bytearray : form;
  }
  // An argument of a higher number would be itself, or what holds it.
  if (role == Role::type_tag) {
    const bool is_earlier = !args.empty() && (!is_node(args[0]) || bits_of(args[0]) < bits_of(ref));
    return is_earlier ? Form::tagged : Form::none;
  }
  const bool one_list = args.size() == 1 && kind_of(0) == Kind::list;
  if (role == Role::set) return args.empty() || one_list ? Form::set : Form::none;
  if (role == Role::frozenset) return args.empty() || one_list ? Form::frozenset : Form::none;
  if (role == Role::complex) {
    const bool pair = args.size() == 2 && is_number(kind_of(0)) && is_number(kind_of(1));
    return pair ? Form::complex : Form::none;
  }
  if (role == Role::size && args.size() == 1 && kind_of(0) == Kind::tuple) {
    for (const Ref item : document.items(args[0])) {
      if (!document.is(item, NodeKind::integer)) return Form::none;
    }
    return Form::size;
  }
  if (role == Role::device && kind_of(0) == Kind::string) {
    const bool fits = args.size() == 1 || (args.size() == 2 && kind_of(1) == Kind::integer &&
                                           document.is(args[1], NodeKind::integer));
    return fits ? Form::device : Form::none;
  }
  const bool layout = role == Role::layout && args.size() == 1 && kind_of(0) == Kind::string;
  return layout ? Form::layout : Form::none;
}

/// `_codecs.encode(text, 'latin1')`, the form that bytes have up to protocol 2, and bytearrays of
/// it, of bytes, or of text and encoding.
Form GraphBuilder::bytes_form(Ref ref, std::span<const Ref> args) {
  auto& decoded = graph_->decoded_;
  if (args.empty()) return Form::bytes;
  const Kind kind = graph_->kind(args[0]);
  if (kind == Kind::bytes && args.size() == 1) {
    decoded.emplace_back(bits_of(ref), graph_->text(args[0]));
    return Form::bytes;
  }
  const bool encoded = kind == Kind::string && args.size() == 2 &&
                       graph_->kind(args[1]) == Kind::string && is_latin1(graph_->text(args[1]));
  if (!encoded) return Form::none;
  auto bytes = latin1_bytes(graph_->text(args[0]));
  if (!bytes) return Form::none;
  decoded.emplace_back(bits_of(ref), std::move(*bytes));
  return Form::bytes;
}

/// `OrderedDict()` with items set one by one, or `OrderedDict([[key, value], …])` as Python 2
/// pickled it.
Form GraphBuilder::ordered_dict_form(Ref ref, std::span<const Ref> args) {
  const ObjectExtra* extra = graph_->document_.extra(ref);
  if (extra != nullptr && !extra->list_items.empty()) return Form::none;
  if (args.empty()) return Form::ordered_dict;
  if (args.size() != 1) return Form::none;
  std::vector<Ref> pairs;
  const Kind kind = graph_->kind(args[0]);
  if (kind != Kind::list && kind != Kind::tuple) return Form::none;
  for (const Ref pair : graph_->elements(args[0])) {
    const Kind pair_kind = graph_->kind(pair);
    const auto items = graph_->elements(pair);
    const bool fits = (pair_kind == Kind::list || pair_kind == Kind::tuple) && items.size() == 2;
    if (!fits) return Form::none;
    pairs.insert(pairs.end(), items.begin(), items.end());
  }
  if (extra != nullptr) {
    pairs.insert(pairs.end(), extra->dict_items.begin(), extra->dict_items.end());
  }
  graph_->spread_.emplace_back(bits_of(ref), std::move(pairs));
  return Form::ordered_dict;
}

/// Classes that get their content by BUILD. Tensors first: they are made of storages alone. Then
/// parameters, whose tensor may stand in their arguments or in their state.
void GraphBuilder::build_late() {
  const auto is_tensor = [&](Ref ref) {
    return graph_->meaning(graph_->document_.callable(ref)).role != Role::parameter_class;
  };
  std::stable_partition(late_.begin(), late_.end(), is_tensor);
  for (const Ref ref : late_) {
    current_ = ref;
    const GlobalMeaning& meaning = graph_->meaning(graph_->document_.callable(ref));
    TensorRecord record;
    if (!rebuilder_.rebuild_from_state(ref, meaning, record)) continue;
    graph_->tensors_->add_late(ref, std::move(record));
    mark(ref, Form::tensor);
  }
}

}  // namespace flambeau
