#include <simdjson.h>

#include <algorithm>
#include <cstring>
#include <filesystem>

#include "common/mapped_file.hpp"
#include "vector.hpp"

namespace backplane::vectors {
namespace {

namespace fs = std::filesystem;

// The "case" of a .safetensors' metadata: JSON in a string of the JSON header.
Status read_case(const std::string& path, Vector& vector) {
  const Error malformed{Code::invalid_argument, path + ": has no \"case\" in its metadata"};
  BP_ASSIGN_OR_RETURN(const MappedFile file, MappedFile::open(path));
  const auto bytes = file.bytes();
  uint64_t length = 0;
  if (bytes.size() < sizeof length) return malformed;
  std::memcpy(&length, bytes.data(), sizeof length);
  if (length > bytes.size() - sizeof length) return malformed;
  simdjson::dom::parser header_parser;
  simdjson::dom::parser case_parser;
  std::string_view text;
  const auto* header = reinterpret_cast<const char*>(bytes.data()) + sizeof length;
  if (header_parser.parse(header, length)["__metadata__"]["case"].get(text)) return malformed;
  simdjson::dom::element what;
  std::string_view dtype;
  if (case_parser.parse(text.data(), text.size()).get(what)) return malformed;
  if (what["dtype"].get(dtype) || what["core"].get(vector.core)) return malformed;
  vector.dtype = dtype;
  return Ok{};
}

}  // namespace

Result<std::vector<Vector>> find_vectors(const std::string& folder) {
  std::vector<Vector> vectors;
  std::error_code error;
  for (fs::recursive_directory_iterator at(folder, error), end; at != end; at.increment(error)) {
    if (error) break;
    if (at->path().extension() != ".pt2") continue;
    Vector vector;
    vector.op = at->path().parent_path().filename().string();
    vector.stem = (at->path().parent_path() / at->path().stem()).string();
    if (!fs::exists(vector.stem + ".safetensors")) continue;
    BP_TRY(read_case(vector.stem + ".safetensors", vector));
    vectors.push_back(std::move(vector));
  }
  if (error) return Error{Code::not_found, folder + ": " + error.message()};
  if (vectors.empty()) return Error{Code::not_found, folder + ": holds no operator programs"};
  std::sort(vectors.begin(), vectors.end(),
            [](const Vector& a, const Vector& b) { return a.stem < b.stem; });
  return vectors;
}

}  // namespace backplane::vectors
