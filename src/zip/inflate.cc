// libdeflate inflates a whole buffer at once and never writes past the size it is given. Both sizes
// must come out as declared: a stream that ends early would leave bytes of `out` undefined, and
// bytes after its end would be data that no reader shows.
#include "zip/inflate.h"

#include <libdeflate.h>

#include <memory>

namespace flambeau::zip {

void inflate(Bytes stored, MutableBytes out, Place place) {
  const auto free = [](libdeflate_decompressor* d) { libdeflate_free_decompressor(d); };
  const std::unique_ptr<libdeflate_decompressor, decltype(free)> decompressor(
      libdeflate_alloc_decompressor(), free);
  if (!decompressor) fail(ErrorCode::limit, place, "no memory for inflating");
  std::size_t consumed = 0;
  std::size_t produced = 0;
  const libdeflate_result result =
      libdeflate_deflate_decompress_ex(decompressor.get(), stored.data(), stored.size(), out.data(),
                                       out.size(), &consumed, &produced);
  if (result == LIBDEFLATE_INSUFFICIENT_SPACE) {
    fail(ErrorCode::malformed_zip, place, "inflates to more than the declared {} bytes",
         out.size());
  }
  if (result != LIBDEFLATE_SUCCESS) {
    fail(ErrorCode::malformed_zip, place, "the deflated data is broken");
  }
  if (produced != out.size()) {
    fail(ErrorCode::malformed_zip, place, "inflates to {} bytes, {} are declared", produced,
         out.size());
  }
  if (consumed != stored.size()) {
    fail(ErrorCode::malformed_zip, place, "the deflated data ends after {} of its {} bytes",
         consumed, stored.size());
  }
}

}  // namespace flambeau::zip
