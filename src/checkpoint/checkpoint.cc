// The front door: sniffs, loads, lists. Whatever goes wrong is said with the file's name before it.
#include "flambeau/checkpoint.h"

#include <fmt/format.h>

#include <utility>

#include "base/fail.h"
#include "checkpoint/detect.h"
#include "checkpoint/state.h"

namespace flambeau {

std::string_view to_string(Container) noexcept { return "zip"; }

namespace {

/// A torch file of another kind is not damaged, only not read.
[[noreturn]] void refuse(const Sniffed& found) {
  if (found.is_torch) {
    fail(ErrorCode::unsupported, {}, "this is {}, which this version does not read",
         found.description);
  }
  fail(ErrorCode::not_a_checkpoint, {}, "this is {}", found.description);
}

/// Content decides, in three steps: first bytes, records, pickle.
LoadedZip load(const SourcePtr& source, const OpenOptions& options) {
  const Sniffed found = sniff(*source);
  if (found.kind != FileKind::zip) refuse(found);
  ArchiveReader archive(source, {.limits = options.limits, .strict = options.strict});
  if (const auto other = sniff_archive(archive)) refuse(*other);
  return load_zip(std::move(archive), {.limits = options.limits,
                                       .verify = options.verify,
                                       .strict = options.strict,
                                       .encoding = options.encoding,
                                       .map_location = options.map_location,
                                       .devices = options.devices});
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
    state->zip = load(state->source, options);
    state->producer = producer_of(state->zip.storages->archive(), *state->zip.storages);
    state->listing = std::make_unique<Listing>(*state->zip.graph);
  });
  return Checkpoint(std::move(state));
}

Checkpoint Checkpoint::open(const std::string& path, const OpenOptions& options) {
  return open(open_file(path, {.mapped = options.mapped}), options);
}

Checkpoint Checkpoint::from_memory(std::span<const std::byte> bytes, const OpenOptions& options) {
  return open(borrow_memory(bytes), options);
}

std::span<const NamedTensor> Checkpoint::tensors() const& noexcept {
  return state_->listing->rows();
}

std::string Checkpoint::path(std::size_t index) const { return state_->listing->path(index); }

bool Checkpoint::first_paths_only() const noexcept { return state_->listing->first_paths_only(); }

/// Made at the first question, from whatever thread asks it. The keys are the listing's own texts.
const Checkpoint::State::Index& Checkpoint::State::names() const {
  std::call_once(names_once_, [&] {
    const auto tensors = listing->rows();
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
    for (std::size_t i = 0; i < listing->rows().size(); ++i) paths_.emplace(listing->path(i), i);
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
    return &state_->listing->rows()[found->second].tensor;
  }
  // Every step of a path begins with one of these; names are not worth an index of paths.
  const bool is_path = name.starts_with('[') || name.starts_with('.') || name.starts_with('(');
  if (!is_path) return nullptr;
  const auto found = state_->paths().find(std::string(name));
  return found == state_->paths().end() ? nullptr : &state_->listing->rows()[found->second].tensor;
}

const Tensor& Checkpoint::tensor(std::string_view name) const& {
  const Tensor* found = find(name);
  if (found == nullptr) {
    fail(ErrorCode::not_found, {state_->source->name()}, "there is no tensor {}", name);
  }
  return *found;
}

Value Checkpoint::root() const& noexcept {
  const Graph& graph = *state_->zip.graph;
  return {&graph, graph.document().root()};
}

namespace {

/// The only value of that name; `source` is named where there are several.
std::optional<Found> find_value(const Graph& graph, std::string_view name, const Source& source) {
  auto found = find_values(graph, name);
  if (found.empty()) return std::nullopt;
  if (found.size() > 1) {
    std::string all;
    for (const Found& each : found) all += (all.empty() ? "" : ", ") + each.path;
    fail(ErrorCode::ambiguous, {source.name()}, "{} is the name of {}", name, all);
  }
  return std::move(found.front());
}

}  // namespace

/// Unlike names of tensors, these are searched for, not indexed: any value may be meant.
Value Checkpoint::value(std::string_view name_or_path) const& {
  const Graph& graph = *state_->zip.graph;
  const auto found = find_value(graph, name_or_path, *state_->source);
  return found ? Value(&graph, found->value) : Value();
}

std::string Checkpoint::value_path(std::string_view name_or_path) const {
  auto found = find_value(*state_->zip.graph, name_or_path, *state_->source);
  return found ? std::move(found->path) : std::string();
}

Container Checkpoint::container() const noexcept { return state_->container; }
std::string_view Checkpoint::producer() const noexcept { return state_->producer; }
std::string_view Checkpoint::byteorder() const noexcept { return state_->zip.byteorder; }
const SourcePtr& Checkpoint::source() const noexcept { return state_->source; }

}  // namespace flambeau
