// One operation on one file, timed inside the process:
//
//   flambeau_bench list|read|sum FILE [--repeat N]
//   flambeau_bench save FILE OUT [--repeat N]
//
// prints one line of JSON: seconds of each pass, tensors, bytes, the xor of all 8-byte words (sum),
// peak memory and the memory before, in KiB. The clock runs from open to done, for `save` from a
// state dict in memory to the file.
//
//   list  opens and looks at every name, dtype and shape
//   read  brings every tensor into owned memory, checksums verified
//   sum   maps the file and xors every word of every tensor
//   save  writes the tensors of FILE, from owned memory, as a state dict; nothing is flushed
#include <flambeau/flambeau.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

namespace {

struct Seen {
  std::size_t tensors = 0;
  std::uint64_t bytes = 0;
  std::uint64_t xor_of_words = 0;
};

/// The xor of a run's 8-byte words; a rest is filled with zeros.
std::uint64_t xor_words(std::span<const std::byte> bytes) {
  constexpr std::size_t kAhead = 2048;
  std::uint64_t lanes[8] = {};
  std::size_t at = 0;
  for (; at + sizeof lanes <= bytes.size(); at += sizeof lanes) {
    // Far enough ahead for the memory to keep up; past the end it means nothing.
    __builtin_prefetch(bytes.data() + at + kAhead);
    for (std::size_t i = 0; i < 8; ++i) {
      // Word by word, so that the compiler keeps them in registers.
      std::uint64_t word = 0;
      std::memcpy(&word, bytes.data() + at + i * sizeof word, sizeof word);
      lanes[i] ^= word;
    }
  }
  std::uint64_t result = 0;
  for (const std::uint64_t lane : lanes) result ^= lane;
  for (; at < bytes.size(); at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + at, std::min<std::size_t>(8, bytes.size() - at));
    result ^= word;
  }
  return result;
}

Seen list(const flambeau::Checkpoint& checkpoint) {
  Seen seen;
  std::uint64_t letters = 0;
  for (const auto& [name, tensor] : checkpoint.tensors()) {
    letters += name.size() + static_cast<std::uint64_t>(tensor.dtype()) + tensor.shape().size();
    ++seen.tensors;
    seen.bytes += tensor.nbytes();
  }
  volatile std::uint64_t looked_at = letters;
  static_cast<void>(looked_at);
  return seen;
}

Seen read(const flambeau::Checkpoint& checkpoint, std::vector<flambeau::Tensor>& kept) {
  std::vector<flambeau::Tensor> tensors;
  for (const auto& named : checkpoint.tensors()) tensors.push_back(named.tensor);
  kept = flambeau::read_tensors(tensors);
  Seen seen = list(checkpoint);
  seen.tensors = kept.size();
  return seen;
}

Seen sum(const flambeau::Checkpoint& checkpoint) {
  Seen seen = list(checkpoint);
  for (const auto& named : checkpoint.tensors()) {
    const auto& tensor = named.tensor;
    const auto begin = static_cast<std::size_t>(tensor.offset()) * item_size(tensor.dtype());
    seen.xor_of_words ^= xor_words(tensor.storage().bytes().subspan(begin, tensor.nbytes()));
  }
  return seen;
}

std::uint64_t status_kib(std::string_view key) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(key)) return std::stoull(line.substr(key.size() + 1));
  }
  return 0;
}

/// Makes the peak start again from what is in use now.
void reset_peak() { std::ofstream("/proc/self/clear_refs") << "5"; }

struct Arguments {
  std::string mode;
  std::string file;
  std::string out;
  int repeat = 1;
};

Arguments parse(int count, char** values) {
  Arguments arguments;
  std::vector<std::string> words;
  for (int i = 1; i < count; ++i) {
    const std::string word = values[i];
    if (word == "--repeat" && i + 1 < count) {
      arguments.repeat = std::stoi(values[++i]);
    } else {
      words.push_back(word);
    }
  }
  if (words.size() >= 2) {
    arguments.mode = words[0];
    arguments.file = words[1];
  }
  if (words.size() >= 3) arguments.out = words[2];
  return arguments;
}

void open_and(const Arguments& arguments, Seen& seen, std::vector<flambeau::Tensor>& kept) {
  const auto checkpoint = flambeau::Checkpoint::open(arguments.file);
  if (arguments.mode == "list") {
    seen = list(checkpoint);
  } else if (arguments.mode == "read") {
    seen = read(checkpoint, kept);
  } else {
    seen = sum(checkpoint);
  }
}

/// The tensors of the file in memory of their own.
flambeau::StateDict state_of(const std::string& file, Seen& seen) {
  const auto checkpoint = flambeau::Checkpoint::open(file);
  std::vector<flambeau::Tensor> tensors;
  seen = read(checkpoint, tensors);
  flambeau::StateDict state;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    // One allocation holds all elements; each tensor gets a storage of its own over its part.
    const auto begin =
        static_cast<std::size_t>(tensors[i].offset()) * item_size(tensors[i].dtype());
    const auto bytes = tensors[i].storage().bytes().subspan(begin, tensors[i].nbytes());
    const auto owner = std::make_shared<flambeau::Tensor>(tensors[i]);
    const auto shape = tensors[i].shape();
    state.add(checkpoint.tensors()[i].name,
              flambeau::Tensor(tensors[i].dtype(), {shape.begin(), shape.end()},
                               flambeau::Storage::own(bytes, owner)));
  }
  return state;
}

int run(const Arguments& arguments) {
  std::string seconds;
  Seen seen;
  flambeau::StateDict state;
  const bool saves = arguments.mode == "save";
  if (saves) state = state_of(arguments.file, seen);
  const std::uint64_t base = status_kib("VmRSS");
  reset_peak();
  for (int i = 0; i < arguments.repeat; ++i) {
    std::vector<flambeau::Tensor> kept;
    const auto start = std::chrono::steady_clock::now();
    if (saves) {
      flambeau::save(arguments.out, state, {.durability = flambeau::Durability::none});
    } else {
      open_and(arguments, seen, kept);
    }
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    seconds += fmt::format("{}{:.6f}", i == 0 ? "" : ",", took.count());
  }
  const std::string word =
      arguments.mode == "sum" ? fmt::format("\"{:016x}\"", seen.xor_of_words) : std::string("null");
  fmt::print(
      "{{\"tool\":\"flambeau\",\"mode\":\"{}\",\"n\":{},\"bytes\":{},\"xor\":{},\"rss_kib\":{},"
      "\"base_kib\":{},\"sec\":[{}]}}\n",
      arguments.mode, seen.tensors, seen.bytes, word, status_kib("VmHWM"), base, seconds);
  return 0;
}

}  // namespace

int main(int count, char** values) {
  const Arguments arguments = parse(count, values);
  const bool reads =
      arguments.mode == "list" || arguments.mode == "read" || arguments.mode == "sum";
  if (!reads && (arguments.mode != "save" || arguments.out.empty())) {
    fmt::print(stderr,
               "usage: flambeau_bench list|read|sum FILE [--repeat N]\n"
               "       flambeau_bench save FILE OUT [--repeat N]\n");
    return 2;
  }
  try {
    return run(arguments);
  } catch (const std::exception& error) {
    fmt::print(stderr, "flambeau_bench: {}\n", error.what());
    return 2;
  }
}
