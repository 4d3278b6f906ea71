// `.ptd` files (FlatTensor): named data, each a blob or a tensor, outside the program that uses it.
#pragma once

#include <backplane/result.hpp>

#include "format/byte_sink.hpp"
#include "format/named_data.hpp"

namespace backplane::ptd {

struct DataFile {
  std::vector<NamedData> data;  // read: in ascending order of keys, as find() wants it
};

// Reads a whole file, every offset and index of it checked: keys are unique, each datum lies in the
// file and has at least its layout's bytes. `file` must be aligned to 16 and outlive the DataFile.
// `file_name` leads the messages. [any thread]
// invalid_argument: damaged or not a `.ptd`. incompatible: another version of the format.
// unsupported: an element type or rank that is not handled here.
[[nodiscard]] Result<DataFile> read(Bytes file, std::string_view file_name);

struct WriteOptions {
  uint32_t segment_alignment = 128;  // a power of two, at least 16
};

// Writes the file, streaming; equal data are stored once. Absolute file offsets are multiples of
// every alignment asked for.
// invalid_argument: a key that is empty or there twice, a datum smaller than its layout, an
// alignment. Others: the sink's.
[[nodiscard]] Status write(const DataFile& file, const WriteOptions& options, ByteSink& sink);

// The same into the file `path`, which is replaced only when all has been written and synced.
[[nodiscard]] Status write(const DataFile& file, const WriteOptions& options,
                           const std::string& path);

}  // namespace backplane::ptd
