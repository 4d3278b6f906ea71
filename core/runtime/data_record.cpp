#include "runtime/data_record.hpp"

#include <algorithm>

#include "runtime/json.hpp"
#include "runtime/json_reader.hpp"

namespace backplane::runtime {
namespace {

constexpr size_t kIdBytes = 16;

// Nothing unless `text` is exactly the lower-case hex digits of N bytes.
template <size_t N>
std::optional<std::array<uint8_t, N>> from_hex(std::string_view text) {
  constexpr std::string_view kHex = "0123456789abcdef";
  if (text.size() != 2 * N) return std::nullopt;
  std::array<uint8_t, N> bytes{};
  for (size_t i = 0; i < text.size(); ++i) {
    const size_t digit = kHex.find(text[i]);
    if (digit == std::string_view::npos) return std::nullopt;
    bytes[i / 2] = static_cast<uint8_t>(bytes[i / 2] << 4U | digit);
  }
  return bytes;
}

Result<std::string> required_text(const JsonReader& object, std::string_view name) {
  BP_ASSIGN_OR_RETURN(const auto member, object.find(name));
  if (!member) return object.error("has no '" + std::string(name) + "'");
  return member->text();
}

Result<DatumRecord> read_datum(const std::string& key, const JsonReader& object) {
  DatumRecord datum{.key = key};
  BP_ASSIGN_OR_RETURN(const auto size, object.find("size"));
  if (!size) return object.error("has no 'size'");
  BP_ASSIGN_OR_RETURN(const int64_t bytes, size->integer(0));
  datum.size_bytes = static_cast<uint64_t>(bytes);
  BP_ASSIGN_OR_RETURN(const std::string hash, required_text(object, "sha256"));
  const auto digest = from_hex<sizeof(Digest)>(hash);
  if (!digest) return object.error("'sha256' is not 64 hex digits");
  datum.sha256 = *digest;
  BP_ASSIGN_OR_RETURN(const auto type, object.find("type"));
  if (type) {
    BP_ASSIGN_OR_RETURN(datum.type, type->text());
  }
  return datum;
}

}  // namespace

std::string type_of(const NamedData& datum) {
  if (!datum.layout) return {};
  std::string text(name_of(datum.layout->dtype));
  const auto list = [&](const auto& items) {
    for (size_t i = 0; i < items.size(); ++i)
      text += (i == 0 ? ' ' : ',') + std::to_string(items[i]);
  };
  list(datum.layout->sizes);
  list(datum.layout->dim_order);
  return text;
}

std::string set_id_of(const std::vector<DatumRecord>& data) {
  Sha256 hash;
  for (const DatumRecord& datum : data) {
    // Texts end with a NUL and the rest has a fixed length, so that no two lists look alike.
    hash.update(std::as_bytes(std::span(datum.key.c_str(), datum.key.size() + 1)));
    hash.update(std::as_bytes(std::span(datum.type.c_str(), datum.type.size() + 1)));
    std::array<uint8_t, 8> size{};
    for (size_t i = 0; i < size.size(); ++i) {
      size[i] = static_cast<uint8_t>(datum.size_bytes >> 8 * i);
    }
    hash.update(std::as_bytes(std::span(size)));
    hash.update(std::as_bytes(std::span(datum.sha256)));
  }
  const Digest digest = hash.finish();
  return to_hex(std::span(digest).first(kIdBytes));
}

std::string write(const DataRecord& record) {
  std::string out = "{";
  append_json_member(out, "file");
  append_json_string(out, record.file);
  append_json_member(out, "set");
  append_json_string(out, record.set_id);
  append_json_member(out, "data");
  out += '{';
  for (const DatumRecord& datum : record.data) {
    append_json_member(out, datum.key);
    out += R"({"size":)" + std::to_string(datum.size_bytes) + R"(,"sha256":")" +
           to_hex(datum.sha256) + "\"";
    if (!datum.type.empty()) {
      append_json_member(out, "type");
      append_json_string(out, datum.type);
    }
    out += '}';
  }
  out += "}}";
  return out;
}

Result<DataRecord> read_data_record(Bytes json) {
  simdjson::dom::parser parser;
  BP_ASSIGN_OR_RETURN(const JsonReader root, parse_json(parser, json, kDataRecordKey));
  DataRecord record;
  BP_ASSIGN_OR_RETURN(record.file, required_text(root, "file"));
  if (record.file.empty() || record.file[0] == '.' ||
      record.file.find_first_of(std::string_view("/\\\0", 3)) != std::string::npos) {
    return root.error("'file' is '" + record.file + "', which is not the name of a file beside");
  }
  BP_ASSIGN_OR_RETURN(record.set_id, required_text(root, "set"));
  if (!from_hex<kIdBytes>(record.set_id)) return root.error("'set' is not 32 hex digits");
  BP_ASSIGN_OR_RETURN(const auto data, root.find("data"));
  if (!data) return root.error("has no 'data'");
  BP_TRY(data->for_each_member([&](const std::string& key, const JsonReader& member) -> Status {
    BP_ASSIGN_OR_RETURN(DatumRecord datum, read_datum(key, member));
    record.data.push_back(std::move(datum));
    return Ok{};
  }));
  const auto before = [](const DatumRecord& a, const DatumRecord& b) { return a.key < b.key; };
  std::sort(record.data.begin(), record.data.end(), before);
  const auto twice =
      std::adjacent_find(record.data.begin(), record.data.end(),
                         [](const DatumRecord& a, const DatumRecord& b) { return a.key == b.key; });
  if (twice != record.data.end()) return data->error("has '" + twice->key + "' twice");
  return record;
}

}  // namespace backplane::runtime
