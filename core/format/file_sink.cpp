#include "format/file_sink.hpp"

#include <fcntl.h>
#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <vector>

#include "format/sha256.hpp"

namespace backplane {
namespace {

constexpr size_t kBufferBytes = size_t{1} << 16;  // small pieces are gathered
constexpr size_t kMostAtOnce = size_t{1} << 30;   // of one write, which the system limits too

Error failed(const std::string& path, const char* what, int number) {
  return {Code::invalid_argument,
          path + ": can't " + what + ": " + std::generic_category().message(number)};
}

Status write_all(int descriptor, const std::string& path, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor, bytes.data(), std::min(bytes.size(), kMostAtOnce));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return failed(path, "write", errno);
    bytes = bytes.subspan(static_cast<size_t>(written));
  }
  return Ok{};
}

Result<std::string> random_id() {
  std::array<uint8_t, 8> bytes{};
  if (::getrandom(bytes.data(), bytes.size(), 0) != ssize_t{bytes.size()}) {
    return failed("random numbers", "read", errno);
  }
  return to_hex(bytes);
}

// Makes the renaming last. Some file systems can't sync folders: there it is up to them.
Status sync_folder(const std::string& path) {
  const size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return failed(folder, "open", errno);
  const int number = ::fsync(descriptor) == 0 ? 0 : errno;
  ::close(descriptor);
  if (number == 0 || number == EINVAL || number == ENOTSUP) return Ok{};
  return failed(folder, "sync", number);
}

}  // namespace

struct FileSink::State {
  std::string path;
  std::string temporary;
  int descriptor = -1;
  bool remove = false;  // the temporary is ours
  std::vector<std::byte> buffer;

  State() = default;
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  State(State&&) = delete;
  State& operator=(State&&) = delete;
  ~State() {
    if (descriptor >= 0) ::close(descriptor);
    if (remove) ::unlink(temporary.c_str());
  }

  Status flush() {
    BP_TRY(write_all(descriptor, temporary, buffer));
    buffer.clear();
    return Ok{};
  }
};

Result<FileSink> FileSink::create(std::string path, std::string id) {
  if (id.empty()) {
    BP_ASSIGN_OR_RETURN(id, random_id());
  }
  auto state = std::make_unique<State>();
  state->temporary = path + ".new-" + id;
  state->path = std::move(path);
  state->descriptor =
      ::open(state->temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
  if (state->descriptor < 0) return failed(state->temporary, "create", errno);
  state->remove = true;
  state->buffer.reserve(kBufferBytes);
  return FileSink(std::move(state));
}

FileSink::FileSink(std::unique_ptr<State> state) : state_(std::move(state)) {}
FileSink::FileSink(FileSink&&) noexcept = default;
FileSink& FileSink::operator=(FileSink&&) noexcept = default;
FileSink::~FileSink() = default;

Status FileSink::append(std::span<const std::byte> bytes) {
  assert(state_->descriptor >= 0);
  auto& buffer = state_->buffer;
  if (buffer.size() + bytes.size() > kBufferBytes) BP_TRY(state_->flush());
  if (bytes.size() > kBufferBytes) return write_all(state_->descriptor, state_->temporary, bytes);
  buffer.insert(buffer.end(), bytes.begin(), bytes.end());
  return Ok{};
}

Status FileSink::sync() {
  if (state_->descriptor < 0) return Ok{};
  BP_TRY(state_->flush());
  if (::fsync(state_->descriptor) != 0) return failed(state_->temporary, "sync", errno);
  const int closed = ::close(std::exchange(state_->descriptor, -1));
  if (closed != 0) return failed(state_->temporary, "close", errno);
  return Ok{};
}

Status FileSink::commit() {
  BP_TRY(sync());
  if (::rename(state_->temporary.c_str(), state_->path.c_str()) != 0) {
    return failed(state_->path, ("replace by " + state_->temporary).c_str(), errno);
  }
  state_->remove = false;
  return sync_folder(state_->path);
}

void FileSink::keep() {
  assert(state_->descriptor < 0);
  state_->remove = false;
}

const std::string& FileSink::path() const {
  return state_->path;
}
const std::string& FileSink::temporary_path() const {
  return state_->temporary;
}

}  // namespace backplane
