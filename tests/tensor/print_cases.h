// Reads print_cases.txt, which make_print_cases.py writes.
#pragma once

#include <charconv>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "tensor/make_tensor.h"

namespace flambeau::testing {

/// "key=value key=value" as a map, after the first `words` words.
class Fields {
 public:
  Fields(const std::string& line, int words) {
    std::istringstream in(line);
    for (std::string word; in >> word;) {
      const auto equals = word.find('=');
      if (words-- > 0) {
        words_.push_back(word);
      } else {
        map_[word.substr(0, equals)] = word.substr(equals + 1);
      }
    }
  }

  const std::string& word(std::size_t index) const { return words_[index]; }
  bool has(const std::string& key) const { return map_.contains(key); }
  std::string text(const std::string& key) const { return map_.contains(key) ? map_.at(key) : ""; }
  std::int64_t integer(const std::string& key) const {
    return has(key) ? std::stoll(map_.at(key)) : 0;
  }
  double real(const std::string& key) const {
    const std::string digits = text(key);
    double value = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), value);
    return value;
  }
  std::vector<std::int64_t> integers(const std::string& key) const {
    std::vector<std::int64_t> list;
    std::istringstream in(text(key));
    for (std::string item; std::getline(in, item, ',');) {
      if (item != "-") list.push_back(std::stoll(item));
    }
    return list;
  }
  std::vector<std::byte> bytes(const std::string& key) const {
    std::vector<std::byte> list;
    const std::string hex = text(key);
    for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
      list.push_back(static_cast<std::byte>(std::stoi(hex.substr(i, 2), nullptr, 16)));
    }
    return list;
  }

 private:
  std::vector<std::string> words_;
  std::map<std::string, std::string> map_;
};

struct PrintCase {
  std::string header;
  Tensor tensor;
  PrintOptions options;
  std::string expected;
};

inline Tensor strided_of(const Fields& fields) {
  TensorRecord record = record_of(*parse_dtype(fields.text("dtype")), fields.integers("shape"),
                                  fields.integers("stride"), fields.integer("offset"),
                                  storage_of(Bytes(fields.bytes("bytes"))));
  record.is_conj = fields.has("conj");
  record.is_neg = fields.has("neg");
  record.requires_grad = fields.has("grad");
  record.is_parameter = fields.has("parameter");
  return tensor_of(std::move(record));
}

inline TensorKind kind_named(const std::string& name) {
  for (int kind = 0; kind <= static_cast<int>(TensorKind::subclass); ++kind) {
    if (to_string(static_cast<TensorKind>(kind)) == name) return static_cast<TensorKind>(kind);
  }
  return TensorKind::strided;
}

inline Tensor tensor_of(const Fields& fields, std::vector<std::pair<std::string, Tensor>> parts) {
  const TensorKind kind = kind_named(fields.word(1));
  const Tensor plain = strided_of(fields);
  if (kind == TensorKind::strided) return plain;
  if (kind == TensorKind::quantized) {
    Quantizer quantizer{fields.text("scheme"), fields.real("scale"), fields.integer("zero_point"),
                        std::nullopt};
    if (fields.has("axis")) quantizer.axis = fields.integer("axis");
    return quantized_of(plain, quantizer, std::move(parts));
  }
  TensorRecord record = plain.record();
  record.kind = kind;
  record.has_shape = kind != TensorKind::nested;
  record.storage = {};
  const auto extension = std::make_shared<TensorExtension>();
  extension->parts = std::move(parts);
  record.extension = extension;
  return tensor_of(std::move(record));
}

inline PrintOptions options_of(const Fields& fields) {
  PrintOptions options;
  if (fields.has("precision")) options.precision = static_cast<int>(fields.integer("precision"));
  if (fields.has("threshold")) options.threshold = fields.integer("threshold");
  if (fields.has("edge")) options.edge_items = fields.integer("edge");
  if (fields.has("width")) options.line_width = static_cast<int>(fields.integer("width"));
  if (fields.has("scientific")) options.scientific = fields.integer("scientific") != 0;
  return options;
}

inline std::vector<PrintCase> read_print_cases(const std::string& path) {
  std::vector<PrintCase> cases;
  std::ifstream in(path);
  std::string header;
  std::vector<std::pair<std::string, Tensor>> parts;
  PrintOptions options;
  std::string expected;
  for (std::string line; std::getline(in, line) || !header.empty();) {
    if (line.empty() && !header.empty()) {
      cases.push_back({header, tensor_of(Fields(header, 2), parts), options, expected});
      header.clear();
      parts.clear();
      options = {};
      expected.clear();
    } else if (line.starts_with("= ")) {
      header = line;
    } else if (line.starts_with("+ ")) {
      const Fields fields(line, 2);
      parts.emplace_back(fields.word(1), strided_of(fields));
    } else if (line.starts_with(": ")) {
      options = options_of(Fields(line, 1));
    } else if (line.starts_with("|")) {
      expected += (expected.empty() ? "" : "\n") + line.substr(1);
    }
  }
  return cases;
}

}  // namespace flambeau::testing
