// What is written into memory, and what sinks do that only go forward.
#include <cassert>

#include "flambeau/io.h"

namespace flambeau {
namespace {

class MemorySink final : public Sink {
 public:
  explicit MemorySink(std::vector<std::byte>& out) noexcept : out_(out) {}

  void write(std::span<const std::byte> bytes) override {
    out_.insert(out_.end(), bytes.begin(), bytes.end());
  }
  bool commit() override { return true; }

 private:
  std::vector<std::byte>& out_;
};

}  // namespace

void Sink::write_at(std::uint64_t, std::span<const std::byte>) {
  assert(false && "asked of a sink that says it writes in order only");
}

std::unique_ptr<Sink> append_to(std::vector<std::byte>& out) {
  return std::make_unique<MemorySink>(out);
}

}  // namespace flambeau
