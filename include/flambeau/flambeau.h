// flambeau reads and writes PyTorch checkpoint files, with neither Python nor libtorch. The whole
// of it:
//
//   // 1 open, list
//   auto ckpt = flambeau::Checkpoint::open("model.pt");            // mapped; nothing copied
//   for (const auto& [name, tensor] : ckpt.tensors())
//     fmt::print("{:<40} {:<8} {}\n", name, to_string(tensor.dtype()),
//                flambeau::to_string(tensor.shape()));
//
//   // 2 a tensor as a span; a converted copy; a maybe
//   std::span<const float> w = ckpt.tensor("layer1.weight").as<float>();
//   std::vector<float> b = ckpt.tensor("layer1.bias").to<float>();
//   if (const flambeau::Tensor* ema = ckpt.find("ema.weight")) use(*ema);
//
//   // 3 walk the Python object graph
//   flambeau::Value root = ckpt.root();
//   auto epoch = root["epoch"].as_int().value_or(0);
//   for (auto [key, value] : root["optimizer"]["param_groups"][0].items())
//     fmt::print("{} = {}\n", repr(key), repr(value));
//   for (const auto& [path, value] : flambeau::walk(root))
//     if (value.kind() == flambeau::Kind::object) fmt::print("{}: {}\n", path, value.type_name());
//
//   // 4 build and save
//   flambeau::StateDict state;
//   state.add("layer1.weight", flambeau::Tensor::borrow<float>(weights, {256, 784}))
//        .add("layer1.bias", flambeau::Tensor::borrow<float>(biases, {256}));
//   flambeau::save("out.pt", state);      // byte for byte what torch.save writes for it
//
//   // 5 change what was loaded, and save it again
//   flambeau::Draft draft(ckpt);
//   flambeau::edit(draft, {.drop = {"optimizer*"}, .set = {{"epoch", "0"}}});
//   flambeau::save("small.pt", draft);
//
// Everything that goes wrong is a `flambeau::Error` (error.h).
#pragma once

#include "flambeau/archive.h"
#include "flambeau/checkpoint.h"
#include "flambeau/convert.h"
#include "flambeau/devices.h"
#include "flambeau/draft.h"
#include "flambeau/dtype.h"
#include "flambeau/edit.h"
#include "flambeau/error.h"
#include "flambeau/io.h"
#include "flambeau/limits.h"
#include "flambeau/make.h"
#include "flambeau/npy.h"
#include "flambeau/pickle.h"
#include "flambeau/safetensors.h"
#include "flambeau/save.h"
#include "flambeau/tensor.h"
#include "flambeau/value.h"
