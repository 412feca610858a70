// The content of PyTorch's record `.data/serialization_id`, from the names and checksums of all
// records before it (caffe2/serialize/inline_container.cc, `writeSerializationId`).
//
//   SerializationId id(records.size());
//   for (const auto& record : records) id.add_name(record.name);
//   for (const auto& record : records) id.add_checksum(record.crc32);
//   id.text();   // "0290846867776292310413069572823877178827"
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace flambeau::zip {

/// `std::hash<std::string>` of libstdc++ on 64-bit machines, little-endian ones.
std::uint64_t hash_of_libstdcxx(std::string_view name) noexcept;

/// The order in which libstdc++'s `std::unordered_set<std::string>` walks through names that were
/// inserted one by one. Knows only their hashes, which must be of different names.
class UnorderedSetOrder {
 public:
  explicit UnorderedSetOrder(std::size_t expected);

  /// Constant time, amortised; the time does not depend on what the hashes are.
  void insert(std::uint64_t hash);

  /// Calls `f(hash)` for each, in that order.
  template <typename F>
  void for_each(F&& f) const {
    for (Node node = first_; node != kNone; node = next_[node]) f(hashes_[node]);
  }

 private:
  using Node = std::uint32_t;
  static constexpr Node kNone = UINT32_MAX;
  /// The place before the first node, which a bucket may name as any node.
  static constexpr Node kHead = UINT32_MAX - 1;

  Node& next_of(Node node) noexcept { return node == kHead ? first_ : next_[node]; }
  void grow();
  void link(Node node) noexcept;

  std::vector<std::uint64_t> hashes_;
  std::vector<Node> next_;
  /// The node before the bucket's first.
  std::vector<Node> buckets_;
  Node first_ = kNone;
  /// The bucket of the first node.
  std::size_t first_bucket_ = 0;
  std::size_t growths_ = 0;
};

class SerializationId {
 public:
  explicit SerializationId(std::size_t expected) : names_(expected) {}

  /// A record's name without the folder, in the order of writing.
  void add_name(std::string_view name) { names_.insert(hash_of_libstdcxx(name)); }
  /// What a record's data descriptor says, in the order of writing.
  void add_checksum(std::uint32_t crc32) noexcept;

  /// 40 decimal digits: names, then checksums.
  std::string text() const;

 private:
  UnorderedSetOrder names_;
  std::uint64_t checksums_ = 0;
};

}  // namespace flambeau::zip
