#include "tensors/tensor_file.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "common/mapped_file.hpp"
#include "format/file_sink.hpp"
#include "tensors/npy.hpp"
#include "tensors/npz.hpp"
#include "tensors/safetensors.hpp"

namespace backplane::cli {
namespace {

using NamedTensors = std::vector<NamedTensor>;

struct Format {
  std::string_view extension;
  Result<NamedTensors> (*read)(std::span<const std::byte>, std::optional<ImageSize>);
  Status (*write)(ByteSink&, std::span<const NamedView>);  // null: read only
  bool holds_one;
};

Result<NamedTensors> just(Result<Tensor> tensor) {
  if (!tensor.ok()) return std::move(tensor).error();
  NamedTensors tensors;
  tensors.push_back({"", *std::move(tensor)});
  return tensors;
}

Result<NamedTensors> read_npy(std::span<const std::byte> file, std::optional<ImageSize>) {
  return just(parse_npy(file));
}

Result<NamedTensors> read_npz(std::span<const std::byte> file, std::optional<ImageSize>) {
  return parse_npz(file);
}

Result<NamedTensors> read_safetensors(std::span<const std::byte> file, std::optional<ImageSize>) {
  BP_ASSIGN_OR_RETURN(Safetensors content, parse_safetensors(file));
  return std::move(content.tensors);
}

Result<NamedTensors> read_image(std::span<const std::byte> file, std::optional<ImageSize> size) {
  return just(parse_image(file, size));
}

Result<NamedTensors> read_raw(std::span<const std::byte> file, std::optional<ImageSize>) {
  return just(tensor_from_bytes(DType::u8, {static_cast<int64_t>(file.size())}, file));
}

Status write_one_npy(ByteSink& sink, std::span<const NamedView> tensors) {
  return write_npy(sink, tensors[0].view);
}

Status write_raw(ByteSink& sink, std::span<const NamedView> tensors) {
  return append_elements(sink, tensors[0].view);
}

constexpr std::array kFormats = {
    Format{".npy", read_npy, write_one_npy, true},
    Format{".npz", read_npz, write_npz, false},
    Format{".safetensors", read_safetensors, write_safetensors, false},
    Format{".png", read_image, nullptr, true},
    Format{".jpg", read_image, nullptr, true},
    Format{".jpeg", read_image, nullptr, true},
    Format{".raw", read_raw, write_raw, true},
    Format{".bin", read_raw, write_raw, true},
};

const Format* format_of(std::string path) {
  std::transform(path.begin(), path.end(), path.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  const auto* found = std::find_if(kFormats.begin(), kFormats.end(), [&](const Format& format) {
    return path.ends_with(format.extension);
  });
  return found == kFormats.end() ? nullptr : found;
}

Error no_format(const std::string& path, std::string_view doing, bool writing) {
  std::string extensions;
  for (const Format& format : kFormats) {
    if (!writing || format.write) extensions += " " + std::string(format.extension);
  }
  return {Code::unsupported,
          path + ": tensors are " + std::string(doing) + " files with" + extensions};
}

}  // namespace

Result<NamedTensors> read_tensors(const std::string& path, std::optional<ImageSize> image_size) {
  const Format* format = format_of(path);
  if (!format) return no_format(path, "read from", false);
  BP_ASSIGN_OR_RETURN(const MappedFile file, MappedFile::open(path));
  auto tensors = format->read(file.bytes(), image_size);
  if (!tensors.ok()) return std::move(tensors).error().in(path);
  return tensors;
}

Status write_tensors(const std::string& path, std::span<const NamedView> tensors) {
  const Format* format = format_of(path);
  if (!format || !format->write) return no_format(path, "written to", true);
  if (format->holds_one && tensors.size() != 1) {
    return Error{Code::invalid_argument, path + ": holds one tensor and there are " +
                                             std::to_string(tensors.size()) +
                                             "; write a .npz or .safetensors file"};
  }
  BP_ASSIGN_OR_RETURN(FileSink sink, FileSink::create(path));
  if (Status status = format->write(sink, tensors); !status.ok()) {
    return std::move(status).error().in(path);
  }
  return sink.commit();
}

Result<Tensor> shape_raw(const Tensor& bytes, DType dtype, std::vector<int64_t> sizes) {
  const auto open = std::find(sizes.begin(), sizes.end(), -1);
  if (open != sizes.end()) {
    *open = 1;
    BP_ASSIGN_OR_RETURN(const int64_t step, checked_nbytes(dtype, sizes));
    *open = step == 0 ? 0 : static_cast<int64_t>(bytes.nbytes()) / step;
  }
  return tensor_from_bytes(dtype, std::move(sizes), bytes.bytes());
}

}  // namespace backplane::cli
