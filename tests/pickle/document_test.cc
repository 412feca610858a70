#include "pickle/document.h"

#include "pickle/graph_text.h"

namespace flambeau {
namespace {

using namespace test;

TEST(Ref, HoldsSmallValues) {
  for (const std::int64_t value :
       {std::int64_t{0}, std::int64_t{-1}, kIntegerBias - 1, -kIntegerBias}) {
    EXPECT_TRUE(is_small(value));
    const Ref ref = small_integer_ref(value);
    EXPECT_FALSE(is_node(ref));
    EXPECT_TRUE(is_small_integer(ref));
    EXPECT_EQ(small_integer(ref), value);
  }
  EXPECT_FALSE(is_small(kIntegerBias));
  EXPECT_FALSE(is_small(-kIntegerBias - 1));
  EXPECT_FALSE(is_small_integer(kNone));
  EXPECT_TRUE(is_node(node_ref(7)));
  EXPECT_EQ(boolean_ref(true), kTrue);
  EXPECT_EQ(boolean_ref(false), kFalse);
}

TEST(Document, TellsTheKindOfConstants) {
  const Document document;
  EXPECT_EQ(document.kind(kNone), NodeKind::none);
  EXPECT_EQ(document.kind(kTrue), NodeKind::boolean);
  EXPECT_EQ(document.kind(small_integer_ref(5)), NodeKind::integer);
  EXPECT_EQ(document.root(), kNone);
  EXPECT_EQ(document.node_count(), 0u);
}

TEST(Document, StaysWholeWhenMoved) {
  Document document = parse("(K\1K\2K\3\x8c\1atq\0."sv);
  const Document moved = std::move(document);
  EXPECT_EQ(GraphText(moved).text(), "(1, 2, 3, 'a')");
}

TEST(Document, HasNodesInManyChunks) {
  std::string pickle = "](";
  for (int i = 0; i < 40'000; ++i) pickle += fmt::format("F{}.5\n", i);
  const Document document = parse(pickle + "e.");
  ASSERT_EQ(document.node_count(), 40'001u);
  const auto items = document.items(document.root());
  for (std::size_t i = 0; i < items.size(); ++i) {
    ASSERT_EQ(document.real(items[i]), static_cast<double>(i) + 0.5);
  }
}

TEST(ByteString, IsReadInAnEncoding) {
  EXPECT_EQ(decode_byte_string("ascii", "abc"), "abc");
  EXPECT_EQ(decode_byte_string("ASCII", "\xe9"), std::nullopt);
  EXPECT_EQ(decode_byte_string("latin1", "\xe9"), "\u00e9");
  EXPECT_EQ(decode_byte_string("latin-1", ""), "");
  EXPECT_EQ(decode_byte_string("ISO-8859-1", "\x80"), "\u0080");
  EXPECT_EQ(decode_byte_string("utf-8", "\xc3\xa9"), "\u00e9");
  EXPECT_EQ(decode_byte_string("UTF8", "\xe9"), std::nullopt);
  EXPECT_EQ(decode_byte_string("utf-8", "\xed\xa0\x80"), std::nullopt);
  EXPECT_EQ(decode_byte_string("koi8-r", "abc"), std::nullopt);
}

}  // namespace
}  // namespace flambeau
