// NumPy's .npz files: a zip of .npy files, one for each name.
//
// Read stored or deflated; written stored, so that nobody waits for the packing of weights.
#pragma once

#include <backplane/result.hpp>

#include <cstddef>
#include <span>
#include <vector>

#include "format/byte_sink.hpp"
#include "tensors/named_tensor.hpp"

namespace backplane::cli {

// All arrays of a whole file, in the zip directory's order. invalid_argument: damaged, cut short, a
// name twice, an entry that is no .npy file. unsupported: as parse_npy. Errors name the entry.
[[nodiscard]] Result<std::vector<NamedTensor>> parse_npz(std::span<const std::byte> file);

// invalid_argument: a name given twice. unsupported: 4 GiB or more, 65,535 tensors or more, or an
// element type that .npy has no name for.
Status write_npz(ByteSink& sink, std::span<const NamedView> tensors);

}  // namespace backplane::cli
