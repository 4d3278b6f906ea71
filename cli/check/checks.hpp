// What `backplane check` asks of a plugin, as a list of named questions. Each is run in a process
// of its own, which opens the plugin anew.
#pragma once

#include <backplane/plugins.hpp>
#include <backplane/result.hpp>

#include <functional>
#include <string>
#include <vector>

namespace backplane::cli {

// Opens the plugin that is checked, by name or path.
struct Target {
  std::string name;
  [[nodiscard]] Result<const Plugin*> open(Plugins& plugins) const;
};

struct Check {
  std::string name;  // a sentence that holds for a good plugin
  // Ok: it holds. unsupported: it can't be asked of this plugin, with the reason. Others: it does
  // not hold, and why.
  std::function<Status()> run;
};

// Table, options, life, threads, host services: everything but programs.
[[nodiscard]] std::vector<Check> lifecycle_checks(const Target& target);

// One for each NAME.pt2 with a NAME.safetensors in `folder`: what the backend takes of it gives
// what PyTorch gave, survives damage to its payload, and agrees with the kernels on other sizes.
[[nodiscard]] Result<std::vector<Check>> program_checks(const Target& target,
                                                        const std::string& folder);

}  // namespace backplane::cli
