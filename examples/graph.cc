// Walks the Python objects of a checkpoint: settings, counters, whatever was saved with the
// weights.
#include <flambeau/flambeau.h>
#include <fmt/format.h>

int main() {
  const auto ckpt = flambeau::Checkpoint::open("digits.pt");
  // [graph]
  flambeau::Value root = ckpt.root();
  auto epoch = root["epoch"].as_int().value_or(0);  // a missing step is a null Value
  fmt::print("epoch {}, accuracy {:.4f}\n", epoch,
             root["history"][-1]["test_accuracy"].as_double().value_or(0));
  for (auto [key, value] : root["optimizer"]["param_groups"][0].items())
    fmt::print("{} = {}\n", repr(key), repr(value));
  for (const auto& [path, value] : flambeau::walk(root))  // iterative, each object once
    if (value.kind() == flambeau::Kind::ordered_dict) fmt::print("{}\n", path);
  // [graph]
  return 0;
}
