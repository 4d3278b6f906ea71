// The portable kernels by name, for passes that compute.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>

#include "passes/evaluator.hpp"
#include "portable/library.hpp"

namespace backplane {

inline passes::Evaluator::Lookup portable_kernels() {
  std::unordered_map<std::string, const bp_kernel_t*> by_name;
  const bp_kernels_t* library = portable::library();
  for (uint32_t i = 0; i < library->num_kernels; ++i) {
    const auto* kernel = reinterpret_cast<const bp_kernel_t*>(
        static_cast<const char*>(library->kernels) + size_t{i} * library->kernel_stride);
    const std::string_view schema(kernel->schema.ptr, kernel->schema.len);
    by_name.emplace(schema.substr(0, schema.find('(')), kernel);
  }
  return [by_name = std::move(by_name)](std::string_view name) -> const bp_kernel_t* {
    const auto found = by_name.find(std::string(name));
    return found == by_name.end() ? nullptr : found->second;
  };
}

}  // namespace backplane
