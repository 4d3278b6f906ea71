// `backplane plugins`. Listing reads manifests alone; only `show` opens a library.
#include <backplane/plugins.hpp>

#include "common/nearest.hpp"
#include "plugin_show.hpp"
#include "verbs.hpp"

namespace backplane::cli {
namespace {

std::string join(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

void write_info(JsonWriter& json, const PluginInfo& info) {
  json.begin_object();
  json.member("name", info.name);
  json.member("state", name_of(info.state));
  if (!info.reason.empty()) json.member("reason", info.reason);
  json.member("version", info.version);
  json.member("manifest", info.manifest);
  json.member("library", info.library);
  json.member("provides", info.provides);
  json.member("devices", info.devices);
  json.member("delegate_ids", info.delegate_ids);
  json.member("aliases", info.aliases);
  json.member("warnings", info.warnings);
  json.end_object();
}

int list(const Plugins& plugins, const Console& console) {
  JsonWriter json;
  json.begin_object();
  json.key("plugins");
  json.begin_array();
  for (const PluginInfo& info : plugins.list()) {
    write_info(json, info);
    std::string line = info.name;
    line.resize(std::max<size_t>(line.size(), 14), ' ');
    line +=
        "  " + std::string(name_of(info.state)) + "  " + info.version + "  " + join(info.provides);
    if (!info.devices.empty()) line += "  on " + join(info.devices);
    console.print(line + "\n  " + info.manifest);
    if (!info.reason.empty()) console.print("  " + info.reason);
    for (const std::string& warning : info.warnings) console.print("  warning: " + warning);
  }
  json.end_array();
  json.key("folders");
  json.begin_array();
  for (const PluginFolder& folder : plugins.folders()) {
    json.begin_object();
    json.member("path", folder.path);
    json.member("origin", folder.origin);
    if (!folder.problem.empty()) json.member("problem", folder.problem);
    json.end_object();
    console.print("looked in " + folder.path + " (" + folder.origin + ")" +
                  (folder.problem.empty() ? "" : ": " + folder.problem));
  }
  json.end_array();
  json.end_object();
  if (console.json) console.document(json);
  return kDone;
}

int run(const Arguments& arguments, Console& console) {
  const auto words = arguments.positional();
  if (!words.empty() && (words[0] != "show" || words.size() != 2)) {
    const std::string_view known[] = {"show"};
    return console.wrong_usage(
        "plugins", {Code::invalid_argument,
                    words[0] == "show" ? "plugins show: which plugin? give its name or path"
                                       : "plugins: unknown word '" + words[0] + "'" +
                                             did_you_mean(words[0], known)});
  }
  Plugins plugins = Plugins::standard();
  return words.empty() ? list(plugins, console) : show_plugin(plugins, words[1], console);
}

}  // namespace

const Verb kPluginsVerb = {
    .name = "plugins",
    .summary = "list the plugins, or show one's options and operators",
    .synopsis = "[show NAME|PATH]",
    .description =
        "Lists the plugins that are found: in the folders of BACKPLANE_PLUGIN_PATH, then in the "
        "installed\n"
        "one. Nothing is opened for it; `show` opens one plugin's library.",
    .example = "backplane plugins\nbackplane plugins show cuda",
    .options = {},
    .min_positional = 0,
    .max_positional = 2,
    .run = run,
};

}  // namespace backplane::cli
