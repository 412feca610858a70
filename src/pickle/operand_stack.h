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
  explicit OperandStack(const Step& step) : step_(step) { values_.reserve(64); }

  void push(Ref value) { values_.push_back(value); }
  void mark() {
    marks_.push_back(values_.size());
    floor_ = values_.size();
  }

  Ref top() const {
    if (values_.size() == floor_) [[unlikely]]
      fail_underflow(1);
    return values_.back();
  }
  Ref pop() {
    const Ref value = top();
    values_.pop_back();
    return value;
  }
  /// The top `count` values, lowest first, until the next push.
  std::span<const Ref> last(std::size_t count) const {
    if (values_.size() - floor_ < count) [[unlikely]]
      fail_underflow(count);
    return {values_.data() + values_.size() - count, count};
  }
  void drop(std::size_t count) { values_.resize(values_.size() - count); }
  /// Puts one value in place of the top `count`.
  void replace(std::size_t count, Ref value) {
    drop(count);
    push(value);
  }

  bool has_mark_on_top() const noexcept { return !marks_.empty() && floor_ == values_.size(); }
  /// What stands above the topmost mark, until the next push.
  std::span<const Ref> above_mark() const {
    if (marks_.empty()) [[unlikely]]
      fail_no_mark();
    return {values_.data() + floor_, values_.size() - floor_};
  }
  /// The value right below the topmost mark.
  Ref below_mark() const {
    if (marks_.empty()) [[unlikely]]
      fail_no_mark();
    if (floor_ == (marks_.size() > 1 ? marks_[marks_.size() - 2] : 0)) [[unlikely]] {
      fail_underflow(1);
    }
    return values_[floor_ - 1];
  }
  /// Drops the topmost mark and what stands above it.
  void close_mark() {
    if (marks_.empty()) [[unlikely]]
      fail_no_mark();
    values_.resize(floor_);
    marks_.pop_back();
    floor_ = marks_.empty() ? 0 : marks_.back();
  }
  /// Puts one value in the place of the topmost mark and what stands above it.
  void close_mark(Ref value) {
    close_mark();
    push(value);
  }

  /// Values and marks.
  std::size_t size() const noexcept { return values_.size() + marks_.size(); }

 private:
  [[noreturn, gnu::cold]] void fail_underflow(std::size_t wanted) const {
    refuse(step_, "needs {} on the stack, {} {} there{}", wanted, values_.size() - floor_,
           values_.size() - floor_ == 1 ? "is" : "are", marks_.empty() ? "" : " above the mark");
  }
  [[noreturn, gnu::cold]] void fail_no_mark() const { refuse(step_, "no mark on the stack"); }

  const Step& step_;
  std::vector<Ref> values_;
  std::vector<std::size_t> marks_;
  /// Height of the topmost mark, 0 without one.
  std::size_t floor_ = 0;
};

}  // namespace flambeau
