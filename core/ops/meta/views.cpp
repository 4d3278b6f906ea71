// The same elements under other sizes: views, their copies, and what repeats or cuts.
#include <algorithm>
#include <array>
#include <limits>

#include "ops/meta/call.hpp"

namespace backplane::ops::meta {
namespace {

constexpr int64_t kToTheEnd = std::numeric_limits<int64_t>::max();

// The size of a dimension that must be there; 1 if it isn't.
SymInt size_at(Call& call, const TensorType& type, size_t dim) {
  if (dim < type.sizes.size()) return type.sizes[dim];
  call.fail(Code::invalid_argument, "a tensor of rank 0 has no dimension to take");
  return 1;
}

// Sizes of which one may be -1: what is left of all elements.
Sizes with_inferred(Call& call, SymInt numel, Sizes sizes) {
  SymInt known = 1;
  std::optional<size_t> open;
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d] != SymInt(-1)) {
      known = call.times(known, sizes[d]);
    } else if (open) {
      call.fail(Code::invalid_argument, "two sizes are -1");
    } else {
      open = d;
    }
  }
  if (open && known == SymInt(0)) call.fail(Code::invalid_argument, "a size of -1 beside one of 0");
  if (open) sizes[*open] = call.symbols().floor_div(numel, known);
  SymbolTable& symbols = call.symbols();
  if (symbols.known_eq(call.product(sizes), numel) == false) {
    call.fail(Code::invalid_argument,
              symbols.text(numel) + " elements don't make " + symbols.text(known));
  }
  return sizes;
}

void view(Call& call, const Family& family) {
  const TensorType& self = call.tensor("self");
  if (const std::optional<DType> dtype = call.dtype("dtype")) {
    Sizes sizes = self.sizes;
    const auto from = static_cast<int64_t>(size_of(self.dtype));
    const auto to = static_cast<int64_t>(size_of(*dtype));
    if (from != to && !sizes.empty()) {
      sizes.back() = call.symbols().floor_div(call.times(sizes.back(), from), to);
    } else if (from != to) {
      call.fail(Code::invalid_argument,
                "a tensor of rank 0 can't be viewed as elements of another size");
    }
    return call.add(*dtype, std::move(sizes));
  }
  call.add(self.dtype,
           with_inferred(call, call.product(self.sizes), call.integers(family.operands)));
}

void flatten(Call& call, const Family&) {
  const TensorType& self = call.tensor("self");
  const size_t start = call.dim("start_dim", self.sizes.size());
  const size_t end = call.dim("end_dim", self.sizes.size());
  if (start > end) return call.fail(Code::invalid_argument, "start_dim is after end_dim");
  if (self.sizes.empty()) return call.add(self.dtype, {1});
  Sizes sizes(self.sizes.begin(), self.sizes.begin() + static_cast<std::ptrdiff_t>(start));
  sizes.push_back(call.product(std::span(self.sizes).subspan(start, end - start + 1)));
  sizes.insert(sizes.end(), self.sizes.begin() + static_cast<std::ptrdiff_t>(end) + 1,
               self.sizes.end());
  call.add(self.dtype, std::move(sizes));
}

void unflatten(Call& call, const Family&) {
  const TensorType& self = call.tensor("self");
  const size_t dim = call.dim("dim", self.sizes.size());
  const Sizes inner = with_inferred(call, size_at(call, self, dim), call.integers("sizes"));
  Sizes sizes = self.sizes;
  if (!call.ok()) return;
  sizes.erase(sizes.begin() + static_cast<std::ptrdiff_t>(dim));
  sizes.insert(sizes.begin() + static_cast<std::ptrdiff_t>(dim), inner.begin(), inner.end());
  call.add(self.dtype, std::move(sizes));
}

void permute(Call& call, const Family&) {
  const TensorType& self = call.tensor("self");
  const size_t rank = self.sizes.size();
  const std::vector<int64_t> dims = call.literals("dims");
  std::vector<bool> seen(std::max<size_t>(rank, 1), false);
  Sizes sizes;
  if (dims.size() != rank)
    return call.fail(Code::invalid_argument, "dims should name every dimension");
  for (const int64_t dim : dims) {
    const size_t d = call.wrap(dim, rank);
    if (seen[d]) call.fail(Code::invalid_argument, "dims names a dimension twice");
    seen[d] = true;
    sizes.push_back(self.sizes[d]);
  }
  call.add(self.dtype, std::move(sizes));
}

