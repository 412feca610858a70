// The one exception class, its texts, and the context that callers add.
#include "flambeau/error.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <type_traits>

#include "base/fail.h"
#include "support/errors.h"

namespace flambeau::testing {
namespace {

TEST(ErrorCodes, HaveTheirEnumeratorsAsText) {
  EXPECT_EQ(to_string(ErrorCode::io), "io");
  EXPECT_EQ(to_string(ErrorCode::malformed_zip), "malformed_zip");
  EXPECT_EQ(to_string(ErrorCode::cancelled), "cancelled");
  std::set<std::string_view> texts;
#define FLAMBEAU_ERROR(name, meaning)           \
  EXPECT_EQ(to_string(ErrorCode::name), #name); \
  EXPECT_TRUE(texts.insert(meaning).second) << #name;
#include "flambeau/error.def"
#undef FLAMBEAU_ERROR
}

TEST(Errors, SayPlaceAndMessageInOneLine) {
  const Error both(ErrorCode::malformed_pickle, "model.pt: archive/data.pkl", 0x1a2c,
                   "no such memo");
  EXPECT_STREQ(both.what(), "model.pt: archive/data.pkl+0x1a2c: no such memo");
  EXPECT_EQ(both.code(), ErrorCode::malformed_pickle);
  EXPECT_EQ(both.where(), "model.pt: archive/data.pkl");
  EXPECT_EQ(both.offset(), 0x1a2cu);
  EXPECT_EQ(both.message(), "no such memo");
  EXPECT_STREQ(Error(ErrorCode::io, "x.pt", {}, "cannot open").what(), "x.pt: cannot open");
  EXPECT_STREQ(Error(ErrorCode::io, "", 16, "cut").what(), "at 0x10: cut");
  EXPECT_STREQ(Error(ErrorCode::io, "", {}, "cut").what(), "cut");
}

TEST(Errors, EscapeWhatTheyQuote) {
  const Error error(ErrorCode::io, "a\nb", {}, "\x1b[31m");
  EXPECT_STREQ(error.what(), "a\\nb: \\x1b[31m");
  EXPECT_EQ(error.where(), "a\nb");
  EXPECT_EQ(error.message(), "\x1b[31m");
}

TEST(Errors, CanBeCopiedAndCaughtAsStandardExceptions) {
  static_assert(std::is_copy_constructible_v<Error> && std::is_base_of_v<std::exception, Error>);
  try {
    fail(ErrorCode::usage, {"here"}, "{} of {}", 1, "two");
  } catch (const std::exception& error) {
    EXPECT_STREQ(error.what(), "here: 1 of two");
  }
}

TEST(WithContext, PutsAPlaceBeforeTheErrors) {
  const auto inner = [] { fail(ErrorCode::checksum, {"data/0", 8}, "wrong"); };
  const auto error = error_of([&] { with_context("model.pt", inner); });
  EXPECT_EQ(error->where(), "model.pt: data/0");
  EXPECT_EQ(error->offset(), 8u);
  EXPECT_EQ(error->code(), ErrorCode::checksum);
  EXPECT_EQ(message_of([] { with_context("model.pt", [] { fail(ErrorCode::io, {}, "x"); }); }),
            "model.pt: x");
}

TEST(WithContext, DoesNotRepeatAPlaceThatIsThere) {
  const auto within = [](std::string_view where) {
    return error_of([&] { with_context("model.pt", [&] { fail(ErrorCode::io, {where}, "x"); }); })
        ->where();
  };
  EXPECT_EQ(within("model.pt"), "model.pt");
  EXPECT_EQ(within("model.pt: data/0"), "model.pt: data/0");
  EXPECT_EQ(within("model.pt2"), "model.pt: model.pt2");
}

TEST(WithOffset, AddsOneWhereThePlaceHasNone) {
  const auto offset_of = [](Place place) {
    return error_of([&] {
             with_offset(
                 "data.pkl", [] { return std::optional<std::uint64_t>(5); },
                 [&] { fail(ErrorCode::malformed_tensor, place, "x"); });
           })
        ->offset();
  };
  EXPECT_EQ(offset_of({"data.pkl"}), 5u);
  EXPECT_EQ(offset_of({"data.pkl", 8}), 8u);
  EXPECT_EQ(offset_of({"data/0"}), std::nullopt);
}

TEST(WithContext, GivesBackWhatTheCallGives) {
  EXPECT_EQ(with_context("model.pt", [] { return 7; }), 7);
  int number = 1;
  with_context("model.pt", [&]() -> int& { return number; }) = 2;
  EXPECT_EQ(number, 2);
}

}  // namespace
}  // namespace flambeau::testing
