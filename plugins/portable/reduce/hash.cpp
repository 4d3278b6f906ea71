// A hash that any order of elements gives: the bits of all of them, exclusive-ored.
#include <bit>

#include "portable/reduce/rows.hpp"

namespace backplane::portable {
namespace {

template <class T>
uint64_t hash_row(const T* x, int64_t n) {
  uint64_t hash = 0;
  for (int64_t i = 0; i < n; ++i) hash ^= std::bit_cast<uint64_t>(x[i]);
  return hash;
}

// Elements count as doubles or as 64-bit integers. args: self, dim, keepdim, mode.
Status hash_tensor(Context& ctx, const Args& args) {
  const Tensor self = args.tensor(0);
  BP_ASSIGN_OR_RETURN(const Reduction r, reduction(self, args.ints(1), args.boolean(2)));
  if (r.length == 0)
    return invalid({"cannot reduce ", self.shape(), " over a dimension of size 0"});
  const auto as = [&]<class T>() {
    return reduce_rows<T, uint64_t>(ctx, self, r, args.out(0), hash_row<T>);
  };
  if (is_floating(self.dtype())) return as.template operator()<double>();
  return as.template operator()<int64_t>();
}

Status check_mode(const Args& args) {
  if (args.integer(3) == 0) return Ok{};
  return invalid({"mode ", args.integer(3), ": the only one there is is 0"});
}

constexpr Entry table[] = {
    {"aten::hash_tensor.out", "tnbi>t", hash_tensor, kReals | kBool, 0, check_mode},
};

}  // namespace

extern const std::span<const Entry> hash_kernels = table;

}  // namespace backplane::portable
