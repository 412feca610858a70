// The only place that throws. Every refusal of flambeau is one call of `fail`:
//
//   fail(ErrorCode::malformed_pickle, {"data.pkl", at}, "BINGET {}: memo has {} entries", i, n);
#pragma once

#include <fmt/core.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "flambeau/error.h"

namespace flambeau {

/// Where something went wrong: a name and, where there is one, a byte offset in it.
struct Place {
  Place() = default;
  Place(std::string_view name) : where(name) {}  // NOLINT: a name alone is a place
  Place(std::string_view name, std::uint64_t at) : where(name), offset(at) {}
  std::string_view where;
  std::optional<std::uint64_t> offset;
};

[[noreturn]] inline void raise(Error error) { throw error; }

template <typename... Args>
[[noreturn]] void fail(ErrorCode code, Place place, fmt::format_string<Args...> format,
                       Args&&... args) {
  raise(Error(code, std::string(place.where), place.offset,
              fmt::format(format, std::forward<Args>(args)...)));
}

/// Runs `f`; an `Error` that leaves it gets `where` put before its own place, unless that begins
/// with `where` already: sources, sinks and archives name their file themselves.
template <typename F>
decltype(auto) with_context(std::string_view where, F&& f) {
  try {
    return std::forward<F>(f)();
  } catch (const Error& error) {
    const std::string_view own = error.where();
    if (own == where || own.starts_with(std::string(where) + ": ")) raise(error);
    std::string path(where);
    if (!own.empty()) path.append(": ").append(own);
    raise(Error(error.code(), std::move(path), error.offset(), error.message()));
  }
}

/// What `f` gives; nothing where it fails with that code.
template <typename F>
auto unless(ErrorCode code, F&& f) -> std::optional<decltype(f())> {
  try {
    return std::forward<F>(f)();
  } catch (const Error& error) {
    if (error.code() != code) raise(error);
    return std::nullopt;
  }
}

/// Runs `f`; an `Error` about `where` that leaves it without an offset gets the one that
/// `offset_of()` gives, a `std::optional<std::uint64_t>`, which is asked only then.
template <typename F, typename OffsetOf>
decltype(auto) with_offset(std::string_view where, OffsetOf&& offset_of, F&& f) {
  try {
    return std::forward<F>(f)();
  } catch (const Error& error) {
    if (error.where() != where || error.offset()) raise(error);
    raise(Error(error.code(), error.where(), offset_of(), error.message()));
  }
}

}  // namespace flambeau
