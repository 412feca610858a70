// What a user writes first: includes the umbrella header, and prints a name and a number.
#include <flambeau/flambeau.h>

#include <cstdio>

int main(int, char** arguments) {
  const auto checkpoint = flambeau::Checkpoint::open(arguments[1]);
  const auto& [name, tensor] = checkpoint.tensors().front();
  std::printf("%s %lld\n", std::string(name).c_str(), static_cast<long long>(tensor.numel()));
  return 0;
}
