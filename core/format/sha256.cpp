#include "format/sha256.hpp"

#include <openssl/evp.h>

#include <cstdlib>

namespace backplane {
namespace {

// Fails only for want of memory, or where the system forbids libcrypto its default algorithms: a
// digest that is wrong in silence would be worse than to stop.
void check(int ok) {
  if (ok != 1) std::abort();
}

}  // namespace

struct Sha256::State {
  EVP_MD_CTX* context = EVP_MD_CTX_new();
  State() { check(EVP_DigestInit_ex(context, EVP_sha256(), nullptr)); }
  ~State() { EVP_MD_CTX_free(context); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  State(State&&) = delete;
  State& operator=(State&&) = delete;
};

Sha256::Sha256() : state_(std::make_unique<State>()) {}
Sha256::~Sha256() = default;
Sha256::Sha256(Sha256&&) noexcept = default;
Sha256& Sha256::operator=(Sha256&&) noexcept = default;

void Sha256::update(std::span<const std::byte> bytes) {
  check(EVP_DigestUpdate(state_->context, bytes.data(), bytes.size()));
}

Digest Sha256::finish() {
  Digest digest{};
  check(EVP_DigestFinal_ex(state_->context, digest.data(), nullptr));
  check(EVP_DigestInit_ex(state_->context, EVP_sha256(), nullptr));
  return digest;
}

Digest sha256(std::span<const std::byte> bytes) {
  Sha256 hash;
  hash.update(bytes);
  return hash.finish();
}

std::string to_hex(std::span<const uint8_t> bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  text.reserve(2 * bytes.size());
  for (const uint8_t byte : bytes) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

}  // namespace backplane
