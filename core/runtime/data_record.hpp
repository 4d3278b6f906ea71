// `backplane.data/1`: the named datum of a `.pte` that says which weights belong to it, as JSON:
//
//   {"file": "digits.ptd", "set": "<32 hex digits>",
//    "data": {"fc1.weight": {"size": 1024, "sha256": "<64 hex digits>"}, …}}
//
// The `.ptd` carries the same set id (its 32 characters) as the datum `backplane.set/1`, which is
// not listed. So a file that is missing, another program's or cut short are told apart.
#pragma once

#include <backplane/result.hpp>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "format/named_data.hpp"
#include "format/sha256.hpp"

namespace backplane::runtime {

inline constexpr std::string_view kDataRecordKey = "backplane.data/1";  // in the .pte
inline constexpr std::string_view kSetKey = "backplane.set/1";          // in the .ptd

struct DatumRecord {
  std::string key;
  uint64_t size_bytes = 0;
  Digest sha256 = {};
  std::string type = {};  // of a tensor: element type, sizes and dim order, such as "float32 2,3 0,1"
  friend bool operator==(const DatumRecord&, const DatumRecord&) = default;
};

struct DataRecord {
  std::string file;               // name of the .ptd, without a folder
  std::string set_id;             // 32 lower-case hex digits
  std::vector<DatumRecord> data;  // in ascending order of keys
  friend bool operator==(const DataRecord&, const DataRecord&) = default;
};

// DatumRecord::type of a datum; empty for a blob.
[[nodiscard]] std::string type_of(const NamedData& datum);

// The id that such data have: equal for equal keys, sizes, contents and types, whatever the file's
// name.
[[nodiscard]] std::string set_id_of(const std::vector<DatumRecord>& data);

// The JSON text, for the `.pte`.
[[nodiscard]] std::string write(const DataRecord& record);

// invalid_argument: not such JSON, a file name with a folder in it, an id that is not hex digits, a
// key twice. Members that are not known are skipped.
[[nodiscard]] Result<DataRecord> read_data_record(Bytes json);

}  // namespace backplane::runtime
