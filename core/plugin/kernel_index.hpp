// Which kernel runs an operator: all libraries' kernels by the name of their out form.
#pragma once

#include <backplane/plugin_source.hpp>

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace backplane {

struct KernelEntry {
  const bp_kernel_t* kernel = nullptr;
  const Plugin* plugin = nullptr;
};

// "aten::add.out" of a kernel's schema text.
[[nodiscard]] std::string_view kernel_name(const bp_kernel_t& kernel);

class KernelIndex {
 public:
  // Libraries in order of preference: of two kernels with one name the first is taken.
  explicit KernelIndex(const std::vector<KernelLibrary>& libraries);

  // Null if no library has it.
  [[nodiscard]] const KernelEntry* find(std::string_view name) const;
  // Schema texts with their parameters, of operators that a host may not know.
  [[nodiscard]] const std::vector<std::string_view>& schemas() const { return schemas_; }
  [[nodiscard]] size_t size() const { return entries_.size(); }

 private:
  std::unordered_map<std::string_view, KernelEntry> entries_;  // keys lie in the libraries
  std::vector<std::string_view> schemas_;
};

}  // namespace backplane
