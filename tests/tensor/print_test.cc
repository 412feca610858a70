// `to_string(tensor)` against what PyTorch printed, and the cases that PyTorch has no tensor for.
#include <gtest/gtest.h>

#include <cstdlib>

#include "tensor/number_format.h"
#include "tensor/print_cases.h"

namespace flambeau {
namespace {

using testing::error_of;
using testing::quantized_of;
using testing::storage_of;
using testing::tensor_of;
using testing::view_of;
using testing::whole_of;

TEST(Print, AsPyTorchPrints) {
  // FLAMBEAU_PRINT_CASES names another file of the same form: longer, or with another seed.
  const char* other = std::getenv("FLAMBEAU_PRINT_CASES");
  const std::string path = other ? other : FLAMBEAU_TEST_DATA "/print_cases.txt";
  const auto cases = testing::read_print_cases(path);
  ASSERT_GE(cases.size(), 700u) << path;
  for (const auto& one : cases) {
    EXPECT_EQ(to_string(one.tensor, one.options), one.expected) << one.header;
  }
}

}  // namespace
}  // namespace flambeau
