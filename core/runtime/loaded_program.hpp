// What a Program and a Session are made of.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "common/mapped_file.hpp"
#include "plugin/kernel_index.hpp"
#include "runtime/data_map.hpp"
#include "runtime/delegates.hpp"
#include "runtime/method_plan.hpp"
#include "runtime/random.hpp"
#include "runtime/thread_pool.hpp"

namespace backplane::runtime {

// Immutable once loaded. Members are destroyed in reverse order: delegates before the bytes that
// they borrow.
struct LoadedProgram {
  std::string path;
  MappedFile file;
  pte::Program program;
  DataMap data;
  std::vector<Block> copies;  // constants that had to be moved
  std::vector<StatePlan> states;
  std::vector<MethodPlan> methods;  // as program.plans
  std::vector<MethodInfo> infos;    // theirs
  std::unique_ptr<ThreadPool> pool;
  Delegates delegates;
};

// Maps, reads, resolves and loads into `program`, whose address stays.
Status load_program(LoadedProgram& program, const std::string& path, PluginSource& plugins,
                    const LoadOptions& options);

// Gives every kernel step its kernel: the first in `libraries` of that name that supports the
// values that it will get. What has none is put into `missing`.
void resolve_kernels(MethodPlan& plan, const std::vector<KernelIndex>& libraries,
                     std::vector<std::string>& missing);

// State that methods share. Shared by the Session and its Methods, in any order of destruction.
struct SessionState {
  SessionState(std::shared_ptr<const LoadedProgram> its_program, DelegateSessions its_delegates)
      : program(std::move(its_program)), delegates(std::move(its_delegates)) {}

  std::shared_ptr<const LoadedProgram> program;
  std::vector<Block> buffers;  // by LoadedProgram::states
  Random random;
  DelegateSessions delegates;

  // Buffers as when the program was lowered.
  [[nodiscard]] static Result<std::shared_ptr<SessionState>> create(
      std::shared_ptr<const LoadedProgram> program);
  [[nodiscard]] Result<std::shared_ptr<SessionState>> copy() const;
  Status reset();
};

}  // namespace backplane::runtime
