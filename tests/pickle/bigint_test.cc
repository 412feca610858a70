#include "pickle/bigint.h"

#include <cmath>
#include <limits>

#include "pickle/graph_text.h"

namespace flambeau {
namespace {

using namespace test;

TEST(TwosComplement, DropsBytesThatRepeatTheSign) {
  EXPECT_EQ(minimal_twos_complement(""), "");
  EXPECT_EQ(minimal_twos_complement("\0\0"sv), "");
  EXPECT_EQ(minimal_twos_complement("\1\0\0"sv), "\1");
  EXPECT_EQ(minimal_twos_complement("\x80\0"sv), "\x80\0"sv);
  EXPECT_EQ(minimal_twos_complement("\xff\xff"sv), "\xff");
  EXPECT_EQ(minimal_twos_complement("\x80\xff\xff"sv), "\x80");
  EXPECT_EQ(minimal_twos_complement("\x7f\xff"sv), "\x7f\xff"sv);
}

TEST(TwosComplement, Fits64BitsOrNot) {
  EXPECT_EQ(to_int64(""), 0);
  EXPECT_EQ(to_int64("\xff"sv), -1);
  EXPECT_EQ(to_int64("\0\xff"sv), -256);
  EXPECT_EQ(to_int64("\x80"sv), -128);
  EXPECT_EQ(to_int64("\x80\0"sv), 128);
  EXPECT_EQ(to_int64("\0\0\0\0\0\0\0\x80"sv), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(to_int64("\xff\xff\xff\xff\xff\xff\xff\x7f"sv),
            std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(to_int64("\0\0\0\0\0\0\0\x80\0"sv), std::nullopt);
  EXPECT_EQ(to_int64("\1\0\0\0\0\0\0\0\0\0\0\0"sv), 1);
}

TEST(Decimal, ConvertsBothWays) {
  const std::string nines(1000, '9');
  for (const std::string& digits : {"0"s,
                                    "1"s,
                                    "-1"s,
                                    "127"s,
                                    "128"s,
                                    "-128"s,
                                    "-129"s,
                                    "255"s,
                                    "256"s,
                                    "999999999"s,
                                    "1000000000"s,
                                    "-1000000001"s,
                                    "4294967295"s,
                                    "4294967296"s,
                                    "9223372036854775808"s,
                                    "-9223372036854775808"s,
                                    "-9223372036854775809"s,
                                    "18446744073709551616"s,
                                    "1000000000000000000000000000000000000"s,
                                    nines,
                                    "-"s + nines}) {
    EXPECT_EQ(decimal_of(twos_complement_of(digits)), digits);
  }
}

TEST(Decimal, UsesTheFewestBytes) {
  EXPECT_EQ(twos_complement_of("0"), "");
  EXPECT_EQ(twos_complement_of("-0"), "");
  EXPECT_EQ(twos_complement_of("+127"), "\x7f");
  EXPECT_EQ(twos_complement_of("128"), "\x80\0"sv);
  EXPECT_EQ(twos_complement_of("-128"), "\x80");
  EXPECT_EQ(twos_complement_of("00000000000000000000001"), "\1");
  EXPECT_EQ(decimal_of("\1\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"sv), "1");
}

TEST(Digits, OfBasesThatArePowersOfTwo) {
  EXPECT_EQ(decimal_of(twos_complement_of_digits("ff", 4, false)), "255");
  EXPECT_EQ(decimal_of(twos_complement_of_digits("1F", 4, true)), "-31");
  EXPECT_EQ(decimal_of(twos_complement_of_digits("777", 3, false)), "511");
  EXPECT_EQ(decimal_of(twos_complement_of_digits("1000000000", 1, true)), "-512");
  EXPECT_EQ(twos_complement_of_digits("0", 4, true), "");
}

TEST(Digits, HaveALowerBound) {
  for (std::size_t size = 1; size < 200; ++size) {
    std::string smallest(size, '\0');
    smallest.back() = '\1';
    EXPECT_LE(fewest_decimal_digits(size), decimal_of(smallest).size()) << size;
  }
  EXPECT_GT(fewest_decimal_digits(1'000'000), 2'000'000u);
}

std::optional<double> exact(const std::string& decimal) {
  return exact_real(twos_complement_of(decimal));
}

TEST(ExactReal, IsFoundWhereADoubleIsTheNumber) {
  EXPECT_EQ(exact("0"), 0.0);
  EXPECT_EQ(exact("-5"), -5.0);
  EXPECT_EQ(exact("9007199254740992"), 9007199254740992.0);
  EXPECT_EQ(exact("9007199254740993"), std::nullopt);
  EXPECT_EQ(exact("18446744073709551616"), std::ldexp(1, 64));
  EXPECT_EQ(exact("18446744073709551617"), std::nullopt);
  // 2^1023 and 2^1024, the largest double and one bit more.
  EXPECT_EQ(exact_real(std::string(127, '\0') + "\x80"s + "\0"s), std::ldexp(1, 1023));
  EXPECT_EQ(exact_real(std::string(128, '\0') + "\1"s), std::nullopt);
  const std::string largest = std::string(121, '\0') + "\xf8\xff\xff\xff\xff\xff\xff"s + "\0"s;
  EXPECT_EQ(exact_real(largest), std::numeric_limits<double>::max());
  EXPECT_EQ(exact_real(std::string(1000, '\0') + "\1"s), std::nullopt);
}

double nearest(std::string_view decimal) { return nearest_real(twos_complement_of(decimal)); }

TEST(NearestReal, RoundsAsPythonDoes) {
  EXPECT_EQ(nearest("0"), 0.0);
  EXPECT_EQ(nearest("-5"), -5.0);
  EXPECT_EQ(nearest("9007199254740993"), 9007199254740992.0);  // halves go to the even one
  EXPECT_EQ(nearest("9007199254740995"), 9007199254740996.0);
  EXPECT_EQ(nearest("37778931862957161709568"), std::ldexp(1, 75));
  EXPECT_EQ(nearest("-37778931862957161709568"), -std::ldexp(1, 75));
  // Half of a last place above 2^120, and a little more, which stands in the lowest byte.
  const std::string half = std::string(8, '\0') + "\x08"s + std::string(6, '\0') + "\1"s;
  EXPECT_EQ(nearest_real(half), std::ldexp(1, 120));
  EXPECT_EQ(nearest_real("\1"s + half.substr(1)), std::nextafter(std::ldexp(1, 120), INFINITY));
}

TEST(NearestReal, IsInfiniteBeyondTheLargestDouble) {
  EXPECT_EQ(nearest_real(std::string(127, '\0') + "\x80"s + "\0"s), std::ldexp(1, 1023));
  EXPECT_EQ(nearest_real(std::string(128, '\xff') + "\0"s), INFINITY);
  EXPECT_EQ(nearest_real(std::string(128, '\0') + "\1"s), INFINITY);
  EXPECT_EQ(nearest_real(std::string(1000, '\0') + "\xff"s), -INFINITY);
}

}  // namespace
}  // namespace flambeau
