// Pickles of protocol 2 by hand, opcode by opcode, for tests that need calls which no pickler of
// PyTorch would write.
//
//   std::string pickle = PickleBuilder().empty_dict().mark().text("w").tensor({}).setitems().stop();
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace flambeau::test {

/// A persistent id of a storage.
struct StorageId {
  std::string storage_class = "FloatStorage";
  std::string key = "0";
  std::string location = "cpu";
  std::int64_t numel = 4;
};

/// A `_rebuild_tensor_v2` call.
struct TensorCall {
  StorageId storage;
  std::int64_t offset = 0;
  std::vector<std::int64_t> size = {4};
  std::vector<std::int64_t> stride = {1};
};

class PickleBuilder {
 public:
  PickleBuilder() : bytes_("\x80\x02") {}

  PickleBuilder& raw(std::string_view bytes) { return bytes_.append(bytes), *this; }
  PickleBuilder& global(std::string_view module, std::string_view name) {
    return raw("c").raw(module).raw("\n").raw(name).raw("\n");
  }
  PickleBuilder& text(std::string_view text) { return raw("X").little(text.size(), 4).raw(text); }
  /// SHORT_BINSTRING: a Python 2 string.
  PickleBuilder& byte_string(std::string_view text) {
    return raw("U").little(text.size(), 1).raw(text);
  }
  PickleBuilder& integer(std::int64_t value) {
    const auto bits = static_cast<std::uint64_t>(value);
    return raw("\x8a\x08").little(bits, 8);
  }
  PickleBuilder& real(double value) {
    std::string bytes;
    for (int shift = 56; shift >= 0; shift -= 8) {
      bytes += static_cast<char>(std::bit_cast<std::uint64_t>(value) >> shift);
    }
    return raw("G").raw(bytes);
  }
  PickleBuilder& boolean(bool value) { return raw(value ? "\x88" : "\x89"); }
  PickleBuilder& none() { return raw("N"); }
  PickleBuilder& mark() { return raw("("); }
  PickleBuilder& tuple() { return raw("t"); }
  PickleBuilder& empty_tuple() { return raw(")"); }
  PickleBuilder& empty_list() { return raw("]"); }
  PickleBuilder& empty_dict() { return raw("}"); }
  PickleBuilder& appends() { return raw("e"); }
  PickleBuilder& setitems() { return raw("u"); }
  PickleBuilder& reduce() { return raw("R"); }
  PickleBuilder& newobj() { return raw("\x81"); }
  PickleBuilder& build() { return raw("b"); }
  PickleBuilder& persistent() { return raw("Q"); }
  PickleBuilder& put(int index) { return raw("q").little(static_cast<std::uint64_t>(index), 1); }
  PickleBuilder& get(int index) { return raw("h").little(static_cast<std::uint64_t>(index), 1); }
  std::string stop() { return bytes_ + "."; }

  PickleBuilder& integers(const std::vector<std::int64_t>& values) {
    mark();
    for (const std::int64_t value : values) integer(value);
    return tuple();
  }
  PickleBuilder& storage(const StorageId& id) {
    mark().text("storage");
    const bool untyped = id.storage_class == "UntypedStorage";
    return global(untyped ? "torch.storage" : "torch", id.storage_class)
        .text(id.key)
        .text(id.location)
        .integer(id.numel)
        .tuple()
        .persistent();
  }
  /// The hooks that every rebuild call carries.
  PickleBuilder& hooks() { return global("collections", "OrderedDict").empty_tuple().reduce(); }
  PickleBuilder& tensor(const TensorCall& call) {
    return global("torch._utils", "_rebuild_tensor_v2")
        .mark()
        .storage(call.storage)
        .integer(call.offset)
        .integers(call.size)
        .integers(call.stride)
        .boolean(false)
        .hooks()
        .tuple()
        .reduce();
  }

 private:
  PickleBuilder& little(std::uint64_t value, int count) {
    for (int i = 0; i < count; ++i) bytes_ += static_cast<char>(value >> (8 * i));
    return *this;
  }

  std::string bytes_;
};

}  // namespace flambeau::test
