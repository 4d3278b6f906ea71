// Finds the model in the archive, checks what the archive says of itself, and reads in two passes
// over the JSON: first what expressions depend on, then the graph.
#include "reader/pt2.hpp"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "common/mapped_file.hpp"
#include "reader/archive.hpp"
#include "reader/graph_reader.hpp"
#include "reader/json.hpp"
#include "reader/payloads.hpp"
#include "reader/signature.hpp"
#include "reader/symbolic.hpp"

namespace backplane {

using Bytes = std::span<const std::byte>;
using JsonValue = json::Value;

namespace {

constexpr int64_t kMajor = 8;
constexpr int64_t kAlmostUnbounded = kUnbounded - 1;  // how old files write it
constexpr std::string_view kFlatProgram = "serialized_exported_program.json";

// The names of a model's entries.
struct ModelNames {
  std::string program;
  PayloadNames weights;
  PayloadNames constants;
};

ModelNames flat_names(const std::string& root) {
  ModelNames names{.program = root + std::string(kFlatProgram)};
  names.weights.saved = root + "serialized_state_dict.pt";
  names.constants.saved = root + "serialized_constants.pt";
  return names;
}

ModelNames archive_names(const std::string& root, const std::string& model) {
  const auto payloads = [&](const std::string& kind, const std::string& old_kind) {
    const std::string folder = root + "data/" + kind + "/";
    return PayloadNames{.folder = folder,
                        .config = folder + model + "_" + kind + "_config.json",
                        .old_config = folder + model + "_model_" + old_kind + "_config.json",
                        .saved = folder + model + ".pt"};
  };
  return {.program = root + "models/" + model + ".json",
          .weights = payloads("weights", "param"),
          .constants = payloads("constants", "constants")};
}

std::string without_suffix(std::string_view name, size_t size) {
  return std::string(name.substr(0, name.size() - size));
}

std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "'" : ", '") + name + "'";
  return text;
}

class Pt2Reader {
 public:
  Pt2Reader(Archive archive, const ReadOptions& options, Module& module)
      : archive_(std::move(archive)), options_(options), module_(module) {}

  // `file`: what the archive lies in, or null.
  Status run(const MappedFile* file);

 private:
  Status check_text(const std::string& name, std::string_view expected);
  Result<ModelNames> find_model();
  [[nodiscard]] std::vector<std::string> models_below(const std::string& root) const;
  [[nodiscard]] Error no_model() const;
  Result<std::string> choose(const std::vector<std::string>& models) const;
  Status read_program(const ModelNames& names, const MappedFile* file);
  Status read_weights(const ModelNames& names, GraphScope& scope, const Signature& signature);
  Status read_preliminaries(json::Document& document);
  Status read_ranges(JsonValue& object);
  Status read_graph_module(JsonValue& object, GraphScope& scope, Signature& signature);

  Archive archive_;
  const ReadOptions& options_;
  Module& module_;
  SymbolicReader symbolic_{module_.symbols};
  ReadContext context_{module_, symbolic_};
};

Status Pt2Reader::run(const MappedFile* file) {
  BP_ASSIGN_OR_RETURN(const ModelNames names, find_model());
  Status status = read_program(names, file);
  if (!status.ok()) return std::move(status).error().in(names.program);
  symbolic_.finish();
  return Ok{};
}

// An entry that says how to read the rest; one that is not there says nothing.
Status Pt2Reader::check_text(const std::string& name, std::string_view expected) {
  const ArchiveEntry* entry = archive_.find(name);
  if (entry == nullptr) return Ok{};
  BP_ASSIGN_OR_RETURN(const Bytes bytes, archive_.read_checked(*entry, module_.buffers));
  std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  while (!text.empty() && text.back() == '\n') text.remove_suffix(1);
  if (text == expected) return Ok{};
  return Error{Code::unsupported, name + " is '" + std::string(text.substr(0, 40)) + "'; only '" +
                                      std::string(expected) + "' can be read"};
}

