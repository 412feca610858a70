// `pickletools.dis` of CPython 3.11, line for line: the stack is emulated by the names of what
// stands on it, marks indent, and the checks refuse what `dis` refuses, after the line of the
// opcode that did it. The names are the words of opcodes.def.
#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <vector>

#include "pickle/decoder.h"
#include "pickle/memo.h"
#include "pickle/shown_argument.h"
#include "pickle/step.h"

namespace flambeau {
namespace {

constexpr std::string_view kMark = "mark";
constexpr std::size_t kIndent = 4;
constexpr std::size_t kArgumentColumn = 10;

/// A word of a column of opcodes.def, known by where it begins; a space or the end ends it.
using Word = const char*;

std::string_view text_of(Word word) {
  const std::string_view rest(word);
  return rest.substr(0, rest.find(' '));
}

/// What an opcode takes off the stack and puts there.
struct Effect {
  std::vector<Word> before;
  std::vector<Word> after;
  /// How many stand below the mark that it takes; all of them where it takes none.
  std::size_t below_mark = 0;
  bool takes_mark = false;
};

/// A column that begins with a space would have an empty word; the table has none.
std::vector<Word> split(std::string_view column) {
  std::vector<Word> words;
  for (std::size_t at = 0; at < column.size(); at = column.find(' ', at)) {
    if (column[at] == ' ') ++at;
    words.push_back(column.data() + at);
  }
  return words;
}

Effect effect_of(const OpcodeRow& row) {
  Effect effect{split(row.before), split(row.after)};
  const auto mark = std::find_if(effect.before.begin(), effect.before.end(),
                                 [](Word word) { return text_of(word) == kMark; });
  effect.below_mark = static_cast<std::size_t>(mark - effect.before.begin());
  effect.takes_mark = mark != effect.before.end();
  return effect;
}

/// `repr(opcode.code)` without its quotes: `(`, `\x80`.
std::string spell_byte(std::uint8_t byte) {
  return byte < 0x80 ? std::string(1, static_cast<char>(byte)) : fmt::format("\\x{:02x}", byte);
}

bool is_put(Opcode op) {
  return op == Opcode::PUT || op == Opcode::BINPUT || op == Opcode::LONG_BINPUT;
}

bool is_get(Opcode op) {
  return op == Opcode::GET || op == Opcode::BINGET || op == Opcode::LONG_BINGET;
}

/// The memo of `dis`: a dict with any integer as key, so that a line may name one of any size.
class NamedMemo {
 public:
  Word find(const std::string& key) const {
    if (const auto index = small(key)) {
      const Word* word = near_.find(*index);
      return word == nullptr ? nullptr : *word;
    }
    const auto found = far_.find(key);
    return found == far_.end() ? nullptr : found->second;
  }
  void put(const std::string& key, Word word, std::uint64_t offset) {
    if (const auto index = small(key)) {
      near_.put(*index, word, offset);
    } else {
      far_.emplace(key, word);
    }
  }
  std::uint64_t count() const { return near_.count() + far_.size(); }

 private:
  static std::optional<std::uint64_t> small(const std::string& key) {
    std::uint64_t index = 0;
    const auto read = std::from_chars(key.data(), key.data() + key.size(), index);
    return read.ec == std::errc() ? std::optional(index) : std::nullopt;
  }

  Memo<Word, nullptr> near_;
  std::map<std::string, Word> far_;
};

class Disassembler {
 public:
  Disassembler(Bytes pickle, const std::function<void(std::string_view)>& line,
               std::string_view where, const Limits& limits)
      : decoder_(pickle, where, limits.max_pickle_size),
        step_{where},
        line_(line),
        max_digits_(limits.max_integer_digits) {
    for (const OpcodeRow& row : kOpcodeRows) effects_[row.byte] = effect_of(row);
  }

  /// Prints all; gives the bytes of the pickle.
  std::uint64_t run();

 private:
  void show(const OpcodeRow& row, const std::string& argument, const std::string& remark,
            std::size_t depth);
  void show_end();
  /// Each looks at what the opcode does, and gives what to say of it in brackets.
  std::string close_mark();
  std::string use_memo(const std::string& argument);
  void put(const std::string& key, const std::string& shown);
  void get(const std::string& key, const std::string& shown);
  void change_stack();
  bool takes_mark() const;

  Decoder decoder_;
  CurrentStep step_;
  Instruction ins_;
  const std::function<void(std::string_view)>& line_;
  std::uint32_t max_digits_;
  std::vector<Word> stack_;
  std::vector<std::uint64_t> marks_;
  NamedMemo memo_;
  int highest_protocol_ = -1;

  /// By byte.
  std::array<Effect, 256> effects_;

