#include "lower/write_pair.hpp"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>

#include "common/mapped_file.hpp"
#include "format/file_sink.hpp"
#include "format/ptd.hpp"
#include "runtime/data_record.hpp"

namespace backplane::lower {
namespace {

namespace fs = std::filesystem;

std::string folder_of(const std::string& path) {
  const std::string folder = fs::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

std::string ptd_path(const PairOptions& options) {
  return (fs::path(options.pte_path).parent_path() / (options.data_name + ".ptd")).string();
}

std::string lower_case(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

std::string_view text_of(Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}
Bytes bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}

// The set id that a `.ptd` has; nothing if it is none of ours.
std::optional<std::string> set_id_in(const std::string& path) {
  const auto file = MappedFile::open(path);
  if (!file) return std::nullopt;
  const auto data = ptd::read(file->bytes(), path);
  if (!data) return std::nullopt;
  const NamedData* id = find(data->data, runtime::kSetKey);
  if (id == nullptr) return std::nullopt;
  return std::string(text_of(id->data));
}

// The data record of a `.pte`; nothing if there is none.
std::optional<runtime::DataRecord> record_in(const std::string& path) {
  const auto file = MappedFile::open(path);
  if (!file) return std::nullopt;
  const auto program = pte::read(file->bytes(), path);
  if (!program) return std::nullopt;
  const NamedData* datum = find(program->named_data, runtime::kDataRecordKey);
  if (datum == nullptr) return std::nullopt;
  auto record = runtime::read_data_record(datum->data);
  if (!record) return std::nullopt;
  return std::move(*record);
}

Status check_case(const std::string& path) {
  const std::string name = fs::path(path).filename().string();
  std::error_code error;
  for (fs::directory_iterator at(folder_of(path), error), end; !error && at != end;
       at.increment(error)) {
    const std::string other = at->path().filename().string();
    if (other != name && lower_case(other) == lower_case(name)) {
      return Error{Code::invalid_argument,
                   path + ": differs only in case from '" + other +
                       "', which some systems take for the same file; choose another name"};
    }
  }
  return Ok{};
}

// Removes weights under a temporary name that no program names any more.
void tidy(const PairOptions& options, const std::string& keep_id) {
  const std::string prefix = fs::path(ptd_path(options)).filename().string() + ".new-";
  std::vector<fs::path> stale;
  std::error_code error;
  for (fs::directory_iterator at(folder_of(options.pte_path), error), end; !error && at != end;
       at.increment(error)) {
    const std::string name = at->path().filename().string();
    if (name.starts_with(prefix) && name != prefix + keep_id) stale.push_back(at->path());
  }
  for (const fs::path& path : stale) fs::remove(path, error);
}

uint64_t size_of_file(const std::string& path) {
  std::error_code error;
  const auto size = fs::file_size(path, error);
  return error ? 0 : static_cast<uint64_t>(size);
}

}  // namespace

Status check_pair(const PairOptions& options) {
  std::error_code error;
  if (!fs::is_directory(folder_of(options.pte_path), error)) {
    return Error{Code::not_found,
                 options.pte_path + ": there is no folder '" + folder_of(options.pte_path) + "'"};
  }
  if (fs::is_directory(options.pte_path, error)) {
    return Error{Code::invalid_argument, options.pte_path + ": is a folder"};
  }
  BP_TRY(check_case(options.pte_path));
  const std::string weights = ptd_path(options);
  BP_TRY(check_case(weights));
  if (options.force || !fs::exists(weights, error)) return Ok{};
  const auto record = record_in(options.pte_path);
  const bool ours =
      record && record->file == options.data_name + ".ptd" && record->set_id == set_id_in(weights);
  if (ours) return Ok{};
  return Error{Code::invalid_argument,
               weights +
                   ": holds weights that do not belong to the program being replaced; give another "
                   "data_name, or --force to replace them"};
}

Result<PairSizes> write_pair(pte::Program& program, const std::vector<NamedData>& data,
                             const PairOptions& options) {
  PairSizes sizes;
  const std::string weights = ptd_path(options);
  std::string id;
  std::string record_text;
  std::optional<FileSink> sink;
  if (!data.empty()) {
    runtime::DataRecord record{options.data_name + ".ptd", "", {}};
    for (const NamedData& datum : data)
      record.data.push_back(
          {datum.key, datum.data.size(), sha256(datum.data), runtime::type_of(datum)});
    id = record.set_id = runtime::set_id_of(record.data);
    record_text = runtime::write(record);
    program.named_data.push_back(
        {std::string(runtime::kDataRecordKey), bytes_of(record_text), 1, {}});
    if (set_id_in(weights) != id) {
      BP_TRY(check_pair(options));
      tidy(options, "");
      ptd::DataFile file{data};
      file.data.push_back({std::string(runtime::kSetKey), bytes_of(id), 1, {}});
      BP_ASSIGN_OR_RETURN(sink, FileSink::create(weights, id));
      BP_TRY(ptd::write(file, {}, *sink));
      BP_TRY(sink->sync());
    }
    sizes.ptd_path = weights;
  }
  BP_TRY(pte::write(program, {}, options.pte_path));
  if (sink) {
    if (const Status renamed = sink->commit(); !renamed.ok()) {
      sink->keep();  // the `.pte` names it now, and the loader finds it
      return renamed.error();
    }
  }
  tidy(options, "");
  sizes.pte_bytes = size_of_file(options.pte_path);
  if (!sizes.ptd_path.empty()) sizes.ptd_bytes = size_of_file(weights);
  return sizes;
}

}  // namespace backplane::lower
