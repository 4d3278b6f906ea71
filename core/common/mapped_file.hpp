// A whole file, read-only, in memory: mapped, so that only what is touched is read.
//
// The size is taken once, when opened. A file that somebody cuts short afterwards faults on access,
// as with every mapping: files must be replaced (renamed over), not rewritten in place.
#pragma once

#include <backplane/result.hpp>
#include <cstddef>
#include <span>
#include <string>

namespace backplane {

class MappedFile {
 public:
  // Regular files alone; an empty one is fine. The start is aligned to a page.
  // not_found: no such file. invalid_argument: anything else; names the file and the reason.
  [[nodiscard]] static Result<MappedFile> open(const std::string& path);

  MappedFile() = default;
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  ~MappedFile();

  [[nodiscard]] size_t size() const { return bytes_.size(); }
  // Valid until this object, or the one it was moved to, is destroyed.
  [[nodiscard]] std::span<const std::byte> bytes() const { return bytes_; }

  // How the bytes will be touched next: here and there, so that reading ahead would be in vain, or
  // (as after opening) in order. A hint.
  void expect_scattered(bool scattered) const;

 private:
  explicit MappedFile(std::span<const std::byte> bytes) : bytes_(bytes) {}
  std::span<const std::byte> bytes_;
};

}  // namespace backplane
