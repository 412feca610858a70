// What the writer makes: byte for byte what PyTorch made of the same records, and what the reader
// finds in it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

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
using namespace std::string_view_literals;
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
    // Files with other keys were put together by a script; streams are no archives.
    const bool by_torch = entry.path().parent_path().filename() != "address_keys" &&
                          entry.path().stem().extension() != ".legacy";
    if (entry.path().extension() != ".pt" || !by_torch) continue;
    expect_rewritten(entry.path().string());
    ++files;
  }
  EXPECT_GE(files, 100u);
}

/// A sink for any offset that keeps only where what was written.
class SparseSink final : public Sink {
 public:
  void write(Bytes) override { ADD_FAILURE() << "large files are written by offsets"; }
  bool writes_anywhere() const noexcept override { return true; }
  void write_at(std::uint64_t offset, Bytes bytes) override {
    const std::lock_guard lock(mutex_);
    // Large data is known to the test; its start and its end are enough.
    const std::size_t kept = std::min<std::size_t>(bytes.size(), 4096);
    runs_[offset] = bytes.size();
    pieces_[offset] = std::string(as_text(bytes.first(kept)));
    const std::uint64_t last = offset + bytes.size() - kept;
    if (kept < bytes.size()) pieces_[last] = std::string(as_text(bytes.last(kept)));
  }
  bool commit() override { return true; }

  /// Writes it to a file with holes.
  void write_file(const std::string& path) const {
    std::ofstream file(path, std::ios::binary);
    for (const auto& [offset, text] : pieces_) {
      file.seekp(static_cast<std::streamoff>(offset)) << text;
    }
  }
  /// Whether no byte was written twice; how many were written.
  std::uint64_t written() const {
    std::uint64_t sum = 0;
    std::uint64_t end = 0;
    for (const auto& [offset, size] : runs_) {
      EXPECT_GE(offset, end) << "written twice";
      end = offset + size;
      sum += size;
    }
    return sum;
  }

 private:
  std::mutex mutex_;
  std::map<std::uint64_t, std::uint64_t> runs_;
  std::map<std::uint64_t, std::string> pieces_;
};

/// Records of all sizes around the bounds that the writer knows, from two kinds of content.
ArchiveWriter mixed(const std::vector<std::string>& contents, const ArchiveWriterOptions& options) {
  ArchiveWriter writer(options);
  writer.reserve(contents.size());
  for (std::size_t i = 0; i < contents.size(); ++i) {
    const std::string_view content = contents[i];
    const std::string name = "data/" + std::to_string(i);
    if (i % 3 == 2) {
      writer.add(name, content.size(), [content](std::uint64_t offset, MutableBytes out) {
        ASSERT_LE(out.size(), std::size_t{1} << 20);
        std::memcpy(out.data(), content.data() + offset, out.size());
      });
    } else {
      writer.add(name, as_bytes(content));
    }
  }
  return writer;
}

