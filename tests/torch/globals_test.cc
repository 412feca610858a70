// Which globals mean something: by table, by the rule of storages, by the names of dtypes.
#include "torch/globals.h"

#include <gtest/gtest.h>

#include "torch/rebuild.h"

namespace flambeau::testing {
namespace {

Role role_of(std::string_view module, std::string_view name) {
  return meaning_of(module, name).role;
}

TEST(Globals, KnowsRebuildFunctionsOnlyInTheirModules) {
  EXPECT_EQ(role_of("torch._utils", "_rebuild_tensor_v2"), Role::rebuild_tensor_v2);
  EXPECT_EQ(role_of("torch._tensor", "_rebuild_tensor_v2"), Role::other);
  EXPECT_EQ(role_of("torch._utils", "_rebuild_tensor_v4"), Role::other);
  EXPECT_EQ(role_of("torch.tensor", "_rebuild_from_type"), Role::rebuild_from_type);
  EXPECT_EQ(role_of("torch._utils", "_rebuild_xla_tensor"), Role::rebuild_device_numpy);
  EXPECT_EQ(role_of("os", "system"), Role::other);
  EXPECT_EQ(role_of("", ""), Role::other);
}

TEST(Globals, KnowsPython2AndPython3Names) {
  for (const std::string_view module : {"__builtin__", "builtins"}) {
    EXPECT_EQ(role_of(module, "set"), Role::set);
    EXPECT_EQ(role_of(module, "frozenset"), Role::frozenset);
    EXPECT_EQ(role_of(module, "bytearray"), Role::bytearray);
    EXPECT_EQ(role_of(module, "complex"), Role::complex);
    EXPECT_EQ(role_of(module, "eval"), Role::other);
  }
  EXPECT_EQ(role_of("numpy.core.multiarray", "_reconstruct"), Role::numpy_reconstruct);
  EXPECT_EQ(role_of("numpy._core.multiarray", "_reconstruct"), Role::numpy_reconstruct);
}

TEST(Globals, AnyNameOfAStorageIsOneWhateverItsModule) {
  for (const std::string_view module : {"torch", "torch.cuda", "torch._C", "elsewhere"}) {
    const GlobalMeaning meaning = meaning_of(module, "HalfStorage");
    EXPECT_EQ(meaning.role, Role::storage);
    EXPECT_EQ(meaning.dtype, DType::f16);
  }
  EXPECT_EQ(meaning_of("torch", "ComplexDoubleStorage").dtype, DType::c128);
  EXPECT_EQ(meaning_of("torch", "QUInt4x2Storage").dtype, DType::qu4x2);
}

TEST(Globals, UntypedStoragesHaveNoDtype) {
  for (const std::string_view name : {"UntypedStorage", "_UntypedStorage"}) {
    const GlobalMeaning meaning = meaning_of("torch.storage", name);
    EXPECT_EQ(meaning.role, Role::storage);
    EXPECT_FALSE(meaning.dtype);
  }
  EXPECT_EQ(role_of("torch.storage", "TypedStorage"), Role::other) << "it names no dtype";
  EXPECT_EQ(role_of("torch", "NonsenseStorage"), Role::other);
}

TEST(Globals, OldTensorClassesAreNamedAsTheirStorages) {
  EXPECT_EQ(role_of("torch", "FloatTensor"), Role::tensor_typed);
  EXPECT_EQ(meaning_of("torch", "FloatTensor").dtype, DType::f32);
  EXPECT_EQ(meaning_of("torch.cuda", "LongTensor").dtype, DType::i64);
  EXPECT_EQ(role_of("torch.sparse", "FloatTensor"), Role::other);
  EXPECT_EQ(role_of("elsewhere", "FloatTensor"), Role::other);
  EXPECT_EQ(role_of("torch", "NonsenseTensor"), Role::other);
  EXPECT_EQ(role_of("torch", "Tensor"), Role::tensor_class);
}

TEST(Globals, DtypesByTheirCanonicalNamesOnly) {
  EXPECT_EQ(role_of("torch", "bfloat16"), Role::dtype);
  EXPECT_EQ(meaning_of("torch", "bfloat16").dtype, DType::bf16);
  EXPECT_EQ(meaning_of("torch", "uint7").dtype, DType::u7);
  EXPECT_EQ(role_of("torch", "half"), Role::other) << "an alias is never pickled";
  EXPECT_EQ(role_of("torch.cuda", "float32"), Role::other);
  EXPECT_EQ(role_of("numpy", "float32"), Role::other);
}

TEST(Globals, FunctionsHaveNamesForMessages) {
  EXPECT_EQ(function_name(Role::rebuild_tensor_v2), "_rebuild_tensor_v2");
  EXPECT_EQ(function_name(Role::rebuild_nested), "_rebuild_nested_tensor");
  EXPECT_EQ(function_name(Role::tensor_typed), "tensor") << "its row is a rule, not in the table";
}

}  // namespace
}  // namespace flambeau::testing
