// Every kernel's name and signature against PyTorch's schema of the operator.
#include <doctest/doctest.h>

#include <cctype>
#include <map>
#include <memory>
#include <string>

#include "harness.hpp"
#include "ops/schema.hpp"
#include "portable/kernel.hpp"
#include "portable/library.hpp"

namespace {

using namespace backplane;
using ops::Kind;

// The letters that may stand for a parameter, lower case.
std::string letters_for(const ops::Parameter& p) {
  switch (p.kind) {
    case Kind::tensor:
      return p.list ? "l" : "to";
    case Kind::scalar:
      return p.list ? "" : "so";
    case Kind::integer:
      return p.list ? "n" : "i";
    case Kind::floating:
      return p.list ? "d" : "f";
    case Kind::boolean:
      return p.list ? "m" : "b";
    case Kind::string:
      return "z";
    default:
      return "i";  // dtype, layout, memory format, device; a generator is always absent
  }
}

bool fits(const ops::Parameter& p, char letter) {
  const char lower = static_cast<char>(std::tolower(letter));
  if (letters_for(p).find(lower) == std::string::npos) {
    return false;
  }
  const bool may_be_absent = std::isupper(letter) != 0 && letter != 'L';
  return !p.optional || may_be_absent;
}

std::string problem(const ops::Schema& schema, std::string_view signature) {
  const size_t bar = signature.find('>');
  const std::string letters =
      std::string(signature.substr(0, bar)) + std::string(signature.substr(bar + 1));
  if (letters.size() != schema.parameters.size()) {
    return "has " + std::to_string(letters.size()) + " letters for " +
           std::to_string(schema.parameters.size()) + " parameters";
  }
  for (size_t i = 0; i < letters.size(); ++i) {
    if (!fits(schema.parameters[i], letters[i]) || schema.parameters[i].is_out != (i >= bar)) {
      return std::string("'") + letters[i] + "' does not fit " + schema.parameters[i].name;
    }
  }
  return "";
}

TEST_SUITE("plugins/portable") {
  TEST_CASE("each kernel's signature is that of its operator") {
    const auto table = std::make_unique<ops::Table>();
    std::map<std::string, const ops::Schema*> outs;
    for (const std::string_view name : table->names()) {
      const ops::Schema* const schema = table->find(name);
      if (schema != nullptr && !schema->out.empty()) {
        outs[schema->out] = table->find_out(*schema);
      }
    }
    const bp_kernels_t& library = *portable::library();
    for (uint32_t i = 0; i < library.num_kernels; ++i) {
      const auto& kernel = static_cast<const bp_kernel_t*>(library.kernels)[i];
      const auto& entry = *static_cast<const portable::Entry*>(kernel.data);
      const std::string name(entry.name);
      if (name.starts_with("dim_order_ops::") || name.find('(') != std::string::npos ||
          name == "aten::copy_") {
        continue;  // no schema of PyTorch's, or one of its own
      }
      const auto found = outs.find(name);
      const ops::Schema* schema = found != outs.end() ? found->second : table->find(name);
      CHECK_MESSAGE(schema != nullptr, name, " is no operator's out form");
      if (schema != nullptr) {
        const std::string text = problem(*schema, entry.signature);
        CHECK_MESSAGE(text.empty(), name, " ", std::string(entry.signature), " ", text);
      }
    }
  }

  TEST_CASE("no operator has two kernels") {
    const bp_kernels_t& library = *portable::library();
    std::map<std::string_view, int> counts;
    for (uint32_t i = 0; i < library.num_kernels; ++i) {
      const auto& kernel = static_cast<const bp_kernel_t*>(library.kernels)[i];
      const int count = ++counts[{kernel.schema.ptr, kernel.schema.len}];
      CHECK_MESSAGE(count == 1, std::string(kernel.schema.ptr, kernel.schema.len));
    }
  }
}

}  // namespace
