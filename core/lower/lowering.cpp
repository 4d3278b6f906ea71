// The whole way from `.pt2` files to a `.pte` and its `.ptd`, in the order in which refusals are
// cheapest: specs and names, then files, then graphs, then kernels, and only then compilers.
#include <backplane/lower.hpp>

#include <algorithm>
#include <deque>
#include <filesystem>
#include <memory>
#include <set>
#include <thread>

#include "lower/compile.hpp"
#include "lower/kernel_check.hpp"
#include "lower/method_signature.hpp"
#include "lower/write_pair.hpp"
#include "ops/schema.hpp"
#include "passes/pipeline.hpp"
#include "plugin/option_values.hpp"
#include "plugin/options.hpp"
#include "reader/pt2.hpp"

namespace backplane {
namespace {

using namespace lower;  // NOLINT(google-build-using-namespace): the public functions of this layer

struct MethodWork {
  const MethodSource* source = nullptr;
  std::vector<CompileSpecs> specs;  // one a backend
  std::unique_ptr<Module> module;
  std::vector<BackendUse> uses;
  std::vector<Settled> settled;
  std::vector<GraphSchedule> schedules;
};

class Lowering {
 public:
  Lowering(PluginSource& plugins, const std::vector<MethodSource>& methods,
           const LowerOptions& options)
      : plugins_(plugins), sources_(methods), options_(options) {}

  Result<LowerReport> run() {
    BP_TRY(check_methods());
    BP_TRY(open_backends());
    BP_TRY(check_specs());
    BP_TRY(name_data());
    BP_TRY(load_kernels());
    for (MethodWork& work : works_) BP_TRY(prepare(work));
    for (MethodWork& work : works_) collect_data(work);
    for (MethodWork& work : works_) BP_TRY(partition(work));
    BP_TRY(check_kernels());
    for (MethodWork& work : works_) BP_TRY(compile_method(work));
    BP_TRY(emit_all());
    BP_TRY(write());
    return std::move(report_);
  }

 private:
  [[nodiscard]] bool cancelled() const { return bp_cancelled(options_.cancel) != 0; }

  Status step(double fraction, const std::string& what) const {
    if (cancelled()) return Error{Code::cancelled, "lowering was cancelled"};
    if (options_.progress) options_.progress(fraction, what);
    return Ok{};
  }

  Status check_methods() {
    if (sources_.empty()) return Error{Code::invalid_argument, "no program to lower was given"};
    std::set<std::string> names;
    for (const MethodSource& source : sources_) {
      if (source.name.empty())
        return Error{Code::invalid_argument, source.path + ": a method needs a name"};
      if (!names.insert(source.name).second) {
        return Error{Code::invalid_argument, "two methods are called '" + source.name +
                                                 "'; give each --method a name of its own"};
      }
      works_.emplace_back().source = &source;
    }
    return Ok{};
  }

  Status open_backends() {
    for (const std::string& name : options_.backends) {
      BP_ASSIGN_OR_RETURN(const Plugin* plugin, plugins_.find(name));
      if (std::find(tables_.begin(), tables_.end(), plugin->table) != tables_.end()) {
        return Error{Code::invalid_argument, "backend '" + name + "' was asked for twice"};
      }
      plugins_found_.push_back(plugin);
      tables_.push_back(plugin->table);
    }
    return Ok{};
  }

  // Before any plugin is created and any file is read.
  Status check_specs() {
    for (MethodWork& work : works_) {
      std::vector<Spec> given = options_.specs;
      for (const Spec& spec : work.source->specs) {
        std::erase_if(given, [&](const Spec& other) {
          return other.key == spec.key && other.plugin == spec.plugin;
        });
        given.push_back(spec);
      }
      if (tables_.empty()) {
        BP_TRY(kernels_only(work, given));
        continue;
      }
      BP_ASSIGN_OR_RETURN(const std::vector<Options> routed, route_specs(tables_, given));
      for (size_t b = 0; b < tables_.size(); ++b) {
        auto specs = check_compile_specs(*tables_[b], routed[b], work.source->name);
        if (!specs) return std::move(specs).error();
        work.specs.push_back(std::move(*specs));
      }
    }
    for (const Plugin* plugin : plugins_found_) {
      BP_ASSIGN_OR_RETURN(const Options create, check_options(*plugin->table, BP_PHASE_CREATE, {}));
      BP_ASSIGN_OR_RETURN(Backend backend, Backend::create(*plugin, create));
      backends_.push_back(std::move(backend));
    }
    for (MethodWork& work : works_) {
      for (size_t b = 0; b < backends_.size(); ++b) {
        BP_TRY(backends_[b].validate(BP_PHASE_COMPILE, work.specs[b].options));
        BackendUse use;
        use.backend = &backends_[b];
        use.options = work.specs[b].options;
        use.target_device = work.specs[b].target_device;
        use.placement = work.specs[b].data_placement;
        work.uses.push_back(std::move(use));
      }
    }
    return Ok{};
  }

