// Spells the graph of a small pickle in one line, and runs pickles that are written as literals.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "flambeau/error.h"
#include "pickle/document.h"
#include "pickle/repr.h"

namespace flambeau::test {

using namespace std::string_literals;
using namespace std::string_view_literals;

inline Document parse(std::string_view pickle, const Limits& limits = {}) {
  return parse_pickle(as_bytes(pickle), {.limits = limits, .where = "p", .owner = nullptr});
}

/// Python's notation, as far as it goes. `&1 [*1]` is a list that holds itself: nodes that occur
/// more than once are numbered. Objects: `call(callable, arguments)`, `new(…)`, and what they have
/// besides in square brackets.
class GraphText {
 public:
  explicit GraphText(const Document& document) : document_(document) {
    count(document.root());
    for (const auto& [node, times] : times_) {
      if (times > 1) numbers_.emplace(node, 0);
    }
  }

  std::string text() { return spell(document_.root()); }

 private:
  static bool has_items(NodeKind kind) {
    return kind == NodeKind::list || kind == NodeKind::tuple || kind == NodeKind::dict ||
           kind == NodeKind::set || kind == NodeKind::frozenset;
  }

  static std::vector<Ref> parts(const Document& document, Ref ref) {
    const NodeKind kind = document.kind(ref);
    if (kind == NodeKind::object) return object_parts(document, ref);
    if (kind == NodeKind::persistent) return {document.persistent_id(ref)};
    if (!has_items(kind)) return {};
    const auto items = document.items(ref);
    return {items.begin(), items.end()};
  }

  static std::vector<Ref> object_parts(const Document& document, Ref ref) {
    std::vector<Ref> parts{document.callable(ref), document.args(ref)};
    if (const ObjectExtra* extra = document.extra(ref)) {
      if (extra->kwargs) parts.push_back(*extra->kwargs);
      parts.insert(parts.end(), extra->list_items.begin(), extra->list_items.end());
      parts.insert(parts.end(), extra->dict_items.begin(), extra->dict_items.end());
      if (extra->state) parts.push_back(*extra->state);
    }
    return parts;
  }

  void count(Ref ref) {
    if (!is_node(ref) || document_.is(ref, NodeKind::global)) return;
    if (++times_[bits_of(ref)] > 1) return;
    for (const Ref part : parts(document_, ref)) count(part);
  }

  std::string spell(Ref ref) {
    if (!is_node(ref)) return spell_value(ref);
    const auto shared = numbers_.find(bits_of(ref));
    if (shared == numbers_.end()) return spell_value(ref);
    if (shared->second != 0) return fmt::format("*{}", shared->second);
    shared->second = ++last_number_;
    return fmt::format("&{} {}", last_number_, spell_value(ref));
  }

  std::string spell_value(Ref ref) {
    switch (document_.kind(ref)) {
      case NodeKind::none: return "None";
      case NodeKind::boolean: return ref == kTrue ? "True" : "False";
      case NodeKind::integer: return fmt::format("{}", document_.integer(ref));
      case NodeKind::big_integer: return decimal_of(document_.text(ref));
      case NodeKind::real: return python_repr_real(document_.real(ref));
      case NodeKind::string: return python_repr_text(document_.text(ref));
      case NodeKind::byte_string: return "p2" + python_repr_bytes(document_.text(ref)).substr(1);
      case NodeKind::bytes: return python_repr_bytes(document_.text(ref));
      case NodeKind::bytearray: return python_repr_bytearray(document_.text(ref));
      case NodeKind::list: return "[" + spell_items(document_.items(ref)) + "]";
      case NodeKind::tuple: return "(" + spell_items(document_.items(ref)) + ")";
      case NodeKind::dict: return "{" + spell_pairs(document_.items(ref)) + "}";
      case NodeKind::set: return "set(" + spell_items(document_.items(ref)) + ")";
      case NodeKind::frozenset: return "frozenset(" + spell_items(document_.items(ref)) + ")";
      case NodeKind::global: return spell_name(document_.global(ref));
      case NodeKind::persistent: return "id(" + spell(document_.persistent_id(ref)) + ")";
      case NodeKind::extension: return fmt::format("ext({})", document_.extension_code(ref));
      case NodeKind::outside: return "outside";
      case NodeKind::object: return spell_object(ref);
    }
    return "?";
  }

  static std::string spell_name(const GlobalName& name) {
    return fmt::format("{}.{}", name.module, name.name);
  }

  std::string spell_items(std::span<const Ref> items) {
    std::string text;
    for (const Ref item : items) text += (text.empty() ? "" : ", ") + spell(item);
    return text;
  }

  std::string spell_pairs(std::span<const Ref> items) {
    std::string text;
    for (std::size_t i = 0; i < items.size(); i += 2) {
      text += (text.empty() ? "" : ", ") + spell(items[i]);
      text += ": " + spell(items[i + 1]);
    }
    return text;
  }

  std::string spell_object(Ref ref) {
    static constexpr std::string_view kNames[] = {"call", "new", "new_ex", "inst"};
    std::string text(kNames[static_cast<std::size_t>(document_.call_form(ref))]);
    text += "(" + spell(document_.callable(ref));
    text += ", " + spell(document_.args(ref)) + ")";
    const ObjectExtra* extra = document_.extra(ref);
    if (extra == nullptr) return text;
    if (extra->kwargs) text += "[keywords " + spell(*extra->kwargs) + "]";
    if (!extra->list_items.empty()) text += "[list " + spell_items(extra->list_items) + "]";
    if (!extra->dict_items.empty()) text += "[dict " + spell_pairs(extra->dict_items) + "]";
    if (extra->state) text += "[state " + spell(*extra->state) + "]";
    return text;
  }

  const Document& document_;
  std::map<std::uint32_t, int> times_;
  std::map<std::uint32_t, int> numbers_;
  int last_number_ = 0;
};

inline std::string graph(std::string_view pickle) {
  const Document document = parse(pickle);
  return GraphText(document).text();
}

/// The error of a call that has to fail; an error of no code and no message where it does not.
template <typename Call>
std::optional<Error> error_of(Call&& call) {
  try {
    call();
  } catch (const Error& error) {
    return error;
  }
  return std::nullopt;
}

/// "code+offset" of the refusal of a pickle, or "accepted".
inline std::string refusal(std::string_view pickle, const Limits& limits = {}) {
  const auto error = error_of([&] { parse(pickle, limits); });
  if (!error) return "accepted";
  return fmt::format("{}+{}", to_string(error->code()), error->offset().value_or(9999));
}

/// The message of the refusal of a pickle.
inline std::string message(std::string_view pickle, const Limits& limits = {}) {
  const auto error = error_of([&] { parse(pickle, limits); });
  return error ? error->message() : "accepted";
}

}  // namespace flambeau::test
