// The instruction that the machine is at: what its parts need for their messages.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>

#include "base/fail.h"
#include "flambeau/pickle.h"

namespace flambeau {

/// One for each machine; the operand stack and the document builder look at it when they refuse.
struct CurrentStep {
  std::string_view where;
  std::uint64_t offset = 0;
  Opcode op = Opcode::STOP;

  Place place() const { return {where, offset}; }
};

/// Refuses the instruction with `malformed_pickle`; the message opens with the opcode's name.
template <typename... Args>
[[noreturn, gnu::cold]] void refuse(const CurrentStep& step, fmt::format_string<Args...> format,
                                    Args&&... args) {
  fail(ErrorCode::malformed_pickle, step.place(), "{}: {}", to_string(step.op),
       fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace flambeau
