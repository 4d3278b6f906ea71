#include "zip_writer.hpp"

#include <zlib.h>

#include <cassert>
#include <fstream>
#include <iterator>

namespace backplane::testing {
namespace {

template <class T>
void put(std::string& out, T value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

std::string deflated(const std::string& data) {
  z_stream stream{};
  [[maybe_unused]] int status =
      deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, -MAX_WBITS, 9, Z_DEFAULT_STRATEGY);
  assert(status == Z_OK);
  std::string out(deflateBound(&stream, data.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(data.data()));
  stream.avail_in = static_cast<uInt>(data.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  status = deflate(&stream, Z_FINISH);
  assert(status == Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

struct Written {
  uint32_t crc;
  uint64_t size;
  uint64_t packed;
  uint64_t offset;
  uint16_t method;
};

Written put_local(std::string& out, const ZipEntry& entry) {
  const std::string packed = entry.deflate ? deflated(entry.data) : entry.data;
  Written w{.crc = static_cast<uint32_t>(crc32(0, reinterpret_cast<const Bytef*>(entry.data.data()),
                                               static_cast<uInt>(entry.data.size()))),
            .size = entry.data.size(),
            .packed = packed.size(),
            .offset = out.size(),
            .method = static_cast<uint16_t>(entry.deflate ? 8 : 0)};
  if (entry.method >= 0) w.method = static_cast<uint16_t>(entry.method);
  const std::string& name = entry.local_name.empty() ? entry.name : entry.local_name;
  const size_t start = out.size() + 30 + name.size();
  size_t padding = (entry.alignment - start % entry.alignment) % entry.alignment;
  if (padding != 0 && padding < 4) padding += entry.alignment;
  put<uint32_t>(out, 0x04034b50);
  put<uint16_t>(out, 20);
  put<uint16_t>(out, entry.flags);
  put<uint16_t>(out, w.method);
  put<uint32_t>(out, 0);
  put<uint32_t>(out, entry.local_sizes ? w.crc : 0);
  put<uint32_t>(out, entry.local_sizes ? static_cast<uint32_t>(w.packed) : 0);
  put<uint32_t>(out, entry.local_sizes ? static_cast<uint32_t>(w.size) : 0);
  put<uint16_t>(out, static_cast<uint16_t>(name.size()));
  put<uint16_t>(out, static_cast<uint16_t>(padding));
  out += name;
  if (padding != 0) {
    put<uint16_t>(out, 0x4246);
    put<uint16_t>(out, static_cast<uint16_t>(padding - 4));
    out.append(padding - 4, 'Z');
  }
  out += packed;
  if (entry.claimed_crc >= 0) w.crc = static_cast<uint32_t>(entry.claimed_crc);
  if (entry.claimed_offset >= 0) w.offset = static_cast<uint64_t>(entry.claimed_offset);
  if (entry.claimed_size >= 0) {
    w.size = static_cast<uint64_t>(entry.claimed_size);
    if (!entry.deflate) w.packed = w.size;
  }
  return w;
}

void put_directory_entry(std::string& out, const ZipEntry& entry, const Written& w) {
  std::string extra;
  if (entry.zip64) {
    put<uint16_t>(extra, 1);
    put<uint16_t>(extra, 24);
    put<uint64_t>(extra, w.size);
    put<uint64_t>(extra, w.packed);
    put<uint64_t>(extra, w.offset);
  }
  const auto narrow = [&](uint64_t value) {
    return entry.zip64 ? UINT32_MAX : static_cast<uint32_t>(value);
  };
  put<uint32_t>(out, 0x02014b50);
  put<uint32_t>(out, 20 | 20 << 16);
  put<uint16_t>(out, entry.flags);
  put<uint16_t>(out, w.method);
  put<uint32_t>(out, 0);
  put<uint32_t>(out, w.crc);
  put<uint32_t>(out, narrow(w.packed));
  put<uint32_t>(out, narrow(w.size));
  put<uint16_t>(out, static_cast<uint16_t>(entry.name.size()));
  put<uint16_t>(out, static_cast<uint16_t>(extra.size()));
  out.append(10, '\0');  // comment, disk, attributes
  put<uint32_t>(out, narrow(w.offset));
  out += entry.name;
  out += extra;
}

}  // namespace

std::string make_zip(const std::vector<ZipEntry>& entries, bool zip64) {
  std::string out;
  std::vector<Written> written;
  for (const ZipEntry& entry : entries) written.push_back(put_local(out, entry));
  const uint64_t directory = out.size();
  for (size_t i = 0; i < entries.size(); ++i) put_directory_entry(out, entries[i], written[i]);
  const uint64_t size = out.size() - directory;
  if (zip64) {
    const uint64_t end = out.size();
    put<uint32_t>(out, 0x06064b50);
    put<uint64_t>(out, 44);
    out.append(12, '\0');
    put<uint64_t>(out, entries.size());
    put<uint64_t>(out, entries.size());
    put<uint64_t>(out, size);
    put<uint64_t>(out, directory);
    put<uint32_t>(out, 0x07064b50);
    put<uint32_t>(out, 0);
    put<uint64_t>(out, end);
    put<uint32_t>(out, 1);
  }
  put<uint32_t>(out, 0x06054b50);
  put<uint32_t>(out, 0);
  const auto count = static_cast<uint16_t>(zip64 ? UINT16_MAX : entries.size());
  put<uint16_t>(out, count);
  put<uint16_t>(out, count);
  put<uint32_t>(out, zip64 ? UINT32_MAX : static_cast<uint32_t>(size));
  put<uint32_t>(out, zip64 ? UINT32_MAX : static_cast<uint32_t>(directory));
  put<uint16_t>(out, 0);
  return out;
}

std::string read_whole(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  assert(file.good());
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace backplane::testing