Result<ModelNames> Pt2Reader::find_model() {
  constexpr std::string_view kFormat = "archive_format";
  const ArchiveEntry* format = archive_.find_below_root(kFormat);
  const std::string root = format == nullptr ? "" : without_suffix(format->name, kFormat.size());
  const std::vector<std::string> models = models_below(root);
  if (models.empty()) {
    const ArchiveEntry* flat = archive_.find_below_root(kFlatProgram);
    if (flat == nullptr) return no_model();
    return flat_names(without_suffix(flat->name, kFlatProgram.size()));
  }
  BP_TRY(check_text(root + "archive_format", "pt2"));
  BP_TRY(check_text(root + "archive_version", "0"));
  BP_TRY(check_text(root + "byteorder", "little"));
  BP_ASSIGN_OR_RETURN(const std::string model, choose(models));
  return archive_names(root, model);
}

std::vector<std::string> Pt2Reader::models_below(const std::string& root) const {
  const std::string folder = root + "models/";
  constexpr std::string_view kJson = ".json";
  std::vector<std::string> models;
  for (const ArchiveEntry& entry : archive_.entries()) {
    if (!entry.name.starts_with(folder) || !entry.name.ends_with(kJson)) continue;
    const std::string_view name = entry.name.substr(folder.size());
    if (name.size() > kJson.size()) models.push_back(without_suffix(name, kJson.size()));
  }
  std::sort(models.begin(), models.end());
  return models;
}

// What the archive is instead.
Error Pt2Reader::no_model() const {
  const auto any = [&](auto f) {
    return std::any_of(archive_.entries().begin(), archive_.entries().end(), f);
  };
  if (any([](const ArchiveEntry& e) {
        return e.name.find("data/aotinductor/") != std::string_view::npos ||
               e.name.ends_with(".so");
      })) {
    return {Code::unsupported,
            "holds models that AOTInductor compiled for libtorch, and no exported program; save "
            "the program itself with torch.export.save"};
  }
  if (archive_.find_below_root("data.pkl") != nullptr) {
    return {Code::invalid_argument,
            "is a torch.save or TorchScript file; export the model with torch.export.export and "
            "save it with torch.export.save"};
  }
  return {Code::invalid_argument, "holds no exported program: there is no models/NAME.json in it"};
}

Result<std::string> Pt2Reader::choose(const std::vector<std::string>& models) const {
  if (options_.model.empty()) {
    if (models.size() == 1) return models.front();
    return Error{Code::invalid_argument,
                 "holds several models, name one of them: " + listed(models)};
  }
  if (std::find(models.begin(), models.end(), options_.model) != models.end()) {
    return options_.model;
  }
  return Error{Code::not_found, "holds no model '" + options_.model + "', but " + listed(models)};
}

Status Pt2Reader::read_program(const ModelNames& names, const MappedFile* file) {
  const ArchiveEntry* entry = archive_.find(names.program);
  json::Document document;
  BP_TRY(document.open(archive_, *entry, module_.buffers));
  BP_TRY(read_preliminaries(document));
  module_.graphs.emplace_back();
  GraphScope scope(context_, 0);
  Signature signature;
  bool found = false;
  BP_TRY(document.for_each_field([&](std::string_view key, JsonValue& value) -> Status {
    if (key != "graph_module") return Ok{};
    found = true;
    return read_graph_module(value, scope, signature);
  }));
  if (!found) return json::malformed("it has no graph_module");
  // Of the weights only what lies before each is looked at, all over the file.
  if (file != nullptr) file->expect_scattered(true);
  BP_TRY(read_weights(names, scope, signature));
  if (file != nullptr) file->expect_scattered(false);
  scope.graph->name = options_.method;
  module_.graphs[0] = std::move(scope.graph);
  return Ok{};
}

Status Pt2Reader::read_weights(const ModelNames& names, GraphScope& scope,
                               const Signature& signature) {
  BP_ASSIGN_OR_RETURN(Payloads weights, Payloads::open(archive_, names.weights, context_));
  BP_ASSIGN_OR_RETURN(Payloads constants, Payloads::open(archive_, names.constants, context_));
  ModelPayloads payloads{std::move(weights), std::move(constants)};
  return apply_signature(scope, signature, payloads);
}

