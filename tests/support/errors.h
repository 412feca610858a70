// What a call throws, as a value that tests can look at.
//
//   EXPECT_EQ(code_of([&] { archive.read(0); }), ErrorCode::checksum);
//   EXPECT_THAT(message_of([&] { archive.read(0); }), HasSubstr("CRC-32"));
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>

#include "flambeau/error.h"

namespace flambeau::testing {

/// The error that `f` throws; nothing, and a failed test, where it throws none.
template <typename F>
std::optional<Error> error_of(F&& f) {
  try {
    std::forward<F>(f)();
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << "no error was thrown";
  return std::nullopt;
}

template <typename F>
std::optional<ErrorCode> code_of(F&& f) {
  const auto error = error_of(std::forward<F>(f));
  return error ? std::optional(error->code()) : std::nullopt;
}

/// Place and message in one line.
template <typename F>
std::string message_of(F&& f) {
  const auto error = error_of(std::forward<F>(f));
  return error ? error->what() : "";
}

}  // namespace flambeau::testing
