// `.pt2` files: what `torch.export.save` writes.
//
// Three layouts, told apart by what is inside and never by versions: whole storages as raw entries,
// `torch.save` files inside an archive, and the flat one of old. Python is never run: what only
// pickles hold is refused by name.
#pragma once

#include <backplane/result.hpp>

#include <cstddef>
#include <span>
#include <string>

#include "graph/graph.hpp"

namespace backplane {

struct ReadOptions {
  std::string model;               // which one of an archive with several; empty: the only one
  std::string method = "forward";  // the name of the graph that is read
};

// The program of `path`. The file stays mapped, and constants lie in it, where they are stored and
// aligned to 8 bytes; weights that share a storage share it here too. Time and memory go with the
// size of the graph, not of the weights.
//
// Inputs of kinds, element types and layouts that are not known are read over as long as nothing
// uses them; uses become UnknownArgument, see refuse_unknown. A weight that the graph uses must be
// there whole.
//
// not_found: no such file, or no such model (lists those there are).
// invalid_argument: not such a file, damaged, or inconsistent; several models and none named.
// unsupported: a newer major version of the format, compiled for libtorch alone, big-endian, or
// with weights that only Python can read.
// Messages begin with the path.
[[nodiscard]] Result<Module> read_pt2(const std::string& path, const ReadOptions& options = {});

// The same of a file's bytes, which must outlive the module.
[[nodiscard]] Result<Module> read_pt2(std::span<const std::byte> bytes,
                                      const ReadOptions& options = {});

// unsupported: an argument of a node, or an input or output of a graph, that is an UnknownArgument:
// names the node, the argument, and what it is. To be asked once nodes that nothing needs are gone.
[[nodiscard]] Status refuse_unknown(const Module& module);

}  // namespace backplane
