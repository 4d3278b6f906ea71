#include "runtime/data_map.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>

namespace backplane::runtime {
namespace {

std::string folder_of(const std::string& path) {
  return std::filesystem::path(path).parent_path().string();
}

std::string beside(const std::string& path, const std::string& name) {
  return (std::filesystem::path(path).parent_path() / name).string();
}

std::string quoted_list(const std::vector<std::string>& items) {
  std::string text;
  for (const std::string& item : items) text += (text.empty() ? "'" : " and '") + item + "'";
  return text;
}

std::string_view text_of(Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// The only `.ptd` of a folder, or nothing.
std::string only_data_file(const std::string& folder) {
  std::string only;
  std::error_code failed;
  const std::filesystem::path at = folder.empty() ? "." : folder;
  for (std::filesystem::directory_iterator i(at, failed), end; !failed && i != end;
       i.increment(failed)) {
    if (i->path().extension() != ".ptd") continue;
    if (!only.empty()) return {};
    only = folder.empty() ? i->path().filename().string() : i->path().string();
  }
  return only;
}

bool exists(const std::string& path) {
  std::error_code failed;
  return std::filesystem::exists(path, failed);
}

}  // namespace

Result<DataMap> DataMap::open(const Options& options, std::span<const NamedData> inline_data) {
  DataMap map;
  map.pte_path_ = options.pte_path;
  map.inline_ = inline_data;
  const NamedData* recorded = backplane::find(inline_data, kDataRecordKey);
  if (recorded == nullptr) {
    BP_TRY(map.open_beside(options));
    return map;
  }
  auto record = read_data_record(recorded->data);
  if (!record) return std::move(record).error().in(options.pte_path);
  map.records_ = record->data;
  if (!record->data.empty()) BP_TRY(map.open_recorded(options, *record));
  return map;
}

Status DataMap::open_recorded(const Options& options, const DataRecord& record) {
  std::vector<std::string> candidates{options.data_path};
  if (options.data_path.empty()) {
    const std::string path = beside(options.pte_path, record.file);
    candidates = {path, path + ".new-" + record.set_id};
  }
  Status problem = Ok{};
  for (const std::string& path : candidates) {
    if (!exists(path)) {
      looked_at_.push_back(path);
      continue;
    }
    Status status = read(path);
    const NamedData* set = status.ok() ? backplane::find(external_.data, kSetKey) : nullptr;
    if (set != nullptr && text_of(set->data) == record.set_id)
      return check(record, options.verify_hashes);
    if (status.ok()) {
      const std::string has =
          set == nullptr ? "no set id" : "set " + std::string(text_of(set->data));
      status = Error{Code::incompatible, path + ": has the weights of another program (" + has +
                                             ", " + options.pte_path + " belongs to set " +
                                             record.set_id + ")"};
    }
    if (problem.ok()) problem = std::move(status);
    external_ = {};
    path_.clear();
  }
  if (!problem.ok()) return problem;
  return Error{Code::not_found, options.pte_path + ": its weights are missing: there is no " +
                                    quoted_list(looked_at_) +
                                    "; put the file there, or say where it is"};
}

Status DataMap::open_beside(const Options& options) {
  if (!options.data_path.empty()) return read(options.data_path);
  const std::filesystem::path pte(options.pte_path);
  const std::string named = beside(options.pte_path, pte.stem().string() + ".ptd");
  if (exists(named)) return read(named);
  looked_at_.push_back(named);
  const std::string only = only_data_file(folder_of(options.pte_path));
  return only.empty() ? Status(Ok{}) : read(only);
}

Status DataMap::read(std::string path) {
  BP_ASSIGN_OR_RETURN(file_, MappedFile::open(path));
  BP_ASSIGN_OR_RETURN(external_, ptd::read(file_.bytes(), path));
  path_ = std::move(path);
  return Ok{};
}

Status DataMap::check(const DataRecord& record, bool verify_hashes) const {
  for (const DatumRecord& expected : record.data) {
    const NamedData* datum = backplane::find(external_.data, expected.key);
    if (datum == nullptr) {
      return Error{Code::invalid_argument, path_ + ": datum '" + expected.key + "' is missing"};
    }
    if (datum->data.size() != expected.size_bytes) {
      return Error{Code::invalid_argument, path_ + ": datum '" + expected.key + "' has " +
                                               std::to_string(datum->data.size()) + " bytes, " +
                                               pte_path_ + " expects " +
                                               std::to_string(expected.size_bytes)};
    }
    if (verify_hashes && sha256(datum->data) != expected.sha256) {
      return Error{Code::invalid_argument,
                   path_ + ": datum '" + expected.key +
                       "' has other bytes than when the program was written"};
    }
  }
  return Ok{};
}

const NamedData* DataMap::find(std::string_view key) const {
  if (const NamedData* datum = backplane::find(external_.data, key)) return datum;
  return backplane::find(inline_, key);
}

Result<bp_blob_t> DataMap::get(std::string_view key) {
  const NamedData* datum = find(key);
  if (datum == nullptr) return Error{Code::not_found, "datum " + missing(key)};
  const auto address = reinterpret_cast<uintptr_t>(datum->data.data());
  bp_blob_t blob{datum->data.data(), datum->data.size(), address & (~address + 1), 0, 0};
  const auto record =
      std::lower_bound(records_.begin(), records_.end(), key,
                       [](const DatumRecord& r, std::string_view k) { return r.key < k; });
  if (record != records_.end() && record->key == key) {
    for (size_t i = 0; i < 8; ++i) {
      blob.id_lo |= uint64_t{record->sha256[i]} << 8 * i;
      blob.id_hi |= uint64_t{record->sha256[8 + i]} << 8 * i;
    }
  }
  return blob;
}

std::string DataMap::missing(std::string_view key) const {
  std::string text = "'" + std::string(key) + "' is not in " + pte_path_;
  if (!path_.empty()) return text + " and not in " + path_;
  return looked_at_.empty() ? text : text + ", and there is no " + quoted_list(looked_at_);
}

}  // namespace backplane::runtime
