// A file that appears whole or not at all: bytes go to `PATH.new-ID` beside it, which is renamed
// over PATH at the end. Whatever fails, the old file is as it was.
//
// To replace two files that belong together, write and sync both, then commit the one that names
// the other's ID first, then the other; if that last rename fails, keep() it so that the pair stays
// whole.
#pragma once

#include <memory>
#include <string>

#include "format/byte_sink.hpp"

namespace backplane {

class FileSink final : public ByteSink {
 public:
  // Makes the temporary, which must not exist. `id`: letters and digits; empty: a random one.
  // invalid_argument: no such folder, not allowed, …: names the temporary and the system's reason.
  [[nodiscard]] static Result<FileSink> create(std::string path, std::string id = {});

  FileSink(const FileSink&) = delete;
  FileSink& operator=(const FileSink&) = delete;
  FileSink(FileSink&& other) noexcept;
  FileSink& operator=(FileSink&& other) noexcept;
  // Removes the temporary unless it was committed or kept.
  ~FileSink() override;

  [[nodiscard]] Status append(std::span<const std::byte> bytes) override;
  // All that was appended is on the disk under the temporary's name. Nothing may be appended after.
  [[nodiscard]] Status sync();
  // sync(), if that was not done, and takes the place of PATH; the folder is synced too.
  [[nodiscard]] Status commit();
  // Leaves the temporary where it is. After sync().
  void keep();

  [[nodiscard]] const std::string& path() const;
  [[nodiscard]] const std::string& temporary_path() const;

 private:
  struct State;
  explicit FileSink(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace backplane
