// Damaged files: whatever is cut off or changed, reading gives a program or an error, nothing else.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <random>

#include "reader/archive.hpp"
#include "reader/pt2.hpp"
#include "reader/torch_save.hpp"
#include "sample_program.hpp"

using namespace backplane;
using namespace backplane::testing;

namespace {

// In a block of just its size, so that a sanitizer sees the smallest step over its end.
struct Block {
  explicit Block(std::string_view text) : size(text.size()), data(new std::byte[text.size()]) {
    if (!text.empty()) std::memcpy(data.get(), text.data(), text.size());
  }
  size_t size;
  std::unique_ptr<std::byte[]> data;
};

// Whether it is read; then everything in it is looked at.
bool read_all(std::string_view file) {
  const Block block(file);
  auto module = read_pt2(std::span<const std::byte>(block.data.get(), block.size));
  if (!module.ok()) {
    CHECK(module.error().message.find('\n') == std::string::npos);
    CHECK(module.error().code != Code::internal);
    return false;
  }
  const Status good = verify(*module);
  CHECK_MESSAGE(good.ok(), good.error().message);
  (void)refuse_unknown(*module);
  for (const Constant& constant : module->constants) {
    CHECK(dense_bytes(constant, module->buffers).size() == constant.nbytes());
  }
  return true;
}

// The same file without checksums, so that changes get past them; all but those of files within it.
std::string without_checksums(const std::string& file) {
  auto archive = Archive::open(bytes_of(file));
  REQUIRE(archive.ok());
  std::vector<ZipEntry> entries;
  Buffers buffers;
  for (const ArchiveEntry& entry : archive->entries()) {
    entries.push_back({.name = std::string(entry.name),
                       .data = std::string(text_of(*archive->read(entry, buffers))),
                       .claimed_crc = 0,
                       .alignment = 64});
  }
  return make_zip(entries, true);
}

constexpr const char* kFiles[] = {"weights",  "weights_saved", "weights_flat", "sizes",
                                  "branches", "state",         "literals"};

}  // namespace

TEST_SUITE("core/reader/damage") {
  TEST_CASE("a file that is cut short anywhere is refused") {
    const std::string file = SampleProgram().file();
    REQUIRE(read_all(file));
    size_t num_read = 0;
    for (size_t size = 0; size < file.size(); ++size) {
      num_read += read_all(std::string_view(file).substr(0, size)) ? 1 : 0;
    }
    CHECK(num_read == 0);
  }

  TEST_CASE("a program's text that is cut short anywhere is refused") {
    const SampleProgram whole;
    size_t num_read = 0;
    for (size_t size = 0; size < whole.program.size(); ++size) {
      SampleProgram sample;
      sample.program.resize(size);
      num_read += read_all(sample.file()) ? 1 : 0;
    }
    CHECK(num_read == 0);
  }

  TEST_CASE("random changes never break the reader") {
    std::mt19937 random(1);
    const auto below = [&](size_t end) { return random() % end; };
    for (const char* name : kFiles) {
      const std::string file = read_whole(std::string("pt2/") + name + ".pt2");
      const std::string unchecked = without_checksums(file);
      REQUIRE(read_all(unchecked));
      for (int i = 0; i < 2000; ++i) {
        std::string changed = i % 4 == 0 ? file : unchecked;
        for (size_t n = 1 + below(4); n > 0; --n) {
          changed[below(changed.size())] = static_cast<char>(below(256));
        }
        read_all(changed);
      }
    }
  }

  TEST_CASE("random changes of a program's text never break the reader") {
    // Checksums would find them: here the archive is made after the change.
    std::mt19937 random(2);
    const auto below = [&](size_t end) { return random() % end; };
    constexpr std::string_view kLikely = "{}[]\",:0123456789-nsatx \\";
    const SampleProgram whole;
    for (int i = 0; i < 8000; ++i) {
      SampleProgram sample;
      std::string& text = i % 4 == 0 ? sample.weights : sample.program;
      for (size_t n = 1 + below(3); n > 0; --n) {
        text[below(text.size())] = kLikely[below(kLikely.size())];
      }
      if (i % 5 == 0) {
        const size_t from = below(whole.program.size());
        sample.program.insert(below(sample.program.size()), whole.program.substr(from, below(60)));
      }
      read_all(sample.file());
    }
  }

  TEST_CASE("random changes of a pickle never break the reader") {
    std::mt19937 random(3);
    const std::string flat = read_whole("pt2/weights_flat.pt2");
    auto outer = Archive::open(bytes_of(flat));
    REQUIRE(outer.ok());
    Buffers buffers;
    const auto saved = outer->read(*outer->find("serialized_state_dict.pt"), buffers);
    REQUIRE(saved.ok());
    auto inner = Archive::open(*saved);
    REQUIRE(inner.ok());
    std::vector<ZipEntry> entries;
    for (const ArchiveEntry& entry : inner->entries()) {
      entries.push_back({.name = std::string(entry.name),
                         .data = std::string(text_of(*inner->read(entry, buffers)))});
    }
    ZipEntry& pickle = *std::find_if(entries.begin(), entries.end(), [](const ZipEntry& entry) {
      return entry.name.ends_with("data.pkl");
    });
    const std::string whole = pickle.data;
    size_t num_read = 0;
    for (int i = 0; i < 6000; ++i) {
      pickle.data = whole;
      pickle.data[random() % whole.size()] = static_cast<char>(random() % 256);
      if (i % 3 == 0) pickle.data[random() % whole.size()] = static_cast<char>(random() % 256);
      Buffers scratch;
      const Block block(make_zip(entries));
      const auto tensors =
          read_torch_save(std::span<const std::byte>(block.data.get(), block.size), scratch);
      if (!tensors.ok()) continue;
      ++num_read;
      for (const Constant& constant : *tensors) (void)dense_bytes(constant, scratch);
    }
    CHECK(num_read > 100);
  }
}
