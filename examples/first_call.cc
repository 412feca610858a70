// Opens a checkpoint, lists what is in it, and looks at elements.
#include <flambeau/flambeau.h>
#include <fmt/format.h>

int main() {
  // [list]
  auto ckpt = flambeau::Checkpoint::open("digits.pt");  // mapped; nothing copied
  for (const auto& [name, tensor] : ckpt.tensors())
    fmt::print("{:<40} {:<8} {}\n", name, to_string(tensor.dtype()),
               flambeau::to_string(tensor.shape()));
  // [list]

  // [elements]
  std::span<const float> weight = ckpt.tensor("model.output.weight").as<float>();  // in place
  std::vector<float> average = ckpt.tensor("ema.output.weight").to<float>();  // bfloat16: a copy
  // Absent is no error.
  if (const flambeau::Tensor* bias = ckpt.find("model.output.bias"))
    fmt::print("{}\n", to_string(*bias));
  // [elements]
  fmt::print("{:.4f} is near {:.4f}\n", weight[0], average[0]);
  return 0;
}
