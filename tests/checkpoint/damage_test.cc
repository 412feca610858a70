// A small checkpoint cut at every byte, and with every byte changed: a typed error or a right
// answer, and never bytes of a storage that differ unnoticed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <random>

#include "flambeau/save.h"
#include "support/checkpoint_builder.h"
#include "support/errors.h"

namespace flambeau::testing {
namespace {

CheckpointBuilder small() {
  return CheckpointBuilder(
             py::dict({{py::text("w"), py::tensor({.size = {2, 2}, .stride = {2, 1}})},
                       {py::text("b"), py::tensor({.storage = {.key = "1"}})},
                       {py::text("epoch"), py::integer(7)}}))
      .byteorder("little")
      .storage("0", std::vector<float>{1, 2, 3, 4})
      .storage("1", std::vector<float>{5, 6, 7, 8});
}

/// All that a listing says: name, dtype, shape and elements of each tensor; or the error's code.
std::string outcome(const std::string& bytes) {
  try {
    const Checkpoint checkpoint = Checkpoint::open(BuiltZip::memory_source(bytes));
    std::string rows;
    for (const NamedTensor& each : checkpoint.tensors()) {
      rows += std::string(each.name) + " " + to_string(each.tensor.shape()) + " " +
              to_string(sha256(each.tensor)) + "\n";
    }
    return rows;
  } catch (const Error& error) {
    return "error " + std::string(to_string(error.code()));
  }
}

TEST(Damage, EveryTruncationIsAnError) {
  const std::string bytes = small().zip().bytes;
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const std::string result = outcome(bytes.substr(0, size));
    EXPECT_TRUE(result.starts_with("error ")) << size << ": " << result;
  }
}

/// Which bytes may change a row without an error: none in the records, whose checksums are checked;
/// in the directory and the headers only such as give a clear error or leave the rows alone.
void expect_error_or_same(const BuiltZip& zip, std::uint8_t change) {
  const std::string good = outcome(zip.bytes);
  ASSERT_FALSE(good.starts_with("error"));
  for (std::size_t at = 0; at < zip.bytes.size(); ++at) {
    std::string bytes = zip.bytes;
    bytes[at] = static_cast<char>(static_cast<std::uint8_t>(bytes[at]) ^ change);
    const std::string result = outcome(bytes);
    EXPECT_TRUE(result == good || result.starts_with("error ")) << at << ": " << result;
  }
}

TEST(Damage, EveryChangedByteIsAnErrorOrChangesNoRow) {
  for (const std::uint8_t change : std::initializer_list<std::uint8_t>{1, 0x20, 0x80, 0xff}) {
    expect_error_or_same(small().zip(), change);
  }
}

TEST(Damage, DeflatedToo) { expect_error_or_same(small().deflated().zip(), 0x01); }

TEST(Damage, ChangedStoragesAreFoundByDigestsAndCopies) {
  const BuiltZip zip = small().zip();
  const std::size_t begin = zip.records[2].data;
  for (std::size_t at = begin; at < begin + 16; ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      BuiltZip damaged = zip;
      damaged.bytes[at] = static_cast<char>(damaged.bytes[at] ^ (1 << bit));
      const Checkpoint checkpoint = Checkpoint::open(damaged.source());
      const Tensor& tensor = checkpoint.tensor("w");
      std::byte out[16];
      EXPECT_EQ(code_of([&] { sha256(tensor); }), ErrorCode::checksum);
      EXPECT_EQ(code_of([&] { tensor.copy_to(out); }), ErrorCode::checksum);
      EXPECT_EQ(code_of([&] { to_string(tensor); }), ErrorCode::checksum);
      EXPECT_EQ(code_of([&] { read_tensors(std::vector<Tensor>{tensor}); }), ErrorCode::checksum);
      EXPECT_EQ(checkpoint.tensor("b").to<float>()[0], 5.0f) << "the other storage is sound";
    }
  }
}

/// A changed pickle is found by its checksum; without that, by what it says.
TEST(Damage, ChangedPicklesAreNeverFatal) {
  const BuiltZip zip = small().zip();
  const std::size_t begin = zip.records[0].data;
  const std::size_t end = zip.records[0].descriptor;
  for (std::size_t at = begin; at < end; ++at) {
    for (const int change : {0x01, 0x04, 0x80, 0xff}) {
      BuiltZip damaged = zip;
      damaged.bytes[at] = static_cast<char>(damaged.bytes[at] ^ change);
      EXPECT_EQ(outcome(damaged.bytes), "error checksum");
      try {
        const Checkpoint checkpoint = Checkpoint::open(damaged.source(), {.verify = false});
        for (const NamedTensor& each : checkpoint.tensors()) each.tensor.nbytes();
        walk(checkpoint.root());
        checkpoint.facts();
      } catch (const Error& error) {
        EXPECT_NE(to_string(error.code()), "");
      }
    }
  }
}

