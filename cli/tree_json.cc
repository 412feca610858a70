// A stack of tasks, the next one on top: "write this value", "go on with this list", "close". What
// a value needs is pushed in reverse. The stack is as deep as the document is nested.
//
// The form is that of docs/cli.md, "tree". Objects that the pickle builds in ways of its own (numpy
// arrays, deques, …) stay callable, arguments, state and items, whatever else `Value` knows of
// them.
#include "tree_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <unordered_map>
#include <vector>

#include "row.h"
#include "text.h"

namespace flambeau::cli {
namespace {

// Integers beyond it are not exact in readers whose numbers are doubles.
constexpr std::int64_t kLargestExact = std::int64_t{1} << 53;

struct Task {
  enum class Action : std::uint8_t {
    value,
    key,
    text,
    elements,
    pairs,
    array,
    end_array,
    end_object,
  };
  Action action = Action::value;
  Value value = {};
  std::string_view key = {};
  std::string_view text = {};
  Value::Elements::Iterator element = {}, elements_end = {};
  Value::Items::Iterator pair = {}, pairs_end = {};
};

Task value_task(Value value) { return {.value = value}; }
Task key_task(std::string_view key) { return {.action = Task::Action::key, .key = key}; }
Task text_task(std::string_view key, std::string_view text) {
  return {.action = Task::Action::text, .key = key, .text = text};
}
Task array_task() { return {.action = Task::Action::array}; }
Task end_array() { return {.action = Task::Action::end_array}; }
Task end_object() { return {.action = Task::Action::end_object}; }

// Ranges are iterators into the graph: a list of a million items is one task of a few words.
Task elements_task(Value container) {
  const auto elements = container.elements();
  return {.action = Task::Action::elements,
          .element = elements.begin(),
          .elements_end = elements.end()};
}

Task pairs_task(Value container) {
  const auto items = container.items();
  return {.action = Task::Action::pairs, .pair = items.begin(), .pairs_end = items.end()};
}

// Numbers, strings and names have no identity that a reader could see.
bool has_id(Kind kind) noexcept {
  static constexpr std::array kWithout = {
      Kind::missing, Kind::none,  Kind::boolean, Kind::integer, Kind::real,      Kind::string,
      Kind::global,  Kind::dtype, Kind::device,  Kind::layout,  Kind::persistent};
  return std::find(kWithout.begin(), kWithout.end(), kind) == kWithout.end();
}

class TreeWriter {
 public:
  TreeWriter(Output& out, JsonWriter& json) : json_(json), rows_(out) {}

  // Depth is known to the writer, which counts as brackets open.
  std::optional<Error> write(Value root) {
    tasks_.push_back(value_task(root));
    while (!tasks_.empty()) {
      const Task task = tasks_.back();
      tasks_.pop_back();
      take(task);
      if (json_.deepest() > Limits{}.json_depth) return too_deep();
    }
    return rows_.error();
  }

 private:
  static Error too_deep() {
    return Error(ErrorCode::limit, {}, std::nullopt,
                 fmt::format("the graph needs JSON nested deeper than {} levels; the text form has "
                             "no such bound",
                             Limits{}.json_depth));
  }

  void take(const Task& task) {
    switch (task.action) {
      case Task::Action::value: return write_value(task.value);
      case Task::Action::key: return static_cast<void>(json_.key(task.key));
      case Task::Action::text: return static_cast<void>(json_.key(task.key).string(task.text));
      case Task::Action::array: return json_.begin_array();
      case Task::Action::elements: return next_element(task);
      case Task::Action::pairs: return next_pair(task);
      case Task::Action::end_array: return json_.end_array();
      case Task::Action::end_object: return json_.end_object();
    }
  }

  // The first of `tasks` is done first.
  void schedule(const std::vector<Task>& tasks) {
    tasks_.insert(tasks_.end(), tasks.rbegin(), tasks.rend());
  }

  // A list goes on after its element is done, however much that pushes.
  void next_element(Task task) {
    if (task.element == task.elements_end) return;
    const Value value = *task.element;
    ++task.element;
    schedule({value_task(value), task});
  }

  void next_pair(Task task) {
    if (task.pair == task.pairs_end) return;
    const auto [key, value] = *task.pair;
    ++task.pair;
    json_.begin_array();
    schedule({value_task(key), value_task(value), end_array(), task});
  }

  // Opens the object of a value that has an id; false where it was a mere reference.
  bool open_new(Value value) {
    const auto [at, is_new] = ids_.try_emplace(value.id(), ids_.size());
    json_.begin_object();
    json_.key(is_new ? "id" : "ref").unsigned_number(at->second);
    if (!is_new) json_.end_object();
    return is_new;
  }

