// Python expressions as pickles: each function gives the opcodes (protocol 2) that leave its value
// on the stack, so that calls nest as they do in Python. Tests write with it what no pickler would.
//
//   py::dump(py::dict({{py::text("w"), py::tensor({.size = {2, 2}, .stride = {2, 1}})}}))
//   py::call("torch.Size", {py::integers({2, 3})})
//   py::put(0, py::list({})) + ...; py::get(0)        // the same list, again
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace flambeau::testing::py {

using Code = std::string;
using Integers = std::vector<std::int64_t>;

/// Little-endian bytes of a number.
inline Code little(std::uint64_t value, int count) {
  Code bytes;
  for (int i = 0; i < count; ++i) bytes += static_cast<char>(value >> (8 * i) & 0xff);
  return bytes;
}

inline Code none() { return "N"; }
inline Code boolean(bool value) { return value ? "\x88" : "\x89"; }
inline Code integer(std::int64_t value) {
  return "\x8a\x08" + little(static_cast<std::uint64_t>(value), 8);
}
/// LONG1 of two's complement bytes.
inline Code big_integer(std::string_view bytes) {
  return "\x8a" + little(bytes.size(), 1) + Code(bytes);
}
inline Code real(double value) {
  Code bytes = "G";
  for (int shift = 56; shift >= 0; shift -= 8) {
    bytes += static_cast<char>(std::bit_cast<std::uint64_t>(value) >> shift & 0xff);
  }
  return bytes;
}
inline Code text(std::string_view text) { return "X" + little(text.size(), 4) + Code(text); }
/// BINSTRING: a Python 2 string.
inline Code byte_string(std::string_view text) { return "T" + little(text.size(), 4) + Code(text); }
/// BINBYTES, of protocol 3.
inline Code bytes(std::string_view content) {
  return "B" + little(content.size(), 4) + Code(content);
}

inline Code joined(const std::vector<Code>& items) {
  Code all;
  for (const Code& item : items) all += item;
  return all;
}
inline Code tuple(const std::vector<Code>& items) {
  return items.empty() ? ")" : "(" + joined(items) + "t";
}
inline Code list(const std::vector<Code>& items) { return "](" + joined(items) + "e"; }

using Pairs = std::vector<std::pair<Code, Code>>;
inline Code joined(const Pairs& pairs) {
  Code all;
  for (const auto& [key, value] : pairs) all += key + value;
  return all;
}
inline Code dict(const Pairs& pairs) { return "}(" + joined(pairs) + "u"; }
inline Code integers(const Integers& values) {
  std::vector<Code> items;
  for (const std::int64_t value : values) items.push_back(integer(value));
  return tuple(items);
}

/// "torch._utils._rebuild_tensor": the last dot parts module and name.
inline Code global(std::string_view path) {
  const auto dot = path.rfind('.');
  return "c" + Code(path.substr(0, dot)) + "\n" + Code(path.substr(dot + 1)) + "\n";
}
inline Code call(std::string_view path, const std::vector<Code>& args) {
  return global(path) + tuple(args) + "R";
}
/// `cls.__new__(cls, *args)`.
inline Code make(std::string_view path, const std::vector<Code>& args = {}) {
  return global(path) + tuple(args) + "\x81";
}
inline Code build(const Code& object, const Code& state) { return object + state + "b"; }
inline Code with_items(const Code& object, const Pairs& pairs) {
  return object + "(" + joined(pairs) + "u";
}
inline Code with_items(const Code& object, const std::vector<Code>& items) {
  return object + "(" + joined(items) + "e";
}
inline Code persistent(const Code& id) { return id + "Q"; }

inline Code put(unsigned index, const Code& value) { return value + "r" + little(index, 4); }
inline Code get(unsigned index) { return "j" + little(index, 4); }
/// Leaves the value in the memo only, for `get`.
inline Code hold(unsigned index, const Code& value) { return put(index, value) + "0"; }

/// A whole pickle.
inline Code dump(const Code& value) { return "\x80\x02" + value + "."; }

/// A persistent id of a storage.
struct StorageId {
  std::string type = "torch.FloatStorage";
  std::string key = "0";
  std::string location = "cpu";
  std::int64_t numel = 4;
};
inline Code storage(const StorageId& id = {}) {
  return persistent(tuple(
      {text("storage"), global(id.type), text(id.key), text(id.location), integer(id.numel)}));
}

inline Code ordered_dict(const Pairs& pairs = {}) {
  return with_items(call("collections.OrderedDict", {}), pairs);
}

/// A `_rebuild_tensor_v2` call.
struct TensorCall {
  StorageId storage{};
  std::int64_t offset = 0;
  Integers size = {4};
  Integers stride = {1};
  bool requires_grad = false;
};
inline Code tensor(const TensorCall& call = {}) {
  return py::call("torch._utils._rebuild_tensor_v2",
                  {storage(call.storage), integer(call.offset), integers(call.size),
                   integers(call.stride), boolean(call.requires_grad), ordered_dict()});
}

}  // namespace flambeau::testing::py
