#include <backplane/lower.hpp>
#include <backplane/program.hpp>

#include <algorithm>
#include <filesystem>
#include <map>
#include <random>

#include "check/checks.hpp"
#include "common/mapped_file.hpp"
#include "format/pte.hpp"
#include "temporary_folder.hpp"
#include "tensors/compare.hpp"
#include "tensors/tensor_file.hpp"
#include "verify_steps.hpp"

namespace backplane::cli {
namespace {

namespace fs = std::filesystem;

// All plugins, and the checked one by its own name wherever it lies.
class Chosen final : public PluginSource {
 public:
  Chosen(Plugins& all, const Plugin& plugin) : all_(all), plugin_(plugin) {}

  Result<const Plugin*> find(std::string_view name) override {
    return name == plugin_.name ? Result<const Plugin*>(&plugin_) : all_.find(name);
  }
  Result<const Plugin*> find_delegate(std::string_view id) override {
    return id == "backplane." + plugin_.name ? Result<const Plugin*>(&plugin_)
                                             : all_.find_delegate(id);
  }
  std::vector<KernelLibrary> kernel_libraries(const std::vector<std::string>& preferred,
                                              std::vector<std::string>& problems) override {
    return all_.kernel_libraries(preferred, problems);
  }
  std::vector<std::string> names() override { return all_.names(); }

