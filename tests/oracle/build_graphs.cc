// Builds graphs from nothing and saves each as FOLDER/NAME.pt, for test_built_graphs.py, which
// makes the same ones with PyTorch and compares bytes.
//
//   build_graphs FOLDER
#include <fmt/format.h>

#include <complex>
#include <cstdint>
#include <functional>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "flambeau/make.h"
#include "flambeau/save.h"

namespace flambeau {
namespace {

/// Numbers that live as long as the program: 0, 1, 2, …
template <typename T>
Storage counting(std::size_t count) {
  auto owner = std::make_shared<std::vector<T>>(count);
  for (std::size_t i = 0; i < count; ++i) (*owner)[i] = static_cast<T>(i);
  return Storage::own(std::as_bytes(std::span(*owner)), owner);
}
template <typename T>
Tensor numbers(std::vector<std::int64_t> shape) {
  const auto count = std::accumulate(shape.begin(), shape.end(), std::int64_t{1},
                                     [](std::int64_t a, std::int64_t b) { return a * b; });
  return Tensor(kDTypeOf<T>, std::move(shape), counting<T>(static_cast<std::size_t>(count)));
}
/// Elements given by their bytes, for types that C++ lacks.
Tensor bytes_as(DType dtype, std::vector<std::int64_t> shape, std::size_t size) {
  return Tensor(dtype, std::move(shape), counting<std::uint8_t>(size));
}

Object adam_entry(Draft& draft, std::int64_t size) {
  return draft.dict({{draft.literal("step"), numbers<float>({})},
                     {draft.literal("exp_avg"), numbers<float>({size})},
                     {draft.literal("exp_avg_sq"), numbers<float>({size})}});
}

/// What `torch.optim.Adam(…).state_dict()` of 2.15 gives beside a model.
void adam(Draft& draft) {
  const Object model =
      draft.ordered_dict({{"weight", numbers<float>({3, 2})}, {"bias", numbers<float>({3})}});
  const Object group = draft.dict({{draft.literal("lr"), 0.001},
                                   {draft.literal("betas"), draft.tuple({0.9, 0.999})},
                                   {draft.literal("eps"), 1e-8},
                                   {draft.literal("weight_decay"), 0},
                                   {draft.literal("amsgrad"), false},
                                   {draft.literal("maximize"), false},
                                   {draft.literal("foreach"), nullptr},
                                   {draft.literal("params"), draft.list({0, 1})}});
  const Object state = draft.dict({{0, adam_entry(draft, 6)}, {1, adam_entry(draft, 3)}});
  const Object optimizer = draft.dict({{"state", state}, {"param_groups", draft.list({group})}});
  draft.set_root(draft.dict({{"model", model}, {"optimizer", optimizer}, {"epoch", 3}}));
}

/// Rows, columns, a transposed matrix and an expanded number over two storages.
void views(Draft& draft) {
  const std::int64_t two_by_three[] = {2, 3};
  const std::int64_t three_by_two[] = {3, 2};
  const std::int64_t by_columns[] = {1, 3};
  const std::int64_t row[] = {3};
  const std::int64_t by_rows[] = {3, 1};
  const std::int64_t one[] = {1};
  const std::int64_t zero[] = {0, 0};
  const Storage six = counting<float>(6);
  const Storage single = counting<double>(1);
  const Object matrix = draft.tensor(make_strided(DType::f32, two_by_three, by_rows, 0, six));
  draft.set_root(draft.list({matrix, make_strided(DType::f32, row, one, 3, six),
                             make_strided(DType::f32, three_by_two, by_columns, 0, six),
                             make_strided(DType::f64, two_by_three, zero, 0, single), matrix}));
}

void nested(Draft& draft) {
  const Object shared = draft.list({1, 2});
  const Object loop = draft.list({"self"});
  loop.append(loop);
  draft.set_root(draft.dict(
      {{"none", nullptr},
       {"truth", draft.tuple({true, false})},
       {"integers", draft.list({0, 255, 256, 65535, 65536, -1, 2147483647, 2147483648, -2147483648,
                                INT64_MIN})},
       {"floats", draft.list({0.0, -0.0, 1.5, 1e300})},
       {"texts", draft.list({"", "é", "\U0001f600"})},
       {"empty", draft.tuple({draft.list(), draft.tuple(), draft.dict()})},
       {"shared", draft.list({shared, shared})},
       {"loop", loop},
       {"deep",
        draft.dict({{"er", draft.dict({{draft.tuple({1, "two"}), draft.list({nullptr})}})}})}}));
}

void long_dict(Draft& draft) {
  const Object dict = draft.dict();
  for (int i = 0; i < 1001; ++i) dict.set(fmt::format("key{}", i), i);
  draft.set_root(dict);
}

void long_containers(Draft& draft) {
  std::vector<Item> items;
  std::vector<Entry> entries;
  for (int i = 0; i < 1000; ++i) {
    items.emplace_back(i);
    entries.emplace_back(i, nullptr);
  }
  const Object ordered = draft.ordered_dict(entries);
  ordered.set(1000, nullptr);
  const Object list = draft.list(items);
  draft.set_root(draft.list(
      {draft.dict(entries), ordered, list, draft.list(items).append(1000), draft.tuple(items)}));
}

void quantized(Draft& draft) {
  draft.set_root(
      draft.list({make_quantized(DType::qi8, {2, 3}, counting<std::int8_t>(6), 0.5, 2),
                  make_quantized(DType::qu8, {2, 3}, counting<std::uint8_t>(6),
                                 numbers<double>({2}), numbers<std::int64_t>({2}), 0),
                  make_quantized(DType::qi32, {2}, counting<std::int32_t>(2), 0.25, 0)}));
}

void sparse(Draft& draft) {
  const std::int64_t shape[] = {4, 5};
  const std::int64_t square[] = {5, 5};
  draft.set_root(draft.dict(
      {{"coo", make_sparse_coo(numbers<std::int64_t>({2, 2}), numbers<float>({2}), shape, true)},
       {"csr", make_sparse_compressed(TensorKind::sparse_csr, numbers<std::int64_t>({5}),
                                      numbers<std::int64_t>({4}), numbers<float>({4}), shape)},
       {"csc", make_sparse_compressed(TensorKind::sparse_csc, numbers<std::int64_t>({6}),
                                      numbers<std::int64_t>({5}), numbers<double>({5}), square)}}));
}

void small_types(Draft& draft) {
  draft.set_root(draft.list(
      {numbers<std::uint8_t>({2}), numbers<std::int8_t>({2}), numbers<std::int16_t>({2}),
       numbers<std::int32_t>({2}), numbers<std::int64_t>({2}), bytes_as(DType::boolean, {2}, 2),
       bytes_as(DType::f16, {2}, 4), bytes_as(DType::bf16, {2, 2}, 8), numbers<double>({2}),
       bytes_as(DType::c64, {1}, 8), bytes_as(DType::c128, {1}, 16)}));
}

void untyped(Draft& draft) {
  draft.set_root(
      draft.list({bytes_as(DType::f8_e5m2, {3}, 3), bytes_as(DType::f8_e4m3fn, {2, 1}, 2),
                  bytes_as(DType::u16, {2}, 4), bytes_as(DType::u32, {2}, 8),
                  bytes_as(DType::u64, {1}, 8), bytes_as(DType::c32, {2}, 8)}));
}

void parameters(Draft& draft) {
  const Tensor weight = numbers<float>({2, 2});
  const Object parameter = draft.tensor(make_parameter(weight));
  draft.set_root(draft.ordered_dict({{"a", parameter},
                                     {"b", make_parameter(numbers<float>({2}), false)},
                                     {"tied", parameter},
                                     {"grad", with_requires_grad(numbers<float>({1}), true)}}));
}

void shapes(Draft& draft) {
  draft.set_root(draft.list({numbers<float>({}), numbers<float>({0}), numbers<float>({0, 3}),
                             numbers<float>({1, 1, 1, 1, 2}), numbers<std::int64_t>({300})}));
}

void conjugate(Draft& draft) {
  draft.set_root(draft.list({make_conj(bytes_as(DType::c64, {2}, 16))}));
}

void meta(Draft& draft) {
  const std::int64_t shape[] = {1000, 3};
  draft.set_root(draft.tuple({make_meta(DType::f32, shape), make_meta(DType::bf16, {})}));
}

void torch_values(Draft& draft) {
  const std::int64_t shape[] = {2, 3};
  draft.set_root(draft.list({draft.dtype(DType::f16), draft.dtype(DType::f16), draft.size(shape),
                             draft.size({}), draft.device("cpu"), draft.device("cuda:1"),
                             draft.global("torch", "Tensor")}));
}

void python_values(Draft& draft) {
  const std::byte two[] = {std::byte{0}, std::byte{0xff}};
  draft.set_root(draft.list({draft.bytes(two), draft.bytes({}), draft.bytes(two),
                             draft.complex({1.5, -2}), draft.set({7}), draft.set(),
                             draft.call(draft.global("datetime", "timedelta"), {1, 2, 3})}));
}

void instance(Draft& draft) {
  const Object space = draft.instance(draft.global("argparse", "Namespace"));
  space.set_state(
      draft.dict({{draft.literal("lr"), 0.1}, {draft.literal("layers"), draft.list({1})}}));
  draft.set_root(draft.dict({{"args", space}, {"again", space}}));
}

/// `torch.nn.Linear(2, 1).state_dict()` with its metadata.
void linear(Draft& draft) {
  const Object state =
      draft.ordered_dict({{"weight", numbers<float>({1, 2})}, {"bias", numbers<float>({1})}});
  const Object versions = draft.ordered_dict({{"", draft.dict({{"version", 1}})}});
  state.set_state(draft.dict({{"_metadata", versions}}));
  draft.set_root(state);
}

void keys(Draft& draft) {
  draft.set_root(draft.dict({{1, "int"},
                             {"1", "text"},
                             {1.5, "float"},
                             {nullptr, "none"},
                             {draft.tuple({1, 2}), "tuple"},
                             {false, "bool"}}));
}

void edited(Draft& draft) {
  const Object list = draft.list({"a", "b", "c"});
  list.erase(1).insert(0, "z").replace(1, "y").append("end");
  const Object dict = draft.dict({{"one", 1}, {"two", 2}, {"three", 3}});
  dict.set("two", 22).erase("one");
  dict.rename("three", "drei");
  dict.set("four", 4);
  draft.set_root(draft.list({list, dict}));
}

void many(Draft& draft) {
  const Object dict = draft.ordered_dict();
  for (int i = 0; i < 300; ++i) dict.set(fmt::format("layer.{}", i), numbers<float>({i % 5}));
  draft.set_root(dict);
}

void devices(Draft& draft) {
  const auto on = [&](const char* tag) {
    const auto copy = [](std::uint64_t offset, std::span<std::byte> out) {
      for (std::byte& byte : out) byte = static_cast<std::byte>(offset++);
    };
    return Tensor(DType::u8, {4}, Storage::on_device(tag, 4, nullptr, copy));
  };
  draft.set_root(draft.list({on("cuda:0"), on("cuda:0"), on("cpu"), on("mps")}));
}

int save_all(const std::string& folder) {
  const std::pair<const char*, std::function<void(Draft&)>> graphs[] = {
      {"adam", adam},
      {"views", views},
      {"nested", nested},
      {"long_dict", long_dict},
      {"long_containers", long_containers},
      {"quantized", quantized},
      {"sparse", sparse},
      {"small_types", small_types},
      {"untyped", untyped},
      {"parameters", parameters},
      {"shapes", shapes},
      {"conjugate", conjugate},
      {"meta", meta},
      {"torch_values", torch_values},
      {"python_values", python_values},
      {"instance", instance},
      {"linear", linear},
      {"keys", keys},
      {"edited", edited},
      {"many", many},
      {"devices", devices},
  };
  for (const auto& [name, build] : graphs) {
    Draft draft;
    build(draft);
    save(folder + "/" + name + ".pt", draft, {.durability = Durability::none});
  }
  StateDict state;
  state.add("layer1.weight", numbers<float>({2, 3})).add("layer1.bias", numbers<float>({2}));
  save(folder + "/state_dict.pt", state, {.durability = Durability::none});
  return 0;
}

}  // namespace
}  // namespace flambeau

int main(int argc, char** argv) { return argc == 2 ? flambeau::save_all(argv[1]) : 2; }
