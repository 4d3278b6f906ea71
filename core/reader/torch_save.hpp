// What `torch.save` wrote: a zip of one pickle and the storages that its tensors are views of.
#pragma once

#include <backplane/result.hpp>

#include <cstddef>
#include <span>
#include <vector>

#include "graph/constant.hpp"

namespace backplane {

// The tensors of a saved dict of names to tensors (a state dict), in its order; entries that are
// not tensors are left out. Constant::fqn is the key. Storages lie in `bytes`, which must outlive
// the result, where they can be used in place, else in `buffers`, once for all tensors that share
// them. Every view is checked. `is_parameter` is set; `persistent` is not known here.
// invalid_argument: not such a file, damaged, or a tensor outside of its storage (named).
// unsupported: it needs Python objects (named), big-endian data, or sparse tensors.
[[nodiscard]] Result<std::vector<Constant>> read_torch_save(std::span<const std::byte> bytes,
                                                            Buffers& buffers);

}  // namespace backplane