 private:
  Plugins& all_;
  const Plugin& plugin_;
};

struct Sample {
  std::string program;   // .pt2
  std::string expected;  // .safetensors
};

Result<LowerReport> lower_to(PluginSource& plugins, const Sample& sample,
                             std::vector<std::string> backends, const std::string& path) {
  LowerOptions options;
  options.backends = std::move(backends);
  options.output = path;
  options.num_threads = 1;
  return lower_program(plugins, {{.path = sample.program}}, options);
}

// A method and what it needs to live.
struct Loaded {
  Program program;
  Session session;
  Method method;
};

Result<Loaded> load(PluginSource& plugins, const std::string& path) {
  BP_ASSIGN_OR_RETURN(Program program, Program::load(path, plugins));
  BP_ASSIGN_OR_RETURN(Session session, program.session());
  BP_ASSIGN_OR_RETURN(Method method, session.method("forward"));
  return Loaded{std::move(program), std::move(session), std::move(method)};
}

Status gives_what_pytorch_gave(PluginSource& plugins, const Sample& sample,
                               const std::string& path) {
  BP_ASSIGN_OR_RETURN(std::vector<NamedTensor> tensors, read_tensors(sample.expected));
  BP_ASSIGN_OR_RETURN(Loaded loaded, load(plugins, path));
  BP_ASSIGN_OR_RETURN(
      const auto all,
      verify_steps(loaded.method, InputFile{{"", sample.expected}, std::move(tensors)}, {}));
  for (const auto& [key, comparison] : all) {
    if (!comparison.same) return Error{Code::internal, key + " is " + comparison.text};
  }
  return Ok{};
}

// Sizes for one run: symbols at their minimum and `more`, or nothing where sizes depend on symbols
// in other ways than by being one.
std::optional<std::vector<std::vector<int64_t>>> sizes_for(const MethodInfo& info, int64_t more) {
  std::vector<std::vector<int64_t>> all;
  for (const SlotInfo& slot : info.inputs) {
    if (slot.kind != SlotKind::tensor) return std::nullopt;
    std::vector<int64_t>& sizes = all.emplace_back();
    for (const DimBounds& dim : slot.dims) {
      if (dim.symbol.find_first_of("*+- ") != std::string::npos) return std::nullopt;
      const int64_t size = std::max<int64_t>(dim.min, 0) + (dim.symbol.empty() ? 0 : more);
      sizes.push_back(std::min(size - size % dim.multiple_of, dim.max));
      if (sizes.back() < dim.min) return std::nullopt;
    }
  }
  return all;
}

// Normal numbers, or 0 and 1 where they are whole, so that they may be indices.
Result<Tensor> random_tensor(DType dtype, const std::vector<int64_t>& sizes, std::mt19937& random) {
  BP_ASSIGN_OR_RETURN(Tensor tensor, Tensor::zeros(dtype, sizes));
  std::normal_distribution<float> normal;
  if (dtype == DType::f32) {
    std::generate_n(tensor.data_as<float>(), tensor.numel(), [&] { return normal(random); });
  } else if (dtype == DType::i64) {
    std::generate_n(tensor.data_as<int64_t>(), tensor.numel(),
                    [&] { return static_cast<int64_t>(random() & 1); });
  }
  return tensor;
}

Result<std::vector<Tensor>> run(Method& method, const std::vector<Tensor>& inputs) {
  for (size_t i = 0; i < inputs.size(); ++i) BP_TRY(method.set_input(i, inputs[i].view()));
  BP_TRY(method.execute());
  std::vector<Tensor> outputs;
  for (size_t i = 0; i < method.info().outputs.size(); ++i) {
    if (method.info().outputs[i].kind != SlotKind::tensor) continue;
    BP_ASSIGN_OR_RETURN(const TensorView view, method.output(i));
    BP_ASSIGN_OR_RETURN(Tensor tensor, method.to_host(view));
    outputs.push_back(std::move(tensor));
  }
  return outputs;
}

Status agrees_with_kernels(PluginSource& plugins, const Sample& sample, const std::string& path,
                           const std::string& folder) {
  const std::string reference = folder + "/kernels.pte";
  BP_TRY(lower_to(plugins, sample, {}, reference));
  BP_ASSIGN_OR_RETURN(Loaded ours, load(plugins, path));
  BP_ASSIGN_OR_RETURN(Loaded theirs, load(plugins, reference));
  std::mt19937 random(1);
  for (const int64_t more : {0, 1, 6, 0}) {
    const auto sizes = sizes_for(ours.method.info(), more);
    if (!sizes) return Ok{};
    std::vector<Tensor> inputs;
    std::string shapes;
    for (size_t i = 0; i < sizes->size(); ++i) {
      BP_ASSIGN_OR_RETURN(Tensor tensor,
                          random_tensor(ours.method.info().inputs[i].dtype, (*sizes)[i], random));
      inputs.push_back(std::move(tensor));
      shapes += " " + format_sizes((*sizes)[i]);
    }
    const auto expected = run(theirs.method, inputs);
    auto actual = run(ours.method, inputs);
    if (!expected.ok()) continue;  // not a size that the operator takes
    if (!actual.ok())
      return Error{Code::internal, "inputs" + shapes + ": " + actual.error().message};
    for (size_t o = 0; o < expected->size(); ++o) {
      BP_ASSIGN_OR_RETURN(const Comparison comparison,
                          compare((*expected)[o].view(), (*actual)[o].view(),
                                  10 * default_tolerance((*expected)[o].dtype())));
      if (comparison.same) continue;
      return Error{Code::internal,
                   "inputs" + shapes + ": output " + std::to_string(o) + " is " + comparison.text};
    }
  }
  return Ok{};
}

// Loads and runs the program with payloads that are cut or changed. Whatever the answer: it comes.
Status survives_damage(PluginSource& plugins, const std::string& path) {
  constexpr size_t kLargest = 256 << 10;
  BP_ASSIGN_OR_RETURN(const MappedFile file, MappedFile::open(path));
  BP_ASSIGN_OR_RETURN(pte::Program program, pte::read(file.bytes(), path));
  std::mt19937 random(1);
  for (pte::Plan& plan : program.plans) {
    for (pte::Delegate& delegate : plan.delegates) {
      const Bytes original = delegate.payload;
      const std::vector<std::byte> whole(original.begin(), original.end());
      if (whole.empty() || whole.size() > kLargest) continue;
      for (int round = 0; round < 24; ++round) {
        std::vector<std::byte> damaged = whole;
        if (round % 2 == 0) damaged.resize(random() % whole.size());
        for (int flips = 0; round % 2 == 1 && flips < 3; ++flips)
          damaged[random() % whole.size()] ^= static_cast<std::byte>(1U << (random() % 8));
        delegate.payload = damaged;
        // Beside the weights, whose name it knows.
        const std::string changed = path + ".damaged.pte";
        BP_TRY(pte::write(program, {}, changed));
        auto loaded = load(plugins, changed);
        if (!loaded.ok()) continue;
        const auto sizes = sizes_for(loaded->method.info(), 1);
        std::vector<Tensor> inputs;
        for (size_t i = 0; sizes && i < sizes->size(); ++i) {
          BP_ASSIGN_OR_RETURN(Tensor tensor, random_tensor(loaded->method.info().inputs[i].dtype,
                                                           (*sizes)[i], random));
          inputs.push_back(std::move(tensor));
        }
        if (sizes) static_cast<void>(run(loaded->method, inputs).ok());
      }
      delegate.payload = original;
    }
  }
  return Ok{};
}

Status check_program(const Target& target, const Sample& sample) {
  Plugins all = Plugins::standard();
  BP_ASSIGN_OR_RETURN(const Plugin* plugin, target.open(all));
  if (!BP_HAS(plugin->table, partition)) return Error{Code::unsupported, "it lowers nothing"};
  Chosen plugins(all, *plugin);
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/program.pte";
  auto report = lower_to(plugins, sample, {plugin->name}, path);
  if (!report.ok()) return Error{report.error().code, renamed(report.error(), path, "it").message};
  if (report->methods[0].num_delegated == 0) {
    return Error{Code::unsupported, "it takes no node"};
  }
  Status same = gives_what_pytorch_gave(plugins, sample, path);
  if (!same.ok()) {
    const bool elsewhere = same.error().code == Code::unavailable;
    return Error{elsewhere ? Code::unsupported : Code::internal, same.error().message};
  }
  BP_TRY(agrees_with_kernels(plugins, sample, path, folder.path()));
  return survives_damage(plugins, path);
}

}  // namespace

Result<std::vector<Check>> program_checks(const Target& target, const std::string& folder) {
  std::vector<Check> checks;
  std::error_code error;
  for (fs::recursive_directory_iterator at(folder, error), end; at != end; at.increment(error)) {
    if (error) break;
    if (at->path().extension() != ".pt2") continue;
    fs::path expected = at->path();
    expected.replace_extension(".safetensors");
    if (!fs::exists(expected, error)) continue;
    const Sample sample{at->path().string(), expected.string()};
    checks.push_back({fs::relative(at->path(), folder).replace_extension().string(),
                      [target, sample] { return check_program(target, sample); }});
  }
  if (error)
    return Error{Code::not_found,
                 folder + ": " + error.message() + "; give a folder of .pt2 files"};
  if (checks.empty()) {
    return Error{Code::not_found,
                 folder + ": has no NAME.pt2 with a NAME.safetensors to compare with"};
  }
  std::sort(checks.begin(), checks.end(),
            [](const Check& a, const Check& b) { return a.name < b.name; });
  return checks;
}

}  // namespace backplane::cli