  // The current opcode: its effect, how many it pops when marks are done with, what it gets from
  // the memo, and what is wrong with it.
  const Effect* effect_ = nullptr;
  std::size_t pops_ = 0;
  Word got_ = nullptr;
  std::string complaint_;
};

/// The order is that of `dis`: the argument is read before anything is shown, a complaint comes
/// after the line, and too small a stack is found only then.
std::uint64_t Disassembler::run() {
  do {
    decoder_.decode(ins_);
    step_.offset = ins_.offset;
    step_.op = ins_.op;
    const OpcodeRow& row = row_of(ins_.op);
    highest_protocol_ = std::max<int>(highest_protocol_, row.protocol);
    effect_ = &effects_[row.byte];
    pops_ = effect_->before.size();
    got_ = nullptr;
    const std::string argument = show_argument(ins_, step_, max_digits_);
    // The line of an opcode that takes a mark still stands at that mark's depth.
    const std::size_t depth = marks_.size();
    const std::string mark_remark = takes_mark() ? close_mark() : std::string();
    const std::string memo_remark = use_memo(argument);
    show(row, argument, memo_remark.empty() ? mark_remark : memo_remark, depth);
    if (!complaint_.empty()) refuse(step_, "{}", complaint_);
    change_stack();
  } while (ins_.op != Opcode::STOP);
  show_end();
  return decoder_.offset();
}

void Disassembler::show(const OpcodeRow& row, const std::string& argument,
                        const std::string& remark, std::size_t depth) {
  std::string text = fmt::format("{:5}: {:<4} {:{}}{}", ins_.offset, spell_byte(row.byte), "",
                                 kIndent * depth, row.name);
  if (!argument.empty() || !remark.empty()) {
    text.append(kArgumentColumn - std::min(kArgumentColumn, row.name.size()), ' ');
  }
  for (const std::string& part : {argument, remark}) {
    if (!part.empty()) text.append(" ").append(part);
  }
  line_(text);
}

void Disassembler::show_end() {
  line_(fmt::format("highest protocol among opcodes = {}", highest_protocol_));
  if (stack_.empty()) return;
  refuse(step_, "{} left on the stack, {} on top", stack_.size(), text_of(stack_.back()));
}

bool Disassembler::takes_mark() const {
  const bool may_pop_mark = ins_.op == Opcode::POP && !stack_.empty();
  return effect_->takes_mark || (may_pop_mark && text_of(stack_.back()) == kMark);
}

std::string Disassembler::close_mark() {
  if (marks_.empty()) return complaint_ = "no MARK exists on stack";
  // A mark that TUPLE1 or its like took for a value is not there any more: `dis` fails, too.
  while (!stack_.empty() && text_of(stack_.back()) != kMark) stack_.pop_back();
  if (stack_.empty()) refuse(step_, "the mark was taken off the stack before");
  stack_.pop_back();
  // What stands above the mark is gone already; only what the opcode takes below it is left to pop.
  pops_ = effect_->takes_mark ? effect_->below_mark : 0;
  std::string remark = fmt::format("(MARK at {})", marks_.back());
  marks_.pop_back();
  return remark;
}

/// MEMOIZE has no argument of its own: `dis` shows the key, and calls it None where it complains.
std::string Disassembler::use_memo(const std::string& argument) {
  if (ins_.op == Opcode::MEMOIZE) {
    std::string key = std::to_string(memo_.count());
    put(key, "None");
    return fmt::format("(as {})", key);
  }
  if (is_put(ins_.op)) put(show_memo_index(ins_, step_, max_digits_), argument);
  if (is_get(ins_.op)) get(show_memo_index(ins_, step_, max_digits_), argument);
  return {};
}

/// Stricter than unpicklers, which let a key be noted again.
void Disassembler::put(const std::string& key, const std::string& shown) {
  if (memo_.find(key) != nullptr) {
    complaint_ = fmt::format("memo key {} already defined", shown);
  } else if (stack_.empty()) {
    complaint_ = "stack is empty -- can't store into memo";
  } else if (text_of(stack_.back()) == kMark) {
    complaint_ = "can't store markobject in the memo";
  } else {
    memo_.put(key, stack_.back(), ins_.offset);
  }
}

void Disassembler::get(const std::string& key, const std::string& shown) {
  if (const Word word = memo_.find(key)) {
    // What GET pushes has the name of what was noted.
    got_ = word;
  } else {
    complaint_ = fmt::format("memo key {} has never been stored into", shown);
  }
}

/// What `dis` pushes is what the opcode's row says, not what it took: a list stays "list" by name.
void Disassembler::change_stack() {
  if (stack_.size() < pops_) {
    refuse(step_, "tries to pop {} items from stack with only {} items", pops_, stack_.size());
  }
  stack_.resize(stack_.size() - pops_);
  if (ins_.op == Opcode::MARK) marks_.push_back(ins_.offset);
  if (got_ != nullptr) {
    stack_.push_back(got_);
  } else {
    stack_.insert(stack_.end(), effect_->after.begin(), effect_->after.end());
  }
}

}  // namespace

std::uint64_t disassemble(std::span<const std::byte> pickle,
                          const std::function<void(std::string_view line)>& line,
                          std::string_view where, const Limits& limits) {
  return Disassembler(pickle, line, where, limits).run();
}

std::string disassemble(std::span<const std::byte> pickle) {
  std::string text;
  disassemble(pickle, [&](std::string_view line) { text.append(line).append("\n"); });
  return text;
}

}  // namespace flambeau
