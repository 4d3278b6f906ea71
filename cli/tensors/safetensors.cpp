#include "tensors/safetensors.hpp"

#include <simdjson.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <string_view>
#include <unordered_set>

#include "json_writer.hpp"

namespace backplane::cli {
namespace {

namespace json = simdjson::ondemand;

constexpr size_t kMaxHeader = 100'000'000;  // the reference reader's limit
constexpr std::string_view kMetadata = "__metadata__";

struct TypeName {
  DType dtype;
  std::string_view name;
};

constexpr std::array kTypes = {
    TypeName{DType::boolean, "BOOL"},
    TypeName{DType::u8, "U8"},
    TypeName{DType::i8, "I8"},
    TypeName{DType::u16, "U16"},
    TypeName{DType::i16, "I16"},
    TypeName{DType::u32, "U32"},
    TypeName{DType::i32, "I32"},
    TypeName{DType::u64, "U64"},
    TypeName{DType::i64, "I64"},
    TypeName{DType::f16, "F16"},
    TypeName{DType::bf16, "BF16"},
    TypeName{DType::f32, "F32"},
    TypeName{DType::f64, "F64"},
    TypeName{DType::c64, "C64"},
    TypeName{DType::f8e5m2, "F8_E5M2"},
    TypeName{DType::f8e4m3fn, "F8_E4M3"},
    TypeName{DType::f8e5m2fnuz, "F8_E5M2FNUZ"},
    TypeName{DType::f8e4m3fnuz, "F8_E4M3FNUZ"},
    TypeName{DType::f8e8m0fnu, "F8_E8M0"},
};

struct Entry {
  std::string name;
  DType dtype = DType::f32;
  std::vector<int64_t> sizes;
  uint64_t begin = 0;
  uint64_t end = 0;
};

struct Header {
  std::vector<Entry> entries;
  std::vector<std::pair<std::string, std::string>> metadata;
};

Error damaged(std::string what) {
  return {Code::invalid_argument, std::move(what)};
}

Error not_json(simdjson::error_code code) {
  return damaged(std::string("its header is not the JSON it should be: ") +
                 simdjson::error_message(code));
}

#define BP_TRY_JSON(expression) \
  if (const simdjson::error_code error_ = (expression)) return not_json(error_)

// Calls `f(key, value)` for each member, and refuses a key that comes twice.
template <class F>
Status for_each_member(json::object object, F&& f) {
  std::unordered_set<std::string> seen;
  for (auto member : object) {
    std::string_view key;
    BP_TRY_JSON(member.unescaped_key().get(key));
    if (!seen.emplace(key).second) return damaged("'" + std::string(key) + "' is there twice");
    json::value value;
    BP_TRY_JSON(member.value().get(value));
    BP_TRY(f(std::string(key), value));
  }
  return Ok{};
}

Result<std::vector<uint64_t>> parse_numbers(json::value value) {
  json::array array;
  BP_TRY_JSON(value.get_array().get(array));
  std::vector<uint64_t> numbers;
  for (auto element : array) {
    uint64_t number = 0;
    BP_TRY_JSON(element.get_uint64().get(number));
    numbers.push_back(number);
  }
  return numbers;
}

Result<DType> parse_dtype(json::value value) {
  std::string_view name;
  BP_TRY_JSON(value.get_string().get(name));
  const auto* type =
      std::find_if(kTypes.begin(), kTypes.end(), [&](const TypeName& t) { return t.name == name; });
  if (type == kTypes.end()) {
    return Error{Code::unsupported, "element type " + std::string(name) + " is not supported"};
  }
  return type->dtype;
}

Result<std::vector<int64_t>> parse_sizes(json::value value) {
  BP_ASSIGN_OR_RETURN(const std::vector<uint64_t> numbers, parse_numbers(value));
  std::vector<int64_t> sizes;
  for (const uint64_t number : numbers) {
    if (number > INT64_MAX) return damaged("size " + std::to_string(number) + " is too large");
    sizes.push_back(static_cast<int64_t>(number));
  }
  return sizes;
}

Result<Entry> parse_entry(const std::string& name, json::value value) {
  json::object object;
  BP_TRY_JSON(value.get_object().get(object));
  Entry entry{.name = name};
  size_t found = 0;
  BP_TRY(for_each_member(object, [&](const std::string& key, json::value field) -> Status {
    ++found;
    if (key == "dtype") {
      BP_ASSIGN_OR_RETURN(entry.dtype, parse_dtype(field));
    } else if (key == "shape") {
      BP_ASSIGN_OR_RETURN(entry.sizes, parse_sizes(field));
    } else if (key == "data_offsets") {
      BP_ASSIGN_OR_RETURN(const std::vector<uint64_t> offsets, parse_numbers(field));
      if (offsets.size() != 2) return damaged("data_offsets has not two numbers");
      entry.begin = offsets[0];
      entry.end = offsets[1];
    } else {
      return damaged("unknown field '" + key + "'");
    }
    return Ok{};
  }));
  if (found != 3) return damaged("dtype, shape or data_offsets is missing");
  return entry;
}

Result<Header> parse_header(std::string_view text) {
  const simdjson::padded_string padded(text);
  json::parser parser;
  json::document document;
  json::object object;
  BP_TRY_JSON(parser.iterate(padded).get(document));
  BP_TRY_JSON(document.get_object().get(object));
  Header header;
  BP_TRY(for_each_member(object, [&](const std::string& name, json::value value) -> Status {
    if (name != kMetadata) {
      auto entry = parse_entry(name, value);
      if (!entry.ok()) return std::move(entry).error().in("tensor '" + name + "'");
      header.entries.push_back(*std::move(entry));
      return Ok{};
    }
    json::object members;
    BP_TRY_JSON(value.get_object().get(members));
    return for_each_member(members, [&](const std::string& key, json::value field) -> Status {
      std::string_view content;
      BP_TRY_JSON(field.get_string().get(content));
      header.metadata.emplace_back(key, content);
      return Ok{};
    });
  }));
  if (document.current_location().error() != simdjson::OUT_OF_BOUNDS) {
    return damaged("its header goes on after the JSON");
  }
  return header;
}

// Whether each tensor's bytes are in the file and its own.
Status check_places(const std::vector<Entry>& entries, uint64_t data_size) {
  std::vector<const Entry*> by_place;
  for (const Entry& entry : entries) {
    if (entry.begin > entry.end || entry.end > data_size) {
      return damaged("tensor '" + entry.name + "': bytes " + std::to_string(entry.begin) + " to " +
                     std::to_string(entry.end) + " are not among the " + std::to_string(data_size) +
                     " there are; the file may be cut short");
    }
    if (entry.begin < entry.end) by_place.push_back(&entry);
  }
  std::sort(by_place.begin(), by_place.end(),
            [](const Entry* a, const Entry* b) { return a->begin < b->begin; });
  for (size_t i = 1; i < by_place.size(); ++i) {
    if (by_place[i]->begin < by_place[i - 1]->end) {
      return damaged("tensors '" + by_place[i - 1]->name + "' and '" + by_place[i]->name +
                     "' share bytes");
    }
  }
  return Ok{};
}

}  // namespace

Result<Safetensors> parse_safetensors(std::span<const std::byte> file) {
  uint64_t length = 0;
  if (file.size() < sizeof(length)) return damaged("it is cut short in its first 8 bytes");
  std::memcpy(&length, file.data(), sizeof(length));
  const std::span<const std::byte> rest = file.subspan(sizeof(length));
  if (length > kMaxHeader || length > rest.size()) {
    return damaged("its header of " + std::to_string(length) +
                   " bytes is cut short, or it is no .safetensors file");
  }
  BP_ASSIGN_OR_RETURN(Header header,
                      parse_header({reinterpret_cast<const char*>(rest.data()), size_t{length}}));
  const std::span<const std::byte> data = rest.subspan(length);
  BP_TRY(check_places(header.entries, data.size()));
  Safetensors result{.tensors = {}, .metadata = std::move(header.metadata)};
  for (Entry& entry : header.entries) {
    auto tensor = tensor_from_bytes(entry.dtype, std::move(entry.sizes),
                                    data.subspan(entry.begin, entry.end - entry.begin));
    if (!tensor.ok()) return std::move(tensor).error().in("tensor '" + entry.name + "'");
    result.tensors.push_back({std::move(entry.name), *std::move(tensor)});
  }
  return result;
}

Status write_safetensors(ByteSink& sink, std::span<const NamedView> tensors) {
  // Widest elements first: so each tensor's bytes are aligned, as readers that map the file want.
  std::vector<const NamedView*> order;
  for (const NamedView& tensor : tensors) order.push_back(&tensor);
  std::stable_sort(order.begin(), order.end(), [](const NamedView* a, const NamedView* b) {
    return size_of(a->view.dtype) > size_of(b->view.dtype);
  });
  JsonWriter json;
  json.begin_object();
  std::unordered_set<std::string_view> names;
  uint64_t offset = 0;
  for (const NamedView* tensor : order) {
    const auto* type = std::find_if(kTypes.begin(), kTypes.end(), [&](const TypeName& t) {
      return t.dtype == tensor->view.dtype;
    });
    if (type == kTypes.end()) {
      return Error{Code::unsupported,
                   "tensor '" + tensor->name + "': .safetensors has no element type " +
                       std::string(name_of(tensor->view.dtype)) + "; .npz may have"};
    }
    if (!names.insert(tensor->name).second || tensor->name == kMetadata) {
      return damaged("tensor name '" + tensor->name + "' is given twice or reserved");
    }
    json.key(tensor->name);
    json.begin_object();
    json.member("dtype", type->name);
    json.key("shape");
    json.begin_array();
    for (const int64_t size : tensor->view.sizes) json.value(size);
    json.end_array();
    json.key("data_offsets");
    json.begin_array();
    json.value(offset);
    json.value(offset += tensor->view.nbytes());
    json.end_array();
    json.end_object();
  }
  json.end_object();
  std::string header = json.text();
  header.append((8 - header.size() % 8) % 8, ' ');
  const uint64_t length = header.size();
  BP_TRY(sink.append(std::as_bytes(std::span(&length, 1))));
  BP_TRY(sink.append(std::as_bytes(std::span(header))));
  for (const NamedView* tensor : order) BP_TRY(append_elements(sink, tensor->view));
  return Ok{};
}

}  // namespace backplane::cli
