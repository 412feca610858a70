// The machine's stack of values. Marks are kept beside it, as the heights at which they stand, so
// that no value can be taken for a mark; nothing pops across one.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "pickle/document.h"
#include "pickle/step.h"

namespace flambeau {

/// All checks of stack depth are here. `step` names the instruction in messages and must outlive
/// it.
class OperandStack {
 public:
  explicit OperandStack(const CurrentStep& step) : step_(step), values_(kFirstRoom) {
    rebase(0, 0);
  }
  OperandStack(const OperandStack&) = delete;
  OperandStack& operator=(const OperandStack&) = delete;

  /// Inline by force: this is a third of what most opcodes do.
  [[gnu::always_inline]] void push(Ref value) {
    if (top_ == end_) [[unlikely]]
      grow();
    *top_++ = value;
  }
  /// Puts a mark on top.
  void mark() {
    marks_.push_back(height(floor_));
    floor_ = top_;
  }

  /// The top value, which has to stand above the topmost mark.
  Ref top() const {
    if (top_ == floor_) [[unlikely]]
      fail_underflow(1);
    return top_[-1];
  }
  Ref pop() {
    const Ref value = top();
    --top_;
    return value;
  }
  /// The top `count` values, lowest first, until the next push.
  std::span<const Ref> last(std::size_t count) const {
    if (values_above_mark() < count) [[unlikely]]
      fail_underflow(count);
    return {top_ - count, count};
  }
  /// Drops the top `count`, which are there.
  void drop(std::size_t count) { top_ -= count; }
  /// Puts one value in place of the top `count`, which are there.
  void replace(std::size_t count, Ref value) {
    top_ -= count;
    *top_++ = value;
  }

  /// Whether nothing stands above the topmost mark.
  bool has_mark_on_top() const noexcept { return !marks_.empty() && top_ == floor_; }
  /// What stands above the topmost mark, until the next push.
  std::span<const Ref> above_mark() const {
    if (marks_.empty()) [[unlikely]]
      fail_no_mark();
    return {floor_, values_above_mark()};
  }
  /// The value right below the topmost mark.
  Ref below_mark() const {
    if (marks_.empty()) [[unlikely]]
      fail_no_mark();
    if (height(floor_) == marks_.back()) [[unlikely]]
      fail_underflow(1);
    return floor_[-1];
  }
  /// Drops the topmost mark and what stands above it.
  void close_mark() {
    if (marks_.empty()) [[unlikely]]
      fail_no_mark();
    top_ = floor_;
    floor_ = values_.data() + marks_.back();
    marks_.pop_back();
  }
  /// Puts one value in the place of the topmost mark and what stands above it.
  void close_mark(Ref value) {
    close_mark();
    push(value);
  }

  /// Values and marks.
  std::size_t size() const noexcept { return height(top_) + marks_.size(); }

 private:
  static constexpr std::size_t kFirstRoom = 64;

  std::size_t height(const Ref* place) const noexcept {
    return static_cast<std::size_t>(place - values_.data());
  }
  std::size_t values_above_mark() const noexcept { return static_cast<std::size_t>(top_ - floor_); }

  /// The pointers are into the vector, and move with it.
  [[gnu::noinline]] void grow() {
    const std::size_t top = height(top_);
    const std::size_t floor = height(floor_);
    values_.resize(values_.size() * 2);
    rebase(top, floor);
  }
  void rebase(std::size_t top, std::size_t floor) noexcept {
    top_ = values_.data() + top;
    floor_ = values_.data() + floor;
    end_ = values_.data() + values_.size();
  }

  [[noreturn, gnu::cold]] void fail_underflow(std::size_t wanted) const {
    refuse(step_, "needs {} on the stack, {} {} there{}", wanted, values_above_mark(),
           values_above_mark() == 1 ? "is" : "are", marks_.empty() ? "" : " above the mark");
  }
  [[noreturn, gnu::cold]] void fail_no_mark() const { refuse(step_, "no mark on the stack"); }

  const CurrentStep& step_;
  /// Values, and room for more up to `end_`.
  std::vector<Ref> values_;
  /// Behind the top value.
  Ref* top_ = nullptr;
  Ref* end_ = nullptr;
  /// Where the values above the topmost mark begin; the bottom without a mark.
  Ref* floor_ = nullptr;
  /// What `floor_` was, as a height, before each mark.
  std::vector<std::size_t> marks_;
};

}  // namespace flambeau
