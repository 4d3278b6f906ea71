#include "runtime/signature.hpp"

#include "runtime/json.hpp"
#include "runtime/json_reader.hpp"

namespace backplane::runtime {
namespace {

void append_number(std::string& out, std::string_view name, int64_t value, int64_t left_out) {
  if (value == left_out) return;
  append_json_member(out, name);
  out += std::to_string(value);
}

void append_name(std::string& out, std::string_view name) {
  if (name.empty()) return;
  append_json_member(out, "name");
  append_json_string(out, name);
}

template <class T, class F>
void append_list(std::string& out, std::string_view name, const std::vector<T>& items, F&& append) {
  if (items.empty()) return;
  append_json_member(out, name);
  out += '[';
  for (const T& item : items) {
    if (&item != items.data()) out += ',';
    append(out, item);
  }
  out += ']';
}

void append_rule(std::string& out, const DimRule& rule) {
  if (rule.symbol < 0) {
    out += rule.is_fixed() ? std::to_string(rule.offset) : "null";
    return;
  }
  out += '{';
  append_number(out, "symbol", rule.symbol, -1);
  append_number(out, "scale", rule.scale, DimRule{}.scale);
  append_number(out, "offset", rule.offset, DimRule{}.offset);
  out += '}';
}

void append_symbol(std::string& out, const SymbolRule& symbol) {
  out += '{';
  append_name(out, symbol.name);
  append_number(out, "min", symbol.min, SymbolRule{}.min);
  append_number(out, "max", symbol.max, SymbolRule{}.max);
  append_number(out, "multiple", symbol.multiple_of, SymbolRule{}.multiple_of);
  out += '}';
}

void append_slot(std::string& out, const SlotSignature& slot) {
  out += '{';
  append_name(out, slot.name);
  append_list(out, "dims", slot.dims, append_rule);
  if (slot.number) {
    append_json_member(out, "number");
    if (slot.number->symbol < 0) {
      out += "{}";
    } else {
      append_rule(out, *slot.number);
    }
  }
  append_number(out, "written", slot.written, -1);
  out += '}';
}

void append_method(std::string& out, const MethodSignature& method) {
  out += '{';
  append_name(out, method.name);
  append_list(out, "symbols", method.symbols, append_symbol);
  append_list(out, "inputs", method.inputs, append_slot);
  append_list(out, "outputs", method.outputs, append_slot);
  out += '}';
}

// What the member says, or `value` as it is if there is none.
Status read_number(const JsonReader& object, std::string_view name, int64_t min, int64_t& value) {
  BP_ASSIGN_OR_RETURN(const auto member, object.find(name));
  if (!member) return Ok{};
  BP_ASSIGN_OR_RETURN(value, member->integer(min));
  return Ok{};
}

Status read_index(const JsonReader& object, std::string_view name, int32_t& value) {
  int64_t wide = value;
  BP_TRY(read_number(object, name, -1, wide));
  if (wide > std::numeric_limits<int32_t>::max()) return object.error("an index is too large");
  value = static_cast<int32_t>(wide);
  return Ok{};
}

Status read_name(const JsonReader& object, std::string& name) {
  BP_ASSIGN_OR_RETURN(const auto member, object.find("name"));
  if (!member) return Ok{};
  BP_ASSIGN_OR_RETURN(name, member->text());
  return Ok{};
}

template <class T, class F>
Status read_list(const JsonReader& object, std::string_view name, std::vector<T>& items, F&& read) {
  BP_ASSIGN_OR_RETURN(const auto member, object.find(name));
  if (!member) return Ok{};
  return member->for_each([&](const JsonReader& item) -> Status {
    items.emplace_back();
    return read(item, items.back());
  });
}

Status read_rule(const JsonReader& object, size_t num_symbols, DimRule& rule) {
  if (object.is_null()) return Ok{};
  if (object.is_integer()) {
    BP_ASSIGN_OR_RETURN(const int64_t size, object.integer(std::numeric_limits<int64_t>::min()));
    rule = DimRule::fixed(size);
    return Ok{};
  }
  BP_TRY(read_index(object, "symbol", rule.symbol));
  if (rule.symbol >= 0 && static_cast<size_t>(rule.symbol) >= num_symbols) {
    return object.error("names symbol " + std::to_string(rule.symbol) + " of " +
                        std::to_string(num_symbols));
  }
  BP_TRY(read_number(object, "scale", 1, rule.scale));
  return read_number(object, "offset", std::numeric_limits<int64_t>::min(), rule.offset);
}

Status read_symbol(const JsonReader& object, SymbolRule& symbol) {
  constexpr int64_t kAny = std::numeric_limits<int64_t>::min();
  BP_TRY(read_name(object, symbol.name));
  BP_TRY(read_number(object, "min", kAny, symbol.min));
  BP_TRY(read_number(object, "max", kAny, symbol.max));
  return read_number(object, "multiple", 1, symbol.multiple_of);
}

Status read_slot(const JsonReader& object, size_t num_symbols, SlotSignature& slot) {
  BP_TRY(read_name(object, slot.name));
  BP_TRY(read_list(object, "dims", slot.dims, [&](const JsonReader& item, DimRule& rule) {
    return read_rule(item, num_symbols, rule);
  }));
  BP_ASSIGN_OR_RETURN(const auto number, object.find("number"));
  if (number) {
    slot.number.emplace();
    BP_TRY(read_rule(*number, num_symbols, *slot.number));
  }
  return read_index(object, "written", slot.written);
}

Status read_method(const JsonReader& object, MethodSignature& method) {
  BP_TRY(read_name(object, method.name));
  BP_TRY(read_list(object, "symbols", method.symbols, read_symbol));
  const auto read = [&](const JsonReader& item, SlotSignature& slot) {
    return read_slot(item, method.symbols.size(), slot);
  };
  BP_TRY(read_list(object, "inputs", method.inputs, read));
  return read_list(object, "outputs", method.outputs, read);
}

}  // namespace

std::string write(const Signature& signature) {
  std::string out = "{";
  append_list(out, "methods", signature.methods, append_method);
  out += '}';
  return out;
}

Result<Signature> read_signature(Bytes json) {
  simdjson::dom::parser parser;
  BP_ASSIGN_OR_RETURN(const JsonReader root, parse_json(parser, json, kSignatureKey));
  Signature signature;
  BP_TRY(read_list(root, "methods", signature.methods, read_method));
  return signature;
}

}  // namespace backplane::runtime