  // With kernels alone, the name of the weights' file is all there is to say.
  Status kernels_only(MethodWork& work, const std::vector<Spec>& given) {
    CompileSpecs specs;
    for (const Spec& spec : given) {
      if (spec.key != "data_name" || !spec.plugin.empty()) {
        return Error{Code::invalid_argument,
                     "option '" + spec.key + "': no backend was asked for that could take it"};
      }
      BP_TRY(check_data_name(spec.value));
      specs.data_name = spec.value;
    }
    kernel_data_names_.emplace_back(work.source->name, specs.data_name);
    return Ok{};
  }

  // All methods of a program give the same data name or none.
  Status name_data() {
    std::vector<std::pair<std::string, std::string>> given = kernel_data_names_;
    bool inline_backend = false;
    bool external_backend = false;
    for (const MethodWork& work : works_) {
      std::string name;
      for (const CompileSpecs& specs : work.specs) {
        (specs.data_placement == BP_DATA_INLINE ? inline_backend : external_backend) = true;
        if (!specs.data_name.empty()) name = specs.data_name;
      }
      if (!work.specs.empty()) given.emplace_back(work.source->name, name);
    }
    for (const auto& [method, name] : given) {
      if (name == given[0].second) continue;
      return Error{Code::invalid_argument, "methods of one program share one data_name, but '" +
                                               given[0].first + "' has " + quoted(given[0].second) +
                                               " and '" + method + "' has " + quoted(name)};
    }
    inline_constants_ = inline_backend && !external_backend;
    pair_.pte_path = options_.output;
    pair_.force = options_.force;
    pair_.data_name = given.empty() ? "" : given[0].second;
    if (pair_.data_name.empty()) {
      pair_.data_name = std::filesystem::path(options_.output).stem().string();
      if (const Status ok = check_data_name(pair_.data_name);
          !ok.ok() && !options_.output.empty() && !inline_constants_) {
        return Error{Code::invalid_argument, "the weights can't be named after '" +
                                                 options_.output + "': " + ok.error().message +
                                                 "; give a data_name"};
      }
    }
    if (options_.output.empty()) return Ok{};
    return check_pair(pair_);
  }

  static std::string quoted(const std::string& name) {
    return name.empty() ? "none" : "'" + name + "'";
  }

  Status load_kernels() {
    std::vector<std::string> problems;
    kernels_ =
        std::make_unique<KernelIndex>(plugins_.kernel_libraries(options_.backends, problems));
    for (const std::string& problem : problems) report_.notes.push_back(problem);
    for (const std::string_view schema : kernels_->schemas()) BP_TRY(ops_.add(schema));
    for (const bp_plugin_t* table : tables_) {
      for (uint32_t i = 0; i < table->kept_ops.count; ++i) {
        kept_ops_.emplace_back(to_view(*BP_AT(bp_str_t, table->kept_ops, i)));
      }
    }
    return Ok{};
  }

  Status prepare(MethodWork& work) {
    BP_TRY(step(0.0, "reading " + work.source->path));
    BP_ASSIGN_OR_RETURN(Module module,
                        read_pt2(work.source->path, {work.source->model, work.source->name}));
    work.module = std::make_unique<Module>(std::move(module));
    BP_TRY(apply_bounds(*work.module));
    BP_TRY(step(0.1, "simplifying " + work.source->name));
    if (auto status = passes::prepare(*work.module, ops_, pass_options()); !status.ok()) {
      return std::move(status).error().in(work.source->path);
    }
    if (auto status = refuse_unknown(*work.module); !status.ok())
      return std::move(status).error().in(work.source->path);
    for (const Output& output : work.module->root().outputs) {
      if (output.kind == Output::Kind::buffer_mutation) state_.insert(output.target);
    }
    return Ok{};
  }

  [[nodiscard]] passes::PrepareOptions pass_options() const {
    passes::PrepareOptions passes;
    passes.kept_ops = kept_ops_;
    passes.kernels = [this](std::string_view name) -> const bp_kernel_t* {
      const KernelEntry* entry = kernels_->find(name);
      return entry != nullptr && entry->kernel->device_kind == BP_DEV_CPU ? entry->kernel : nullptr;
    };
    return passes;
  }

