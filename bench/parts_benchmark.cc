// The parts by themselves, on data made in memory (google-benchmark):
//
//   flambeau_microbench --benchmark_filter=crc32
#include <benchmark/benchmark.h>
#include <flambeau/flambeau.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <thread>
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

/// A file without a name, in the folder for temporary ones, which is gone when it is closed.
std::unique_ptr<flambeau::Sink> new_file() {
  const auto path = std::filesystem::temp_directory_path() / "flambeau_benchmark";
  return flambeau::create_file(path.string(),
                               {.overwrite = true, .durability = flambeau::Durability::none});
}

constexpr unsigned kWriters = 2;

/// Records of one size, in a file; how many, and of how many bytes each.
void writing_of_an_archive(benchmark::State& state) {
  const auto count = static_cast<std::size_t>(state.range(0));
  const auto each = static_cast<std::size_t>(state.range(1));
  const std::vector<std::byte> content(count * each, std::byte{1});
  for (auto _ : state) {
    state.PauseTiming();
    auto sink = new_file();
    state.ResumeTiming();
    flambeau::ArchiveWriter writer;
    writer.reserve(count);
    for (std::size_t i = 0; i < count; ++i) {
      writer.add("data/" + std::to_string(i), std::span(content).subspan(i * each, each));
    }
    writer.finish(*sink, {.threads = kWriters});
    state.PauseTiming();
    sink.reset();
    state.ResumeTiming();
  }
  set_bytes(state, content.size());
}
BENCHMARK(writing_of_an_archive)
    ->Args({16, 64 << 20})
    ->Args({1 << 13, 128 << 10})
    ->Args({100'000, 64})
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

/// What it is compared with: the same bytes, each thread its half in large runs, no checksums.
void bare_writes_of_a_file(benchmark::State& state) {
  const auto size = static_cast<std::size_t>(state.range(0));
  const auto run = static_cast<std::size_t>(state.range(1));
  const std::vector<std::byte> content(size, std::byte{1});
  for (auto _ : state) {
    state.PauseTiming();
    auto sink = new_file();
    state.ResumeTiming();
    const auto write_half = [&](std::size_t begin, std::size_t end) {
      for (std::size_t at = begin; at < end; at += run) {
        sink->write_at(at, std::span(content).subspan(at, std::min(run, end - at)));
      }
    };
    std::jthread other([&] { write_half(size / 2, size); });
    write_half(0, size / 2);
    other.join();
    state.PauseTiming();
    sink.reset();
    state.ResumeTiming();
  }
  set_bytes(state, content.size());
}
BENCHMARK(bare_writes_of_a_file)
    ->Args({1 << 30, 16 << 20})
    ->Args({1 << 30, 256 << 10})
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

}  // namespace
