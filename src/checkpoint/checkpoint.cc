// The front door: sniffs, loads, lists. Whatever goes wrong is said with the file's name before it.
#include "flambeau/checkpoint.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/fail.h"
#include "checkpoint/detect.h"
#include "checkpoint/load_pt2.h"
#include "checkpoint/load_safetensors.h"
#include "checkpoint/load_sharded.h"
#include "checkpoint/state.h"
#include "torch/stream_loader.h"
#include "torch/zip_loader.h"

namespace flambeau {

std::string_view to_string(Container container) noexcept {
  switch (container) {
    case Container::zip: return "zip";
    case Container::legacy: return "legacy";
    case Container::torchscript: return "torchscript";
    case Container::lite: return "lite";
    case Container::torch_cpp: return "torch_cpp";
    case Container::pt2: return "pt2";
    case Container::safetensors: return "safetensors";
    case Container::sharded: return "sharded";
  }
  return "";
}

namespace {

/// A torch file of another kind is not damaged, only not read.
[[noreturn]] void refuse(const Sniffed& found) {
  if (found.is_torch) {
    fail(ErrorCode::unsupported, {}, "this is {}, which this version does not read",
         found.description);
  }
  fail(ErrorCode::not_a_checkpoint, {}, "this is {}", found.description);
}

/// libtorch's `torch::save` makes a class `__torch__.Module` for whatever it saves.
bool is_of_cpp(const Loaded& loaded) {
  const auto [module, name] =
      Value(loaded.graph.get(), loaded.graph->document().root()).global_name();
  return module == "__torch__" && name == "Module";
}

void load_archive(Checkpoint::State& state, const LoadOptions& options) {
  ArchiveReader archive(state.source, {.limits = options.limits, .strict = options.strict});
  const Sniffed found = sniff_archive(archive);
  if (found.kind == FileKind::other) refuse(found);
  if (found.kind == FileKind::zip) {
    state.loaded = load_zip(std::move(archive), options);
    return;
  }
  if (found.kind == FileKind::exported) {
    state.container = Container::pt2;
    state.loaded = load_pt2(std::move(archive), options);
    return;
  }
  const bool is_lite = archive.find("bytecode.pkl").has_value();
  state.loaded = load_script(std::move(archive), options);
  state.container = is_lite                   ? Container::lite
                    : is_of_cpp(state.loaded) ? Container::torch_cpp
                                              : Container::torchscript;
}

/// Content decides, in three steps: first bytes, records, pickle.
void load(Checkpoint::State& state) {
  const OpenOptions& options = state.options;
  const LoadOptions load_options = {.limits = options.limits,
                                    .verify = options.verify,
                                    .strict = options.strict,
                                    .encoding = options.encoding,
                                    .map_location = options.map_location,
                                    .devices = options.devices};
  const Sniffed found = sniff(*state.source);
  switch (found.kind) {
    case FileKind::zip:
    case FileKind::exported:
    case FileKind::script: return load_archive(state, load_options);
    case FileKind::stream:
      state.container = Container::legacy;
      state.loaded = load_stream(state.source, load_options);
      return;
    case FileKind::safetensors:
      state.container = Container::safetensors;
      state.loaded = load_safetensors(state.source, load_options);
      return;
    case FileKind::other: refuse(found);
  }
}

}  // namespace

Checkpoint::Checkpoint(std::unique_ptr<State> state) noexcept : state_(std::move(state)) {}
Checkpoint::Checkpoint(Checkpoint&&) noexcept = default;
Checkpoint& Checkpoint::operator=(Checkpoint&&) noexcept = default;
Checkpoint::~Checkpoint() = default;

/// Listing comes last, so that a file that cannot be loaded costs no walk.
Checkpoint Checkpoint::open(SourcePtr source, const OpenOptions& options) {
  auto state = std::make_unique<State>();
  state->options = options;
  state->source = std::move(source);
  with_context(state->source->name(), [&] {
    load(*state);
    state->producer = producer_of(state->loaded, state->container);
    state->list();
  });
  return Checkpoint(std::move(state));
}

Checkpoint Checkpoint::open(const std::string& path, const OpenOptions& options) {
  if (is_sharded_path(path)) {
    auto state = std::make_unique<State>();
    state->options = options;
    state->container = Container::sharded;
    ShardedFiles files = load_sharded(path, options);
    state->source = std::move(files.source);
    state->loaded = std::move(files.loaded);
    state->producer = producer_of(state->loaded, state->container);
    with_context(path, [&] { state->list(); });
    return Checkpoint(std::move(state));
  }
  return open(open_file(path, {.mapped = options.mapped}), options);
}

Checkpoint Checkpoint::from_memory(std::span<const std::byte> bytes, const OpenOptions& options) {
  return open(borrow_memory(bytes), options);
}

void Checkpoint::State::list() {
  listings.push_back(std::make_unique<Listing>(*loaded.graph));
  for (const MorePickle& more : loaded.more) {
    listings.push_back(std::make_unique<Listing>(*more.graph, more.prefix));
    if (listings.back()->rows().empty()) continue;
    const auto rows = this->rows();
    if (joined.empty()) joined.assign(rows.begin(), rows.end());
    const auto added = listings.back()->rows();
    joined.insert(joined.end(), added.begin(), added.end());
  }
}

std::pair<std::size_t, std::size_t> Checkpoint::State::find_row(std::size_t index) const noexcept {
  std::size_t pickle = 0;
  while (index >= listings[pickle]->rows().size()) index -= listings[pickle++]->rows().size();
  return {pickle, index};
}

std::string Checkpoint::State::path(std::size_t index) const {
  const auto [pickle, row] = find_row(index);
  return listings[pickle]->path(row);
}

std::span<const NamedTensor> Checkpoint::tensors() const& noexcept { return state_->rows(); }

std::string Checkpoint::path(std::size_t index) const { return state_->path(index); }

std::string_view Checkpoint::record(std::size_t index) const noexcept {
  const auto [pickle, row] = state_->find_row(index);
  return pickle == 0 ? std::string_view() : state_->loaded.more[pickle - 1].record;
}

bool Checkpoint::first_paths_only() const noexcept {
  return std::any_of(state_->listings.begin(), state_->listings.end(),
                     [](const auto& listing) { return listing->first_paths_only(); });
}

/// Made at the first question, from whatever thread asks it. The keys are the listing's own texts.
const Checkpoint::State::Index& Checkpoint::State::names() const {
  std::call_once(names_once_, [&] {
    const auto tensors = rows();
    names_.by_name.reserve(tensors.size());
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      const auto [known, is_new] = names_.by_name.try_emplace(tensors[i].name, i);
      if (is_new) continue;
      auto& all = names_.ambiguous[tensors[i].name];
      if (all.empty()) all.push_back(known->second);
      all.push_back(i);
    }
  });
  return names_;
}

