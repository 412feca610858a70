// The pickler's own rules; differential_test.py compares its bytes with those of CPython's pickler
// for thousands of graphs.
#include "pickle/pickler.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "support/errors.h"

namespace flambeau {
namespace {

using namespace std::literals;
using testing::code_of;

/// Parsed and written again.
std::string again(std::string_view pickle, const PicklerOptions& options = {}) {
  return std::string(as_text(write_pickle(parse_pickle(as_bytes(pickle)), options).bytes()));
}

PicklerOptions options_for(int protocol) {
  PicklerOptions options;
  options.protocol = protocol;
  return options;
}

PicklerOptions with_hooks(PicklerHooks& hooks) {
  PicklerOptions options;
  options.hooks = &hooks;
  return options;
}

TEST(Pickler, SpellsIntegersAsShortAsTheyGo) {
  EXPECT_EQ(again("\x80\2\x8a\1\7."sv), "\x80\2K\7."sv);
  EXPECT_EQ(again("\x80\2J\xff\xff\0\0."sv), "\x80\2M\xff\xff."sv);
  EXPECT_EQ(again("\x80\2I-1\n."sv), "\x80\2J\xff\xff\xff\xff."sv);
  EXPECT_EQ(again("\x80\2\x8a\6\0\0\0\x80\0\0."sv), "\x80\2\x8a\5\0\0\0\x80\0."sv);
}

TEST(Pickler, NumbersTheMemoByFirstAppearance) {
  EXPECT_EQ(again("\x80\2]r\xff\0\0\0(X\1\0\0\0aq\7h\7e."sv), "\x80\2]q\0(X\1\0\0\0aq\1h\1e."sv);
}

TEST(Pickler, WritesProtocolOne) {
  EXPECT_EQ(again("](I01\nI00\n(K\1te."sv), "]q\0(I01\nI00\n(K\1tq\1e."sv);
  EXPECT_EQ(again("L12345678901234567890\n."sv), "L12345678901234567890L\n."sv);
}

TEST(Pickler, RefusesWhatAProtocolLacks) {
  const auto at = [](std::string_view pickle, int protocol) {
    return code_of([&] { again(pickle, options_for(protocol)); });
  };
  EXPECT_EQ(at("\x80\4\x8f."sv, 3), ErrorCode::unsupported) << "a set";
  EXPECT_EQ(at("\x80\3"
               "C\1a."sv,
               2),
            ErrorCode::unsupported)
      << "bytes";
  EXPECT_EQ(at("\x80\5\x96\0\0\0\0\0\0\0\0."sv, 4), ErrorCode::unsupported) << "a bytearray";
  EXPECT_EQ(at("\x80\2"
               "cm\nC\n)\x81."sv,
               1),
            ErrorCode::unsupported)
      << "an instance";
  EXPECT_EQ(at("N."sv, 6), ErrorCode::unsupported);
}

TEST(Pickler, BoundsIntegersInDecimal) {
  const std::string big = "\x80\2\x8b"s + std::string("\x10\x27\0\0", 4) + std::string(10000, '\1');
  EXPECT_EQ(again(big + "."), big + ".");
  EXPECT_EQ(code_of([&] { again(big + ".", options_for(1)); }), ErrorCode::limit);
}

TEST(Pickler, KeepsAnIdAsOftenAsItStands) {
  const auto pickle = "\x80\2](X\1\0\0\0aq\1\x85Qh\1\x85Qe."sv;
  EXPECT_EQ(again(pickle), "\x80\2]q\0(X\1\0\0\0aq\1\x85q\2Qh\1\x85q\3Qe."sv);
}

TEST(Pickler, NeedsNoStackForDeepGraphs) {
  constexpr std::size_t kDepth = 200'000;
  std::string pickle = "\x80\2";
  pickle += "N" + std::string(kDepth, '\x85') + ".";
  const std::string written = again(pickle);
  EXPECT_EQ(again(written), written);
  EXPECT_GT(written.size(), 2 * kDepth);
}

/// Keys of ids are counted, and one node is written from outside.
class Counting : public PicklerHooks {
 public:
  void persistent(Ref) override { ++ids; }
  std::optional<std::string_view> text_of(Ref) override { return "other"; }
  int ids = 0;
};

TEST(Pickler, AsksItsHooks) {
  Counting hooks;
  EXPECT_EQ(again("\x80\2X\1\0\0\0aQ."sv, with_hooks(hooks)), "\x80\2X\5\0\0\0otherq\0Q."sv);
  EXPECT_EQ(hooks.ids, 1);
}

}  // namespace
}  // namespace flambeau
