// The instruction that the machine is at: what its parts need for their messages.
#pragma once

#include <string_view>
#include <utility>

#include "base/fail.h"
#include "flambeau/pickle.h"

namespace flambeau {

/// One for each machine; the operand stack and the document builder look at it when they refuse.
struct Step {
  Instruction ins;
  std::string_view where;

  Place place() const { return {where, ins.offset}; }
};

/// Refuses the instruction with `malformed_pickle`; the message opens with the opcode's name.
template <typename... Args>
[[noreturn, gnu::cold]] void refuse(const Step& step, fmt::format_string<Args...> format,
                                    Args&&... args) {
  fail(ErrorCode::malformed_pickle, step.place(), "{}: {}", to_string(step.ins.op),
       fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace flambeau
