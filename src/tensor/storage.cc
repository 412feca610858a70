// Storages that are not of a file: memory of the caller, memory with an owner, and memory that only
// a device can read. Each is a table of one.
#include <utility>

#include "base/fail.h"
#include "tensor/memory.h"
#include "tensor/storage_table.h"

namespace flambeau {
namespace {

/// Bytes that the CPU reads; the owner may be nobody. The tag is "cpu" unless the bytes were copied
/// from a tensor that a file puts elsewhere.
class Memory final : public StorageTable {
 public:
  Memory(Bytes bytes, std::shared_ptr<const void> owner, std::string device)
      : bytes_(bytes), owner_(std::move(owner)), device_(std::move(device)) {}

  std::uint64_t size(std::uint32_t) const noexcept override { return bytes_.size(); }
  std::string_view device(std::uint32_t) const noexcept override { return device_; }
  Bytes bytes(std::uint32_t) const override { return bytes_; }

 private:
  Bytes bytes_;
  std::shared_ptr<const void> owner_;
  std::string device_;
};

/// Bytes that only the device of that tag reads.
class DeviceMemory final : public StorageTable {
 public:
  DeviceMemory(std::string device, std::uint64_t size, std::shared_ptr<void> memory,
               CopyToHost copy)
      : device_(std::move(device)),
        size_(size),
        memory_(std::move(memory)),
        copy_(std::move(copy)) {}

  std::uint64_t size(std::uint32_t) const noexcept override { return size_; }
  std::string_view device(std::uint32_t) const noexcept override { return device_; }
  Bytes bytes(std::uint32_t) const override {
    fail(ErrorCode::unsupported, {}, "the CPU cannot read the memory of {}", device_);
  }
  std::shared_ptr<void> device_memory(std::uint32_t) const noexcept override { return memory_; }
  bool is_in_place(std::uint32_t) const noexcept override { return false; }
  void copy_to(std::uint32_t index, std::uint64_t offset, MutableBytes out) const override {
    if (!copy_) bytes(index);
    copy_(offset, out);
  }

 private:
  std::string device_;
  std::uint64_t size_;
  std::shared_ptr<void> memory_;
  CopyToHost copy_;
};

}  // namespace

Storage memory_storage(Bytes bytes, std::shared_ptr<const void> owner, std::string_view device) {
  return {std::make_shared<Memory>(bytes, std::move(owner), std::string(device)), 0};
}

Storage Storage::borrow(std::span<const std::byte> bytes) {
  return memory_storage(bytes, nullptr, "cpu");
}

Storage Storage::own(std::span<const std::byte> bytes, std::shared_ptr<const void> owner) {
  return memory_storage(bytes, std::move(owner), "cpu");
}

Storage Storage::on_device(std::string device, std::uint64_t size, std::shared_ptr<void> memory,
                           CopyToHost copy) {
  return {
      std::make_shared<DeviceMemory>(std::move(device), size, std::move(memory), std::move(copy)),
      0};
}

// No storage at all, as meta tensors have it, answers every question but the one for its bytes.

std::uint64_t Storage::size() const noexcept { return table_ ? table_->size(index_) : 0; }

std::string_view Storage::key() const noexcept {
  return table_ ? table_->key(index_) : std::string_view();
}

std::string_view Storage::device() const noexcept {
  return table_ ? table_->device(index_) : std::string_view();
}

bool Storage::is_available() const noexcept { return table_ && table_->is_available(index_); }

std::span<const std::byte> Storage::bytes() const {
  if (!table_) fail(ErrorCode::unsupported, {}, "there is no storage");
  return table_->bytes(index_);
}

void Storage::verify() const {
  if (table_) table_->verify(index_);
}

std::shared_ptr<void> Storage::device_memory() const noexcept {
  return table_ ? table_->device_memory(index_) : nullptr;
}

}  // namespace flambeau
