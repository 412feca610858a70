// What the tests of the command line share: the text that something writes to standard output.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "output.h"

namespace flambeau::cli {

/// What `write(out)` leaves on standard output.
template <typename Write>
std::string written(Write write) {
  testing::internal::CaptureStdout();
  Output out;
  write(out);
  out.flush();
  return testing::internal::GetCapturedStdout();
}

}  // namespace flambeau::cli
