// Bounds for files from strangers, and a program's own idea of where storages belong.
#include <flambeau/flambeau.h>
#include <fmt/format.h>

int main() {
  // [limits]
  auto upload = flambeau::Checkpoint::open(
      "digits.pt", {.limits = {.max_nodes = 100'000}, .mapped = false, .strict = true});
  // [limits]
  // [location]
  auto shapes = flambeau::Checkpoint::open("digits.pt", {.map_location = "meta"});
  // [location]
  fmt::print("{} tensors, {}\n", upload.tensors().size(),
             flambeau::to_string(shapes.tensors().front().tensor.kind()));
  return 0;
}
