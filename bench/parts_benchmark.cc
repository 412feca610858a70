// The parts by themselves, on data made in memory (google-benchmark):
//
//   flambeau_microbench --benchmark_filter=crc32
#include <benchmark/benchmark.h>
#include <flambeau/flambeau.h>

#include <cstdint>
#include <numeric>
#include <span>
#include <string>
#include <vector>

namespace {

std::vector<float> ramp(std::size_t count) {
  std::vector<float> values(count);
  std::iota(values.begin(), values.end(), 0.0F);
  return values;
}

void set_bytes(benchmark::State& state, std::size_t each) {
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * each));
}

void crc32_of_memory(benchmark::State& state) {
  const std::vector<std::byte> bytes(static_cast<std::size_t>(state.range(0)));
  for (auto _ : state) benchmark::DoNotOptimize(flambeau::crc32(bytes));
  set_bytes(state, bytes.size());
}
BENCHMARK(crc32_of_memory)->Range(64, 16 << 20);

void sha256_of_a_tensor(benchmark::State& state) {
  const std::vector<float> values = ramp(static_cast<std::size_t>(state.range(0)));
  const auto tensor =
      flambeau::Tensor::borrow<float>(values, {static_cast<std::int64_t>(values.size())});
  for (auto _ : state) benchmark::DoNotOptimize(flambeau::sha256(tensor));
  set_bytes(state, values.size() * sizeof(float));
}
BENCHMARK(sha256_of_a_tensor)->Range(1 << 10, 1 << 22);

/// Every second column of a matrix: strides resolved element by element.
void copy_of_a_strided_view(benchmark::State& state) {
  const std::int64_t side = state.range(0);
  const std::vector<float> values = ramp(static_cast<std::size_t>(side * side));
  const auto view = flambeau::Tensor::borrow<float>(values, {side, side}).slice(1, 0, side, 2);
  std::vector<std::byte> out(view.nbytes());
  for (auto _ : state) view.copy_to(out);
  set_bytes(state, out.size());
}
BENCHMARK(copy_of_a_strided_view)->Range(64, 2048);

void conversion_to_double(benchmark::State& state) {
  const std::vector<float> values = ramp(static_cast<std::size_t>(state.range(0)));
  const auto tensor =
      flambeau::Tensor::borrow<float>(values, {static_cast<std::int64_t>(values.size())});
  for (auto _ : state) benchmark::DoNotOptimize(tensor.to<double>());
  set_bytes(state, values.size() * sizeof(float));
}
BENCHMARK(conversion_to_double)->Range(1 << 10, 1 << 20);

/// Strings of one letter in a list, each noted in the memo.
std::string pickle_of_strings(std::size_t count) {
  using namespace std::string_literals;
  std::string pickle = "\x80\x02]("s;
  for (std::size_t i = 0; i < count; ++i) pickle += "X\x01\0\0\0aq\x01"s;
  return pickle + "e.";
}

void instructions_of_a_pickle(benchmark::State& state) {
  const std::string pickle = pickle_of_strings(static_cast<std::size_t>(state.range(0)));
  const auto bytes = std::as_bytes(std::span(pickle));
  std::uint64_t count = 0;
  for (auto _ : state) {
    flambeau::InstructionReader reader(bytes);
    for (flambeau::Instruction ins; reader.next(ins);) ++count;
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(count));
}
BENCHMARK(instructions_of_a_pickle)->Range(64, 1 << 16);

}  // namespace
