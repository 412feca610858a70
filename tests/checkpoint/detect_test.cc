// What a file is said to be that is no checkpoint, and what a person is told to do about it.
#include "checkpoint/detect.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/checkpoint_builder.h"
#include "support/errors.h"

namespace flambeau::testing {
namespace {

using ::testing::HasSubstr;
using namespace std::string_view_literals;

std::optional<Error> opening(const std::string& content) {
  return error_of([&] { Checkpoint::open(BuiltZip::memory_source(content)); });
}

/// Bytes that make a file long enough to be something, and that no signature has.
std::string padded(std::string_view head, std::size_t size = 600) {
  std::string content(head);
  content.resize(std::max(size, head.size()), '\x01');
  return content;
}

void expect_not_a_checkpoint(const std::string& content, const std::string& description) {
  const auto error = opening(content);
  ASSERT_TRUE(error) << description;
  EXPECT_EQ(error->code(), ErrorCode::not_a_checkpoint) << error->what();
  EXPECT_EQ(error->what(), "test.pt: this is " + description);
}

void expect_unsupported(const std::string& content, const std::string& description) {
  const auto error = opening(content);
  ASSERT_TRUE(error) << description;
  EXPECT_EQ(error->code(), ErrorCode::unsupported) << error->what();
  EXPECT_THAT(error->what(), HasSubstr("this is " + description));
  EXPECT_THAT(error->what(), HasSubstr("which this version does not read"));
}

TEST(Detect, OtherFormatsByTheirSignatures) {
  const std::pair<std::string_view, std::string_view> formats[] = {
      {"\x1f\x8b\x08"sv, "gzip data: unpack it first, with `gunzip`"},
      {"7z\xbc\xaf\x27\x1c"sv, "a 7z archive: unpack it first"},
      {"\xfd\x37zXZ\0"sv, "xz data: unpack it first, with `xz -d`"},
      {"BZh9"sv, "bzip2 data: unpack it first, with `bunzip2`"},
      {"\x28\xb5\x2f\xfd"sv, "zstd data: unpack it first, with `zstd -d`"},
      {"Rar!\x1a\x07\x01\0"sv, "a RAR archive: unpack it first"},
      {"GGUF\3\0\0\0"sv, "a GGUF model (llama.cpp)"},
      {"\x93NUMPY\1\0"sv, "a numpy array (.npy)"},
      {"\x89HDF\r\n\x1a\n"sv, "an HDF5 file (Keras, h5py)"},
      {"%PDF-1.7\n"sv, "a PDF document"},
      {"\x7f\x45LF\2\1\1"sv, "an ELF program"},
      {"MZ\x90\0"sv, "a Windows program"},
      {"\x89PNG\r\n\x1a\n"sv, "a PNG picture"},
      {"\xff\xd8\xff\xe0"sv, "a JPEG picture"},
      {"#!/bin/sh\n"sv, "a script"},
  };
  for (const auto& [head, description] : formats) {
    expect_not_a_checkpoint(padded(head), std::string(description));
  }
}

TEST(Detect, LfsPointers) {
  expect_not_a_checkpoint(
      "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 44815\n",
      "a Git LFS pointer to a file of 44815 bytes, not the file itself: fetch it with "
      "`git lfs pull`");
  expect_not_a_checkpoint("version https://git-lfs.github.com/spec/v1\n",
                          "a Git LFS pointer, not the file itself: fetch it with `git lfs pull`");
}

TEST(Detect, Pages) {
  const std::string html = "an HTML page: a download gave a web page, not the file";
  expect_not_a_checkpoint("<!DOCTYPE html><html>404</html>", html);
  expect_not_a_checkpoint("\n  <HTML>", html);
  expect_not_a_checkpoint("\xef\xbb\xbf<head>", html);
  const std::string xml = "an XML text: a download gave a message, not the file";
  expect_not_a_checkpoint("<?xml version=\"1.0\"?>", xml);
  expect_not_a_checkpoint("<Error><Code>AccessDenied</Code></Error>", xml);
}

TEST(Detect, Safetensors) {
  const std::string header = R"({"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})";
  const std::string bytes = py::little(header.size(), 8) + header + std::string(4, '\0');
  const Checkpoint file = Checkpoint::open(BuiltZip::memory_source(bytes));
  EXPECT_EQ(file.container(), Container::safetensors);
  EXPECT_EQ(file.tensor("w").to<float>(), (std::vector<float>{0}));
  EXPECT_EQ(file.path(0), "['w']");
  const std::string none = py::little(2, 8) + "{}";
  const Checkpoint empty = Checkpoint::open(BuiltZip::memory_source(none));
  EXPECT_TRUE(empty.tensors().empty());
  EXPECT_FALSE(empty.facts().has_checksums);
  const auto lying = opening(py::little(1000, 8) + header);
  EXPECT_THAT(lying->what(), HasSubstr("data of an unknown kind")) << "a longer header than file";
}

TEST(Detect, Text) {
  expect_not_a_checkpoint("Not Found", "text that begins \"Not Found\"");
  expect_not_a_checkpoint(std::string(100, 'a') + "\n",
                          "text that begins \"" + std::string(40, 'a') + "\"");
  expect_not_a_checkpoint("a\tb\n", "text that begins \"a\\tb\\n\"");
}

TEST(Detect, NothingAndLittle) {
  expect_not_a_checkpoint("", "an empty file");
  expect_not_a_checkpoint("x", "text that begins \"x\"");
  expect_not_a_checkpoint(std::string(1, '\0'), "data of an unknown kind");
  expect_not_a_checkpoint(std::string(4, '\x01'), "data of an unknown kind");
}

