// PyTorch folds the hashes of the names in the order of a `std::unordered_set`, so that both the
// hash and the order are those of the C++ library that its Linux builds use. Here they are the same
// everywhere: the hash is `_Hash_bytes` (libstdc++-v3/libsupc++/hash_bytes.cc: MurmurHash64A), the
// order that of `_Hashtable::_M_insert_bucket_begin` and `_M_rehash_aux` (bits/hashtable.h).
//
// All nodes stand in one singly linked list, those of a bucket side by side. A new node goes to the
// front of its bucket, and that of an empty bucket to the front of the list. Growing links the
// nodes anew by the same rules, in the order of the old list.
#include "zip/serialization_id.h"

#include <fmt/format.h>

#include <utility>

#include "base/bytes.h"
#include "base/endian.h"

namespace flambeau::zip {
namespace {

/// The bucket counts that single insertions lead to: `_Prime_rehash_policy` takes the first of its
/// primes (src/shared/hashtable-aux.cc) from twice the old count on.
constexpr std::uint32_t kBucketCounts[] = {
    13,       29,        59,        127,       257,       541,        1109,
    2357,     5087,      10273,     20753,     42043,     85229,      172933,
    351061,   712697,    1447153,   2938679,   5967347,   12117689,   24607243,
    49969847, 101473717, 206062531, 418451333, 849749479, 1725587117, 3504151727};

constexpr std::uint64_t kMultiplier = 0xc6a4a7935bd1e995;

constexpr std::uint64_t shift_mix(std::uint64_t value) noexcept { return value ^ value >> 47; }

/// The last bytes of a name, fewer than 8, as a number.
std::uint64_t load_rest(Bytes bytes) noexcept {
  std::uint64_t value = 0;
  for (std::size_t i = bytes.size(); i > 0; --i) {
    value = value << 8 | std::to_integer<std::uint64_t>(bytes[i - 1]);
  }
  return value;
}

/// `c10::hash_combine`.
constexpr std::uint64_t combine(std::uint64_t seed, std::uint64_t value) noexcept {
  return seed ^ (value + 0x9e3779b9 + (seed << 6) + (seed >> 2));
}

}  // namespace

std::uint64_t hash_of_libstdcxx(std::string_view name) noexcept {
  constexpr std::uint64_t kSeed = 0xc70f6907;
  Bytes rest = as_bytes(name);
  std::uint64_t hash = kSeed ^ (rest.size() * kMultiplier);
  for (; rest.size() >= 8; rest = rest.subspan(8)) {
    const auto word = load_le<std::uint64_t>(rest.data());
    hash = (hash ^ shift_mix(word * kMultiplier) * kMultiplier) * kMultiplier;
  }
  if (!rest.empty()) hash = (hash ^ load_rest(rest)) * kMultiplier;
  return shift_mix(shift_mix(hash) * kMultiplier);
}

UnorderedSetOrder::UnorderedSetOrder(std::size_t expected) {
  hashes_.reserve(expected);
  next_.reserve(expected);
}

void UnorderedSetOrder::insert(std::uint64_t hash) {
  if (hashes_.size() == buckets_.size()) grow();
  hashes_.push_back(hash);
  next_.push_back(kNone);
  link(static_cast<Node>(hashes_.size() - 1));
}

void UnorderedSetOrder::grow() {
  buckets_.assign(kBucketCounts[growths_++], kNone);
  Node node = std::exchange(first_, kNone);
  while (node != kNone) {
    const Node after = next_[node];
    link(node);
    node = after;
  }
}

void UnorderedSetOrder::link(Node node) noexcept {
  const std::size_t bucket = hashes_[node] % buckets_.size();
  Node& before = buckets_[bucket];
  if (before != kNone) {
    next_[node] = std::exchange(next_of(before), node);
    return;
  }
  next_[node] = std::exchange(first_, node);
  before = kHead;
  if (next_[node] != kNone) buckets_[first_bucket_] = node;
  first_bucket_ = bucket;
}

void SerializationId::add_checksum(std::uint32_t crc32) noexcept {
  checksums_ = combine(checksums_, crc32);
}

std::string SerializationId::text() const {
  std::uint64_t names = 0;
  names_.for_each([&](std::uint64_t hash) { names = combine(names, hash); });
  return fmt::format("{:020}{:020}", names, checksums_);
}

}  // namespace flambeau::zip
