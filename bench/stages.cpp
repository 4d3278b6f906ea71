// Times what happens to one program on the host: reading, lowering, loading, running.
//
//   stages FILE.pt2 [--backend NAME]… [--runs N] [--json]
//
// Inputs are zeros of the smallest sizes. Each stage is timed N times (default 3) and the best is
// told, for the file is in the page cache then. `anon_mb` is by how much private memory (RssAnon)
// grew in the first of them: bytes that were copied rather than mapped.
#include <backplane/lower.hpp>
#include <backplane/plugins.hpp>
#include <backplane/program.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "reader/pt2.hpp"

using namespace backplane;

namespace {

double private_mb() {
  std::FILE* file = std::fopen("/proc/self/status", "r");
  char line[256];
  long kilobytes = 0;
  while (file != nullptr && std::fgets(line, sizeof line, file) != nullptr) {
    if (std::sscanf(line, "RssAnon: %ld", &kilobytes) == 1) break;
  }
  if (file != nullptr) std::fclose(file);
  return static_cast<double>(kilobytes) / 1024;
}

struct Figures {
  double best_ms = 1e300;
  double anon_mb = 0;
};

// `stage` leaves what it made alive until the next call, so that its memory is counted.
Result<Figures> measure(int runs, const std::function<Status()>& stage) {
  Figures figures;
  for (int run = 0; run < runs; ++run) {
    const double before = private_mb();
    const auto start = std::chrono::steady_clock::now();
    BP_TRY(stage());
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
    figures.best_ms = std::min(figures.best_ms, took.count());
    if (run == 0) figures.anon_mb = private_mb() - before;
  }
  return figures;
}

struct Options {
  std::string path;
  LowerOptions lower;
  int runs = 3;
  bool json = false;
};

void print(const Options& options, const char* stage, const Figures& figures) {
  std::printf(options.json ? "{\"stage\": \"%s\", \"best_ms\": %.3f, \"anon_mb\": %.1f}\n"
                           : "%-8s %10.2f ms %8.1f MB private\n",
              stage, figures.best_ms, figures.anon_mb);
}

Result<std::vector<Tensor>> zeros_for(const Method& method) {
  std::vector<Tensor> tensors;
  for (size_t i = 0; i < method.info().inputs.size(); ++i) {
    const SlotInfo& slot = method.info().inputs[i];
    if (slot.kind != SlotKind::tensor) {
      return Error{Code::unsupported, "input '" + slot.name + "' is a number"};
    }
    std::vector<int64_t> sizes;
    for (const DimBounds& dim : slot.dims) sizes.push_back(dim.min);
    BP_ASSIGN_OR_RETURN(Tensor zeros, Tensor::zeros(slot.dtype, sizes));
    tensors.push_back(std::move(zeros));
  }
  return tensors;
}

Status run(const Options& options, const std::string& folder) {
  Plugins plugins = Plugins::standard();
  std::vector<Module> modules;
  BP_ASSIGN_OR_RETURN(const Figures reading, measure(options.runs, [&]() -> Status {
                        BP_ASSIGN_OR_RETURN(Module module, read_pt2(options.path));
                        modules.push_back(std::move(module));
                        return Ok{};
                      }));
  print(options, "read", reading);
  modules.clear();

  LowerOptions lower = options.lower;
  lower.output = folder + "/program.pte";
  BP_ASSIGN_OR_RETURN(const Figures lowering, measure(options.runs, [&]() -> Status {
                        std::filesystem::remove(lower.output);
                        std::filesystem::remove(folder + "/program.ptd");
                        auto report = lower_program(plugins, {{.path = options.path}}, lower);
                        return report.ok() ? Status(Ok{}) : Status(std::move(report).error());
                      }));
  print(options, "lower", lowering);

  std::vector<Program> programs;
  BP_ASSIGN_OR_RETURN(const Figures loading, measure(options.runs, [&]() -> Status {
                        BP_ASSIGN_OR_RETURN(Program program, Program::load(lower.output, plugins));
                        programs.push_back(std::move(program));
                        return Ok{};
                      }));
  print(options, "load", loading);

  BP_ASSIGN_OR_RETURN(Session session, programs.back().session());
  BP_ASSIGN_OR_RETURN(Method method, session.method("forward"));
  BP_ASSIGN_OR_RETURN(const std::vector<Tensor> inputs, zeros_for(method));
  const auto execute = [&]() -> Status {
    for (size_t i = 0; i < inputs.size(); ++i) BP_TRY(method.set_input(i, inputs[i].view()));
    return method.execute();
  };
  BP_TRY(execute());
  BP_ASSIGN_OR_RETURN(const Figures running, measure(options.runs, execute));
  print(options, "execute", running);
  return Ok{};
}

int usage() {
  std::fprintf(stderr, "usage: stages FILE.pt2 [--backend NAME]... [--runs N] [--json]\n");
  return 64;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string option = argv[i];
    if (option == "--json") {
      options.json = true;
    } else if (option == "--backend" && i + 1 < argc) {
      options.lower.backends.emplace_back(argv[++i]);
    } else if (option == "--runs" && i + 1 < argc) {
      options.runs = std::atoi(argv[++i]);
    } else if (option.starts_with("-") || !options.path.empty()) {
      return usage();
    } else {
      options.path = option;
    }
  }
  if (options.path.empty() || options.runs < 1) return usage();
  char folder[] = "/tmp/backplane-stages-XXXXXX";
  if (mkdtemp(folder) == nullptr) return 1;
  const Status status = run(options, folder);
  std::filesystem::remove_all(folder);
  if (!status.ok()) std::fprintf(stderr, "stages: %s\n", status.error().message.c_str());
  return status.ok() ? 0 : 1;
}