void transpose(Call& call, const Family&) {
  const TensorType& self = call.tensor("self");
  Sizes sizes = self.sizes;
  const size_t a = call.dim("dim0", sizes.size());
  const size_t b = call.dim("dim1", sizes.size());
  if (!sizes.empty()) std::swap(sizes[a], sizes[b]);
  call.add(self.dtype, std::move(sizes));
}

void matrix_transpose(Call& call, const Family&) {
  const TensorType& self = call.tensor("self");
  call.expect_rank(self, 0, 2, "self");
  call.add(self.dtype, Sizes(self.sizes.rbegin(), self.sizes.rend()));
}

void expand(Call& call, const Family&) {
  const TensorType& self = call.tensor("self");
  Sizes sizes = call.integers("size");
  if (sizes.size() < self.sizes.size())
    return call.fail(Code::invalid_argument, "fewer sizes than the tensor has");
  const size_t added = sizes.size() - self.sizes.size();
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (d < added) continue;  // a -1 there is refused as a negative size
    const SymInt from = self.sizes[d - added];
    if (sizes[d] == SymInt(-1)) {
      sizes[d] = from;
    } else if (from != SymInt(1)) {
      sizes[d] = call.same(from, sizes[d], "a size and what it is expanded to");
    }
  }
  call.add(self.dtype, std::move(sizes));
}

void expand_like(Call& call, const Family&) {
  const TensorType& self = call.tensor("self");
  call.add(self.dtype, call.tensor("other").sizes);
}

void unsqueeze(Call& call, const Family&) {
  const TensorType& self = call.tensor("self");
  Sizes sizes = self.sizes;
  const size_t dim = call.dim("dim", sizes.size() + 1);
  sizes.insert(sizes.begin() + static_cast<std::ptrdiff_t>(dim), 1);
  call.add(self.dtype, std::move(sizes));
}

// A symbolic size stays, as torch takes it to be other than 1.
void squeeze(Call& call, const Family&) {
  const TensorType& self = call.tensor("self");
  const size_t rank = self.sizes.size();
  std::vector<bool> goes(std::max<size_t>(rank, 1), !call.has("dim"));
  if (call.has("dim")) {
    for (const int64_t dim : call.literals("dim")) goes[call.wrap(dim, rank)] = true;
  }
  Sizes sizes;
  for (size_t d = 0; d < rank; ++d) {
    if (!goes[d] || self.sizes[d] != SymInt(1)) sizes.push_back(self.sizes[d]);
  }
  call.add(self.dtype, std::move(sizes));
}

// An index counted from the end if negative.
SymInt from_start(Call& call, SymInt index, SymInt size) {
  SymbolTable& symbols = call.symbols();
  if (symbols.known_le(0, index) == true) return index;
  const SymInt wrapped = call.plus(index, size);
  if (symbols.known_le(index, -1) == true) return wrapped;
  const std::array condition = {index, SymInt(-1)};
  const std::array branches = {symbols.make(SymOp::le, condition), wrapped, index};
  return symbols.make(SymOp::where, branches);
}

SymInt clamped(Call& call, SymInt value, SymInt low, SymInt high) {
  return call.symbols().max(call.symbols().min(value, high), low);
}

void slice(Call& call, const Family&) {
  const TensorType& self = call.tensor("self");
  const size_t dim = call.dim("dim", self.sizes.size());
  const SymInt size = size_at(call, self, dim);
  const SymInt step = call.integer("step");
  if (step.is_constant() && step.constant() < 1)
    return call.fail(Code::invalid_argument, "step is not positive");
  SymInt start = call.has("start") ? call.integer("start") : SymInt(0);
  SymInt end = call.has("end") ? call.integer("end") : SymInt(kToTheEnd);
  start = clamped(call, from_start(call, start, size), 0, size);
  end = end == SymInt(kToTheEnd) ? size : clamped(call, from_start(call, end, size), 0, size);
  const SymInt length = call.symbols().max(call.minus(end, start), 0);
  Sizes sizes = self.sizes;
  if (!call.ok()) return;
  sizes[dim] = call.symbols().ceil_div(length, step);
  call.add(self.dtype, std::move(sizes));
}

