// NAME.backplane.yaml: what a plugin says of itself, so that it can be listed without being opened.
//
//   manifest: 1
//   name: cuda                       # the file's name without .backplane.yaml
//   library: cuda.so                 # in the same folder
//   version: 0.1.0
//   abi: {major: 1, min_host_minor: 0}
//   provides: [compile, run]         # or kernels
//   devices: [cuda]                  # as in the table, like the next two
//   data_placement: [external, inline]
//   delegate_ids: [OtherBackend]
//   aliases: [gpu]
//   requires: [libcuda.so.1]         # for messages
//   sha256: 9f86d0…                  # of the library; checked if it is given
//
// A small part of YAML: no tags, anchors or aliases, one document, 64 KiB at most.
#pragma once

#include <backplane/result.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace backplane::registry {

inline constexpr std::string_view kManifestSuffix = ".backplane.yaml";

struct Manifest {
  std::string name;
  std::string library;
  std::string version;
  uint32_t abi_major = 1;
  uint32_t min_host_minor = 0;
  std::vector<std::string> provides;
  std::vector<std::string> devices;
  std::vector<std::string> data_placement;
  std::vector<std::string> delegate_ids;
  std::vector<std::string> aliases;
  std::vector<std::string> requires_libraries;
  std::string sha256;                 // 64 lower-case hex digits, or empty
  std::vector<std::string> warnings;  // such as keys that this host does not know
};

// invalid_argument names the line and the rule; incompatible: of another manifest version. Messages
// don't name the file.
[[nodiscard]] Result<Manifest> parse_manifest(std::string_view text);

// The manifest at `path`, whose name must fit the file's. not_found; invalid_argument: not a
// regular file, too long, or as above. Messages begin with the path.
[[nodiscard]] Result<Manifest> read_manifest(const std::string& path);

}  // namespace backplane::registry
