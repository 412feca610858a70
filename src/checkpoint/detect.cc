// The table of signatures. A name of a file says nothing: models are called .pth.tar, .bin and
// .ckpt whatever they are. Signatures are from the formats' own documents; for zip archives the
// records decide (torch/csrc/jit/serialization/import.cpp, torch/export/pt2_archive/constants.py).
#include "checkpoint/detect.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <vector>

#include "base/bytes.h"
#include "base/endian.h"
#include "base/text.h"
#include "flambeau/checkpoint.h"

namespace flambeau {
namespace {

using namespace std::string_view_literals;

struct Signature {
  std::uint32_t offset;
  std::string_view bytes;
  std::string_view description;
  bool is_torch;
};

constexpr std::array kSignatures = {
    Signature{0, "PYTORCH1"sv, "a preview format of PyTorch before 1.0, which nothing reads", true},
    Signature{4, "PTMF"sv, "a mobile module in a flatbuffer", true},
    Signature{4, "ET12"sv, "an ExecuTorch program", true},
    // The header of the first member (POSIX, pax: ustar Interchange Format).
    Signature{257, "ustar"sv, "a tar archive: unpack it first, unless it is from PyTorch 0.1",
              true},
    Signature{0, "\x1f\x8b"sv, "gzip data: unpack it first, with `gunzip`", false},
    Signature{0, "7z\xbc\xaf\x27\x1c"sv, "a 7z archive: unpack it first", false},
    Signature{0,
              "\xfd"
              "7zXZ\0"sv,
              "xz data: unpack it first, with `xz -d`", false},
    Signature{0, "BZh"sv, "bzip2 data: unpack it first, with `bunzip2`", false},
    Signature{0, "\x28\xb5\x2f\xfd"sv, "zstd data: unpack it first, with `zstd -d`", false},
    Signature{0, "Rar!\x1a\x07"sv, "a RAR archive: unpack it first", false},
    Signature{0, "GGUF"sv, "a GGUF model (llama.cpp)", false},
    Signature{0, "\x93NUMPY"sv, "a numpy array (.npy)", false},
    Signature{0, "\x89HDF\r\n\x1a\n"sv, "an HDF5 file (Keras, h5py)", false},
    Signature{0, "%PDF-"sv, "a PDF document", false},
    Signature{0,
              "\x7f"
              "ELF"sv,
              "an ELF program", false},
    Signature{0, "MZ"sv, "a Windows program", false},
    Signature{0, "\x89PNG"sv, "a PNG picture", false},
    Signature{0, "\xff\xd8\xff"sv, "a JPEG picture", false},
    Signature{0, "#!"sv, "a script", false},
};

/// "version https://git-lfs.github.com/spec/v1\noid sha256:…\nsize 1234\n"
std::optional<Sniffed> sniff_lfs(std::string_view head) {
  if (!head.starts_with("version https://git-lfs")) return std::nullopt;
  // The size is for the message only, and may say anything.
  const auto at = head.find("\nsize ");
  std::string size;
  if (at != std::string_view::npos) {
    size = head.substr(at + 6, head.find('\n', at + 6) - at - 6);
    size = fmt::format(" to a file of {} bytes", escape_controls(size.substr(0, 20)));
  }
  return Sniffed{FileKind::other,
                 fmt::format("a Git LFS pointer{}, not the file itself: fetch it with "
                             "`git lfs pull`",
                             size),
                 false};
}

/// Blanks and a byte order mark may stand before the first tag.
std::optional<Sniffed> sniff_markup(std::string_view head) {
  const auto start = std::min(head.find_first_not_of(" \t\r\n\xef\xbb\xbf"), head.size());
  const std::string_view text = head.substr(start);
  const auto opens = [&](std::string_view tag) {
    return equal_ignoring_case(text.substr(0, tag.size()), tag);
  };
  if (opens("<!doctype html") || opens("<html") || opens("<head")) {
    return Sniffed{FileKind::other, "an HTML page: a download gave a web page, not the file",
                   false};
  }
  if (opens("<?xml") || opens("<error")) {
    return Sniffed{FileKind::other, "an XML text: a download gave a message, not the file", false};
  }
  return std::nullopt;
}

/// Eight bytes of header length, then JSON.
std::optional<Sniffed> sniff_safetensors(std::string_view head, std::uint64_t size) {
  if (head.size() < 10 || head[8] != '{') return std::nullopt;
  const auto length = load_le<std::uint64_t>(as_bytes(head).data());
  constexpr std::string_view kSecond = "\"} \t\r\n";
  if (length < 2 || length > size - 8 || kSecond.find(head[9]) == std::string_view::npos) {
    return std::nullopt;
  }
  return Sniffed{FileKind::safetensors, {}, false};
}

/// Only ASCII: all else is "data of an unknown kind".
std::optional<Sniffed> sniff_text(std::string_view head) {
  const bool printable = std::all_of(head.begin(), head.end(), [](char c) {
    return (c >= 0x20 && c < 0x7f) || c == '\n' || c == '\r' || c == '\t';
  });
  if (!printable) return std::nullopt;
  return Sniffed{FileKind::other,
                 fmt::format("text that begins \"{}\"", escape_controls(head.substr(0, 40))),
                 false};
}

/// PROTO and a protocol that has it.
bool is_pickle(std::string_view head) {
  return head.size() >= 2 && head[0] == '\x80' && head[1] >= 2 && head[1] <= 5;
}

/// A pickle of the long 0x1950a86a20f9469cfc6c (torch/serialization.py, MAGIC_NUMBER): LONG1 behind
/// PROTO and, from protocol 4 on, FRAME; in protocols 0 and 1, which have no LONG1, its digits.
bool begins_stream(std::string_view head) {
  constexpr std::string_view kDigits = "L119547037146038801333356L\n.";
  if (head.starts_with(kDigits)) return true;
  if (!is_pickle(head)) return false;
  constexpr std::size_t kFrame = 9;
  head.remove_prefix(head[1] >= 4 && head.size() > 2 && head[2] == '\x95' ? 2 + kFrame : 2);
  return head.starts_with("\x8a\x0al\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19"sv);
}

/// A zip behind something else: the first local header, where it can be seen.
std::optional<Sniffed> sniff_late_zip(std::string_view head) {
  const auto at = head.find("PK\x03\x04");
  if (at == std::string_view::npos) return std::nullopt;
  return Sniffed{FileKind::other,
                 fmt::format("data with a zip archive at byte {}: cut off what is before it", at),
                 false};
}

/// Signatures first; the guesses by content go from the sure to the vague.
Sniffed sniff_head(std::string_view head, std::uint64_t size) {
  if (size == 0) return {FileKind::other, "an empty file", false};
  // An archive without records begins with its end records, of either size.
  if (head.starts_with("PK\x03\x04") || head.starts_with("PK\x05\x06") ||
      head.starts_with("PK\x06\x06")) {
    return {FileKind::zip, {}, false};
  }
  for (const Signature& each : kSignatures) {
    if (head.size() > each.offset && head.substr(each.offset).starts_with(each.bytes)) {
      return {FileKind::other, std::string(each.description), each.is_torch};
    }
  }
  if (begins_stream(head)) return {FileKind::stream, {}, false};
  if (auto lfs = sniff_lfs(head)) return *lfs;
  if (auto markup = sniff_markup(head)) return *markup;
  if (auto safetensors = sniff_safetensors(head, size)) return *safetensors;
  if (auto text = sniff_text(head)) return *text;
  if (is_pickle(head)) {
    return {FileKind::other, "a bare pickle without a container: `dis` shows it", false};
  }
  if (auto zip = sniff_late_zip(head)) return *zip;
  return {FileKind::other, "data of an unknown kind", false};
}

}  // namespace

/// The longest look is for tar's signature, at byte 257.
Sniffed sniff(const Source& source) {
  constexpr std::uint64_t kHead = 512;
  std::vector<std::byte> head(static_cast<std::size_t>(std::min(source.size(), kHead)));
  source.read(0, head);
  return sniff_head(as_text(head), source.size());
}

bool is_archive(const Source& source) { return sniff(source).kind == FileKind::zip; }
bool is_stream(const Source& source) { return sniff(source).kind == FileKind::stream; }
bool may_be_checkpoint(const Source& source) { return sniff(source).kind != FileKind::other; }

namespace {

/// A scan of all names: only reached where there is no `data.pkl`.
bool has_record_ending(const ArchiveReader& archive, std::string_view suffix) {
  for (std::size_t i = 0; i < archive.size(); ++i) {
    if (archive.record(i).name.ends_with(suffix)) return true;
  }
  return false;
}

/// The first entry that is called like a model: people zip checkpoints to send them.
std::optional<std::string_view> wrapped_checkpoint(const ArchiveReader& archive) {
  constexpr std::string_view kSuffixes[] = {".pth", ".pt", ".ckpt", ".bin", ".safetensors", ".pkl"};
  for (std::size_t i = 0; i < archive.size(); ++i) {
    const std::string_view name = archive.record(i).name;
    for (const std::string_view suffix : kSuffixes) {
      if (name.ends_with(suffix)) return name;
    }
  }
  return std::nullopt;
}

Sniffed torch_kind(std::string_view description) {
  return {FileKind::other, std::string(description), true};
}

}  // namespace

/// Other writers of PyTorch put a `data.pkl` there, too, so their own records are looked for first.
Sniffed sniff_archive(const ArchiveReader& archive) {
  if (archive.find(".data/extern_modules")) return torch_kind("a torch.package archive");
  if (archive.find("archive_format")) return {FileKind::exported, {}, true};
  const bool has_pickle = archive.find("data.pkl").has_value();
  if (has_pickle && archive.find("constants.pkl")) return {FileKind::script, {}, true};
  if (archive.find("model.json")) return torch_kind("a TorchScript archive of PyTorch 1.0 to 1.3");
  if (has_pickle) return {FileKind::zip, {}, true};
  if (has_record_ending(archive, "serialized_exported_program.json")) {
    return {FileKind::exported, {}, true};
  }
  if (archive.size() == 0) return {FileKind::other, "an empty zip archive", false};
  if (has_record_ending(archive, ".npy")) {
    return {FileKind::other, "a numpy archive (.npz)", false};
  }
  if (const auto inner = wrapped_checkpoint(archive)) {
    return {FileKind::other,
            fmt::format("a zip archive that holds {}: unzip it first", escape_controls(*inner)),
            false};
  }
  return {FileKind::other, "a zip archive without a data.pkl", false};
}

}  // namespace flambeau