void narrow(Call& call, const Family&) {
  const TensorType& self = call.tensor("self");
  const size_t dim = call.dim("dim", self.sizes.size());
  const SymInt size = size_at(call, self, dim);
  const SymInt length = call.integer("length");
  if (call.symbols().known_le(length, size) == false) {
    return call.fail(Code::invalid_argument, "length is greater than the dimension");
  }
  Sizes sizes = self.sizes;
  if (!call.ok()) return;
  sizes[dim] = length;
  call.add(self.dtype, std::move(sizes));
}

void select(Call& call, const Family&) {
  const TensorType& self = call.tensor("self");
  const size_t dim = call.dim("dim", self.sizes.size());
  const SymInt size = size_at(call, self, dim);
  const SymInt index = call.integer("index");
  SymbolTable& symbols = call.symbols();
  if (symbols.known_le(call.plus(index, 1), size) == false ||
      symbols.known_le(call.plus(index, size), -1) == true) {
    call.fail(Code::invalid_argument,
              "index " + symbols.text(index) + " of a dimension of size " + symbols.text(size));
  }
  Sizes sizes = self.sizes;
  if (!call.ok()) return;
  sizes.erase(sizes.begin() + static_cast<std::ptrdiff_t>(dim));
  call.add(self.dtype, std::move(sizes));
}

void diagonal(Call& call, const Family&) {
  const TensorType& self = call.tensor("self");
  const size_t a = call.dim("dim1", self.sizes.size());
  const size_t b = call.dim("dim2", self.sizes.size());
  const int64_t offset = call.literal("offset");
  if (a == b) return call.fail(Code::invalid_argument, "dim1 and dim2 are the same dimension");
  SymInt rows = size_at(call, self, a);
  SymInt columns = size_at(call, self, b);
  if (!call.ok()) return;
  if (offset >= 0) {
    columns = call.minus(columns, offset);
  } else {
    rows = call.plus(rows, offset);
  }
  Sizes sizes;
  for (size_t d = 0; d < self.sizes.size(); ++d) {
    if (d != a && d != b) sizes.push_back(self.sizes[d]);
  }
  sizes.push_back(call.symbols().max(call.symbols().min(rows, columns), 0));
  call.add(self.dtype, std::move(sizes));
}

void diag_embed(Call& call, const Family&) {
  const TensorType& self = call.tensor("self");
  const size_t rank = self.sizes.size() + 1;
  const size_t a = call.dim("dim1", rank);
  const size_t b = call.dim("dim2", rank);
  call.expect_rank(self, 1, SIZE_MAX, "self");
  if (a == b) call.fail(Code::invalid_argument, "dim1 and dim2 are the same dimension");
  if (!call.ok()) return;
  const int64_t offset = call.literal("offset");
  const SymInt side =
      call.plus(self.sizes.back(), call.symbols().max(offset, call.symbols().neg(offset)));
  Sizes sizes(self.sizes.begin(), self.sizes.end() - 1);
  for (const size_t dim : {std::min(a, b), std::max(a, b)}) {
    sizes.insert(sizes.begin() + static_cast<std::ptrdiff_t>(dim), side);
  }
  call.add(self.dtype, std::move(sizes));
}

void as_strided(Call& call, const Family&) {
  const TensorType& self = call.tensor("self");
  call.add(self.dtype, call.integers("size"));
}

void unfold(Call& call, const Family&) {
  const TensorType& self = call.tensor("self");
  const size_t dim = call.dim("dimension", self.sizes.size());
  const SymInt size = call.integer("size");
  const SymInt step = call.integer("step");
  if (step.is_constant() && step.constant() < 1)
    return call.fail(Code::invalid_argument, "step is not positive");
  Sizes sizes = self.sizes;
  if (!sizes.empty()) {
    sizes[dim] = call.plus(call.symbols().floor_div(call.minus(sizes[dim], size), step), 1);
  }
  sizes.push_back(size);
  call.add(self.dtype, std::move(sizes));
}

