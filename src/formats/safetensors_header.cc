#include "formats/safetensors_header.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

#include "base/bytes.h"
#include "base/checked.h"
#include "base/endian.h"
#include "base/fail.h"
#include "flambeau/safetensors.h"
#include "json/reader.h"
#include "tensor/record.h"

namespace flambeau {
namespace {

constexpr std::string_view kMetadata = "__metadata__";
/// safetensors/src/tensor.rs, MAX_HEADER_SIZE.
constexpr std::uint64_t kLongestHeader = 100'000'000;
constexpr std::string_view kWhere = "header";

struct TypeRow {
  std::string_view name;
  DType dtype;
};
/// In the order of tensors in a file: that of `enum Dtype`, from its end.
constexpr std::array kTypes = {
    TypeRow{"U64", DType::u64},
    TypeRow{"I64", DType::i64},
    TypeRow{"F64", DType::f64},
    TypeRow{"C64", DType::c64},
    TypeRow{"F32", DType::f32},
    TypeRow{"U32", DType::u32},
    TypeRow{"I32", DType::i32},
    TypeRow{"BF16", DType::bf16},
    TypeRow{"F16", DType::f16},
    TypeRow{"U16", DType::u16},
    TypeRow{"I16", DType::i16},
    TypeRow{"F8_E5M2FNUZ", DType::f8_e5m2fnuz},
    TypeRow{"F8_E4M3FNUZ", DType::f8_e4m3fnuz},
    TypeRow{"F8_E8M0", DType::f8_e8m0fnu},
    TypeRow{"F8_E4M3", DType::f8_e4m3fn},
    TypeRow{"F8_E5M2", DType::f8_e5m2},
    TypeRow{"I8", DType::i8},
    TypeRow{"U8", DType::u8},
    TypeRow{"F4", DType::f4_e2m1fn_x2},
    TypeRow{"BOOL", DType::boolean},
};

template <typename... Args>
[[noreturn]] void refuse(fmt::format_string<Args...> format, Args&&... args) {
  fail(ErrorCode::malformed_tensor, {kWhere}, format, std::forward<Args>(args)...);
}

/// Fills the header from the events; anything out of place is refused.
class HeaderEvents final : public JsonEvents {
 public:
  HeaderEvents(SafetensorsHeader& header, const Limits& limits)
      : header_(header), limits_(limits) {}

  void begin_object() override {
    if (depth_ == 2 || in_array_) refuse("an object within {}", name_);
    ++depth_;
    fields_ = 0;
  }
  void end_object() override {
    if (depth_ == 2 && !is_metadata()) finish_entry();
    --depth_;
  }
  void begin_array() override {
    const bool wanted = depth_ == 2 && !is_metadata() && !in_array_ &&
                        (field_ == "shape" || field_ == "data_offsets");
    if (!wanted) refuse("a list where none belongs");
    in_array_ = true;
    numbers_.clear();
  }
  void end_array() override {
    in_array_ = false;
    if (field_ == "shape") {
      shape_ = numbers_;
      return;
    }
    if (numbers_.size() != 2) refuse("{}: data_offsets are two numbers", name_);
    entry_.begin = numbers_[0];
    entry_.end = numbers_[1];
  }
  void key(std::string_view key) override {
    if (depth_ == 1) {
      name_ = key;
      if (!names_.insert(name_).second) refuse("the name {} comes twice", name_);
      entry_ = {};
      return;
    }
    field_ = key;
    if (!is_metadata()) count_field();
  }
  void text(std::string_view text) override {
    if (depth_ == 2 && is_metadata()) {
      header_.metadata.emplace_back(field_, text);
    } else if (depth_ == 2 && field_ == "dtype" && !in_array_) {
      set_type(text);
    } else {
      refuse("{}: a text where none belongs", name_);
    }
  }
  void unsigned_number(std::uint64_t number) override {
    if (!in_array_) refuse("{}: a number where none belongs", name_);
    if (field_ == "shape" && numbers_.size() >= limits_.max_dimensions) {
      fail(ErrorCode::limit, {kWhere}, "{} has more than {} dimensions", name_,
           limits_.max_dimensions);
    }
    numbers_.push_back(number);
  }
  void other() override { refuse("{}: neither a text nor a size", name_); }

 private:
  bool is_metadata() const { return name_ == kMetadata; }
  void count_field() {
    const std::string_view known[] = {"dtype", "shape", "data_offsets"};
    const auto* at = std::find(std::begin(known), std::end(known), field_);
    if (at == std::end(known)) refuse("{}: an unknown field {}", name_, field_);
    const unsigned bit = 1u << (at - std::begin(known));
    if ((fields_ & bit) != 0) refuse("{}: {} comes twice", name_, field_);
    fields_ |= bit;
  }
  void set_type(std::string_view name) {
    const auto* row = std::find_if(kTypes.begin(), kTypes.end(),
                                   [&](const TypeRow& each) { return each.name == name; });
    if (row == kTypes.end()) {
      fail(ErrorCode::unsupported, {kWhere}, "{} has the unknown dtype {}", name_, name);
    }
    entry_.dtype = row->dtype;
  }
  void finish_entry() {
    if (fields_ != 7) refuse("{} lacks dtype, shape or data_offsets", name_);
    if (entry_.dtype == DType::f4_e2m1fn_x2) {
      if (shape_.empty() || shape_.back() % 2 != 0) refuse("{}: float4 come in pairs", name_);
      shape_.back() /= 2;
    }
    for (const std::uint64_t size : shape_) {
      if (size > INT64_MAX) refuse("{}: a size of {}", name_, size);
      entry_.shape.push_back(static_cast<std::int64_t>(size));
    }
    const auto numel = checked_product(entry_.shape);
    const auto bytes = numel ? checked_mul<std::uint64_t>(static_cast<std::uint64_t>(*numel),
                                                          item_size(entry_.dtype))
                             : std::nullopt;
    if (!bytes || entry_.end < entry_.begin || entry_.end - entry_.begin != *bytes) {
      refuse("{}: the bytes {} to {} are not those of shape and dtype", name_, entry_.begin,
             entry_.end);
    }
    entry_.name = name_;
    header_.entries.push_back(std::move(entry_));
  }

