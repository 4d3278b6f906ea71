// What `run` and `verify` have in common: a program that is loaded, and one of its methods.
#pragma once

#include <backplane/program.hpp>
#include <backplane/result.hpp>

#include <string>
#include <vector>

#include "arguments.hpp"

namespace backplane::cli {

namespace load_options {
inline constexpr Option kData = {"data", Takes::one, "FILE.ptd",
                                 "the weights (default: the file that the program names)"};
inline constexpr Option kHashes = {"verify", Takes::nothing, "",
                                   "compare the hash of every weight when loading"};
inline constexpr Option kLoadSpec = {"load-spec", Takes::many, "[PLUGIN:]KEY=VALUE",
                                     "option of a backend for loading"};
inline constexpr Option kKernels = {"kernels", Takes::many, "NAME",
                                    "kernel library to prefer, the first first"};
inline constexpr Option kSeed = {"seed", Takes::one, "N", "seed of random operators (default: 0)"};
}  // namespace load_options

// `data_path` and the rest from the options above. invalid_argument: wrong usage.
[[nodiscard]] Result<LoadOptions> parse_load(const Arguments& arguments);

// A method, and what it runs in. Movable.
struct Runner {
  Program program;
  Session session;
  Method method;
};

// Loads `path` and takes the method of that name; if it is empty, `forward`, or the only one.
[[nodiscard]] Result<Runner> load(const std::string& path, PluginSource& plugins,
                                  const LoadOptions& options, const std::string& method,
                                  uint64_t seed);

}  // namespace backplane::cli
