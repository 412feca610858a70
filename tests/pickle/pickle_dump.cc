// Reads pickles from standard input and answers each on standard output, for differential_test.py.
//
//   question   one byte, 'd' to disassemble, 'g' to dump the graph, 'w' to write it again · u32
//              size · the pickle
//   answer     u32 size · text: the lines of dis, the graph as tokens, or the bytes of the new
//              pickle; "!" and the error code last where the pickle was refused
//
// A graph is spelled depth first. What has an identity is numbered at its first appearance and is
// "@N" from then on. Sets are spelled in the order of their elements' spellings without numbers.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "flambeau/error.h"
#include "flambeau/pickle.h"
#include "pickle/document.h"
#include "pickle/pickler.h"
#include "pickle/repr.h"

namespace flambeau {
namespace {

std::string hex(std::string_view bytes) {
  std::string text;
  for (const char byte : bytes) text += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return text;
}

/// Spells a graph. What CPython makes once for the whole process (short texts, empty tuples, small
/// integers) has no number, nor has a class.
class Dump {
 public:
  Dump(const Document& document, bool numbers) : document_(document), numbers_(numbers) {}

  std::string run(Ref root) {
    todo_.push_back({root, {}});
    while (!todo_.empty()) {
      const Task task = todo_.back();
      todo_.pop_back();
      if (task.text.empty()) {
        spell(task.ref);
      } else {
        out_ += task.text;
      }
    }
    return std::move(out_);
  }

 private:
  struct Task {
    Ref ref;
    std::string_view text;
  };

  /// A Python 2 string is read as Latin-1.
  std::string text_of(Ref ref) const {
    const std::string_view text = document_.text(ref);
    if (document_.is(ref, NodeKind::string)) return std::string(text);
    return *decode_byte_string("latin1", text);
  }

  bool has_identity(Ref ref) const {
    switch (document_.kind(ref)) {
      case NodeKind::real:
      case NodeKind::list:
      case NodeKind::dict:
      case NodeKind::set:
      case NodeKind::bytearray:
      case NodeKind::object:
      case NodeKind::persistent: return true;
      case NodeKind::tuple:
      case NodeKind::frozenset: return !document_.items(ref).empty();
      case NodeKind::string:
      case NodeKind::byte_string: return text_of(ref).size() > 2;
      case NodeKind::bytes: return document_.text(ref).size() > 1;
      case NodeKind::none:
      case NodeKind::boolean:
      case NodeKind::integer:
      case NodeKind::big_integer:
      case NodeKind::global:
      case NodeKind::extension:
      case NodeKind::outside: return false;
    }
    return false;
  }

  void spell(Ref ref) {
    if (numbers_ && has_identity(ref)) {
      const auto [place, is_new] = seen_.try_emplace(bits_of(ref), seen_.size());
      out_ += fmt::format("@{}", place->second);
      if (!is_new) {
        out_ += ' ';
        return;
      }
    }
    spell_content(ref);
  }

  void spell_content(Ref ref) {
    switch (document_.kind(ref)) {
      case NodeKind::none: out_ += "N "; break;
      case NodeKind::boolean: out_ += ref == kTrue ? "T " : "F "; break;
      case NodeKind::integer: out_ += fmt::format("i{} ", document_.integer(ref)); break;
      case NodeKind::big_integer:
        out_ += fmt::format("i{} ", decimal_of(document_.text(ref)));
        break;
      case NodeKind::real: spell_real(document_.real(ref)); break;
      case NodeKind::string:
      case NodeKind::byte_string: out_ += fmt::format("s{} ", hex(text_of(ref))); break;
      case NodeKind::bytes: out_ += fmt::format("b{} ", hex(document_.text(ref))); break;
      case NodeKind::bytearray: out_ += fmt::format("a{} ", hex(document_.text(ref))); break;
      case NodeKind::list: spell_items("l( ", document_.items(ref)); break;
      case NodeKind::tuple: spell_items("t( ", document_.items(ref)); break;
      case NodeKind::dict: spell_items("d( ", document_.items(ref)); break;
      case NodeKind::set: spell_set("e( ", document_.items(ref)); break;
      case NodeKind::frozenset: spell_set("z( ", document_.items(ref)); break;
      case NodeKind::global: spell_global(document_.global(ref)); break;
      case NodeKind::persistent: later("p( ", {document_.persistent_id(ref)}, ") "); break;
      case NodeKind::extension: out_ += fmt::format("x{} ", document_.extension_code(ref)); break;
      case NodeKind::outside: break;
      case NodeKind::object: spell_object(ref); break;
    }
  }

