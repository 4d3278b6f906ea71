// Products of matrices, normalisation, attention, Fourier transforms.
#include <algorithm>
#include <array>

#include "ops/meta/call.hpp"

namespace backplane::ops::meta {
namespace {

void mm(Call& call, const Family& family) {
  const size_t batch = static_cast<size_t>(family.detail);  // leading dimensions that both have
  const std::string_view names = family.operands;
  const size_t space = names.find(' ');
  const TensorType& a = call.tensor(names.substr(0, space));
  const TensorType& b = call.tensor(names.substr(space + 1));
  call.expect_rank(a, batch + 2, batch + 2, "the first matrix");
  call.expect_rank(b, batch + 2, batch + 2, "the second matrix");
  if (!call.ok()) return;
  (void)call.same(a.sizes[batch + 1], b.sizes[batch], "inner sizes");
  Sizes sizes(a.sizes.begin(), a.sizes.begin() + static_cast<std::ptrdiff_t>(batch) + 1);
  for (size_t d = 0; d < batch; ++d) sizes[d] = call.same(sizes[d], b.sizes[d], "batch sizes");
  sizes.push_back(b.sizes[batch + 1]);
  call.add(call.node().op == "aten::_int_mm" ? DType::i32 : a.dtype, std::move(sizes));
}

void addbmm(Call& call, const Family&) {
  const TensorType& a = call.tensor("batch1");
  const TensorType& b = call.tensor("batch2");
  call.expect_rank(a, 3, 3, "batch1");
  call.expect_rank(b, 3, 3, "batch2");
  if (call.ok()) call.add(a.dtype, {a.sizes[1], b.sizes[2]});
}

// A vector counts as a row on the left and as a column on the right, and its dimension goes.
void matmul(Call& call, const Family& family) {
  const size_t space = family.operands.find(' ');
  const TensorType& a = call.tensor(family.operands.substr(0, space));
  const TensorType& b = call.tensor(family.operands.substr(space + 1));
  call.expect_rank(a, 1, SIZE_MAX, "the first operand");
  call.expect_rank(b, 1, SIZE_MAX, "the second operand");
  if (!call.ok()) return;
  const bool is_row = a.sizes.size() == 1;
  const bool is_column = b.sizes.size() == 1;
  (void)call.same(a.sizes.back(), is_column ? b.sizes[0] : b.sizes[b.sizes.size() - 2],
                  "inner sizes");
  const Sizes batch_a(a.sizes.begin(), a.sizes.end() - (is_row ? 1 : 2));
  const Sizes batch_b(b.sizes.begin(), b.sizes.end() - (is_column ? 1 : 2));
  Sizes sizes = call.broadcast(batch_a, batch_b);
  if (!is_row) sizes.push_back(a.sizes[a.sizes.size() - 2]);
  if (!is_column) sizes.push_back(b.sizes.back());
  call.add(a.dtype, std::move(sizes));
}

void outer(Call& call, const Family&) {
  const TensorType& self = call.tensor("self");
  const TensorType& other = call.tensor(call.has("vec2") ? "vec2" : "other");
  const PromotedOperand operands[] = {{self.dtype}, {other.dtype}};
  call.add(result_type(operands).value_or(self.dtype),
           {call.product(self.sizes), call.product(other.sizes)});
}

void addr(Call& call, const Family&) {
  const TensorType& a = call.tensor("vec1");
  call.add(a.dtype, {call.product(a.sizes), call.product(call.tensor("vec2").sizes)});
}

void linear(Call& call, const Family&) {
  const TensorType& input = call.tensor("input");
  const TensorType& weight = call.tensor("weight");
  call.expect_rank(input, 1, SIZE_MAX, "input");
  call.expect_rank(weight, 1, 2, "weight");
  if (!call.ok()) return;
  (void)call.same(input.sizes.back(), weight.sizes.back(), "the input's and the weight's features");
  Sizes sizes(input.sizes.begin(), input.sizes.end() - 1);
  if (weight.sizes.size() == 2) sizes.push_back(weight.sizes[0]);
  call.add(input.dtype, std::move(sizes));
}

// -- normalisation

void like_input(Call& call, const Family&) {
  call.add(call.tensor("input"));
}

// Statistics have the input's dtype, as exports for the CPU say.
void layer_norm(Call& call, const Family&) {
  const TensorType& input = call.tensor("input");
  const size_t normalized = call.integers("normalized_shape").size();
  if (normalized > input.sizes.size())
    return call.fail(Code::invalid_argument, "normalized_shape is too long");
  Sizes sizes = input.sizes;
  std::fill(sizes.end() - static_cast<std::ptrdiff_t>(normalized), sizes.end(), SymInt(1));
  call.add(input);
  call.add(input.dtype, sizes);
  call.add(input.dtype, std::move(sizes));
}

void group_norm(Call& call, const Family&) {
  const TensorType& input = call.tensor("input");
  const Sizes sizes = {call.integer("N"), call.integer("group")};
  call.add(input);
  call.add(input.dtype, sizes);
  call.add(input.dtype, sizes);
}

// The batch's statistics are there when they are computed: in training.
void batch_norm(Call& call, const Family& family) {
  const TensorType& input = call.tensor("input");
  call.expect_rank(input, 2, SIZE_MAX, "input");
  if (!call.ok()) return;
  const bool computed = family.detail == 0 && call.flag("training");
  const Sizes sizes = {computed ? input.sizes[1] : SymInt(0)};
  call.add(input);
  call.add(input.dtype, sizes);
  call.add(input.dtype, sizes);
}

// -- others

void attention(Call& call, const Family&) {
  const TensorType& query = call.tensor("query");
  const TensorType& value = call.tensor("value");
  call.expect_rank(query, 2, SIZE_MAX, "query");
  call.expect_rank(value, 2, SIZE_MAX, "value");
  if (!call.ok()) return;
  Sizes sizes = query.sizes;
  sizes.back() = value.sizes.back();
  call.add(query.dtype, std::move(sizes));
}

void glu(Call& call, const Family&) {
  const TensorType& self = call.tensor("self");
  const size_t dim = call.dim("dim", self.sizes.size());
  call.expect_rank(self, 1, SIZE_MAX, "self");
  if (!call.ok()) return;
  Sizes sizes = self.sizes;
  sizes[dim] = call.symbols().floor_div(sizes[dim], 2);
  call.add(self.dtype, std::move(sizes));
}

void cdist(Call& call, const Family&) {
  const TensorType& a = call.tensor("x1");
  const TensorType& b = call.tensor("x2");
  call.expect_rank(a, 2, SIZE_MAX, "x1");
  call.expect_rank(b, 2, SIZE_MAX, "x2");
  if (!call.ok()) return;
  Sizes sizes =
      call.broadcast({a.sizes.begin(), a.sizes.end() - 2}, {b.sizes.begin(), b.sizes.end() - 2});
  sizes.push_back(a.sizes[a.sizes.size() - 2]);
  sizes.push_back(b.sizes[b.sizes.size() - 2]);
  call.add(a.dtype, std::move(sizes));
}

DType complex_of(DType dtype) {
  return dtype == DType::f16 ? DType::c32 : dtype == DType::f64 ? DType::c128 : DType::c64;
}

DType real_of(DType dtype) {
  return dtype == DType::c32 ? DType::f16 : dtype == DType::c128 ? DType::f64 : DType::f32;
}

void fft(Call& call, const Family& family) {
  const TensorType& self = call.tensor("self");
  const std::vector<int64_t> dims = call.literals("dim");
  Sizes sizes = self.sizes;
  call.expect_rank(self, 1, SIZE_MAX, "self");
  if (dims.empty()) call.fail(Code::unsupported, "a transform along no dimension");
  if (!call.ok()) return;
  SymInt& last = sizes[call.wrap(dims.back(), sizes.size())];
  const bool from_real = family.detail > 0;
  if (from_real && call.flag("onesided")) last = call.plus(call.symbols().floor_div(last, 2), 1);
  if (family.detail < 0) last = call.integer("last_dim_size");
  const DType dtype = from_real           ? complex_of(self.dtype)
                      : family.detail < 0 ? real_of(self.dtype)
                                          : self.dtype;
  call.add(dtype, std::move(sizes));
}

// clang-format off
constexpr std::array kRules = {
    Family{"mm _int_mm", mm, "self mat2", 0},
    Family{"bmm", mm, "self mat2", 1},
    Family{"addmm _addmm_activation", mm, "mat1 mat2", 0},
    Family{"baddbmm", mm, "batch1 batch2", 1},
    Family{"addbmm", addbmm},
    Family{"matmul vdot", matmul, "self other"},
    Family{"mv", matmul, "self vec"},
    Family{"dot", matmul, "self tensor"},
    Family{"addmv", matmul, "mat vec"},
    Family{"outer ger", outer},
    Family{"addr", addr},
    Family{"linear", linear},
    Family{"layer_norm group_norm batch_norm instance_norm rms_norm", like_input},
    Family{"native_layer_norm", layer_norm},
    Family{"native_group_norm", group_norm},
    Family{"native_batch_norm _native_batch_norm_legit", batch_norm, {}, 0},
    Family{"_native_batch_norm_legit_no_training", batch_norm, {}, 1},
    Family{"scaled_dot_product_attention", attention},
    Family{"glu", glu},
    Family{"_cdist_forward", cdist},
    Family{"_fft_r2c", fft, {}, 1},
    Family{"_fft_c2c", fft, {}, 0},
    Family{"_fft_c2r", fft, {}, -1},
};
// clang-format on

}  // namespace

std::span<const Family> network_rules() {
  return kRules;
}

}  // namespace backplane::ops::meta