  SafetensorsHeader& header_;
  const Limits& limits_;
  std::set<std::string, std::less<>> names_;
  std::string name_;
  std::string field_;
  SafetensorsEntry entry_;
  std::vector<std::uint64_t> numbers_;
  std::vector<std::uint64_t> shape_;
  int depth_ = 0;
  unsigned fields_ = 0;
  bool in_array_ = false;
};

/// Each tensor begins where the one before it ends, and the last one ends with the file.
void check_layout(const SafetensorsHeader& header, std::uint64_t file_size) {
  std::uint64_t at = 0;
  for (const SafetensorsEntry& entry : header.entries) {
    if (entry.begin != at) {
      refuse("{} begins at byte {} of the data, {} is free", entry.name, entry.begin, at);
    }
    at = entry.end;
  }
  const std::uint64_t size = file_size - header.data_offset;
  if (at > size) {
    fail(ErrorCode::truncated, {}, "{} bytes of data, the header speaks of {}", size, at);
  }
  if (at < size) refuse("{} bytes follow the last tensor", size - at);
}

/// As serde_json escapes.
void append_json(std::string& out, std::string_view text) {
  out += '"';
  for (const char c : text) {
    switch (c) {
      case '"': out += "\\\""; break;
      case '\\': out += "\\\\"; break;
      case '\b': out += "\\b"; break;
      case '\f': out += "\\f"; break;
      case '\n': out += "\\n"; break;
      case '\r': out += "\\r"; break;
      case '\t': out += "\\t"; break;
      default:
        if (static_cast<unsigned char>(c) < 0x20) {
          out += fmt::format("\\u{:04x}", static_cast<unsigned char>(c));
        } else {
          out += c;
        }
    }
  }
  out += '"';
}

void append_entry(std::string& out, const SafetensorsEntry& entry) {
  std::vector<std::int64_t> shape = entry.shape;
  if (entry.dtype == DType::f4_e2m1fn_x2 && !shape.empty()) shape.back() *= 2;
  append_json(out, entry.name);
  fmt::format_to(std::back_inserter(out), ":{{\"dtype\":\"{}\",\"shape\":[{}],",  //
                 safetensors_name(entry.dtype), fmt::join(shape, ","));
  fmt::format_to(std::back_inserter(out), "\"data_offsets\":[{},{}]}}", entry.begin, entry.end);
}

}  // namespace

std::string_view safetensors_name(DType dtype) noexcept {
  const std::size_t rank = safetensors_rank(dtype);
  return rank == kTypes.size() ? std::string_view() : kTypes[rank].name;
}

std::size_t safetensors_rank(DType dtype) noexcept {
  const auto* row = std::find_if(kTypes.begin(), kTypes.end(),
                                 [&](const TypeRow& each) { return each.dtype == dtype; });
  return static_cast<std::size_t>(row - kTypes.begin());
}

SafetensorsHeader read_safetensors_header(const Source& source, const Limits& limits) {
  std::byte word[sizeof(std::uint64_t)];
  source.read(0, word);
  const auto size = load_le<std::uint64_t>(word);
  if (size > kLongestHeader) {
    fail(ErrorCode::limit, {kWhere}, "{} bytes, at most {} are allowed", size, kLongestHeader);
  }
  const Block block = source.view(sizeof word, size);
  SafetensorsHeader header;
  header.data_offset = sizeof word + size;
  HeaderEvents events(header, limits);
  const std::string_view text = as_text(block.bytes);
  if (!text.starts_with('{')) {
    fail(ErrorCode::malformed_json, {kWhere, std::uint64_t{0}}, "a header begins with a brace");
  }
  read_json(text, events, kWhere);
  std::stable_sort(header.entries.begin(), header.entries.end(),
                   [](const SafetensorsEntry& a, const SafetensorsEntry& b) {
                     return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
                   });
  check_layout(header, source.size());
  return header;
}

std::string safetensors_header_text(
    const std::vector<SafetensorsEntry>& entries,
    const std::vector<std::pair<std::string, std::string>>& metadata) {
  std::string text = "{";
  if (!metadata.empty()) {
    append_json(text, kMetadata);
    text += ":{";
    for (const auto& [key, value] : metadata) {
      if (text.back() != '{') text += ',';
      append_json(text, key);
      text += ':';
      append_json(text, value);
    }
    text += '}';
  }
  for (const SafetensorsEntry& entry : entries) {
    if (text.back() != '{') text += ',';
    append_entry(text, entry);
  }
  text += '}';
  constexpr std::size_t kAlignment = 8;
  text.resize((text.size() + kAlignment - 1) / kAlignment * kAlignment, ' ');
  return text;
}

}  // namespace flambeau
