#include "common/mapped_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <limits>
#include <system_error>
#include <utility>

namespace backplane {
namespace {

Error error_of(const std::string& path, int number) {
  const Code code = number == ENOENT ? Code::not_found : Code::invalid_argument;
  return {code, path + ": " + std::generic_category().message(number)};
}

Result<std::span<const std::byte>> map(const std::string& path, int descriptor) {
  struct stat status {};
  if (::fstat(descriptor, &status) != 0) return error_of(path, errno);
  if (S_ISDIR(status.st_mode)) return error_of(path, EISDIR);
  if (!S_ISREG(status.st_mode)) {
    return Error{Code::invalid_argument, path + ": not a regular file, so it can't be mapped"};
  }
  if (status.st_size == 0) return std::span<const std::byte>{};
  if (static_cast<uint64_t>(status.st_size) > std::numeric_limits<size_t>::max()) {
    return error_of(path, EFBIG);
  }
  const auto size = static_cast<size_t>(status.st_size);
  void* start = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
  if (start == MAP_FAILED) return error_of(path, errno);
  return std::span(static_cast<const std::byte*>(start), size);
}

}  // namespace

Result<MappedFile> MappedFile::open(const std::string& path) {
  // Not blocking: opening a pipe that nobody writes would wait for ever.
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) return error_of(path, errno);
  auto bytes = map(path, descriptor);
  ::close(descriptor);
  if (!bytes.ok()) return std::move(bytes).error();
  return MappedFile(*bytes);
}

MappedFile::MappedFile(MappedFile&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(bytes_, other.bytes_);
  return *this;
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

void MappedFile::expect_scattered(bool scattered) const {
  if (bytes_.empty()) return;
  ::madvise(const_cast<std::byte*>(bytes_.data()), bytes_.size(),
            scattered ? MADV_RANDOM : MADV_NORMAL);
}

}  // namespace backplane
