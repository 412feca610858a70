// Writes checkpoints: from nothing, and from one that was read.
#include <flambeau/flambeau.h>
#include <fmt/format.h>

int main() {
  const std::vector<float> weights(6, 0.5f);
  const std::vector<float> biases(3, 0.0f);
  // [state]
  flambeau::StateDict state;
  state.add("layer1.weight", flambeau::Tensor::borrow<float>(weights, {3, 2}))
      .add("layer1.bias", flambeau::Tensor::borrow<float>(biases, {3}));
  flambeau::save("out.pt", state);  // whole, flushed, in the place of an old one
  // [state]

  // [draft]
  flambeau::Draft draft;
  flambeau::Object weight = draft.tensor(flambeau::Tensor::borrow<float>(weights, {3, 2}));
  flambeau::Object group = draft.dict({{"lr", 1e-3}, {"betas", draft.tuple({0.9, 0.999})}});
  draft.set_root(
      draft.dict({{"weight", weight}, {"tied", weight}, {"groups", draft.list({group})}}));
  flambeau::save("graph.pt", draft, {.durability = flambeau::Durability::none});
  // [draft]

  // [edit]
  auto ckpt = flambeau::Checkpoint::open("digits.pt");
  flambeau::Draft changed(ckpt);
  flambeau::edit(changed, {.drop = {"optimizer", "ema.*"}, .set = {{"epoch", "0"}}});
  changed.root().set("note", "without the optimizer");
  flambeau::SaveReport report = flambeau::save("small.pt", changed);
  // [edit]

  // [convert]
  flambeau::convert(
      ckpt, "model.safetensors",
      {.dtype = flambeau::DType::bf16, .select = {"model.*"}, .file = {.overwrite = true}});
  // [convert]
  fmt::print("{} storages left\n", report.storage_count);
  for (const char* file : {"out.pt", "graph.pt", "small.pt", "model.safetensors"}) {
    const auto saved = flambeau::Checkpoint::open(file);
    fmt::print("{}: {}\n", file, repr(saved.root(), 60));
  }
  return 0;
}
