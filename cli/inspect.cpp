// `backplane inspect`. Opens no plugin: what it says is what the file says.
#include "inspect.hpp"

#include <filesystem>

#include "verbs.hpp"

namespace backplane::cli {
namespace {

constexpr Option kOptions[] = {
    {"graph,g", Takes::nothing, "", "of a .pt2 or .pte: every node or instruction, one a line"},
    {"model", Takes::one, "NAME", "of a .pt2: which model of an archive with several"},
};

int run(const Arguments& arguments, Console& console) {
  const std::string& path = arguments.positional()[0];
  const std::string extension = std::filesystem::path(path).extension().string();
  JsonWriter json;
  json.begin_object();
  json.member("file", path);
  Status status = Error{Code::unsupported, path + ": it can be a .pt2, .pte or .ptd file"};
  if (extension == ".pt2") {
    status = inspect_pt2(path, arguments.value("model"), arguments.has("graph"), console, json);
  } else if (extension == ".pte") {
    status = inspect_pte(path, arguments.has("graph"), console, json);
  } else if (extension == ".ptd") {
    status = inspect_ptd(path, console, json);
  }
  if (!status.ok()) return console.fail(status.error());
  json.end_object();
  if (console.json) console.document(json);
  return kDone;
}

}  // namespace

void show_slots(std::string_view array, const std::vector<SlotText>& slots, const Console& console,
                JsonWriter& json) {
  json.key(array);
  json.begin_array();
  for (const SlotText& slot : slots) {
    std::string line = "  " + slot.key;
    line.resize(std::max<size_t>(line.size(), 9), ' ');
    line += "  " + slot.name;
    line.resize(std::max<size_t>(line.size(), 26), ' ');
    console.print(line + "  " + slot.type);
    json.begin_object();
    if (!slot.key.empty()) json.member("key", slot.key);
    json.member("name", slot.name);
    json.member("type", slot.type);
    json.end_object();
  }
  json.end_array();
}

void show_counts(std::string_view member, const std::map<std::string, size_t>& counts,
                 const Console& console, JsonWriter& json) {
  json.key(member);
  json.begin_object();
  for (const auto& [name, count] : counts) {
    std::string number = std::to_string(count);
    number.insert(0, 6 - std::min<size_t>(number.size(), 6), ' ');
    console.print("  " + number + "  " + name);
    json.member(name, count);
  }
  json.end_object();
}

const Verb kInspectVerb = {
    .name = "inspect",
    .summary = "show what is in a .pt2, .pte or .ptd",
    .synopsis = "FILE [OPTIONS]",
    .description =
        "Shows inputs and outputs with the keys that `run` and `verify` use, operators, delegates "
        "and\n"
        "weights. Needs no plugin.",
    .example = "backplane inspect digits.pt2 --graph\nbackplane inspect out/digits.pte --json",
    .options = kOptions,
    .min_positional = 1,
    .max_positional = 1,
    .run = run,
};

}  // namespace backplane::cli