Status Pt2Reader::read_preliminaries(json::Document& document) {
  int64_t major = -1;
  BP_TRY(document.for_each_field([&](std::string_view key, JsonValue& value) -> Status {
    if (key == "range_constraints") return read_ranges(value);
    if (key != "schema_version") return Ok{};
    return json::for_each_field(value, [&](std::string_view field, JsonValue& number) -> Status {
      if (field != "major") return Ok{};
      BP_ASSIGN_OR_RETURN(major, json::read_int(number));
      return Ok{};
    });
  }));
  if (major == kMajor) return Ok{};
  if (major == -1) return json::malformed("it has no schema_version");
  return Error{Code::unsupported, "it has schema version " + std::to_string(major) +
                                      "; only version " + std::to_string(kMajor) +
                                      " can be read: export it with torch 2.6 or newer"};
}

Status Pt2Reader::read_ranges(JsonValue& object) {
  return json::for_each_field(object, [&](std::string_view key, JsonValue& value) -> Status {
    Range range{.min = -kUnbounded, .max = kUnbounded};
    BP_TRY(json::for_each_field(value, [&](std::string_view field, JsonValue& bound) -> Status {
      if ((field != "min_val" && field != "max_val") || json::is_null(bound)) return Ok{};
      BP_ASSIGN_OR_RETURN(const int64_t number, json::read_int(bound));
      if (field == "min_val") range.min = std::max(number, -kUnbounded);
      if (field == "max_val") range.max = number >= kAlmostUnbounded ? kUnbounded : number;
      return Ok{};
    }));
    return symbolic_.constrain(key, range);
  });
}

Status Pt2Reader::read_graph_module(JsonValue& object, GraphScope& scope, Signature& signature) {
  return json::for_each_field(object, [&](std::string_view key, JsonValue& value) -> Status {
    if (key == "graph") return read_graph(value, scope);
    if (key == "signature") {
      BP_ASSIGN_OR_RETURN(signature, read_signature(value, context_));
    }
    return Ok{};
  });
}

Status read_into(Module& module, Bytes bytes, const ReadOptions& options, const MappedFile* file) {
  BP_ASSIGN_OR_RETURN(Archive archive, Archive::open(bytes));
  return Pt2Reader(std::move(archive), options, module).run(file);
}

Error unknown_argument(const std::string& user, const Argument& argument) {
  return {Code::unsupported,
          user + " is " + std::get<UnknownArgument>(argument).tag + ": this can't be used"};
}

bool is_unknown(const Argument& argument) {
  return std::holds_alternative<UnknownArgument>(argument);
}

Status refuse_unknown(const Graph& graph) {
  for (const Node& node : graph.nodes) {
    for (const NamedArgument& arg : node.args) {
      if (!is_unknown(arg.value)) continue;
      return unknown_argument(describe(node) + ": argument '" + std::string(arg.name) + "'",
                              arg.value);
    }
  }
  for (const Input& input : graph.inputs) {
    if (is_unknown(input.literal)) {
      return unknown_argument("input '" + input.name + "'", input.literal);
    }
  }
  for (size_t i = 0; i < graph.outputs.size(); ++i) {
    if (is_unknown(graph.outputs[i].value)) {
      return unknown_argument("output " + std::to_string(i), graph.outputs[i].value);
    }
  }
  return Ok{};
}

}  // namespace

Result<Module> read_pt2(const std::string& path, const ReadOptions& options) {
  BP_ASSIGN_OR_RETURN(MappedFile file, MappedFile::open(path));
  Module module;
  module.source_file = path;
  Status status = read_into(module, file.bytes(), options, &file);
  if (!status.ok()) return std::move(status).error().in(path);
  module.buffers.keep(std::move(file));
  return module;
}

Result<Module> read_pt2(Bytes bytes, const ReadOptions& options) {
  Module module;
  BP_TRY(read_into(module, bytes, options, nullptr));
  return module;
}

Status refuse_unknown(const Module& module) {
  for (const auto& graph : module.graphs) BP_TRY(refuse_unknown(*graph));
  return Ok{};
}

}  // namespace backplane