  void spell_real(double value) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof bits);
    out_ += fmt::format("f{:016x} ", bits);
  }

  void spell_global(const GlobalName& global) {
    out_ += fmt::format("g{}.{} ", hex(global.module), hex(global.name));
  }

  /// Leaves `refs` and then `end` to be spelled next.
  void later(std::string_view begin, const std::vector<Ref>& refs, std::string_view end) {
    if (!end.empty()) todo_.push_back({kNone, end});
    for (std::size_t i = refs.size(); i-- > 0;) todo_.push_back({refs[i], {}});
    if (!begin.empty()) todo_.push_back({kNone, begin});
  }

  void spell_items(std::string_view begin, std::span<const Ref> items) {
    later(begin, {items.begin(), items.end()}, ") ");
  }

  void spell_items_later(std::string_view begin, Ref container) {
    spell_items(begin, document_.items(container));
  }

  void spell_set(std::string_view begin, std::span<const Ref> items) {
    std::vector<std::pair<std::string, Ref>> sorted;
    for (const Ref item : items) sorted.emplace_back(Dump(document_, false).run(item), item);
    std::stable_sort(sorted.begin(), sorted.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<Ref> order;
    for (const auto& item : sorted) order.push_back(item.second);
    later(begin, order, ") ");
  }

  void spell_object(Ref ref) {
    const ObjectExtra* extra = document_.extra(ref);
    if (extra != nullptr && extra->state) later("S ", {*extra->state}, "");
    if (extra != nullptr && !extra->dict_items.empty()) later("D( ", extra->dict_items, ") ");
    if (extra != nullptr && !extra->list_items.empty()) later("L( ", extra->list_items, ") ");
    if (extra != nullptr && extra->kwargs) spell_items_later("K( ", *extra->kwargs);
    const bool is_new = document_.call_form(ref) == CallForm::newobj ||
                        document_.call_form(ref) == CallForm::newobj_ex;
    // A call takes arguments and keywords out of their tuple and dict: these have no number.
    if (document_.is(document_.args(ref), NodeKind::tuple)) {
      spell_items_later("A( ", document_.args(ref));
    } else {
      later("A ", {document_.args(ref)}, "");
    }
    later(is_new ? "new " : "call ", {document_.callable(ref)}, "");
  }

  const Document& document_;
  bool numbers_;
  std::map<std::uint32_t, std::size_t> seen_;
  std::vector<Task> todo_;
  std::string out_;
};

std::string answer(char question, const std::vector<std::byte>& pickle) {
  std::string text;
  try {
    if (question == 'd') {
      disassemble(pickle, [&](std::string_view line) { text.append(line).append("\n"); });
    } else if (question == 'w') {
      text = as_text(write_pickle(parse_pickle(pickle)).bytes());
    } else {
      const Document document = parse_pickle(pickle);
      text = Dump(document, true).run(document.root()) + "\n";
    }
  } catch (const Error& error) {
    text.append("!").append(to_string(error.code())).append("\n");
  }
  return text;
}

bool read(void* to, std::size_t size) { return std::fread(to, 1, size, stdin) == size; }

int run() {
  char question = 0;
  std::uint32_t size = 0;
  while (read(&question, 1) && read(&size, sizeof size)) {
    std::vector<std::byte> pickle(size);
    if (size > 0 && !read(pickle.data(), size)) return 1;
    const std::string text = answer(question, pickle);
    const auto length = static_cast<std::uint32_t>(text.size());
    const bool is_told = std::fwrite(&length, sizeof length, 1, stdout) == 1 &&
                         std::fwrite(text.data(), 1, text.size(), stdout) == text.size() &&
                         std::fflush(stdout) == 0;
    if (!is_told) return 1;
  }
  return 0;
}

}  // namespace
}  // namespace flambeau

int main() { return flambeau::run(); }
