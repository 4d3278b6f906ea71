// Putting together, taking apart, and elements by index.
#include <algorithm>
#include <array>

#include "ops/meta/call.hpp"

namespace backplane::ops::meta {
namespace {

std::optional<DType> common_dtype(Call& call, std::span<const TensorType* const> tensors) {
  std::vector<PromotedOperand> operands;
  for (const TensorType* type : tensors)
    operands.push_back({type->dtype, false, type->sizes.empty()});
  const std::optional<DType> dtype = result_type(operands);
  if (!dtype) call.fail(Code::invalid_argument, "the tensors' dtypes have none in common");
  return dtype;
}

std::vector<const TensorType*> all_tensors(Call& call, std::string_view name) {
  std::vector<const TensorType*> tensors = call.tensors(name);
  if (tensors.empty() || std::count(tensors.begin(), tensors.end(), nullptr) != 0) {
    call.fail(Code::invalid_argument, "argument '" + std::string(name) + "' lacks a tensor");
    tensors.clear();
  }
  return tensors;
}

// Empty tensors of rank 1 are passed over, as ever.
void cat(Call& call, const Family&) {
  const std::vector<const TensorType*> tensors = all_tensors(call, "tensors");
  const TensorType* first = nullptr;
  for (const TensorType* type : tensors) {
    if (type->sizes != Sizes{0} && first == nullptr) first = type;
  }
  if (!call.ok()) return;
  Sizes sizes = first == nullptr ? Sizes{0} : first->sizes;
  const size_t dim = call.dim("dim", sizes.size());
  if (sizes.empty()) call.fail(Code::invalid_argument, "tensors of rank 0 can't be concatenated");
  SymInt total = 0;
  for (const TensorType* type : tensors) {
    if (type->sizes == Sizes{0} && sizes.size() != 1) continue;
    call.expect_rank(*type, sizes.size(), sizes.size(), "a tensor to concatenate");
    if (!call.ok()) return;
    for (size_t d = 0; d < sizes.size(); ++d) {
      if (d == dim) total = call.plus(total, type->sizes[d]);
      if (d != dim) sizes[d] = call.same(sizes[d], type->sizes[d], "sizes of concatenated tensors");
    }
  }
  sizes[dim] = total;
  if (const auto dtype = common_dtype(call, tensors)) call.add(*dtype, std::move(sizes));
}

void stack(Call& call, const Family&) {
  const std::vector<const TensorType*> tensors = all_tensors(call, "tensors");
  if (!call.ok()) return;
  Sizes sizes = tensors[0]->sizes;
  const size_t dim = call.dim("dim", sizes.size() + 1);
  for (const TensorType* type : tensors) {
    call.expect_rank(*type, sizes.size(), sizes.size(), "a tensor to stack");
    if (!call.ok()) return;
    for (size_t d = 0; d < sizes.size(); ++d) {
      sizes[d] = call.same(sizes[d], type->sizes[d], "sizes of stacked tensors");
    }
  }
  sizes.insert(sizes.begin() + static_cast<std::ptrdiff_t>(dim),
               static_cast<int64_t>(tensors.size()));
  if (const auto dtype = common_dtype(call, tensors)) call.add(*dtype, std::move(sizes));
}

// How many parts of size `part` there are: counted if that is known, else as the node says.
size_t count_parts(Call& call, SymInt size, SymInt part) {
  constexpr int64_t kMaxParts = 1 << 20;
  const SymInt count = part == SymInt(0) ? SymInt(1) : call.symbols().ceil_div(size, part);
  if (count.is_constant() && count.constant() > kMaxParts) {
    call.fail(Code::invalid_argument,
              "a split into " + std::to_string(count.constant()) + " parts");
    return 1;
  }
  if (count.is_constant()) return static_cast<size_t>(std::max<int64_t>(count.constant(), 1));
  if (call.node().outputs.empty())
    call.fail(Code::unsupported, "the number of parts depends on a size");
  return std::max<size_t>(call.node().outputs.size(), 1);
}

void add_parts(Call& call, SymInt part, size_t dim) {
  const TensorType& self = call.tensor("self");
  const size_t count = count_parts(call, self.sizes[dim], part);
  Sizes sizes = self.sizes;
  for (size_t i = 0; i < count && call.ok(); ++i) {
    const SymInt before = call.times(part, static_cast<int64_t>(i));
    sizes[dim] = i + 1 < count ? part : call.minus(self.sizes[dim], before);
    call.add(self.dtype, sizes);
  }
}

// By one size for all parts, or by the size of each.
void split(Call& call, const Family&) {
  const TensorType& self = call.tensor("self");
  const size_t dim = call.dim("dim", self.sizes.size());
  const std::string_view name = call.has("split_sizes") ? "split_sizes" : "split_size";
  const Sizes parts = call.integers(name);
  call.expect_rank(self, 1, SIZE_MAX, "self");
  if (!call.ok()) return;
  if (!std::holds_alternative<IntList>(call.raw(name))) {
    if (call.symbols().known_le(0, parts[0]) == false)
      call.fail(Code::invalid_argument, "split_size is negative");
    return add_parts(call, parts[0], dim);
  }
  SymInt total = 0;
  for (const SymInt part : parts) {
    Sizes sizes = self.sizes;
    sizes[dim] = part;
    total = call.plus(total, part);
    call.add(self.dtype, std::move(sizes));
  }
  (void)call.same(total, self.sizes[dim], "the parts' total and the dimension");
}

void chunk(Call& call, const Family&) {
  const TensorType& self = call.tensor("self");
  const size_t dim = call.dim("dim", self.sizes.size());
  const int64_t chunks = call.literal("chunks");
  if (chunks < 1) call.fail(Code::invalid_argument, "chunks is not positive");
  call.expect_rank(self, 1, SIZE_MAX, "self");
  if (!call.ok()) return;
  if (self.sizes[dim] == SymInt(0)) {
    for (int64_t i = 0; i < std::min<int64_t>(chunks, 1024); ++i) call.add(self);
    return;
  }
  add_parts(call, call.symbols().ceil_div(self.sizes[dim], chunks), dim);
}

void unbind(Call& call, const Family&) {
  const TensorType& self = call.tensor("self");
  const size_t dim = call.dim("dim", self.sizes.size());
  call.expect_rank(self, 1, SIZE_MAX, "self");
  if (!call.ok()) return;
  const bool is_empty = self.sizes[dim] == SymInt(0);
  const size_t count = is_empty ? 0 : count_parts(call, self.sizes[dim], 1);
  Sizes sizes = self.sizes;
  sizes.erase(sizes.begin() + static_cast<std::ptrdiff_t>(dim));
  for (size_t i = 0; i < count; ++i) call.add(self.dtype, sizes);
}

void like_self(Call& call, const Family&) {
  call.add(call.tensor("self"));
}

void gather(Call& call, const Family&) {
  const TensorType& self = call.tensor("self");
  call.add(self.dtype, call.tensor("index").sizes);
}

void index_select(Call& call, const Family&) {
  const TensorType& self = call.tensor("self");
  const TensorType& index = call.tensor("index");
  call.expect_rank(index, 0, 1, "index");
  Sizes sizes = self.sizes;
  const size_t dim = call.dim("dim", sizes.size());
  if (!sizes.empty()) sizes[dim] = call.product(index.sizes);
  call.add(self.dtype, std::move(sizes));
}

// The result of self[indices]: where indices stand side by side their sizes go there, else first.
void index(Call& call, const Family&) {
  const TensorType& self = call.tensor("self");
  const std::vector<const TensorType*> indices = call.tensors("indices");
  if (indices.size() > self.sizes.size())
    return call.fail(Code::invalid_argument, "more indices than dimensions");
  Sizes indexed;
  Sizes before;
  Sizes after;
  bool is_apart = false;
  bool has_gap = false;
  bool any = false;
  for (size_t d = 0; d < self.sizes.size(); ++d) {
    if (d >= indices.size() || indices[d] == nullptr) {
      (any ? after : before).push_back(self.sizes[d]);
      has_gap |= any;
      continue;
    }
    if (indices[d]->dtype == DType::boolean || indices[d]->dtype == DType::u8) {
      return call.fail(Code::unsupported, "a mask as an index: the size depends on values");
    }
    is_apart |= has_gap;
    any = true;
    indexed = call.broadcast(indexed, indices[d]->sizes);
  }
  Sizes sizes = is_apart ? Sizes() : before;
  sizes.insert(sizes.end(), indexed.begin(), indexed.end());
  if (is_apart) sizes.insert(sizes.end(), before.begin(), before.end());
  sizes.insert(sizes.end(), after.begin(), after.end());
  call.add(self.dtype, std::move(sizes));
}

void embedding(Call& call, const Family&) {
  const TensorType& weight = call.tensor("weight");
  call.expect_rank(weight, 2, 2, "weight");
  if (!call.ok()) return;
  Sizes sizes = call.tensor("indices").sizes;
  sizes.push_back(weight.sizes[1]);
  call.add(weight.dtype, std::move(sizes));
}

void one_hot(Call& call, const Family&) {
  Sizes sizes = call.tensor("self").sizes;
  if (call.integer("num_classes") == SymInt(-1))
    call.fail(Code::unsupported, "num_classes depends on values");
  sizes.push_back(call.integer("num_classes"));
  call.add(DType::i64, std::move(sizes));
}

void search(Call& call, const Family&) {
  const std::optional<Operand> self = call.operand("self");
  call.add(call.flag("out_int32") ? DType::i32 : DType::i64, self ? self->type.sizes : Sizes());
}

void repeat_interleave(Call& call, const Family&) {
  const TensorType& self = call.tensor("self");
  const SymInt repeats = call.integer("repeats");
  if (!call.has("dim"))
    return call.add(self.dtype, {call.times(call.product(self.sizes), repeats)});
  const size_t dim = call.dim("dim", self.sizes.size());
  Sizes sizes = self.sizes;
  if (sizes.empty()) sizes.emplace_back(1);
  sizes[dim] = call.times(sizes[dim], repeats);
  call.add(self.dtype, std::move(sizes));
}

constexpr std::array kRules = {
    Family{"cat concat concatenate", cat},
    Family{"stack", stack},
    Family{"split split_with_sizes", split},
    Family{"chunk", chunk},
    Family{"unbind", unbind},
    Family{"gather take", gather},
    Family{"index_select", index_select},
    Family{"index _unsafe_index", index},
    Family{"index_put _unsafe_index_put scatter scatter_add scatter_reduce index_add index_copy "
           "index_fill index_reduce put slice_scatter select_scatter as_strided_scatter",
           like_self},
    Family{"embedding", embedding},
    Family{"one_hot", one_hot},
    Family{"bucketize searchsorted", search},
    Family{"repeat_interleave.self_int", repeat_interleave},
};

}  // namespace

std::span<const Family> index_rules() {
  return kRules;
}

}  // namespace backplane::ops::meta
