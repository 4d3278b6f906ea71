#include "plugin_show.hpp"

#include <backplane/array.hpp>

#include <filesystem>

namespace backplane::cli {
namespace {

using sdk::Array;
using sdk::view;

std::string type_of(const bp_option_t& option) {
  constexpr const char* kTypes[] = {"true|false", "integer", "number", "text", "choice", "bytes"};
  if (option.type == BP_OPT_ENUM) return std::string(view(option.choices));
  std::string text = option.type < std::size(kTypes) ? kTypes[option.type] : "?";
  if (option.min != 0 || option.max != 0) {
    JsonWriter low;  // as numbers are written in JSON: shortest
    JsonWriter high;
    low.value(option.min);
    high.value(option.max);
    text += " " + low.text() + "…" + high.text();
  }
  return text;
}

void show_options(const bp_plugin_t& table, const Console& console, JsonWriter& json) {
  json.key("options");
  json.begin_array();
  console.print(table.options.count == 0 ? "no options" : "options:");
  for (const bp_option_t& option : Array<bp_option_t>(table.options)) {
    std::string line = "  " + std::string(view(option.name)) + "  " + type_of(option);
    if (option.dflt.len > 0) line += "  (" + std::string(view(option.dflt)) + ")";
    console.print(line + "\n      " + std::string(view(option.doc)));
    json.begin_object();
    json.member("name", view(option.name));
    json.member("type", type_of(option));
    json.member("default", view(option.dflt));
    json.member("doc", view(option.doc));
    json.member("lower", (option.phases & BP_PHASE_COMPILE) != 0);
    json.member("load", (option.phases & BP_PHASE_LOAD) != 0);
    json.end_object();
  }
  json.end_array();
}

void show_operators(Plugins& plugins, const Plugin& plugin, const Console& console,
                    JsonWriter& json) {
  std::vector<std::string> problems;
  json.key("kernels");
  json.begin_array();
  for (const KernelLibrary& library : plugins.kernel_libraries({plugin.name}, problems)) {
    if (library.plugin != &plugin) continue;
    console.print("kernels: " + std::to_string(library.kernels->num_kernels));
    for (uint32_t i = 0; i < library.kernels->num_kernels; ++i) {
      const auto* base = reinterpret_cast<const char*>(library.kernels->kernels);
      const auto* kernel =
          reinterpret_cast<const bp_kernel_t*>(base + uint64_t{i} * library.kernels->kernel_stride);
      console.print("  " + std::string(view(kernel->schema)));
      json.value(view(kernel->schema));
    }
  }
  json.end_array();
  json.key("kept_operators");
  json.begin_array();
  for (const bp_str_t& op : Array<bp_str_t>(plugin.table->kept_ops)) {
    console.print("keeps whole: " + std::string(view(op)));
    json.value(view(op));
  }
  json.end_array();
}

}  // namespace

int show_plugin(Plugins& plugins, const std::string& name, const Console& console) {
  const bool is_path = name.find('/') != std::string::npos;
  const auto found =
      is_path ? plugins.open(std::filesystem::absolute(name).string()) : plugins.find(name);
  if (!found.ok()) return console.fail(found.error());
  const bp_plugin_t& table = *(*found)->table;
  JsonWriter json;
  json.begin_object();
  json.member("name", (*found)->name);
  json.member("version", view(table.version));
  json.member("vendor", view(table.vendor));
  json.member("license", view(table.license));
  json.member("library", (*found)->path);
  console.print((*found)->name + " " + std::string(view(table.version)) + ", " +
                std::string(view(table.vendor)) + ", " + std::string(view(table.license)) + "\n" +
                (*found)->path);
  show_options(table, console, json);
  show_operators(plugins, **found, console, json);
  json.end_object();
  if (console.json) console.document(json);
  return kDone;
}

}  // namespace backplane::cli
