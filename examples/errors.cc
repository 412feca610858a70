// What goes wrong arrives as one class with a code; what is merely absent does not.
#include <flambeau/flambeau.h>
#include <fmt/format.h>

int main() {
  // [errors]
  try {
    auto ckpt = flambeau::Checkpoint::open("no such file.pt");
  } catch (const flambeau::Error& error) {
    if (error.code() == flambeau::ErrorCode::not_found) fmt::print("{}\n", error.what());
  }
  // [errors]
  return 0;
}
