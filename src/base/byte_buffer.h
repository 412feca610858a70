// Bytes that grow at the end, without the zeros that `std::vector` writes before the content.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory_resource>
#include <string_view>
#include <utility>

#include "base/arena.h"
#include "base/bytes.h"

namespace flambeau {

class ByteBuffer {
 public:
  explicit ByteBuffer(std::pmr::memory_resource* memory = std::pmr::get_default_resource()) noexcept
      : memory_(memory) {}
  ByteBuffer(ByteBuffer&&) noexcept = default;
  ByteBuffer& operator=(ByteBuffer&&) noexcept = default;

  std::size_t size() const noexcept { return size_; }
  std::byte* data() noexcept { return run_.get(); }
  Bytes bytes() const noexcept { return {run_.get(), size_}; }

  /// Room for `count` bytes behind the last, which `advance` makes part of the content.
  std::byte* reserve(std::size_t count) {
    if (room_ - size_ < count) [[unlikely]]
      grow(count);
    return run_.get() + size_;
  }
  void advance(std::size_t count) noexcept { size_ += count; }

  void append(std::string_view text) {
    std::byte* const to = reserve(text.size());
    if (!text.empty()) std::memcpy(to, text.data(), text.size());
    size_ += text.size();
  }
  /// Takes `count` bytes out at `offset`; what stands behind them moves up.
  void erase(std::size_t offset, std::size_t count) noexcept {
    std::byte* const at = run_.get() + offset;
    std::memmove(at, at + count, size_ - offset - count);
    size_ -= count;
  }

 private:
  void grow(std::size_t count) {
    constexpr std::size_t kFirst = 4096;
    const std::size_t room = std::max({kFirst, size_ + count, room_ * 2});
    auto run = make_run<std::byte>(memory_, room);
    if (size_ > 0) std::memcpy(run.get(), run_.get(), size_);
    run_ = std::move(run);
    room_ = room;
  }

  std::pmr::memory_resource* memory_;
  Run<std::byte> run_;
  std::size_t size_ = 0;
  std::size_t room_ = 0;
};

}  // namespace flambeau
