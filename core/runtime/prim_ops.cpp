#include "runtime/prim_ops.hpp"

#include <algorithm>

namespace backplane::runtime {
namespace {

const PrimOp* find(std::span<const PrimOp> ops, std::string_view name) {
  const auto at =
      std::find_if(ops.begin(), ops.end(), [&](const PrimOp& op) { return op.name == name; });
  return at == ops.end() ? nullptr : &*at;
}

}  // namespace

const PrimOp* find_prim_op(std::string_view name) {
  if (const PrimOp* op = find(tensor_ops(), name)) return op;
  constexpr std::string_view kNamespace = "executorch_prim::";
  if (!name.starts_with(kNamespace)) return nullptr;
  name.remove_prefix(kNamespace.size());
  name = name.substr(0, name.find('.'));
  if (name.starts_with("_")) name.remove_prefix(1);
  if (name.starts_with("sym_")) name.remove_prefix(4);
  if (name.ends_with("_")) name.remove_suffix(1);
  return find(number_ops(), name);
}

}  // namespace backplane::runtime
