// The elements of a tensor as the texts of a table: one width for all, each appended on demand.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "flambeau/tensor.h"

namespace flambeau {

class Cells {
 public:
  virtual ~Cells() = default;
  Cells() = default;
  Cells(const Cells&) = delete;
  Cells& operator=(const Cells&) = delete;

  /// Columns that one cell takes, as PyTorch reckons when it breaks lines.
  virtual std::size_t width() const noexcept = 0;
  /// Appends element `index`, counted in row-major order.
  virtual void append(std::string& out, std::size_t index) const = 0;
};

/// The cells of all elements. Types without numbers show their bytes as integers. Errors: as
/// `Tensor::copy_to`.
std::unique_ptr<Cells> make_cells(const Tensor& tensor, const PrintOptions& options);

}  // namespace flambeau
