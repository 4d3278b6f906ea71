#include "plugin/kernel_index.hpp"

namespace backplane {

std::string_view kernel_name(const bp_kernel_t& kernel) {
  const std::string_view schema(kernel.schema.ptr, static_cast<size_t>(kernel.schema.len));
  return schema.substr(0, schema.find('('));
}

KernelIndex::KernelIndex(const std::vector<KernelLibrary>& libraries) {
  for (const KernelLibrary& library : libraries) {
    const auto* base = static_cast<const char*>(library.kernels->kernels);
    for (uint32_t i = 0; i < library.kernels->num_kernels; ++i) {
      const auto* kernel =
          reinterpret_cast<const bp_kernel_t*>(base + uint64_t{i} * library.kernels->kernel_stride);
      const std::string_view name = kernel_name(*kernel);
      entries_.try_emplace(name, KernelEntry{kernel, library.plugin});
      if (name.size() < kernel->schema.len)
        schemas_.emplace_back(kernel->schema.ptr, static_cast<size_t>(kernel->schema.len));
    }
  }
}

const KernelEntry* KernelIndex::find(std::string_view name) const {
  const auto found = entries_.find(name);
  return found == entries_.end() ? nullptr : &found->second;
}

}  // namespace backplane