std::vector<std::string> contents_of_all_sizes() {
  std::vector<std::string> contents;
  for (const std::size_t size : std::initializer_list<std::size_t>{
           0, 1, 7, 8, 64, 1000, 65'535, 65'536, 65'537, 262'144, 1u << 20, (8u << 20) + 1}) {
    for (int copy = 0; copy < 3; ++copy) {
      std::string content(size, '\0');
      for (std::size_t i = 0; i < size; ++i) content[i] = static_cast<char>(i * 31 + i / 253);
      // PyTorch takes the second kind for a descriptor.
      if (copy > 0 && size >= 4) content.replace(0, 4, "PK\7\10");
      contents.push_back(std::move(content));
    }
  }
  for (int i = 0; i < 5'000; ++i) contents.push_back(std::to_string(i));
  return contents;
}

/// The simple builder of the tests knows no id, so a file without one is compared with its.
TEST(ArchiveWriter, WritesTheSameByManyThreadsAndInOrder) {
  const std::vector<std::string> contents = contents_of_all_sizes();
  for (const std::uint32_t alignment : {1u, 64u}) {
    const ArchiveWriterOptions options{.alignment = alignment, .serialization_id = false};
    std::vector<ZipRecord> records(contents.size());
    for (std::size_t i = 0; i < contents.size(); ++i) {
      records[i] = {.name = "archive/data/" + std::to_string(i), .content = contents[i]};
    }
    const std::string expected = build_zip(records, {.alignment = alignment}).bytes;
    expect_same(in_memory(mixed(contents, options)), expected, "in memory");
    for (const unsigned threads : {1u, 2u, 100u}) {
      expect_same(in_file(mixed(contents, options), {.threads = threads}), expected, "in a file");
    }
  }
  expect_same(in_file(mixed(contents, {}), {.threads = 3}), in_memory(mixed(contents, {})), "id");
}

TEST(ArchiveWriter, TheReaderFindsNothingOddInIt) {
  const std::vector<std::string> contents = contents_of_all_sizes();
  for (const bool checksums : {true, false}) {
    const std::string file = in_memory(mixed(contents, {.checksums = checksums}));
    const ArchiveReader archive(borrow_memory(as_bytes(file)), {.strict = true});
    ASSERT_EQ(archive.size(), contents.size() + 1);
    EXPECT_THAT(ambiguities(archive.notes()), IsEmpty());
    EXPECT_THAT(archive.inspect_headers(), IsEmpty());
    for (std::size_t i = 0; i < contents.size(); ++i) {
      ASSERT_EQ(as_text(archive.read(i).bytes), contents[i]);
      EXPECT_EQ(archive.data_offset(i) % 64, 0u);
      EXPECT_EQ(archive.record(i).crc32, checksums ? crc32(as_bytes(contents[i])) : 0);
    }
    EXPECT_EQ(archive.record(contents.size()).name, "archive/.data/serialization_id");
  }
}

TEST(ArchiveWriter, AnArchiveMayBeEmpty) {
  const std::string bare = in_memory(ArchiveWriter({.serialization_id = false}));
  EXPECT_EQ(bare.size(), 56u + 20 + 22);
  const std::string with_id = in_memory(ArchiveWriter());
  const ArchiveReader archive(borrow_memory(as_bytes(with_id)));
  EXPECT_EQ(as_text(archive.read(0).bytes), std::string(40, '0'));
}

TEST(ArchiveWriter, HolesAreZerosWithoutAChecksum) {
  const auto holes = [] {
    ArchiveWriter writer;
    writer.add_hole("small", 100);
    writer.add_hole("large", 5 << 20);
    writer.add_hole("empty", 0);
    return writer;
  };
  const std::string file = in_file(holes());
  expect_same(in_memory(holes()), file, "holes");
  const ArchiveReader archive(borrow_memory(as_bytes(file)), {.strict = true});
  EXPECT_EQ(as_text(archive.read(1).bytes), std::string(5 << 20, '\0'));
  EXPECT_EQ(archive.record(1).crc32, 0u);
  EXPECT_EQ(archive.record(0).crc32, 0u);
}

TEST(ArchiveWriter, HolesTakeNoRoomOnTheDisk) {
  const TemporaryFolder folder;
  ArchiveWriter writer;
  writer.add_hole("large", std::uint64_t{1} << 35);
  const auto sink = create_file(folder / "out", {.durability = Durability::none});
  writer.finish(*sink);
  sink->commit();
  const ArchiveReader archive(open_file(folder / "out"), {.strict = true});
  EXPECT_EQ(archive.record(0).size, std::uint64_t{1} << 35);
  struct stat status = {};
  ASSERT_EQ(::stat((folder / "out").c_str(), &status), 0);
  EXPECT_LT(status.st_blocks * 512, 1 << 20);
}

constexpr std::uint64_t kFourGigabytes = std::uint64_t{1} << 32;

/// Sizes and offsets on both sides of what 32 bits hold: nothing of 4 GiB is kept or written.
TEST(ArchiveWriter, NumbersPast32Bits) {
  for (const std::uint64_t size : {kFourGigabytes - 2, kFourGigabytes - 1, kFourGigabytes + 5}) {
    ArchiveWriter writer;
    writer.add("data.pkl", as_bytes("pickle"));
    writer.add_hole("data/0", size);
    writer.add("data/1", as_bytes("after"));
    writer.add("data/2", {});
    writer.add_hole("data/3", size);
    SparseSink sink;
    const std::uint64_t planned = writer.file_size();
    writer.finish(sink);
    EXPECT_EQ(sink.written(), planned - 2 * size);
    const TemporaryFolder folder;
    sink.write_file(folder / "large.pt");
    EXPECT_EQ(fs::file_size(folder / "large.pt"), planned);
    const ArchiveReader archive(open_file(folder / "large.pt"), {.strict = true});
    EXPECT_THAT(archive.inspect_headers(), IsEmpty());
    EXPECT_EQ(archive.record(1).size, size);
    EXPECT_EQ(archive.record(4).size, size);
    EXPECT_EQ(as_text(archive.read(2).bytes), "after");
    for (std::size_t i = 0; i < archive.size(); ++i) EXPECT_EQ(archive.data_offset(i) % 64, 0u);
    // The ZIP64 field stands before the padding, and only where it is needed.
    const std::uint64_t extra =
        archive.record(1).header_offset + 30 + std::strlen("archive/data/0");
    EXPECT_EQ(as_text(archive.source()->view(extra, 2).bytes),
              size < kFourGigabytes - 1 ? "FB"sv : "\1\0"sv);
  }
}

/// The checksum of a large record is joined from those of its parts; a made one has one part.
TEST(ArchiveWriter, ARecordOfMoreThanFourGigabytesIsMade) {
  const std::uint64_t size = kFourGigabytes + 5;
  std::atomic<std::uint64_t> next = 0;
  ArchiveWriter writer;
  writer.add("data/0", size, [&](std::uint64_t offset, MutableBytes out) {
    EXPECT_EQ(offset, next);
    next = offset + out.size();
    // The buffer keeps what the piece before put there; only the first ones, of which the very
    // first is shorter, have to be made.
    if (offset < (4 << 20)) std::memset(out.data(), 0, out.size());
  });
  SparseSink sink;
  writer.finish(sink, {.threads = 2});
  EXPECT_EQ(next, size);
  const TemporaryFolder folder;
  sink.write_file(folder / "large.pt");
  const ArchiveReader archive(open_file(folder / "large.pt"), {.strict = true});
  std::uint32_t crc = 0;
  const std::vector<std::byte> zeros(1 << 20);
  for (int i = 0; i < 4096; ++i) crc = crc32(zeros, crc);
  EXPECT_EQ(archive.record(0).crc32, crc32(Bytes(zeros).first(5), crc));
}

TEST(ArchiveWriter, SeventyThousandRecords) {
  ArchiveWriter writer;
  for (int i = 0; i < 70'000; ++i) writer.add("data/" + std::to_string(i), as_bytes("content"));
  const std::string file = in_file(std::move(writer));
  const ArchiveReader archive(borrow_memory(as_bytes(file)), {.strict = true});
  ASSERT_EQ(archive.size(), 70'001u);
  EXPECT_EQ(archive.find("data/69999"), 69'999u);
  EXPECT_EQ(as_text(archive.read(69'999).bytes), "content");
}

TEST(ArchiveWriter, RefusesNamesThatPyTorchRefuses) {
  ArchiveWriter writer;
  EXPECT_EQ(code_of([&] { writer.add("", {}); }), ErrorCode::usage);
  EXPECT_EQ(code_of([&] { writer.add("/data", {}); }), ErrorCode::usage);
  const std::string long_name(65'535 - std::strlen("archive/"), 'n');
  EXPECT_THAT(message_of([&] { writer.add(long_name + "n", {}); }), HasSubstr("65536 bytes"));
  writer.add(long_name, {});
  writer.add("Data", {});
  writer.add("data", {});
  const std::uint64_t planned = writer.file_size();
  EXPECT_EQ(in_memory(std::move(writer)).size(), planned);
}

TEST(ArchiveWriter, RefusesOneNameForTwoRecords) {
  ArchiveWriter writer;
  writer.add("data/0", {});
  writer.add_hole("data/0", 1);
  std::vector<std::byte> bytes;
  EXPECT_THAT(message_of([&] { writer.finish(*append_to(bytes)); }), HasSubstr("archive/data/0"));
  EXPECT_THAT(bytes, IsEmpty());
}

TEST(ArchiveWriter, RefusesASecondId) {
  EXPECT_EQ(code_of([] { ArchiveWriter().add(kId, {}); }), ErrorCode::usage);
  ArchiveWriter own({.serialization_id = false});
  own.add(kId, as_bytes("own"));
  EXPECT_THAT(in_memory(std::move(own)), HasSubstr("own"));
}

TEST(ArchiveWriter, RefusesFoldersAndAlignmentsThatMakeNoArchive) {
  EXPECT_EQ(code_of([] { ArchiveWriter({.folder = ""}); }), ErrorCode::usage);
  EXPECT_EQ(code_of([] { ArchiveWriter({.folder = "/a"}); }), ErrorCode::usage);
  EXPECT_EQ(code_of([] { ArchiveWriter({.alignment = 0}); }), ErrorCode::usage);
  ArchiveWriter writer({.alignment = 100'000});
  EXPECT_THAT(message_of([&] { writer.add("data.pkl", {}); }), HasSubstr("99950 bytes of padding"));
  EXPECT_EQ(code_of([] { ArchiveWriter().add_hole("a", UINT64_MAX); }), ErrorCode::limit);
}

TEST(ArchiveWriter, TakesTheLargestPaddingThatFits) {
  // The header of "archive/n" takes 43 bytes, and 65,531 bytes are the most that a field holds.
  const std::uint32_t alignment = 43 + 65'531;
  ArchiveWriter writer({.alignment = alignment, .serialization_id = false});
  writer.add("n", as_bytes("content"));
  const std::string file = in_memory(std::move(writer));
  EXPECT_EQ(ArchiveReader(borrow_memory(as_bytes(file))).data_offset(0), alignment);
  ArchiveWriter next({.alignment = alignment + 1});
  EXPECT_EQ(code_of([&] { next.add("n", {}); }), ErrorCode::usage);
}

TEST(ArchiveWriter, TellsItsProgress) {
  const std::vector<std::string> contents = contents_of_all_sizes();
  for (const bool file : {true, false}) {
    std::vector<Progress> told;
    const WriteOptions options{.threads = 2,
                               .progress = [&](const Progress& each) { told.push_back(each); }};
    ArchiveWriter writer = mixed(contents, {});
    writer.add_hole("hole", 1 << 20);
    const std::size_t size = file ? in_file(std::move(writer), options).size()
                                  : in_memory(std::move(writer), options).size();
    ASSERT_FALSE(told.empty());
    for (const Progress& each : told) EXPECT_EQ(each.total, size);
    EXPECT_EQ(told.back().done, size);
    EXPECT_TRUE(std::is_sorted(told.begin(), told.end(), [](const Progress& a, const Progress& b) {
      return a.done < b.done;
    }));
  }
}

TEST(ArchiveWriter, StopsWhenItIsAskedTo) {
  const std::vector<std::string> contents = contents_of_all_sizes();
  for (const bool file : {true, false}) {
    std::stop_source stop;
    const WriteOptions options{.progress = [&](const Progress&) { stop.request_stop(); },
                               .stop = stop.get_token()};
    const auto write = [&] {
      return file ? in_file(mixed(contents, {}), options) : in_memory(mixed(contents, {}), options);
    };
    EXPECT_EQ(code_of(write), ErrorCode::cancelled);
  }
}

TEST(ArchiveWriter, FailsAsTheSinkFails) {
  // A full disk, which every write to that device meets.
  ArchiveWriter writer;
  writer.add("data.pkl", as_bytes("pickle"));
  EXPECT_EQ(code_of([&] { writer.finish(*create_file("/dev/full")); }), ErrorCode::no_space);
}

}  // namespace
}  // namespace flambeau::testing
