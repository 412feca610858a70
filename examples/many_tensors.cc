// Reads many tensors at once: in parallel, with checksums verified, into memory of its own.
#include <flambeau/flambeau.h>
#include <fmt/format.h>

int main() {
  const auto ckpt = flambeau::Checkpoint::open("digits.pt");
  // [parallel]
  std::vector<flambeau::Tensor> wanted;
  for (const auto& [name, tensor] : ckpt.tensors())
    if (name.starts_with("model.")) wanted.push_back(tensor);
  std::vector<flambeau::Tensor> model = flambeau::read_tensors(wanted);  // one allocation

  std::vector<std::byte> mine(wanted[0].nbytes());
  const flambeau::ReadRequest request{wanted[0], mine};  // or into memory of the caller's
  flambeau::read_tensors({&request, 1});
  // [parallel]
  fmt::print("{} tensors, first {} bytes\n", model.size(), mine.size());

  // [slice]
  flambeau::Tensor rows = ckpt.tensor("model.hidden.weight").slice(0, 10, 12);  // touches 2 rows
  // [slice]
  fmt::print("{} of {}\n", flambeau::to_string(rows.shape()),
             flambeau::to_string(ckpt.tensor("model.hidden.weight").shape()));
  return 0;
}
