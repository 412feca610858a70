// What the writer makes: byte for byte what PyTorch made of the same records, and what the reader
// finds in it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>

#include "base/bytes.h"
#include "flambeau/archive.h"
#include "support/errors.h"
#include "support/temporary_folder.h"
#include "support/zip_builder.h"
#include "zip/notes_of.h"

namespace flambeau::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::string_view kId = ".data/serialization_id";

/// Written in order, into memory.
std::string in_memory(ArchiveWriter writer, const WriteOptions& options = {}) {
  std::vector<std::byte> bytes;
  const std::uint64_t planned = writer.file_size();
  const auto sink = append_to(bytes);
  writer.finish(*sink, options);
  sink->commit();
  EXPECT_EQ(bytes.size(), planned);
  return std::string(as_text(bytes));
}

/// Written to a file, by threads where it is large.
std::string in_file(ArchiveWriter writer, const WriteOptions& options = {}) {
  const TemporaryFolder folder;
  const auto sink = create_file(folder / "out", {.durability = Durability::none});
  writer.finish(*sink, options);
  sink->commit();
  return folder.read("out");
}

/// The alignment that explains where the data of all records stands.
std::uint32_t alignment_of(const ArchiveReader& archive) {
  const auto stored = archive.find(".storage_alignment");
  if (!stored) return 64;
  return static_cast<std::uint32_t>(std::stoul(std::string(as_text(archive.read(*stored).bytes))));
}

/// A writer of the records that a file has, its id aside, which has to come out by itself.
ArchiveWriter writer_of(const ArchiveReader& archive, std::vector<Block>& contents,
                        ArchiveWriterOptions options) {
  options.folder = archive.folder();
  options.alignment = alignment_of(archive);
  options.serialization_id = archive.find(kId).has_value();
  ArchiveWriter writer(options);
  for (std::size_t i = 0; i < archive.size(); ++i) {
    const std::string_view name = archive.record(i).name.substr(archive.folder().size() + 1);
    if (name == kId) continue;
    contents.push_back(archive.read(i, false));
    writer.add(name, contents.back().bytes);
  }
  return writer;
}

void expect_same(const std::string& written, const std::string& original, const std::string& what) {
  ASSERT_EQ(written.size(), original.size()) << what;
  const auto at = std::mismatch(written.begin(), written.end(), original.begin()).first;
  ASSERT_EQ(at, written.end()) << what << " differs at " << at - written.begin();
}

void expect_rewritten(const std::string& path, const ArchiveWriterOptions& options = {}) {
  std::vector<Block> contents;
  const ArchiveReader archive(open_file(path));
  const SourcePtr& source = archive.source();
  const std::string original(as_text(source->view(0, source->size()).bytes));
  expect_same(in_memory(writer_of(archive, contents, options)), original, path);
  expect_same(in_file(writer_of(archive, contents, options)), original, path);
}

TEST(ArchiveWriter, WritesTheBytesOfEveryPyTorch) {
  std::size_t files = 0;
  for (const auto& entry : fs::recursive_directory_iterator(FLAMBEAU_TEST_DATA)) {
    // Files with other keys were put together by a script.
    const bool by_torch = entry.path().parent_path().filename() != "address_keys";
    if (entry.path().extension() != ".pt" || !by_torch) continue;
    expect_rewritten(entry.path().string());
    ++files;
  }
  EXPECT_GE(files, 100u);
}

}  // namespace
}  // namespace flambeau::testing
