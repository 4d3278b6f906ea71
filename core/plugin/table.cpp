#include "plugin/table.hpp"

#include <backplane/array.hpp>

#include <array>
#include <cstring>
#include <string>
#include <unordered_set>

#include "plugin/option_values.hpp"

namespace backplane {
namespace {

using sdk::Array;
using sdk::view;

constexpr uint64_t kLongestText = uint64_t{1} << 16;
constexpr uint32_t kMostElements = 1u << 16;

Error broken(std::string_view what) {
  return {Code::invalid_argument, "its table breaks the contract: " + std::string(what)};
}

std::string hex(uint32_t value) {
  std::string out = "0x";
  for (int shift = 28; shift >= 0; shift -= 4) out += "0123456789abcdef"[value >> shift & 15];
  return out;
}

std::string contract(uint32_t minor) {
  return std::to_string(BP_ABI_MAJOR) + "." + std::to_string(minor);
}

// Whether the header alone says that this host can use the rest.
Status check_header(const void* symbol, size_t readable) {
  std::array<uint32_t, 5> head = {};
  if (readable < sizeof head) {
    return Error{Code::incompatible, "its symbol " BP_PLUGIN_SYMBOL " is no plugin table (" +
                                         std::to_string(readable) + " bytes)"};
  }
  std::memcpy(head.data(), symbol, sizeof head);
  const auto [magic, struct_size, abi_minor, min_host_minor, build_flags] = head;
  if (magic != BP_MAGIC) {
    return Error{Code::incompatible, "its symbol " BP_PLUGIN_SYMBOL
                                     " is no plugin table (it begins with " +
                                         hex(magic) + ", not with " + hex(BP_MAGIC) + ")"};
  }
  if (min_host_minor > BP_ABI_MINOR) {
    return Error{Code::incompatible, "it needs a host that speaks plugin contract " +
                                         contract(min_host_minor) + ", and this one speaks " +
                                         contract(BP_ABI_MINOR) + ": update backplane"};
  }
  if (struct_size < BP_PLUGIN_SIZE_V1_0 || struct_size > readable) {
    return Error{Code::incompatible,
                 "its table (contract " + contract(abi_minor) + ") says that it has " +
                     std::to_string(struct_size) + " bytes; it has " + std::to_string(readable) +
                     ", and a table has at least " + std::to_string(BP_PLUGIN_SIZE_V1_0) +
                     ": rebuild the plugin"};
  }
  for (const auto& [flag, name] : {std::pair<uint32_t, const char*>{BP_BUILD_ASAN, "Address"},
                                   {BP_BUILD_TSAN, "Thread"},
                                   {BP_BUILD_MSAN, "Memory"}}) {
    if ((build_flags & flag) != 0 && (BP_BUILD_FLAGS & flag) == 0) {
      return Error{Code::incompatible, std::string("it was built with ") + name +
                                           "Sanitizer and this host was not: build both alike"};
    }
  }
  return Ok{};
}

Status check_text(std::string_view what, bp_str_t text) {
  if (text.len > kLongestText || (text.len != 0 && text.ptr == nullptr)) {
    return broken(std::string(what) + " is no text (" + std::to_string(text.len) + " bytes)");
  }
  return Ok{};
}

Status check_array(std::string_view what, bp_array_t array, size_t element_size) {
  if (array.count == 0) return Ok{};
  if (array.data == nullptr || array.count > kMostElements || array.stride < element_size ||
      array.stride % alignof(uint64_t) != 0) {
    return broken(std::string(what) + " is no array (" + std::to_string(array.count) +
                  " elements of " + std::to_string(array.stride) + " bytes)");
  }
  return Ok{};
}

Status check_texts(std::string_view what, bp_array_t array) {
  BP_TRY(check_array(what, array, sizeof(bp_str_t)));
  for (const bp_str_t& text : Array<bp_str_t>(array)) {
    BP_TRY(check_text(what, text));
    if (text.len == 0) return broken(std::string(what) + " has an empty text");
  }
  return Ok{};
}

bool is_option_name(std::string_view name) {
  if (name.empty() || name.size() > 64 || name[0] < 'a' || name[0] > 'z') return false;
  return name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") == name.npos;
}

Status check_option(const bp_option_t& option) {
  for (const bp_str_t text : {option.name, option.doc, option.dflt, option.choices}) {
    BP_TRY(check_text("an option", text));
  }
  const std::string name = "option " + quote(view(option.name));
  if (!is_option_name(view(option.name))) return broken(name + " has no proper name");
  for (const std::string_view core :
       {"method_name", "target_device", "data_name", "data_placement"}) {
    if (view(option.name) == core) return broken(name + " belongs to the host");
  }
  if (option.type > BP_OPT_BYTES) return broken(name + " is of an unknown type");
  const uint32_t phases = BP_PHASE_CREATE | BP_PHASE_COMPILE | BP_PHASE_LOAD | BP_PHASE_RUN;
  if ((option.phases & phases) == 0) return broken(name + " is for no phase");
  if (!(option.min <= option.max)) return broken(name + " has a range without values");
  if ((option.type == BP_OPT_ENUM) != (option.choices.len != 0)) {
    return broken(name + " must have choices if it is an enum, and only then");
  }
  if (option.dflt.len == 0) return Ok{};
  if (const Status dflt = check_value(option, view(option.dflt)); !dflt.ok()) {
    return broken(name + " can't have the default " + quote(view(option.dflt)) + ": " +
                  dflt.error().message);
  }
  return Ok{};
}

Status check_options_schema(bp_array_t options) {
  BP_TRY(check_array("options", options, sizeof(bp_option_t)));
  std::unordered_set<std::string_view> names;
  for (const bp_option_t& option : Array<bp_option_t>(options)) {
    BP_TRY(check_option(option));
    if (!names.insert(view(option.name)).second) {
      return broken("option " + quote(view(option.name)) + " is declared twice");
    }
  }
  return Ok{};
}

Status check_device_kinds(bp_array_t kinds) {
  BP_TRY(check_array("device_kinds", kinds, sizeof(bp_device_kind_t)));
  for (const bp_device_kind_t& kind : Array<bp_device_kind_t>(kinds)) {
    BP_TRY(check_text("device_kinds", kind.name));
    if (!is_option_name(view(kind.name))) {
      return broken("device kind " + quote(view(kind.name)) + " has no proper name");
    }
    if (kind.type <= 0) return broken("device kind " + quote(view(kind.name)) + " has no number");
  }
  return Ok{};
}

// Functions that make sense only together: all of them or none.
Status check_together(std::string_view what, std::initializer_list<bool> present) {
  size_t count = 0;
  for (const bool one : present) count += one ? 1 : 0;
  if (count != 0 && count != present.size()) {
    return broken("of the functions " + std::string(what) + " it has some, but not all");
  }
  return Ok{};
}

Status check_slots(const bp_plugin_t& t) {
  if (t.create == nullptr || t.destroy == nullptr) return broken("create or destroy is missing");
  BP_TRY(check_together("partition, compile", {t.partition != nullptr, t.compile != nullptr}));
  BP_TRY(check_together("load, unload, instance_create, instance_destroy, execute",
                        {t.load != nullptr, t.unload != nullptr, t.instance_create != nullptr,
                         t.instance_destroy != nullptr, t.execute != nullptr}));
  BP_TRY(check_together("alloc, free, copy",
                        {t.alloc != nullptr, t.free != nullptr, t.copy != nullptr}));
  BP_TRY(check_together(
      "stream_create, stream_destroy, stream_sync",
      {t.stream_create != nullptr, t.stream_destroy != nullptr, t.stream_sync != nullptr}));
  BP_TRY(check_together(
      "event_record, event_wait, event_destroy",
      {t.event_record != nullptr, t.event_wait != nullptr, t.event_destroy != nullptr}));
  if (t.compile != nullptr && (t.data_placement & (BP_DATA_INLINE | BP_DATA_EXTERNAL)) == 0) {
    return broken("it compiles, but data_placement says nowhere");
  }
  return Ok{};
}

}  // namespace

Result<const bp_plugin_t*> check_table(const void* symbol, size_t readable) {
  BP_TRY(check_header(symbol, readable));
  const auto& table = *static_cast<const bp_plugin_t*>(symbol);
  for (const bp_str_t text : {table.name, table.version, table.vendor, table.license}) {
    BP_TRY(check_text("name, version, vendor or license", text));
  }
  if (!is_plugin_name(view(table.name))) {
    return broken("the name " + quote(view(table.name)) +
                  " is not 1 to 64 of a-z, 0-9, '_' and '-', a letter or digit first");
  }
  BP_TRY(check_options_schema(table.options));
  BP_TRY(check_device_kinds(table.device_kinds));
  BP_TRY(check_texts("delegate_ids", table.delegate_ids));
  BP_TRY(check_texts("kept_ops", table.kept_ops));
  BP_TRY(check_slots(table));
  return &table;
}

bool is_plugin_name(std::string_view name) {
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyz0123456789_-";
  return !name.empty() && name.size() <= 64 && name[0] != '_' && name[0] != '-' &&
         name.find_first_not_of(kLetters) == name.npos;
}

}  // namespace backplane
