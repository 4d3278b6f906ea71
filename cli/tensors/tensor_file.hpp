// Files of tensors, whatever their format: the extension (in any case) says which.
//
//   .npy          one tensor without a name
//   .npz          named tensors, a zip of .npy files
//   .safetensors  named tensors
//   .png .jpg .jpeg  one image without a name, read only (image.hpp says how)
//   .raw .bin     bytes: read as uint8 [n], written as one tensor's elements in row-major order
#pragma once

#include <backplane/result.hpp>

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tensors/image.hpp"
#include "tensors/named_tensor.hpp"

namespace backplane::cli {

// All tensors of the file, in its order. `image_size`: what images are resized to. Errors name the
// file and what is wrong with it. not_found: no such file. unsupported: an extension or an element
// type that is not read. invalid_argument: damaged.
[[nodiscard]] Result<std::vector<NamedTensor>> read_tensors(
    const std::string& path, std::optional<ImageSize> image_size = {});

// Writes the file whole or not at all; an old one is replaced. invalid_argument: not exactly one
// tensor for a format of one, or a name twice. unsupported: as above.
Status write_tensors(const std::string& path, std::span<const NamedView> tensors);

// The same tensor from the bytes of a .raw file: `sizes` with at most one -1, which is found from
// the number of bytes. invalid_argument: they don't fit.
[[nodiscard]] Result<Tensor> shape_raw(const Tensor& bytes, DType dtype,
                                       std::vector<int64_t> sizes);

}  // namespace backplane::cli