  void write_value(Value value) {
    const Kind kind = value.kind();
    if (has_id(kind) && !open_new(value)) return;
    switch (kind) {
      case Kind::missing:
      case Kind::none: return json_.null();
      case Kind::boolean: return json_.boolean(value.as_bool().value_or(false));
      case Kind::integer: return write_integer(value);
      case Kind::real: return write_single("float", float_repr(value.as_double().value_or(0)));
      case Kind::string: return static_cast<void>(json_.string(value.as_string().value_or("")));
      case Kind::dtype: return write_single("dtype", to_string(value.as_dtype().value_or(DType{})));
      case Kind::device: return write_single("device", value.as_device().value_or(""));
      case Kind::layout: return write_single("layout", value.as_layout().value_or(""));
      case Kind::global: return write_global(value);
      case Kind::persistent: return write_persistent(value);
      case Kind::complex: return write_complex(value.as_complex().value_or(0));
      case Kind::bytes:
      case Kind::bytearray: return write_bytes(value);
      case Kind::list:
      case Kind::tuple:
      case Kind::set:
      case Kind::frozenset:
      case Kind::size: return write_elements(value);
      case Kind::dict:
      case Kind::ordered_dict: return write_pairs(value);
      case Kind::tensor: return write_tensor(value);
      case Kind::storage: return write_storage(value);
      case Kind::object: return write_object(value);
    }
  }

  // `integer_text` is quadratic in the digits, so it is asked only for numbers that need it.
  void write_integer(Value value) {
    const auto number = value.as_int();
    if (number && *number >= -kLargestExact && *number <= kLargestExact) {
      return json_.number(*number);
    }
    write_single("int", value.integer_text().value_or(""));
  }

  // {"key": "text"}
  void write_single(std::string_view key, std::string_view text) {
    json_.begin_object();
    json_.key(key).string(text);
    json_.end_object();
  }

  // Module and name as they stand in the file: `__builtin__` stays `__builtin__`.
  void write_names(std::string_view key, Value value) {
    const auto [module, name] = value.global_name();
    json_.key(key).begin_array();
    json_.string(module);
    json_.string(name);
    json_.end_array();
  }

  void write_global(Value value) {
    json_.begin_object();
    write_names("global", value);
    json_.end_object();
  }

  // Without an id, since the form has none; what the id holds has its own.
  void write_persistent(Value value) {
    json_.begin_object();
    json_.key("persistent");
    schedule({value_task(value.persistent_id()), end_object()});
  }

  // From here on the object with the id is open; it is closed here or by a task.

  void write_complex(std::complex<double> number) {
    json_.key("complex").begin_array();
    json_.string(float_repr(number.real()));
    json_.string(float_repr(number.imag()));
    json_.end_array();
    json_.end_object();
  }

  void write_bytes(Value value) {
    json_.key(to_string(value.kind()));
    json_.base64(value.as_bytes().value_or(std::span<const std::byte>()));
    json_.end_object();
  }

  // The key is the kind's own name, as docs/cli.md lists them.
  void write_elements(Value value) {
    json_.key(to_string(value.kind())).begin_array();
    schedule({elements_task(value), end_array(), end_object()});
  }

  void write_pairs(Value value) {
    json_.key(to_string(value.kind())).begin_array();
    schedule_with_state(value, {pairs_task(value), end_array()});
  }

  // The attributes come last in the object that is open.
  void schedule_with_state(Value value, std::vector<Task> tasks) {
    if (const Value state = value.state()) {
      tasks.push_back(key_task("state"));
      tasks.push_back(value_task(state));
    }
    tasks.push_back(end_object());
    schedule(tasks);
  }

  // The row is written past the writer, which only keeps its place and is told its depth.
  void write_tensor(Value value) {
    if (!value.global_name().second.empty()) write_names("type", value);
    json_.key("tensor");
    json_.raw();
    json_.note_depth(rows_.write(value.as_tensor().value_or(Tensor())));
    schedule_with_state(value, {});
  }

  void write_storage(Value value) {
    const auto storage = value.as_storage().value_or(StorageReference{});
    json_.key("storage").begin_object();
    json_.key("class").string(storage.storage_class);
    json_.key("key").string(storage.key);
    json_.key("device").string(storage.device);
    json_.key("numel").number(storage.numel);
    json_.end_object();
    json_.end_object();
  }

  // Parts that the object lacks are left out, never null: a state of None is something else.
  void write_object(Value value) {
    json_.key("object").begin_object();
    std::vector<Task> tasks;
    const auto add = [&](std::string_view key, Value part) {
      if (!part) return;
      tasks.push_back(key_task(key));
      tasks.push_back(value_task(part));
    };
    add("callable", value.callable());
    add("args", value.args());
    if (const auto how = value.construction()) tasks.push_back(text_task("how", to_string(*how)));
    add("kwargs", value.kwargs());
    add("state", value.state());
    const auto add_all = [&](std::string_view key, const Task& rest, bool any) {
      if (any) tasks.insert(tasks.end(), {key_task(key), array_task(), rest, end_array()});
    };
    add_all("list_items", elements_task(value), !value.elements().empty());
    add_all("dict_items", pairs_task(value), !value.items().empty());
    tasks.insert(tasks.end(), {end_object(), end_object()});
    schedule(tasks);
  }

  JsonWriter& json_;
  RowWriter rows_;
  std::vector<Task> tasks_;
  std::unordered_map<std::uint32_t, std::size_t> ids_;
};

}  // namespace

std::optional<Error> write_tree(Output& out, JsonWriter& json, Value root) {
  return TreeWriter(out, json).write(root);
}

}  // namespace flambeau::cli
