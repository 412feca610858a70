// An instruction's argument as `pickletools` reads and shows it.
#pragma once

#include <cstdint>
#include <string>

#include "pickle/decoder.h"
#include "pickle/step.h"

namespace flambeau {

/// `repr` of the argument, empty where the opcode has none. Refuses, at `step`, what pickletools
/// cannot read; integers of more than `max_digits` digits with `limit`.
std::string show_argument(const Instruction& ins, const CurrentStep& step,
                          std::uint32_t max_digits);

/// The same of the line of GET and PUT, but always as a number: `00` is 0, not False.
std::string show_memo_index(const Instruction& ins, const CurrentStep& step,
                            std::uint32_t max_digits);

}  // namespace flambeau
