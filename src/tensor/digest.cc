// SHA-256 (FIPS 180-4) by OpenSSL, which uses the processor's own instructions for it. Contiguous
// elements are hashed where they lie; all others pass through a buffer of 1 MiB, so that no
// tensor is copied whole.
#include <fmt/format.h>
#include <openssl/evp.h>

#include <algorithm>
#include <memory>

#include "tensor/elements.h"
#include "tensor/record.h"

namespace flambeau {
namespace {

constexpr std::size_t kPieceSize = std::size_t{1} << 20;

struct FreeContext {
  void operator()(EVP_MD_CTX* context) const noexcept { EVP_MD_CTX_free(context); }
};

/// Fetched once, since every fetch searches OpenSSL's providers, and in a context of its own: the
/// default one has the providers that openssl.cnf names (config(5)), which may leave SHA-256 out.
const EVP_MD* sha256_algorithm() {
  static const EVP_MD* const kAlgorithm = EVP_MD_fetch(OSSL_LIB_CTX_new(), "SHA256", nullptr);
  return kAlgorithm;
}

}  // namespace

Sha256 sha256(const Tensor& tensor) {
  ElementStream stream(tensor, std::endian::little);
  const std::unique_ptr<EVP_MD_CTX, FreeContext> context(EVP_MD_CTX_new());
  bool done = context && EVP_DigestInit_ex2(context.get(), sha256_algorithm(), nullptr) == 1;
  std::vector<std::byte> scratch(std::min(kPieceSize, stream.remaining()));
  for (Bytes piece = stream.next(scratch); done && !piece.empty(); piece = stream.next(scratch)) {
    done = EVP_DigestUpdate(context.get(), piece.data(), piece.size()) == 1;
  }
  unsigned char digest[EVP_MAX_MD_SIZE];
  if (!done || EVP_DigestFinal_ex(context.get(), digest, nullptr) != 1) {
    fail(ErrorCode::unsupported, {}, "OpenSSL has no SHA-256 here");
  }
  Sha256 result;
  std::transform(digest, digest + result.size(), result.begin(),
                 [](unsigned char c) { return std::byte{c}; });
  return result;
}

std::string to_string(const Sha256& digest) {
  std::string text;
  for (const std::byte b : digest) text += fmt::format("{:02x}", std::to_integer<unsigned>(b));
  return text;
}

}  // namespace flambeau
