// Names are scanned eight bytes at a time, the last eight overlapping those before, since a
// directory has a million of them. In such a word a byte's top bit becomes the answer for that byte
// ("Bit Twiddling Hacks", "Determine if a word has a zero byte"). The hash multiplies by a secret
// number and folds the 128-bit product; seed and multiplier are random, so that collisions cannot
// be made beforehand. Case is folded for the letters A to Z alone, as miniz does it
// (`mz_zip_filename_compare`).
#include "zip/entry_name.h"

#include <algorithm>
#include <cstring>

#include "base/bytes.h"
#include "base/endian.h"
#include "base/hash.h"
#include "base/text.h"

namespace flambeau::zip {
namespace {

using Word = std::uint64_t;

/// PyTorch's reader cuts names to a buffer of 512 bytes (MZ_ZIP_MAX_ARCHIVE_FILENAME_SIZE).
constexpr std::size_t kLongestName = 511;

constexpr Word kOnes = 0x0101010101010101;
constexpr Word kTops = 0x8080808080808080;
constexpr std::size_t kWordSize = sizeof(Word);

constexpr Word each(unsigned char byte) { return kOnes * byte; }

/// Top bits of the bytes that are zero, exactly.
constexpr Word zero_bytes(Word word) { return ~(((word & ~kTops) + ~kTops) | word) & kTops; }

/// Not zero when a byte of `word` is `byte`.
constexpr Word has_byte(Word word, char byte) {
  const Word difference = word ^ each(static_cast<unsigned char>(byte));
  return (difference - kOnes) & ~difference & kTops;
}

/// Not zero when a byte is below " " or above "~".
constexpr Word has_unprintable(Word word) {
  const Word low = (word - each(' ')) & ~word;
  const Word high = word | (word + kOnes);
  return (low | high) & kTops;
}

/// In the lower seven bits of each byte: a top bit of `from_a` says "A or above", one of `beyond_z`
/// "above Z", and lower case is 0x20 higher, which is the top bit moved down by two.
constexpr Word fold_case(Word word) {
  const Word low_bits = word & ~kTops;
  const Word from_a = low_bits + each(0x80 - 'A');
  const Word beyond_z = low_bits + each(0x7f - 'Z');
  const Word upper = (from_a ^ beyond_z) & ~word & kTops;
  return word | (upper >> 2);
}

class Scanner {
 public:
  Scanner(std::size_t size, const HashSeed& seed) noexcept
      : multiplier_(seed.multiplier), hash_(seed.start ^ (size * kOnes)) {}

  void take(Word word) noexcept {
    const Word slashes = zero_bytes(word ^ each('/'));
    const Word dots = zero_bytes(word ^ each('.'));
    // A slash or a dot right behind a slash: an empty part, or one that begins with a dot.
    odd_ |= (slashes | dots) & ((slashes << 8) | last_slash_);
    odd_ |= has_unprintable(word) | has_byte(word, '\\');
    last_slash_ = slashes >> 56;
    hash_ = fold_product(hash_ ^ fold_case(word), multiplier_);
  }

  NameScan result(bool plain_ends) const noexcept {
    return {fold_product(hash_, multiplier_), odd_ == 0 && plain_ends};
  }

 private:
  Word multiplier_;
  Word hash_;
  Word odd_ = 0;
  Word last_slash_ = 0;
};

/// Up to eight bytes, filled up with a harmless letter.
Word load_short(const std::byte* from, std::size_t size) noexcept {
  std::byte word[kWordSize];
  std::fill_n(word, kWordSize, std::byte{'a'});
  std::copy_n(from, size, word);
  return load_le<Word>(word);
}

/// Whether what a scan by words does not see is plain, too: both ends, a drive letter, the size.
bool has_plain_ends(std::string_view name) noexcept {
  const bool is_sized = name.size() > 1 && name.size() <= kLongestName;
  return is_sized && name.front() != '/' && name.front() != '.' && name.back() != '/' &&
         name[1] != ':';
}

/// Whether a part between slashes is "", "." or "..", which file systems take for a direction.
bool has_odd_part(std::string_view name) noexcept {
  while (!name.empty()) {
    const std::size_t slash = std::min(name.find('/'), name.size());
    const std::string_view part = name.substr(0, slash);
    if (part.empty() || part == "." || part == "..") return true;
    name.remove_prefix(std::min(slash + 1, name.size()));
  }
  return false;
}

bool has_control(std::string_view name) noexcept {
  return std::any_of(name.begin(), name.end(),
                     [](char c) { return static_cast<unsigned char>(c) < ' ' || c == 0x7f; });
}

bool has_drive(std::string_view name) noexcept {
  const char letter = name.empty() ? '\0' : to_lower(name[0]);
  return name.size() > 1 && name[1] == ':' && letter >= 'a' && letter <= 'z';
}

}  // namespace

HashSeed process_seed() {
  static const HashSeed seed = [] {
    const Word start = random_word();
    // Multiplying by an odd number loses nothing modulo 2^64.
    return HashSeed{start, random_word() | 1};
  }();
  return seed;
}

NameScan scan_name(std::string_view name, const HashSeed& seed) noexcept {
  const std::byte* at = as_bytes(name).data();
  const std::size_t size = name.size();
  Scanner scanner(size, seed);
  if (size <= kWordSize) {
    scanner.take(load_short(at, size));
  } else {
    for (std::size_t i = 0; i + kWordSize < size; i += kWordSize) {
      scanner.take(load_le<Word>(at + i));
    }
    scanner.take(load_le<Word>(at + size - kWordSize));
  }
  return scanner.result(has_plain_ends(name));
}

std::string_view name_oddity(std::string_view name) noexcept {
  if (name.empty()) return "an entry without a name";
  if (name.size() > kLongestName) return "the name is longer than 511 bytes";
  if (has_control(name)) return "the name has control characters";
  if (!is_utf8(name)) return "the name is not UTF-8";
  if (name.find('\\') != std::string_view::npos) return "the name has a backslash";
  if (has_drive(name)) return "the name begins with a drive letter";
  const bool is_folder = name.size() > 1 && name.back() == '/';
  if (has_odd_part(is_folder ? name.substr(0, name.size() - 1) : name)) {
    return "a part of the name is empty, \".\" or \"..\"";
  }
  return {};
}

/// What re-zipping on a Mac leaves beside the folder. PyTorch refuses such archives ("file in
/// archive is not in a subdirectory"); their records are sound all the same.
bool is_macos_litter(std::string_view name) noexcept {
  const std::string_view last = name.substr(name.rfind('/') + 1);
  return name.starts_with("__MACOSX/") || last == ".DS_Store" || last.starts_with("._");
}

}  // namespace flambeau::zip
