// The text form of `ls`: name, dtype, shape and size, with --long all that the JSON row has. Ends
// with a summary that tells what a list of names does not: sharing, and bytes that nothing uses.
#include "listing.h"

#include <fmt/format.h>

#include <unordered_set>

#include "table.h"
#include "terminal.h"
#include "text.h"

namespace flambeau::cli {
namespace {

using Cells = std::vector<std::string>;

// Longer names are cut in text; one of a megabyte would make every row as wide.
constexpr std::size_t kLongestName = 300;

// Numbers stand at the right of their columns, everything else at the left.
std::vector<Column> columns_of(const Arguments& arguments) {
  std::vector<Column> columns = {{"name"}, {"dtype"}, {"shape"}, {"bytes", true}};
  if (arguments.long_form) {
    columns.insert(columns.end(),
                   {{"kind"}, {"strides"}, {"offset", true}, {"storage"}, {"device"}, {"flags"}});
  }
  if (arguments.digest) columns.push_back({"sha256"});
  return columns;
}

// The yes-or-no facts in one column, since most tensors have none of them.
std::string flags_of(const Tensor& tensor) {
  std::string flags;
  const auto add = [&](bool has, std::string_view flag) {
    if (has) flags.append(flags.empty() ? "" : ",").append(flag);
  };
  add(tensor.is_parameter(), "parameter");
  add(tensor.requires_grad(), "grad");
  add(tensor.is_conj(), "conj");
  add(tensor.is_neg(), "neg");
  add(tensor.is_coalesced().value_or(false), "coalesced");
  add(tensor.is_byte_swapped(), "swapped");
  return flags;
}

// "17:4,096": key and size.
std::string storage_of(const Tensor& tensor) {
  const Storage& storage = tensor.storage();
  if (!storage) return "-";
  return fmt::format("{}:{}", escaped(storage.key()), grouped(storage.size()));
}

void add_long_cells(Cells& cells, const Tensor& tensor) {
  const bool has_strides = tensor.strides().size() == tensor.shape().size() && tensor.has_shape();
  cells.emplace_back(to_string(tensor.kind()));
  cells.push_back(has_strides ? to_string(tensor.strides()) : "-");
  cells.push_back(tensor.storage() ? std::to_string(tensor.offset()) : "-");
  cells.push_back(storage_of(tensor));
  cells.push_back(escaped(tensor.device()));
  cells.push_back(flags_of(tensor));
}

Cells cells_of(const Arguments& arguments, std::string_view name, const Tensor& tensor,
               const Digests* digests) {
  Cells cells = {fitted(escaped(name), kLongestName), std::string(to_string(tensor.dtype())),
                 tensor.has_shape() ? to_string(tensor.shape()) : "-", grouped(tensor.nbytes())};
  if (arguments.long_form) add_long_cells(cells, tensor);
  if (digests == nullptr) return cells;
  const auto& digest = digests->of(tensor);
  cells.push_back(digest ? to_string(*digest) : "-");
  return cells;
}

// Calls `use` with the cells of every row, and in the long form with those of the parts.
template <typename Use>
void for_each_row(const Arguments& arguments, const Listing& listing, const Digests* digests,
                  Use use) {
  for (std::size_t row = 0; row < listing.rows.size(); ++row) {
    const auto& [name, tensor] = listing.entry(row);
    const bool is_root = name.empty() && listing.file->path(listing.rows[row]).empty();
    use(cells_of(arguments, is_root ? "(root)" : name, tensor, digests));
    if (!arguments.long_form) continue;
    for (const auto& [part, inner] : tensor.parts()) {
      use(cells_of(arguments, fmt::format("{}.{}", name, part), inner, digests));
    }
  }
}

// `facts` reads local headers, one page for each record; the JSON form, which has no summary, does
// without.
void write_summary(Session& session, const Listing& listing) {
  const Totals totals = totals_of(listing);
  Output& out = session.out;
  out.print("{} ({}), {}, {}, of which {} shared\n", counted(totals.tensors, "tensor"),
            counted(totals.parameters, "parameter"), counted(totals.elements, "element"),
            full_size(totals.bytes), human_size(totals.shared_bytes));
  if (listing.file->first_paths_only()) {
    out.append("shared containers multiply: each is entered at its first path only\n");
  }
  const FileFacts facts = listing.file->facts();
  out.print("{} in the file that no tensor reaches: {}\n",
            counted(facts.unreached_storages, "storage"), full_size(facts.unreached_bytes));
}

}  // namespace

// A storage counts as shared from its second row on, whichever parts of it the rows see.
Totals totals_of(const Listing& listing) {
  Totals totals;
  std::unordered_set<std::uint32_t> storages;
  for (std::size_t row = 0; row < listing.rows.size(); ++row) {
    const Tensor& tensor = listing.entry(row).tensor;
    ++totals.tensors;
    if (tensor.is_parameter()) ++totals.parameters;
    totals.elements += static_cast<std::uint64_t>(tensor.numel());
    totals.bytes += tensor.nbytes();
    const bool is_new = !tensor.storage() || storages.insert(tensor.storage().index()).second;
    if (!is_new) totals.shared_bytes += tensor.nbytes();
  }
  return totals;
}

// Two passes over the rows; see table.cc for why.
void write_table(Session& session, const Listing& listing, const Digests* digests) {
  const Arguments& arguments = session.arguments;
  Table table(columns_of(arguments), terminal::width());
  for_each_row(arguments, listing, digests, [&](const Cells& cells) { table.measure(cells); });
  table.settle();
  if (!listing.rows.empty()) table.write_titles(session.out, terminal::wants_colour());
  for_each_row(arguments, listing, digests,
               [&](const Cells& cells) { table.write_row(session.out, cells); });
  write_summary(session, listing);
}

}  // namespace flambeau::cli
