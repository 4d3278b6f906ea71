// Along dimensions: reductions, scans, softmax, sorting.
#include <algorithm>
#include <array>

#include "ops/meta/call.hpp"

namespace backplane::ops::meta {
namespace {

// Family::detail: the dtype of values, and what else there is.
enum Detail : int {
  same,
  summed,     // integers and booleans give i64
  predicate,  // boolean; u8 for u8
  index,      // i64
  floating,   // f32 for integers
  real,       // parts of complex
  bits,       // u64
  kDType = 15,
  kWithIndices = 16,  // a second result: i64
  kTwice = 32,        // a second result like the first
  kNoneIsNone = 64,   // an empty list of dimensions means none, not all
};

DType value_dtype(Detail detail, DType from) {
  const bool is_exact = !is_floating(from) && !is_complex(from);
  switch (detail & kDType) {
    case summed:
      return is_exact ? DType::i64 : from;
    case predicate:
      return from == DType::u8 ? DType::u8 : DType::boolean;
    case index:
      return DType::i64;
    case bits:
      return DType::u64;
    case floating:
      return is_exact ? DType::f32 : from;
    case real:
      return from == DType::c32    ? DType::f16
             : from == DType::c64  ? DType::f32
             : from == DType::c128 ? DType::f64
             : is_exact            ? DType::f32
                                   : from;
    default:
      return from;
  }
}

void add_results(Call& call, const Family& family, DType from, Sizes sizes) {
  const auto detail = static_cast<Detail>(family.detail);
  const DType dtype = call.dtype("dtype").value_or(value_dtype(detail, from));
  if ((detail & kWithIndices) != 0) {
    call.add(dtype, sizes);
    call.add(DType::i64, std::move(sizes));
    return;
  }
  if ((detail & kTwice) != 0) call.add(dtype, sizes);
  call.add(dtype, std::move(sizes));
}

void reduce(Call& call, const Family& family) {
  const TensorType& self = call.tensor("self");
  const size_t rank = self.sizes.size();
  const bool keepdim = call.flag("keepdim");
  const std::vector<int64_t> dims = call.has("dim") ? call.literals("dim") : std::vector<int64_t>();
  const bool none_is_none = (family.detail & kNoneIsNone) != 0 && call.has("dim");
  std::vector<bool> reduced(std::max<size_t>(rank, 1), dims.empty() && !none_is_none);
  for (const int64_t dim : dims) reduced[call.wrap(dim, rank)] = true;
  Sizes sizes;
  for (size_t d = 0; d < rank; ++d) {
    if (!reduced[d]) sizes.push_back(self.sizes[d]);
    if (reduced[d] && keepdim) sizes.emplace_back(1);
  }
  add_results(call, family, self.dtype, std::move(sizes));
}

// max, min, median: values alone over everything, with indices over one dimension.
void reduce_to_values(Call& call, const Family& family) {
  Family by_dim = family;
  if (call.has("dim")) by_dim.detail |= kWithIndices;
  reduce(call, by_dim);
}

void scan(Call& call, const Family& family) {
  const TensorType& self = call.tensor("self");
  (void)call.dim("dim", self.sizes.size());
  add_results(call, family, self.dtype, self.sizes);
}

void softmax(Call& call, const Family& family) {
  const TensorType& self = call.tensor("self");
  (void)call.dim("dim", self.sizes.size());
  const DType from = call.flag("half_to_float") ? DType::f32 : self.dtype;
  add_results(call, family, from, self.sizes);
}

void sort(Call& call, const Family& family) {
  const TensorType& self = call.tensor("self");
  (void)call.dim("dim", self.sizes.size());
  add_results(call, family, self.dtype, self.sizes);
}

void topk(Call& call, const Family& family) {
  const TensorType& self = call.tensor("self");
  const size_t dim = call.dim("dim", self.sizes.size());
  const SymInt k = call.integer("k");
  Sizes sizes = self.sizes;
  const SymInt available = sizes.empty() ? SymInt(1) : sizes[dim];
  if (call.symbols().known_le(k, available) == false) {
    return call.fail(Code::invalid_argument, "k is greater than the dimension");
  }
  if (!sizes.empty()) sizes[dim] = k;
  add_results(call, family, self.dtype, std::move(sizes));
}

constexpr std::array kRules = {
    Family{"sum nansum prod", reduce, {}, summed},
    Family{"mean nanmean amax amin", reduce, {}, same},
    Family{"aminmax", reduce, {}, same | kTwice},
    Family{"any all", reduce, {}, predicate | kNoneIsNone},
    Family{"argmax argmin count_nonzero", reduce, {}, index},
    Family{"var std norm linalg_vector_norm", reduce, {}, real},
    Family{"var_mean std_mean", reduce, {}, real | kTwice},
    Family{"logsumexp", reduce, {}, floating},
    Family{"hash_tensor", reduce, {}, bits},
    Family{"max min median nanmedian", reduce_to_values, {}, same},
    Family{"mode kthvalue", reduce_to_values, {}, same},
    Family{"cumsum cumprod", scan, {}, summed},
    Family{"logcumsumexp", scan, {}, floating},
    Family{"cummax cummin", scan, {}, same | kWithIndices},
    Family{"softmax log_softmax _softmax _log_softmax _safe_softmax", softmax, {}, same},
    Family{"sort", sort, {}, same | kWithIndices},
    Family{"argsort", sort, {}, index},
    Family{"topk", topk, {}, same | kWithIndices},
};

}  // namespace

std::span<const Family> reduction_rules() {
  return kRules;
}

}  // namespace backplane::ops::meta