/// Apart from the names: all paths spelled out take more memory than the listing, and few ask for
/// one.
const std::unordered_map<std::string, std::size_t>& Checkpoint::State::paths() const {
  std::call_once(paths_once_, [&] {
    // Paths in other pickles than the object's start at those.
    const std::size_t count = listings.front()->rows().size();
    for (std::size_t i = 0; i < count; ++i) paths_.emplace(path(i), i);
  });
  return paths_;
}

/// Names before paths: a key may look like a path, and then the name is meant.
const Tensor* Checkpoint::find(std::string_view name) const& {
  const State::Index& names = state_->names();
  if (const auto several = names.ambiguous.find(name); several != names.ambiguous.end()) {
    std::string all;
    for (const std::size_t i : several->second) all += (all.empty() ? "" : ", ") + path(i);
    fail(ErrorCode::ambiguous, {state_->source->name()}, "{} is the name of {}", name, all);
  }
  if (const auto found = names.by_name.find(name); found != names.by_name.end()) {
    return &state_->rows()[found->second].tensor;
  }
  // Every step of a path begins with one of these; names are not worth an index of paths.
  const bool is_path = name.starts_with('[') || name.starts_with('.') || name.starts_with('(');
  if (!is_path) return nullptr;
  const auto found = state_->paths().find(std::string(name));
  return found == state_->paths().end() ? nullptr : &state_->rows()[found->second].tensor;
}

const Tensor& Checkpoint::tensor(std::string_view name) const& {
  const Tensor* found = find(name);
  if (found == nullptr) {
    fail(ErrorCode::not_found, {state_->source->name()}, "there is no tensor {}", name);
  }
  return *found;
}

Value Checkpoint::root() const& noexcept {
  const Graph& graph = *state_->loaded.graph;
  return {&graph, graph.document().root()};
}

namespace {

/// A value and the graph that it is of.
struct FoundValue {
  const Graph* graph;
  Found found;
};

/// The values of that name in the object's pickle, else in those beside it.
std::pair<const Graph*, std::vector<Found>> find_all(const Loaded& loaded, std::string_view name) {
  auto found = find_values(*loaded.graph, name);
  if (!found.empty()) return {loaded.graph.get(), std::move(found)};
  for (const MorePickle& more : loaded.more) {
    if (name == more.prefix) return {more.graph.get(), find_values(*more.graph, {})};
    if (!name.starts_with(more.prefix + ".")) continue;
    found = find_values(*more.graph, name.substr(more.prefix.size() + 1));
    if (!found.empty()) return {more.graph.get(), std::move(found)};
  }
  return {loaded.graph.get(), {}};
}

/// The only value of that name; `source` is named where there are several.
std::optional<FoundValue> find_value(const Loaded& loaded, std::string_view name,
                                     const Source& source) {
  auto [graph, found] = find_all(loaded, name);
  if (found.empty()) return std::nullopt;
  if (found.size() > 1) {
    std::string all;
    for (const Found& each : found) all += (all.empty() ? "" : ", ") + each.path;
    fail(ErrorCode::ambiguous, {source.name()}, "{} is the name of {}", name, all);
  }
  return FoundValue{graph, std::move(found.front())};
}

}  // namespace

/// Unlike names of tensors, these are searched for, not indexed: any value may be meant.
Value Checkpoint::value(std::string_view name_or_path) const& {
  const auto found = find_value(state_->loaded, name_or_path, *state_->source);
  return found ? Value(found->graph, found->found.value) : Value();
}

std::string Checkpoint::value_path(std::string_view name_or_path) const {
  auto found = find_value(state_->loaded, name_or_path, *state_->source);
  return found ? std::move(found->found.path) : std::string();
}

std::span<const std::pair<std::string, std::string>> Checkpoint::metadata() const& noexcept {
  return state_->loaded.metadata;
}
Container Checkpoint::container() const noexcept { return state_->container; }
std::string_view Checkpoint::producer() const noexcept { return state_->producer; }
std::string_view Checkpoint::byteorder() const noexcept { return state_->loaded.byteorder; }
const SourcePtr& Checkpoint::source() const noexcept { return state_->source; }

}  // namespace flambeau
