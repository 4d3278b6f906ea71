// Each kind of argument is an object with one field, whose key is the kind's tag.
#include "reader/argument_reader.hpp"

#include <array>
#include <string>
#include <utility>

#include "reader/graph_reader.hpp"
#include "reader/serialized.hpp"

namespace backplane {

using JsonValue = json::Value;

namespace {

Status read_ref(JsonValue& name, ValueKind kind, GraphScope& scope, Argument& out) {
  BP_ASSIGN_OR_RETURN(const std::string_view text,
                      json::read_text(name, scope.context.module.strings));
  out = ValueRef{scope.mention(text, kind)};
  return Ok{};
}

// {"name": "x"}
Status read_tensor(JsonValue& object, GraphScope& scope, Argument& out) {
  return json::for_each_field(object, [&](std::string_view key, JsonValue& value) -> Status {
    return key == "name" ? read_ref(value, ValueKind::tensor, scope, out) : Status(Ok{});
  });
}

Status read_optional_tensor(JsonValue& object, GraphScope& scope, Argument& out) {
  return json::for_only_field(object, [&](std::string_view tag, JsonValue& value) -> Status {
    if (tag == "as_tensor") return read_tensor(value, scope, out);
    out = None{};
    return Ok{};
  });
}

// A list of tensors, each as `read` reads it.
template <auto read>
Status read_tensors(JsonValue& array, GraphScope& scope, Argument& out) {
  ValueList list;
  BP_TRY(json::for_each_element(array, [&](JsonValue& element) -> Status {
    Argument one;
    BP_TRY(read(element, scope, one));
    const auto* ref = std::get_if<ValueRef>(&one);
    list.ids.push_back(ref == nullptr ? kNone : ref->id);
    return Ok{};
  }));
  out = std::move(list);
  return Ok{};
}

// A scalar, by one of json's readers.
template <auto read>
Status read_scalar(JsonValue& value, GraphScope& /*scope*/, Argument& out) {
  BP_ASSIGN_OR_RETURN(out, read(value));
  return Ok{};
}

Status read_string(JsonValue& value, GraphScope& scope, Argument& out) {
  BP_ASSIGN_OR_RETURN(const std::string_view text,
                      json::read_text(value, scope.context.module.strings));
  out = std::string(text);
  return Ok{};
}

template <auto read, class T>
Status append_all(JsonValue& array, std::vector<T>& list) {
  return json::for_each_element(array, [&](JsonValue& element) -> Status {
    BP_ASSIGN_OR_RETURN(const auto value, read(element));
    list.push_back(value);
    return Ok{};
  });
}

template <auto read, class T>
Status read_list(JsonValue& array, GraphScope& /*scope*/, Argument& out) {
  std::vector<T> list;
  BP_TRY((append_all<read>(array, list)));
  out = std::move(list);
  return Ok{};
}

template <auto read, class T>
Status read_lists(JsonValue& array, GraphScope& /*scope*/, Argument& out) {
  std::vector<std::vector<T>> lists;
  BP_TRY(json::for_each_element(array, [&](JsonValue& element) -> Status {
    return append_all<read>(element, lists.emplace_back());
  }));
  out = std::move(lists);
  return Ok{};
}

Status read_ints(JsonValue& array, GraphScope& /*scope*/, Argument& out) {
  IntList list;
  BP_TRY(json::for_each_element(array, [&](JsonValue& element) -> Status {
    BP_ASSIGN_OR_RETURN(const int64_t value, json::read_int(element));
    list.push_back({.literal = value});
    return Ok{};
  }));
  out = std::move(list);
  return Ok{};
}

Status read_strings(JsonValue& array, GraphScope& scope, Argument& out) {
  std::vector<std::string> list;
  BP_TRY(json::for_each_element(array, [&](JsonValue& element) -> Status {
    BP_ASSIGN_OR_RETURN(const std::string_view text,
                        json::read_text(element, scope.context.module.strings));
    list.emplace_back(text);
    return Ok{};
  }));
  out = std::move(list);
  return Ok{};
}

// {"as_name": "s0"}, or {"as_int": 2} and the like.
template <ValueKind kind>
Status read_symbolic(JsonValue& object, GraphScope& scope, Argument& out) {
  return json::for_only_field(object, [&](std::string_view tag, JsonValue& value) -> Status {
    if (tag == "as_name") return read_ref(value, kind, scope, out);
    if (tag == "as_int") return read_scalar<json::read_int>(value, scope, out);
    if (tag == "as_float") return read_scalar<json::read_float>(value, scope, out);
    if (tag == "as_bool") return read_scalar<json::read_bool>(value, scope, out);
    out = UnknownArgument{std::string(tag)};
    return Ok{};
  });
}

Status read_sym_ints(JsonValue& array, GraphScope& scope, Argument& out) {
  IntList list;
  bool known = true;
  BP_TRY(json::for_each_element(array, [&](JsonValue& element) -> Status {
    Argument one;
    BP_TRY(read_symbolic<ValueKind::sym_int>(element, scope, one));
    if (const auto* ref = std::get_if<ValueRef>(&one)) {
      list.push_back({.value = ref->id});
    } else if (const auto* literal = std::get_if<int64_t>(&one)) {
      list.push_back({.literal = *literal});
    } else {
      known = false;
    }
    return Ok{};
  }));
  out = known ? Argument(std::move(list)) : UnknownArgument{"as_sym_ints"};
  return Ok{};
}

// Lists of floats and truth values, which may hold literals alone.
template <ValueKind kind, class T>
Status read_symbolic_list(JsonValue& array, GraphScope& scope, Argument& out) {
  std::vector<T> list;
  bool known = true;
  BP_TRY(json::for_each_element(array, [&](JsonValue& element) -> Status {
    Argument one;
    BP_TRY(read_symbolic<kind>(element, scope, one));
    const auto* literal = std::get_if<T>(&one);
    known = known && literal != nullptr;
    if (known) list.push_back(*literal);
    return Ok{};
  }));
  out = known ? Argument(std::move(list)) : UnknownArgument{"a list of values of the graph"};
  return Ok{};
}

Status read_scalar_type(JsonValue& value, GraphScope& /*scope*/, Argument& out) {
  BP_ASSIGN_OR_RETURN(const int64_t number, json::read_int(value));
  const auto dtype = dtype_from_serialized(number);
  out = dtype ? Argument(*dtype) : UnknownArgument{"element type " + std::to_string(number)};
  return Ok{};
}

Status read_memory_format(JsonValue& value, GraphScope& /*scope*/, Argument& out) {
  BP_ASSIGN_OR_RETURN(const int64_t number, json::read_int(value));
  const auto format = memory_format_from_serialized(number);
  out = format ? Argument(*format) : UnknownArgument{"memory format " + std::to_string(number)};
  return Ok{};
}

Status read_layout(JsonValue& value, GraphScope& /*scope*/, Argument& out) {
  BP_ASSIGN_OR_RETURN(const int64_t number, json::read_int(value));
  out = number == kSerializedStrided ? Layout::strided : Layout::other;
  return Ok{};
}

Status read_device(JsonValue& object, GraphScope& scope, Argument& out) {
  DeviceArg device;
  BP_TRY(json::for_each_field(object, [&](std::string_view key, JsonValue& value) -> Status {
    if (key == "type") {
      BP_ASSIGN_OR_RETURN(device.type, json::read_text(value, scope.context.module.strings));
    } else if (key == "index" && !json::is_null(value)) {
      BP_ASSIGN_OR_RETURN(const int64_t index, json::read_int(value));
      if (index < -1 || index > INT32_MAX) return json::malformed("a device has no such number");
      device.index = static_cast<int32_t>(index);
    }
    return Ok{};
  }));
  out = std::move(device);
  return Ok{};
}

Status read_complex(JsonValue& object, GraphScope& /*scope*/, Argument& out) {
  double real = 0;
  double imag = 0;
  BP_TRY(json::for_each_field(object, [&](std::string_view key, JsonValue& value) -> Status {
    if (key != "real" && key != "imag") return Ok{};
    BP_ASSIGN_OR_RETURN((key == "real" ? real : imag), json::read_float(value));
    return Ok{};
  }));
  out = std::complex<double>(real, imag);
  return Ok{};
}

Status read_body(JsonValue& object, GraphScope& scope, Argument& out) {
  std::string name;
  int32_t index = kNone;
  BP_TRY(json::for_each_field(object, [&](std::string_view key, JsonValue& value) -> Status {
    if (key == "name") {
      BP_ASSIGN_OR_RETURN(name, json::read_text(value, scope.context.module.strings));
    } else if (key == "graph") {
      BP_ASSIGN_OR_RETURN(index, read_body_graph(value, scope.context, scope.depth + 1));
    }
    return Ok{};
  }));
  if (index == kNone) return json::malformed("an as_graph has no graph");
  scope.context.module.graphs[static_cast<size_t>(index)]->name = std::move(name);
  out = GraphRef{index};
  return Ok{};
}

Status read_none(JsonValue& /*value*/, GraphScope& /*scope*/, Argument& out) {
  out = None{};
  return Ok{};
}

struct TaggedReader {
  std::string_view tag;
  Status (*read)(JsonValue&, GraphScope&, Argument&);
};

constexpr std::array kReaders = {
    TaggedReader{"as_tensor", read_tensor},
    TaggedReader{"as_int", read_scalar<json::read_int>},
    TaggedReader{"as_ints", read_ints},
    TaggedReader{"as_float", read_scalar<json::read_float>},
    TaggedReader{"as_bool", read_scalar<json::read_bool>},
    TaggedReader{"as_none", read_none},
    TaggedReader{"as_tensors", read_tensors<read_tensor>},
    TaggedReader{"as_scalar_type", read_scalar_type},
    TaggedReader{"as_device", read_device},
    TaggedReader{"as_layout", read_layout},
    TaggedReader{"as_memory_format", read_memory_format},
    TaggedReader{"as_string", read_string},
    TaggedReader{"as_sym_int", read_symbolic<ValueKind::sym_int>},
    TaggedReader{"as_sym_ints", read_sym_ints},
    TaggedReader{"as_sym_float", read_symbolic<ValueKind::sym_float>},
    TaggedReader{"as_sym_floats", read_symbolic_list<ValueKind::sym_float, double>},
    TaggedReader{"as_sym_bool", read_symbolic<ValueKind::sym_bool>},
    TaggedReader{"as_sym_bools", read_symbolic_list<ValueKind::sym_bool, bool>},
    TaggedReader{"as_optional_tensor", read_optional_tensor},
    TaggedReader{"as_optional_tensors", read_tensors<read_optional_tensor>},
    TaggedReader{"as_floats", read_list<json::read_float, double>},
    TaggedReader{"as_bools", read_list<json::read_bool, bool>},
    TaggedReader{"as_strings", read_strings},
    TaggedReader{"as_int_lists", read_lists<json::read_int, int64_t>},
    TaggedReader{"as_float_lists", read_lists<json::read_float, double>},
    TaggedReader{"as_complex", read_complex},
    TaggedReader{"as_graph", read_body},
    TaggedReader{"as_operator", read_string},
};

}  // namespace

Result<Argument> read_argument(JsonValue& object, GraphScope& scope) {
  Argument out;
  BP_TRY(json::for_only_field(object, [&](std::string_view tag, JsonValue& value) -> Status {
    for (const TaggedReader& reader : kReaders) {
      if (reader.tag == tag) return reader.read(value, scope, out);
    }
    out = UnknownArgument{std::string(tag)};
    return Ok{};
  }));
  return out;
}

}  // namespace backplane
