// Two ways to find equal keys. Few keys are compared pairwise. Many go through an open-addressed
// table of (hash, ordinal), whose hash has a seed of the process, so that no file can choose keys
// that collide.
//
// Tuples and frozensets are numbered first (value numbering): an item is spelled as a tag and eight
// bytes, a tuple as the spellings of its items, a frozenset as their sorted set, and equal
// spellings get equal numbers. Composites cannot contain themselves but through something
// unhashable or with an identity, so a stack of visits walks them.
//
// A Python 2 string is compared as the UTF-8 text that it may be. An object equals only itself,
// because its class's `__eq__` is not run.
#include "pickle/keys.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <set>

#include "base/hash.h"
#include "pickle/bigint.h"

namespace flambeau {
namespace {

/// Up to so many keys, comparing all with all is faster than filling a table.
constexpr std::size_t kFew = 8;
/// Keys whose slots are fetched before the first of them is looked at.
constexpr std::size_t kBatch = 16;
constexpr std::uint64_t kMultiplier = 0x9e3779b97f4a7c15;  // 2^64 over the golden ratio
/// Bytes of an item's spelling: tag and word.
constexpr std::size_t kSpelling = 9;
constexpr double kInt64End = 9223372036854775808.0;

std::uint64_t load_word(const char* from) noexcept {
  std::uint64_t word = 0;
  std::memcpy(&word, from, sizeof word);
  return word;
}

/// Fewer than eight bytes as one word. Texts of other sizes may give the same one; the size is a
/// part of the hash.
std::uint64_t load_few(std::string_view text) noexcept {
  std::uint64_t word = 0;
  for (const char c : text) word = word << 8 | static_cast<unsigned char>(c);
  return word;
}

/// Word by word; the last one overlaps those before, so that no byte is handled by itself.
std::uint64_t hash_text(std::string_view text, std::uint64_t seed) noexcept {
  constexpr std::size_t kWord = sizeof(std::uint64_t);
  std::uint64_t hash = seed ^ (text.size() * kMultiplier);
  if (text.size() < kWord) return fold_product(hash ^ load_few(text), kMultiplier ^ seed);
  const std::uint64_t last = load_word(text.data() + text.size() - kWord);
  for (; text.size() > kWord; text.remove_prefix(kWord)) {
    hash = fold_product(hash ^ load_word(text.data()), kMultiplier ^ seed);
  }
  return fold_product(hash ^ last, kMultiplier ^ seed);
}

/// Chosen once; no result depends on it, only the time.
std::uint64_t seed_of_process() {
  static const std::uint64_t seed = random_word();
  return seed;
}

bool is_composite(NodeKind kind) noexcept {
  return kind == NodeKind::tuple || kind == NodeKind::frozenset;
}

void append_word(std::string& spelling, char tag, std::uint64_t word) {
  spelling.push_back(tag);
  char bytes[sizeof word];
  std::memcpy(bytes, &word, sizeof word);
  spelling.append(bytes, sizeof word);
}

/// Brings the spellings of a frozenset's items, nine bytes each, into one order, each once.
std::string sort_spelling(const std::string& spelling) {
  std::set<std::string_view> items;
  for (std::size_t at = 0; at < spelling.size(); at += kSpelling) {
    items.insert(std::string_view(spelling).substr(at, kSpelling));
  }
  std::string sorted;
  for (const std::string_view item : items) sorted += item;
  return sorted;
}

}  // namespace

std::size_t Keys::Hash::operator()(const std::string& text) const noexcept {
  return hash_text(text, seed);
}

Keys::Keys(const Document& document, std::pmr::memory_resource* memory)
    : document_(document), seed_(seed_of_process()), slots_(memory), numbers_(0, Hash{seed_}) {}

/// An object of an unknown class counts as hashable: nothing of its class is known here.
bool Keys::is_unhashable(NodeKind kind) const noexcept {
  return kind == NodeKind::list || kind == NodeKind::dict || kind == NodeKind::set ||
         kind == NodeKind::bytearray;
}

bool Keys::admit_other(Ref value, NodeKind kind) {
  if (is_composite(kind)) return number_composite(value);
  return !is_unhashable(kind);
}

bool Keys::number_composite(Ref composite) {
  if (number_of_node_.contains(bits_of(composite))) return true;
  visits_.assign(1, {composite, 0});
  while (!visits_.empty()) {
    if (!advance(visits_.back())) return false;
  }
  return true;
}

/// Goes on to the next item that has to be numbered before, or numbers the composite itself.
bool Keys::advance(Visit& visit) {
  const Ref composite = visit.composite;
  const std::span<const Ref> items = document_.items(composite);
  for (; visit.next < items.size(); ++visit.next) {
    const Ref item = items[visit.next];
    const NodeKind kind = document_.kind(item);
    if (is_unhashable(kind)) return false;
    if (is_composite(kind) && !number_of_node_.contains(bits_of(item))) {
      visits_.push_back({item, 0});
      return true;
    }
  }
  visits_.pop_back();
  number_visited(composite);
  return true;
}

/// All items have their numbers by now. The letter at the end keeps a tuple and a frozenset apart
/// whose items are spelled alike.
void Keys::number_visited(Ref composite) {
  const bool is_tuple = document_.is(composite, NodeKind::tuple);
  std::string spelling = spell_items(composite);
  if (!is_tuple) spelling = sort_spelling(spelling);
  spelling.push_back(is_tuple ? 't' : 'z');
  const std::uint64_t number =
      numbers_.try_emplace(std::move(spelling), numbers_.size()).first->second;
  number_of_node_.emplace(bits_of(composite), number);
}

std::string Keys::spell_items(Ref composite) {
  std::string spelling;
  for (const Ref item : document_.items(composite)) {
    const Key key = this->key(item);
    const bool has_text = key.tag == 's' || key.tag == 'b' || key.tag == 'I';
    append_word(spelling, key.tag, has_text ? number_text(key.tag, item, key.text) : key.word);
  }
  return spelling;
}

/// Each text is hashed once, however many tuples hold it.
std::uint64_t Keys::number_text(char tag, Ref ref, std::string_view text) {
  const auto [place, is_new] = number_of_node_.try_emplace(bits_of(ref), 0);
  if (is_new) {
    std::string spelling(text);
    spelling.push_back(tag);
    place->second = numbers_.try_emplace(std::move(spelling), numbers_.size()).first->second;
  }
  return place->second;
}

Key Keys::key(Ref ref) const {
  const auto ordinal = bits_of(ref);
  switch (document_.kind(ref)) {
    case NodeKind::boolean: return {'i', ref == kTrue ? 1u : 0u, {}};
    case NodeKind::integer: return {'i', static_cast<std::uint64_t>(document_.integer(ref)), {}};
    case NodeKind::real: return key_of_real(ref);
    case NodeKind::big_integer:
      if (const auto real = exact_real(document_.text(ref))) {
        return {'f', std::bit_cast<std::uint64_t>(*real), {}};
      }
      return {'I', 0, document_.text(ref)};
    case NodeKind::string:
    case NodeKind::byte_string: return {'s', 0, document_.text(ref)};
    case NodeKind::bytes: return {'b', 0, document_.text(ref)};
    case NodeKind::tuple:
    case NodeKind::frozenset: return {'c', number_of_node_.at(ordinal), {}};
    case NodeKind::extension:
      return {'x', static_cast<std::uint64_t>(document_.extension_code(ref)), {}};
    case NodeKind::none:
    case NodeKind::bytearray:
    case NodeKind::list:
    case NodeKind::dict:
    case NodeKind::set:
    case NodeKind::global:
    case NodeKind::object:
    case NodeKind::persistent:
    case NodeKind::outside: break;
  }
  return {'n', ordinal, {}};
}

/// A float with an integer value is that integer; a large one that no 64 bits hold stays a float,
/// and so does the big integer that it equals.
Key Keys::key_of_real(Ref ref) const {
  const double value = document_.real(ref);
  if (std::isnan(value)) return {'n', bits_of(ref), {}};
  if (value >= -kInt64End && value < kInt64End && std::trunc(value) == value) {
    return {'i', static_cast<std::uint64_t>(static_cast<std::int64_t>(value)), {}};
  }
  return {'f', std::bit_cast<std::uint64_t>(value), {}};
}

std::uint64_t Keys::hash(const Key& key) const noexcept {
  const std::uint64_t tag = static_cast<unsigned char>(key.tag);
  if (!key.text.empty()) return hash_text(key.text, seed_ ^ tag);
  return fold_product(fold_product(key.word ^ seed_, kMultiplier), seed_ ^ tag ^ kMultiplier);
}

std::size_t Keys::unite(std::span<Ref> items, Width width) {
  const auto stride = static_cast<std::size_t>(width);
  if (items.size() <= stride) return items.size() / stride;
  return items.size() <= kFew * stride ? unite_few(items, stride) : unite_many(items, stride);
}

/// A key that was seen keeps its first spelling (`1` stays `1` where `1.0` follows) and takes the
/// new value, as `dict.__setitem__` does.
std::size_t Keys::unite_few(std::span<Ref> items, std::size_t width) const {
  std::array<Key, kFew> kept;
  std::size_t count = 0;
  for (std::size_t at = 0; at < items.size(); at += width) {
    const Key key = this->key(items[at]);
    const auto found =
        std::find(kept.begin(), kept.begin() + static_cast<std::ptrdiff_t>(count), key);
    const auto place = static_cast<std::size_t>(found - kept.begin());
    if (place == count) {
      kept[count++] = key;
      items[place * width] = items[at];
    }
    items[place * width + width - 1] = width == 1 ? items[place] : items[at + 1];
  }
  return count;
}

std::size_t Keys::unite_many(std::span<Ref> items, std::size_t width) {
  const std::size_t total = items.size() / width;
  slots_.assign(std::bit_ceil(total * 2), 0);
  ordinal_bits_ = static_cast<unsigned>(std::bit_width(total));
  std::array<Key, kBatch> keys;
  std::array<std::uint64_t, kBatch> hashes;
  std::size_t count = 0;
  // The table does not fit the nearest cache: a batch's slots are fetched while its hashes are
  // made.
  for (std::size_t first = 0; first < total; first += kBatch) {
    const std::size_t batch = std::min(kBatch, total - first);
    for (std::size_t i = 0; i < batch; ++i) {
      keys[i] = key(items[(first + i) * width]);
      hashes[i] = hash(keys[i]);
      __builtin_prefetch(&slots_[hashes[i] & (slots_.size() - 1)], 1);
    }
    for (std::size_t i = 0; i < batch; ++i) {
      count += place(keys[i], hashes[i], items, first + i, count, width);
    }
  }
  return count;
}

/// Brings the key at `from` to its place among the first `count`; 1 where it is a new one.
std::size_t Keys::place(const Key& key, std::uint64_t hash, std::span<Ref> items, std::size_t from,
                        std::size_t count, std::size_t width) {
  std::uint32_t& slot = slots_[find_slot(key, hash, items, width)];
  const bool is_new = slot == 0;
  if (is_new) {
    slot = tag_of(hash) | static_cast<std::uint32_t>(count + 1);
    items[count * width] = items[from * width];
  }
  const std::size_t to = (slot & ~tag_of(~std::uint64_t{0})) - 1;
  if (width == 2) items[to * width + 1] = items[from * width + 1];
  return is_new ? 1 : 0;
}

/// The upper bits of the hash, as many as an ordinal leaves free in a slot.
std::uint32_t Keys::tag_of(std::uint64_t hash) const noexcept {
  return static_cast<std::uint32_t>((hash >> 32 >> ordinal_bits_) << ordinal_bits_);
}

/// The slot of an equal key, or the free one where it belongs.
std::size_t Keys::find_slot(const Key& key, std::uint64_t hash, std::span<const Ref> items,
                            std::size_t width) const {
  const std::size_t mask = slots_.size() - 1;
  const std::uint32_t tag = tag_of(hash);
  const std::uint32_t tag_bits = tag_of(~std::uint64_t{0});
  for (std::size_t at = hash & mask;; at = (at + 1) & mask) {
    const std::uint32_t slot = slots_[at];
    if (slot == 0) return at;
    const bool may_be_equal = (slot & tag_bits) == tag;
    if (may_be_equal && this->key(items[((slot & ~tag_bits) - 1) * width]) == key) return at;
  }
}

}  // namespace flambeau