void view_as_real(Call& call, const Family&) {
  const TensorType& self = call.tensor("self");
  Sizes sizes = self.sizes;
  sizes.emplace_back(2);
  if (!is_complex(self.dtype)) return call.fail(Code::invalid_argument, "self is not complex");
  call.add(self.dtype == DType::c32   ? DType::f16
           : self.dtype == DType::c64 ? DType::f32
                                      : DType::f64,
           std::move(sizes));
}

void view_as_complex(Call& call, const Family&) {
  const TensorType& self = call.tensor("self");
  Sizes sizes = self.sizes;
  if (sizes.empty()) return call.fail(Code::invalid_argument, "self has rank 0");
  (void)call.same(sizes.back(), 2, "the last size and 2");
  sizes.pop_back();
  call.add(self.dtype == DType::f16   ? DType::c32
           : self.dtype == DType::f32 ? DType::c64
                                      : DType::c128,
           std::move(sizes));
}

void repeat(Call& call, const Family&) {
  const TensorType& self = call.tensor("self");
  Sizes sizes = call.integers("repeats");
  if (sizes.size() < self.sizes.size())
    return call.fail(Code::invalid_argument, "fewer repeats than dimensions");
  const size_t added = sizes.size() - self.sizes.size();
  for (size_t d = added; d < sizes.size(); ++d)
    sizes[d] = call.times(sizes[d], self.sizes[d - added]);
  call.add(self.dtype, std::move(sizes));
}

// Pairs of padding, last dimension first.
void pad(Call& call, const Family& family) {
  const TensorType& self = call.tensor("self");
  const Sizes padding = call.integers(family.operands);
  Sizes sizes = self.sizes;
  if (padding.size() % 2 != 0 || padding.size() / 2 > sizes.size()) {
    return call.fail(Code::invalid_argument, "padding has " + std::to_string(padding.size()) +
                                                 " elements for a tensor of rank " +
                                                 std::to_string(sizes.size()));
  }
  for (size_t i = 0; i < padding.size() / 2; ++i) {
    SymInt& size = sizes[sizes.size() - 1 - i];
    size = call.plus(size, call.plus(padding[2 * i], padding[2 * i + 1]));
  }
  call.add(self.dtype, std::move(sizes));
}

void sym_size(Call& call, const Family&) {
  const TensorType& self = call.tensor("self");
  const size_t dim = call.dim("dim", self.sizes.size());
  call.add_number(size_at(call, self, dim));
}

void sym_numel(Call& call, const Family&) {
  call.add_number(call.product(call.tensor("self").sizes));
}

constexpr std::array kRules = {
    Family{"view _unsafe_view _reshape_alias", view, "size"},
    Family{"reshape", view, "shape"},
    Family{"flatten", flatten},
    Family{"unflatten", unflatten},
    Family{"permute", permute},
    Family{"transpose swapaxes swapdims", transpose},
    Family{"t", matrix_transpose},
    Family{"expand broadcast_to", expand},
    Family{"expand_as view_as reshape_as", expand_like},
    Family{"unsqueeze", unsqueeze},
    Family{"squeeze", squeeze},
    Family{"slice", slice},
    Family{"narrow", narrow},
    Family{"select", select},
    Family{"diagonal", diagonal},
    Family{"diag_embed", diag_embed},
    Family{"as_strided", as_strided},
    Family{"unfold", unfold},
    Family{"view_as_real", view_as_real},
    Family{"view_as_complex", view_as_complex},
    Family{"repeat", repeat},
    Family{"constant_pad_nd pad", pad, "pad"},
    Family{"reflection_pad1d reflection_pad2d reflection_pad3d replication_pad1d replication_pad2d "
           "replication_pad3d",
           pad, "padding"},
    Family{"sym_size", sym_size},
    Family{"sym_numel", sym_numel},
};

}  // namespace

std::span<const Family> view_rules() {
  return kRules;
}

}  // namespace backplane::ops::meta
