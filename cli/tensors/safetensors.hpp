// .safetensors files: a JSON header that names each tensor's type, shape and place, then the bytes.
//
// Unlike the reference reader, bytes that belong to no tensor are let pass; bytes that belong to
// two are not, so what a file gives is never more than the file.
#pragma once

#include <backplane/result.hpp>

#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "format/byte_sink.hpp"
#include "tensors/named_tensor.hpp"

namespace backplane::cli {

struct Safetensors {
  std::vector<NamedTensor> tensors;  // in the header's order
  std::vector<std::pair<std::string, std::string>> metadata;
};

// Reads a whole file. invalid_argument: damaged, cut short, a name twice. unsupported: an element
// type without a DType. Each error about a tensor names it.
[[nodiscard]] Result<Safetensors> parse_safetensors(std::span<const std::byte> file);

// Writes a file. invalid_argument: a name is given twice, or is `__metadata__`. unsupported:
// complex numbers other than complex64, which the format has no name for.
Status write_safetensors(ByteSink& sink, std::span<const NamedView> tensors);

}  // namespace backplane::cli