  // "s0" is a symbol; "x.1" is dimension 1 of input x, where that is a bare symbol.
  Status apply_bounds(Module& module) {
    for (const auto& [name, bound] : options_.bounds) {
      std::optional<SymInt> size = module.symbols.find(name);
      const size_t dot = name.rfind('.');
      for (const Input& input : module.root().inputs) {
        if (dot == std::string::npos || input.value == kNone || input.name != name.substr(0, dot))
          continue;
        const auto& sizes = module.root().value(input.value).type.sizes;
        const size_t dim = static_cast<size_t>(std::strtoul(name.c_str() + dot + 1, nullptr, 10));
        if (dim < sizes.size()) size = sizes[dim];
      }
      const auto symbol =
          size && !size->is_constant() ? module.symbols.as_symbol(*size) : std::nullopt;
      if (!symbol) {
        return Error{Code::invalid_argument,
                     "bound '" + name +
                         "': the program has no such symbol or input dimension; it has " +
                         symbol_names(module)};
      }
      Range& range = module.symbols.info(*symbol).range;
      if (bound < range.min) {
        return Error{Code::invalid_argument, "bound '" + name + "=" + std::to_string(bound) +
                                                 "': is below the least size " +
                                                 std::to_string(range.min)};
      }
      range.max = std::min(range.max, bound);
    }
    return Ok{};
  }

  static std::string symbol_names(const Module& module) {
    std::string names;
    for (size_t i = 0; i < module.symbols.num_symbols(); ++i)
      names += (i == 0 ? "" : ", ") + module.symbols.info(i).name;
    return names.empty() ? "static sizes only" : names;
  }

  void collect_data(MethodWork& work) {
    for (const Constant& constant : work.module->constants)
      external_.add(constant, work.module->buffers);
  }

  // What was kept for a backend that then did not take it is decomposed and offered once more.
  // Returns whether there was any.
  Result<bool> decompose_unclaimed(MethodWork& work) {
    std::set<std::pair<std::string, std::string>> claimed;  // operator and name
    bool left = false;
    for (size_t g = 0; g < work.settled.size(); ++g) {
      const Graph& graph = *work.module->graphs[g];
      for (size_t n = 0; n < graph.nodes.size(); ++n) {
        const Node& node = graph.nodes[n];
        if (std::find(kept_ops_.begin(), kept_ops_.end(), node.op) == kept_ops_.end()) continue;
        if (work.settled[g].partition_of[n] >= 0) claimed.emplace(node.op, node.name);
        left = left || work.settled[g].partition_of[n] < 0;
      }
    }
    if (!left) return false;
    const auto keep = [&](const Node& node) { return claimed.contains({node.op, node.name}); };
    BP_TRY(passes::decompose_rest(*work.module, ops_, pass_options(), keep));
    collect_data(work);
    return true;
  }

  Status partition(MethodWork& work) {
    BP_TRY(step(0.2, "partitioning " + work.source->name));
    const auto offer = [&]() {
      return settle({*work.module, external_, state_, ops_, *kernels_, work.uses, options_.cancel});
    };
    BP_ASSIGN_OR_RETURN(work.settled, offer());
    BP_ASSIGN_OR_RETURN(const bool again, decompose_unclaimed(work));
    if (again) {
      BP_ASSIGN_OR_RETURN(work.settled, offer());
    }
    MethodReport method;
    method.name = work.source->name;
    size_t left = 0;
    std::string first_left;
    for (size_t g = 0; g < work.settled.size(); ++g) {
      const Graph& graph = *work.module->graphs[g];
      method.num_nodes += graph.nodes.size();
      for (const PartitionOf& p : work.settled[g].partitions) {
        method.num_delegated += p.nodes.size();
        method.partitions.emplace_back(backends_[p.backend].plugin().name, p.nodes.size());
      }
      for (size_t n = 0; n < graph.nodes.size(); ++n) {
        if (work.settled[g].partition_of[n] >= 0 ||
            is_runtime_operator(runtime_operator(ops_, graph.nodes[n])))
          continue;
        if (left++ == 0) first_left = describe(graph.nodes[n]);
      }
    }
    report_.methods.push_back(std::move(method));
    if (options_.explain) {
      for (std::string& line : explain(*work.module, work.settled, work.uses, *kernels_, ops_)) {
        report_.explanation.push_back(std::move(line));
      }
    }
    if (options_.require_all && left > 0) {
      return Error{Code::unsupported, "method '" + work.source->name + "': no backend takes " +
                                          std::to_string(left) + " nodes, the first is " +
                                          first_left + "; --explain tells why"};
    }
    return Ok{};
  }

