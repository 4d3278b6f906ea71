#include "tensors/npz.hpp"

#include <zlib.h>

#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "reader/archive.hpp"
#include "tensors/npy.hpp"

namespace backplane::cli {
namespace {

constexpr std::string_view kExtension = ".npy";

Error wrong(std::string_view name, std::string_view what) {
  return {Code::invalid_argument, "entry '" + std::string(name) + "': " + std::string(what)};
}

// Little-endian fields, as zip's headers have them.
class Fields {
 public:
  Fields& u16(uint64_t value) { return add(value, 2); }
  Fields& u32(uint64_t value) { return add(value, 4); }
  Fields& text(std::string_view value) {
    bytes_ += value;
    return *this;
  }
  [[nodiscard]] std::span<const std::byte> bytes() const {
    return std::as_bytes(std::span(bytes_));
  }

 private:
  Fields& add(uint64_t value, int count) {
    for (int i = 0; i < count; ++i) bytes_ += static_cast<char>(value >> (8 * i) & 0xFF);
    return *this;
  }
  std::string bytes_;
};

// What the local header and the directory say alike of an entry.
void add_description(Fields& fields, uint32_t crc, uint64_t size_bytes, size_t name_length) {
  constexpr uint16_t kUtf8 = 1 << 11;
  constexpr uint16_t kFirstDay = 0x21;  // 1980-01-01: equal tensors give equal files
  fields.u16(20).u16(kUtf8).u16(0).u16(0).u16(kFirstDay);
  fields.u32(crc).u32(size_bytes).u32(size_bytes).u16(name_length).u16(0);
}

uint32_t crc_of(std::span<const std::byte> bytes) {
  return static_cast<uint32_t>(
      crc32_z(0, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size()));
}

}  // namespace

Result<std::vector<NamedTensor>> parse_npz(std::span<const std::byte> file) {
  BP_ASSIGN_OR_RETURN(Archive archive, Archive::open(file));
  std::vector<NamedTensor> tensors;
  for (const ArchiveEntry& entry : archive.entries()) {
    if (!entry.name.ends_with(kExtension)) return wrong(entry.name, "it is no .npy file");
    Buffers buffers;  // one entry's at a time
    auto bytes = archive.read_checked(entry, buffers);
    if (!bytes.ok()) return std::move(bytes).error();
    auto tensor = parse_npy(*bytes);
    if (!tensor.ok()) {
      return std::move(tensor).error().in("entry '" + std::string(entry.name) + "'");
    }
    const std::string_view name = entry.name.substr(0, entry.name.size() - kExtension.size());
    tensors.push_back({std::string(name), *std::move(tensor)});
  }
  return tensors;
}

Status write_npz(ByteSink& sink, std::span<const NamedView> tensors) {
  Fields directory;
  std::unordered_set<std::string_view> names;
  uint64_t offset = 0;
  for (const NamedView& tensor : tensors) {
    const std::string name = tensor.name + std::string(kExtension);
    if (!names.insert(tensor.name).second) return wrong(name, "the name is given twice");
    if (name.size() > UINT16_MAX) return wrong(name, "the name is too long");
    MemorySink npy;
    if (Status status = write_npy(npy, tensor.view); !status.ok()) {
      return std::move(status).error().in("tensor '" + tensor.name + "'");
    }
    const uint64_t size_bytes = npy.bytes().size();
    if (offset + size_bytes + name.size() + 30 >= UINT32_MAX || names.size() >= UINT16_MAX) {
      return Error{
          Code::unsupported,
          ".npz files of 4 GiB or 65535 tensors are not written; write a .safetensors file"};
    }
    const uint32_t crc = crc_of(npy.bytes());
    Fields local;
    local.u32(0x04034b50);
    add_description(local, crc, size_bytes, name.size());
    local.text(name);
    directory.u32(0x02014b50).u16(20);
    add_description(directory, crc, size_bytes, name.size());
    // No comment, first disk, no attributes.
    directory.u16(0).u16(0).u16(0).u32(0).u32(offset).text(name);
    BP_TRY(sink.append(local.bytes()));
    BP_TRY(sink.append(npy.bytes()));
    offset += local.bytes().size() + size_bytes;
  }
  const size_t directory_size = directory.bytes().size();
  directory.u32(0x06054b50).u16(0).u16(0).u16(tensors.size()).u16(tensors.size());
  directory.u32(directory_size).u32(offset).u16(0);
  return sink.append(directory.bytes());
}

}  // namespace backplane::cli