// ---- every kind of file

std::string carried(const std::string& name) {
  std::ifstream file(std::string(FLAMBEAU_TEST_DATA) + "/2.15.0/" + name, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// A module of libtorch's pickler: a typed list, constants of its own.
std::string script() {
  const py::Code list = py::call("torch.jit._pickle.build_tensorlist",
                                 {py::list({py::tensor({.size = {2}, .stride = {1}})})});
  return CheckpointBuilder(py::global("__torch__.Module") + ")\x81" +
                           py::dict({{py::text("weights"), list}}) + "b")
      .storage("0", std::vector<float>{1, 2, 3, 4})
      .record("constants.pkl", py::dump(py::tuple({py::tensor({.size = {1}, .stride = {1}})})))
      .record("constants/0", std::string(16, '\1'))
      .zip()
      .bytes;
}

std::string safetensors() {
  const std::string header = R"({"a":{"dtype":"F32","shape":[2,1],"data_offsets":[0,8]},)"
                             R"("b":{"dtype":"U8","shape":[3],"data_offsets":[8,11]}})";
  return py::little(header.size(), 8) + header + std::string(11, '\1');
}

std::string exported() {
  const std::string config =
      R"({"config":{"a":{"path_name":"weight_0","is_param":true,"use_pickle":false,)"
      R"("tensor_meta":{"dtype":7,"sizes":[{"as_int":2},{"as_int":1}],"requires_grad":true,)"
      R"("device":{"type":"cpu","index":null},"strides":[{"as_int":1},{"as_int":2}],)"
      R"("storage_offset":{"as_int":1},"layout":7}},)"
      R"("o":{"path_name":"weight_1","is_param":false,"use_pickle":true,"tensor_meta":null}}})";
  return build_zip({{.name = "p/archive_format", .content = "pt2"},
                    {.name = "p/data/weights/model_weights_config.json", .content = config},
                    {.name = "p/data/weights/weight_0", .content = std::string(12, '\1')}})
      .bytes;
}

/// Opens a file and asks it for everything; the error's code, or nothing.
std::optional<ErrorCode> examine(const std::string& bytes) {
  try {
    const Checkpoint file = Checkpoint::open(BuiltZip::memory_source(bytes));
    for (std::size_t i = 0; i < file.tensors().size(); ++i) {
      file.path(i);
      const Tensor& tensor = file.tensors()[i].tensor;
      if (tensor.parts().empty() && tensor.nbytes() < 1 << 20) sha256(tensor);
    }
    walk(file.root());
    file.facts();
    const bool is_saved =
        file.container() == Container::zip || file.container() == Container::legacy;
    std::vector<std::byte> again;
    if (is_saved) save(*append_to(again), file);
  } catch (const Error& error) {
    return error.code();
  }
  return std::nullopt;
}

class EveryKind : public ::testing::TestWithParam<const char*> {
 protected:
  std::string sound() const {
    const std::string_view name = GetParam();
    if (name == "script") return script();
    if (name == "safetensors") return safetensors();
    return name == "exported" ? exported() : carried(GetParam());
  }
};

TEST_P(EveryKind, IsReadWhenItIsSound) { EXPECT_EQ(examine(sound()), std::nullopt); }

TEST_P(EveryKind, EveryTruncationIsAnError) {
  const std::string bytes = sound();
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_NE(examine(bytes.substr(0, size)), std::nullopt) << size;
  }
}

/// Up to four bytes at a time. Whatever comes of it is an answer or a typed error.
TEST_P(EveryKind, TenThousandChangesAreSurvived) {
  const std::string good = sound();
  std::mt19937 random(1);
  std::size_t errors = 0;
  for (int round = 0; round < 10'000; ++round) {
    std::string bytes = good;
    for (int i = static_cast<int>(random() % 4); i >= 0; --i) {
      char& byte = bytes[random() % bytes.size()];
      byte = random() % 2 == 0 ? static_cast<char>(random() & 0xff)
                               : static_cast<char>(byte ^ (1 << random() % 8));
    }
    if (examine(bytes)) ++errors;
  }
  EXPECT_GT(errors, 100u);
}

INSTANTIATE_TEST_SUITE_P(Damage, EveryKind,
                         ::testing::Values("views.pt", "views.legacy.pt", "quantized.legacy.pt",
                                           "script", "safetensors", "exported"),
                         [](const auto& kind) {
                           std::string name = kind.param;
                           std::replace(name.begin(), name.end(), '.', '_');
                           return name;
                         });

}  // namespace
}  // namespace flambeau::testing