TEST(Detect, BarePickles) {
  for (const char protocol : {'\2', '\3', '\4', '\5'}) {
    expect_not_a_checkpoint(std::string("\x80") + protocol + "}.",
                            "a bare pickle without a container: `dis` shows it");
  }
  EXPECT_THAT(opening("\x80\x06}.")->what(), HasSubstr("unknown kind"));
}

TEST(Detect, BytesBeforeTheArchive) {
  const std::string zip = build_zip({{.name = "archive/data.pkl", .content = "x"}}).bytes;
  expect_not_a_checkpoint(std::string("\1") + zip,
                          "data with a zip archive at byte 1: cut off what is before it");
  expect_not_a_checkpoint(std::string(400, '\1') + zip,
                          "data with a zip archive at byte 400: cut off what is before it");
  expect_not_a_checkpoint(std::string(5000, '\1') + zip, "data of an unknown kind");
}

/// Whatever protocol its pickles have, and though nothing follows.
TEST(Detect, StreamsByTheirMagicNumber) {
  const std::string magic = "\x8a\x0al\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.";
  const std::string frame("\x95\x0d\0\0\0\0\0\0\0", 9);
  for (const std::string& start :
       {"\x80\x02" + magic, "\x80\x03" + magic, "\x80\x04" + frame + magic,
        "\x80\x05" + frame + magic, std::string("L119547037146038801333356L\n.")}) {
    const auto error = opening(start);
    ASSERT_TRUE(error);
    EXPECT_EQ(error->code(), ErrorCode::truncated) << error->what();
    EXPECT_THAT(error->what(), HasSubstr("version"));
  }
}

TEST(Detect, OtherTorchFiles) {
  std::string tar(600, '\0');
  tar.replace(257, 5, "ustar");
  expect_unsupported(tar, "a tar archive: unpack it first, unless it is from PyTorch 0.1");
  expect_unsupported(padded("PYTORCH1"), "a preview format of PyTorch before 1.0");
  expect_unsupported(padded("\x20\0\0\0PTMF"sv), "a mobile module in a flatbuffer");
  expect_unsupported(padded("\x20\0\0\0ET12"sv), "an ExecuTorch program");
}

/// An archive of records that hold one byte each.
std::string archive_of(const std::vector<std::string>& names) {
  std::vector<ZipRecord> records;
  for (const std::string& name : names) records.push_back({.name = name, .content = "x"});
  return build_zip(records).bytes;
}

TEST(DetectArchive, TorchArchivesOfOtherKinds) {
  expect_unsupported(archive_of({"archive/model.json", "archive/tensors/0"}),
                     "a TorchScript archive of PyTorch 1.0 to 1.3");
  expect_unsupported(archive_of({"pack/.data/extern_modules", "pack/model/model.pkl"}),
                     "a torch.package archive");
}

/// What nothing but the first record tells of is empty, or has lost its weights.
TEST(DetectArchive, Exported) {
  const std::string bytes = archive_of({"p/archive_format", "p/models/model.json"});
  const Checkpoint file = Checkpoint::open(BuiltZip::memory_source(bytes));
  EXPECT_EQ(file.container(), Container::pt2);
  EXPECT_TRUE(file.tensors().empty());
  const auto error = opening(archive_of({"p/serialized_exported_program.json", "p/version"}));
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), ErrorCode::malformed_zip);
}

TEST(DetectArchive, OtherArchives) {
  expect_not_a_checkpoint(build_zip({}).bytes, "an empty zip archive");
  expect_not_a_checkpoint(archive_of({"arr/a.npy", "arr/b.npy"}), "a numpy archive (.npz)");
  for (const std::string name : {"x/model.pth", "x/model.pt", "x/model.ckpt", "x/pytorch_model.bin",
                                 "x/model.safetensors", "x/weights.pkl"}) {
    expect_not_a_checkpoint(archive_of({"x/readme.txt", name}),
                            "a zip archive that holds " + name + ": unzip it first");
  }
  expect_not_a_checkpoint(archive_of({"x/a.txt", "x/b.txt"}), "a zip archive without a data.pkl");
  expect_not_a_checkpoint(archive_of({"x/data.pkl/", "x/y"}), "a zip archive without a data.pkl");
}

/// Files that people zip have no folder at all; they are named for what they are, too.
TEST(DetectArchive, ArchivesWithoutAFolder) {
  expect_not_a_checkpoint(archive_of({"a.npy", "b.npy"}), "a numpy archive (.npz)");
  expect_not_a_checkpoint(archive_of({"model.pth"}),
                          "a zip archive that holds model.pth: unzip it first");
}

TEST(DetectArchive, NamesInMessagesAreEscaped) {
  expect_not_a_checkpoint(archive_of({"x/\x1b[31m.pth"}),
                          "a zip archive that holds x/\\x1b[31m.pth: unzip it first");
}

TEST(Detect, ReadsAFewHundredBytesOnly) {
  class Counting final : public Source {
   public:
    Counting() : Source("huge") {}
    std::uint64_t size() const noexcept override { return std::uint64_t{1} << 62; }
    void read(std::uint64_t offset, std::span<std::byte> out) const override {
      last_ = std::max(last_, offset + out.size());
      std::fill(out.begin(), out.end(), std::byte{1});
    }
    mutable std::uint64_t last_ = 0;
  };
  const auto source = std::make_shared<Counting>();
  EXPECT_EQ(code_of([&] { Checkpoint::open(source); }), ErrorCode::not_a_checkpoint);
  EXPECT_LE(source->last_, 1024u);
}

}  // namespace
}  // namespace flambeau::testing
