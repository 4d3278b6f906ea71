// What `lower` and `verify` have in common: the options that say how a program is lowered.
#pragma once

#include <backplane/lower.hpp>
#include <backplane/result.hpp>

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "arguments.hpp"

namespace backplane::cli {

inline constexpr std::string_view kDefaultBackend = "cpu";

// The options, for the verbs' tables.
namespace lower_options {
inline constexpr Option kBackend = {
    "backend,b", Takes::many, "NAME",
    "backend to use, the most preferred first; 'none': kernels alone"};
inline constexpr Option kSpec = {"spec,s", Takes::many, "[PLUGIN:]KEY=VALUE",
                                 "compile spec, for one backend or all that know KEY"};
inline constexpr Option kMethod = {"method,m", Takes::many, "NAME=FILE.pt2",
                                   "another method of the program"};
inline constexpr Option kMethodSpec = {"method-spec", Takes::many, "NAME:[PLUGIN:]KEY=VALUE",
                                       "compile spec for one method"};
inline constexpr Option kBound = {"bound", Takes::many, "SYMBOL=N",
                                  "largest size of a symbol, or INPUT.DIM=N"};
inline constexpr Option kRequireAll = {"require-all", Takes::nothing, "",
                                       "nodes that no backend takes are an error"};
inline constexpr Option kModel = {"model", Takes::one, "NAME",
                                  "which model of an archive with several"};
inline constexpr Option kIsolate = {"isolate", Takes::nothing, "",
                                    "run the plugins' compilers in a child process"};
inline constexpr Option kThreads = {"threads", Takes::one, "N", "threads to compile with"};
}  // namespace lower_options

struct LowerCommand {
  std::vector<MethodSource> methods;
  LowerOptions options;
  bool default_backend = false;  // nobody asked for one, and the default one is there
};

// Reads them, but for --method and --method-spec; `input`, if not empty, is the `.pt2` of method
// `forward`. `available`: the plugins' names. invalid_argument: wrong usage.
[[nodiscard]] Result<LowerCommand> parse_lower(const Arguments& arguments, const std::string& input,
                                               std::span<const std::string> available);

// Adds the methods of --method, and what --method-spec and --model say of all.
Status add_methods(const Arguments& arguments, LowerCommand& command);

// "2 of 3 nodes to cpu in 1 partition, 64 bytes of memory (96 without sharing)".
[[nodiscard]] std::string describe(const MethodReport& method);

// "12,345 bytes".
[[nodiscard]] std::string format_bytes(uint64_t bytes);

}  // namespace backplane::cli
