// Takes tensors out as numpy files.
#include <flambeau/flambeau.h>
#include <fmt/format.h>

int main() {
  const auto ckpt = flambeau::Checkpoint::open("digits.pt");
  // [npy]
  flambeau::save_npy("weight.npy", ckpt.tensor("model.output.weight"), {}, {.overwrite = true});
  flambeau::save_npy("average.npy", ckpt.tensor("ema.output.weight"), flambeau::DType::f32,
                     {.overwrite = true});  // numpy has no bfloat16
  // [npy]
  fmt::print("{} and {} bytes\n", flambeau::open_file("weight.npy")->size(),
             flambeau::open_file("average.npy")->size());
  return 0;
}
