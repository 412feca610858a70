// The JSON row of tensors that are made by hand.
#include "row.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support.h"
#include "tensor/record.h"

namespace flambeau::cli {
namespace {

std::string row(const Tensor& tensor) {
  return written([&](Output& out) { RowWriter(out).write(tensor); });
}

Tensor subclass_of(std::vector<std::pair<std::string, Tensor>> parts) {
  auto extension = std::make_shared<TensorExtension>();
  extension->parts = std::move(parts);
  auto record = std::make_shared<TensorRecord>();
  record->kind = TensorKind::subclass;
  record->extension = std::move(extension);
  return Tensor(std::move(record));
}

TEST(Row, Strided) {
  const std::vector<float> elements(6);
  EXPECT_EQ(row(Tensor::borrow<float>(std::span(elements), {2, 3})),
            R"({"kind":"strided","dtype":"float32","shape":[2,3],"stride":[3,1],"offset":0,)"
            R"("storage":"","storage_bytes":24,"device":"cpu","requires_grad":false,)"
            R"("parameter":false,"numel":6,"bytes":24})");
}

TEST(Row, NamedRowsStartWithNameAndPath) {
  const std::vector<float> elements(1);
  const Tensor scalar = Tensor::borrow<float>(std::span(elements), {});
  const std::string text =
      written([&](Output& out) { RowWriter(out).write_named("a\"b", "['a\"b']", scalar); });
  EXPECT_TRUE(text.starts_with(R"({"name":"a\"b","path":"['a\"b']","kind":"strided")")) << text;
  EXPECT_NE(text.find(R"("shape":[],"stride":[],)"), std::string::npos) << text;
}

TEST(Row, DepthCountsListsAndParts) {
  const std::vector<float> elements(1);
  const Tensor plain = Tensor::borrow<float>(std::span(elements), {1});
  const Tensor outer = subclass_of({{"inner", subclass_of({{"data", plain}})}});
  std::size_t depth_of_plain = 0;
  std::size_t depth_of_outer = 0;
  written([&](Output& out) {
    depth_of_plain = RowWriter(out).write(plain);
    depth_of_outer = RowWriter(out).write(outer);
  });
  EXPECT_EQ(depth_of_plain, 2U);
  EXPECT_EQ(depth_of_outer, 6U);
}

// Each level holds the one below it twice: 2^40 rows if all were written.
TEST(Row, TensorsInsideTensorsCannotMultiplyForEver) {
  Tensor tensor;
  for (int level = 0; level < 40; ++level) tensor = subclass_of({{"a", tensor}, {"b", tensor}});
  std::optional<Error> error;
  written([&](Output& out) {
    RowWriter rows(out);
    out.discard(true);
    rows.write(tensor);
    error = rows.error();
    out.discard(false);
  });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), ErrorCode::limit);
}

}  // namespace
}  // namespace flambeau::cli
