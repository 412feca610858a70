// The checksum against its definition, bit by bit, and its combination against the whole.
#include <gtest/gtest.h>

#include <string>

#include "base/bytes.h"
#include "flambeau/archive.h"

namespace flambeau::testing {
namespace {

std::uint32_t by_definition(std::string_view text) {
  std::uint32_t crc = 0xffffffff;
  for (const char c : text) {
    crc ^= static_cast<unsigned char>(c);
    for (int i = 0; i < 8; ++i) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0xedb88320 : 0);
  }
  return ~crc;
}

std::string varied(std::size_t size) {
  std::string text(size, '\0');
  std::uint32_t state = 1;
  for (char& c : text) c = static_cast<char>((state = state * 1664525 + 1013904223) >> 24);
  return text;
}

TEST(Crc32, HasItsCheckValue) { EXPECT_EQ(crc32(as_bytes("123456789")), 0xcbf43926u); }

TEST(Crc32, AgreesWithItsDefinitionAtEverySize) {
  const std::string text = varied(1200);
  for (std::size_t size = 0; size <= text.size(); ++size) {
    const std::string_view part = std::string_view(text).substr(text.size() - size);
    EXPECT_EQ(crc32(as_bytes(part)), by_definition(part)) << size;
  }
}

TEST(Crc32, GoesOnFromASeed) {
  const std::string text = varied(1000);
  const std::string_view view = text;
  for (const std::size_t cut : {0u, 1u, 15u, 64u, 999u, 1000u}) {
    const std::uint32_t first = crc32(as_bytes(view.substr(0, cut)));
    EXPECT_EQ(crc32(as_bytes(view.substr(cut)), first), crc32(as_bytes(view)));
  }
}

TEST(Crc32, OfAWholeComesFromItsParts) {
  const std::string text = varied(1000);
  const std::string_view view = text;
  for (const std::size_t cut : {0u, 1u, 15u, 64u, 999u, 1000u}) {
    EXPECT_EQ(crc32_combine(crc32(as_bytes(view.substr(0, cut))), crc32(as_bytes(view.substr(cut))),
                            view.size() - cut),
              crc32(as_bytes(view)));
  }
}

TEST(Crc32, CombinesBeyondFourGigabytes) {
  // 2^33 zeros, put together by doubling, against four times 2^31 of them.
  const std::string zeros(1 << 20, '\0');
  std::uint32_t doubled = crc32(as_bytes(zeros));
  std::uint64_t size = zeros.size();
  std::uint32_t quarter = 0;
  for (; size < std::uint64_t{1} << 33; size *= 2) {
    if (size == std::uint64_t{1} << 31) quarter = doubled;
    doubled = crc32_combine(doubled, doubled, size);
  }
  std::uint32_t sum = quarter;
  for (int i = 0; i < 3; ++i) sum = crc32_combine(sum, quarter, std::uint64_t{1} << 31);
  EXPECT_EQ(sum, doubled);
  EXPECT_EQ(crc32_combine(quarter, crc32_combine(doubled, 0, 0), size),
            crc32_combine(quarter, doubled, size));
}

}  // namespace
}  // namespace flambeau::testing