  Status check_kernels() {
    std::vector<std::string> missing;
    for (const MethodWork& work : works_) {
      for (std::string& line : missing_kernels(*work.module, work.settled, *kernels_, ops_))
        missing.push_back(std::move(line));
    }
    if (missing.empty()) return Ok{};
    std::string text = std::to_string(missing.size()) +
                       (missing.size() == 1 ? " node has" : " nodes have") +
                       " neither a backend nor a kernel: ";
    for (size_t i = 0; i < missing.size(); ++i) text += (i == 0 ? "" : "; ") + missing[i];
    return Error{Code::unsupported, text};
  }

  Status compile_method(MethodWork& work) {
    BP_TRY(step(0.3, "compiling " + work.source->name));
    const int threads = options_.num_threads > 0
                            ? options_.num_threads
                            : static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
    BP_ASSIGN_OR_RETURN(work.schedules,
                        lower::compile({*work.module, external_, inlined_, state_, work.settled,
                                        work.uses, pair_.data_name, static_cast<uint32_t>(threads),
                                        options_.cancel, compiled_, &report_.notes}));
    return Ok{};
  }

  Status emit_all() {
    BP_TRY(step(0.8, "planning memory"));
    runtime::Signature signature;
    for (MethodWork& work : works_) {
      use_constants(emit_input(work));
    }
    for (size_t i = 0; i < works_.size(); ++i) {
      MethodWork& work = works_[i];
      auto emitted = lower::emit(emit_input(work));
      if (!emitted) return std::move(emitted).error().in(work.source->path);
      report_.methods[i].planned_bytes = emitted->memory.arena_bytes;
      report_.methods[i].naive_bytes = emitted->memory.naive_bytes;
      signature.methods.push_back(signature_of(*work.module, emitted->written));
      program_.plans.push_back(std::move(emitted->plan));
    }
    std::sort(program_.plans.begin(), program_.plans.end(),
              [](const auto& a, const auto& b) { return a.name < b.name; });
    signature_ = runtime::write(signature);
    for (NamedData& datum : inlined_.list()) program_.named_data.push_back(std::move(datum));
    program_.named_data.push_back(
        {std::string(runtime::kSignatureKey), std::as_bytes(std::span(signature_)), 1, {}});
    return Ok{};
  }

  EmitInput emit_input(MethodWork& work) {
    return {*work.module,
            work.schedules,
            ops_,
            external_,
            program_,
            state_,
            inline_constants_,
            [this](std::string_view name) {
              const KernelEntry* entry = kernels_->find(name);
              return entry == nullptr ? 0U : entry->kernel->flags;
            }};
  }

  Status write() {
    if (options_.output.empty()) return Ok{};
    BP_TRY(step(0.9, "writing " + options_.output));
    BP_ASSIGN_OR_RETURN(const PairSizes sizes, write_pair(program_, external_.list(), pair_));
    report_.pte_path = options_.output;
    report_.ptd_path = sizes.ptd_path;
    report_.pte_bytes = sizes.pte_bytes;
    report_.ptd_bytes = sizes.ptd_bytes;
    return Ok{};
  }

  PluginSource& plugins_;
  const std::vector<MethodSource>& sources_;
  const LowerOptions& options_;
  LowerReport report_;
  std::vector<const Plugin*> plugins_found_;
  std::vector<const bp_plugin_t*> tables_;
  std::vector<Backend> backends_;
  std::vector<std::pair<std::string, std::string>> kernel_data_names_;
  std::deque<MethodWork> works_;
  ops::Table ops_;
  std::unique_ptr<KernelIndex> kernels_;
  std::vector<std::string> kept_ops_;
  std::set<std::string, std::less<>> state_;
  DataSet external_;
  DataSet inlined_;
  bool inline_constants_ = false;
  CompiledData compiled_;
  pte::Program program_;
  std::string signature_;
  PairOptions pair_;
};

}  // namespace

// Not `lower`, which is this layer's namespace too.
Result<LowerReport> lower_program(PluginSource& plugins, const std::vector<MethodSource>& methods,
                                  const LowerOptions& options) {
  return Lowering(plugins, methods, options).run();
}

Result<std::string> output_path(const std::string& input, const std::string& output,
                                const std::string& name) {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::path in(input);
  const std::string file = (name.empty() ? in.stem().string() : name) + ".pte";
  if (output.empty()) return (in.parent_path() / file).string();
  const bool folder = output.back() == '/' || fs::is_directory(output, error);
  if (!folder) {
    if (!name.empty())
      return Error{Code::invalid_argument,
                   "--name goes with a folder, but -o '" + output + "' is a file"};
    return output;
  }
  fs::create_directories(output, error);
  if (error && !fs::is_directory(output)) {
    return Error{Code::invalid_argument,
                 "'" + output + "': can't make this folder: " + error.message()};
  }
  return (fs::path(output) / file).string();
}

}  // namespace backplane
