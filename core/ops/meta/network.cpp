// Products of matrices, convolution, pooling, normalisation, resizing, attention.
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

// -- windows

struct Window {
  SymInt kernel, stride, padding, dilation;
};

// (in + 2 padding - dilation (kernel - 1) - 1) / stride + 1
SymInt windows(Call& call, SymInt in, const Window& w, bool ceil_mode) {
  SymbolTable& symbols = call.symbols();
  if (w.stride == SymInt(0)) call.fail(Code::invalid_argument, "stride is 0");
  if (!call.ok()) return 1;
  const SymInt covered = call.plus(call.times(w.dilation, call.minus(w.kernel, 1)), 1);
  const SymInt room = call.minus(call.plus(in, call.times(2, w.padding)), covered);
  if (!ceil_mode) return call.plus(symbols.floor_div(room, w.stride), 1);
  const SymInt count = call.plus(symbols.ceil_div(room, w.stride), 1);
  // The last window starts inside the input or its left padding.
  return symbols.min(count, symbols.ceil_div(call.plus(in, w.padding), w.stride));
}

// detail: 0 for aten::convolution and _convolution; else the number of dimensions, negative if
// transposed, of a convolution that says so in its name.
void convolution(Call& call, const Family& family) {
  const TensorType& input = call.tensor("input");
  const TensorType& weight = call.tensor("weight");
  const size_t spatial = weight.sizes.size() > 2 ? weight.sizes.size() - 2 : 1;
  const bool transposed = family.detail == 0 ? call.flag("transposed") : family.detail < 0;
  const auto stated = static_cast<size_t>(std::abs(family.detail));
  call.expect_rank(weight, 3, 5, "weight");
  if (stated != 0) call.expect_rank(weight, stated + 2, stated + 2, "weight");
  call.expect_rank(input, spatial + 1, spatial + 2, "input");
  if (!call.ok()) return;
  const bool batched = input.sizes.size() == spatial + 2;
  const SymInt groups = call.integer("groups");
  const SymInt channels = input.sizes[batched ? 1 : 0];
  const SymInt expected = transposed ? weight.sizes[0] : call.times(weight.sizes[1], groups);
  (void)call.same(channels, expected, "the input's and the weight's channels");
  const Sizes stride = call.integers("stride", spatial, 1);
  const Sizes dilation = call.integers("dilation", spatial, 1);
  const auto* mode = std::get_if<std::string>(&call.raw("padding"));
  const Sizes padding = mode != nullptr ? Sizes(spatial, 0) : call.integers("padding", spatial, 0);
  const Sizes more = transposed ? call.integers("output_padding", spatial, 0) : Sizes(spatial, 0);
  Sizes sizes;
  if (batched) sizes.push_back(input.sizes[0]);
  sizes.push_back(transposed ? call.times(weight.sizes[1], groups) : weight.sizes[0]);
  for (size_t i = 0; i < spatial; ++i) {
    const SymInt in = input.sizes[sizes.size()];
    const SymInt kernel = weight.sizes[i + 2];
    if (mode != nullptr && *mode == "same") {
      sizes.push_back(in);
    } else if (transposed) {
      const SymInt kept =
          call.minus(call.times(call.minus(in, 1), stride[i]), call.times(2, padding[i]));
      const SymInt covered = call.times(dilation[i], call.minus(kernel, 1));
      sizes.push_back(call.plus(call.plus(kept, covered), call.plus(more[i], 1)));
    } else {
      sizes.push_back(windows(call, in, {kernel, stride[i], padding[i], dilation[i]}, false));
    }
  }
  call.add(input.dtype, std::move(sizes));
}

// Family::detail of pooling: spatial dimensions, and whether indices come too.
constexpr int kWithIndices = 16;

void pool(Call& call, const Family& family) {
  const TensorType& self = call.tensor("self");
  const auto spatial = static_cast<size_t>(family.detail & 3);
  call.expect_rank(self, spatial + 1, spatial + 2, "self");
  if (!call.ok()) return;
  const Sizes kernel = call.integers("kernel_size", spatial, 1);
  const bool has_stride = call.has("stride") && !call.integers("stride").empty();
  const Sizes stride = has_stride ? call.integers("stride", spatial, 1) : kernel;
  const Sizes padding = call.integers("padding", spatial, 0);
  const Sizes dilation = call.integers("dilation", spatial, 1);
  Sizes sizes = self.sizes;
  for (size_t i = 0; i < spatial; ++i) {
    SymInt& size = sizes[sizes.size() - spatial + i];
    size = windows(call, size, {kernel[i], stride[i], padding[i], dilation[i]},
                   call.flag("ceil_mode"));
  }
  call.add(self.dtype, sizes);
  if ((family.detail & kWithIndices) != 0) call.add(DType::i64, std::move(sizes));
}

void pool_to_size(Call& call, const Family& family) {
  const TensorType& self = call.tensor("self");
  const auto spatial = static_cast<size_t>(family.detail & 3);
  call.expect_rank(self, spatial + 1, spatial + 2, "self");
  if (!call.ok()) return;
  const Sizes target = call.integers("output_size", spatial, 1);
  Sizes sizes = self.sizes;
  std::copy(target.begin(), target.end(), sizes.end() - static_cast<std::ptrdiff_t>(spatial));
  call.add(self.dtype, sizes);
  if ((family.detail & kWithIndices) != 0) call.add(DType::i64, std::move(sizes));
}

// output_size as given, or the input's times the factors, rounded down.
void upsample(Call& call, const Family& family) {
  const std::string_view name = call.has("input") ? "input" : "self";
  const TensorType& input = call.tensor(name);
  const auto spatial = static_cast<size_t>(family.detail);
  call.expect_rank(input, spatial + 2, spatial + 2, "the input");
  if (!call.ok()) return;
  Sizes sizes = input.sizes;
  if (call.has("output_size")) {
    const Sizes target = call.integers("output_size", spatial, 1);
    std::copy(target.begin(), target.end(), sizes.begin() + 2);
    return call.add(input.dtype, std::move(sizes));
  }
  const auto* factors = std::get_if<std::vector<double>>(&call.raw("scale_factors"));
  if (factors == nullptr || factors->size() != spatial) {
    return call.fail(Code::invalid_argument, "neither output_size nor scale_factors is given");
  }
  for (size_t i = 0; i < spatial; ++i) {
    const double factor = (*factors)[i];
    SymInt& size = sizes[i + 2];
    if (!(factor >= 0 && factor < 1e9))
      return call.fail(Code::invalid_argument, "a scale factor is out of range");
    if (size.is_constant()) {
      size = static_cast<int64_t>(static_cast<double>(size.constant()) * factor);
    } else if (factor == static_cast<double>(static_cast<int64_t>(factor))) {
      size = call.times(size, static_cast<int64_t>(factor));
    } else if (factor > 0 && 1 / factor == static_cast<double>(static_cast<int64_t>(1 / factor))) {
      size = call.symbols().floor_div(size, static_cast<int64_t>(1 / factor));
    } else {
      return call.fail(Code::unsupported, "a symbolic size times a factor that is no integer");
    }
  }
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

// detail 1: from channels to space; -1: back.
void pixel_shuffle(Call& call, const Family& family) {
  const TensorType& self = call.tensor("self");
  call.expect_rank(self, 3, SIZE_MAX, "self");
  if (!call.ok()) return;
  const bool forward = family.detail > 0;
  const SymInt factor = call.integer(forward ? "upscale_factor" : "downscale_factor");
  if (factor == SymInt(0)) return call.fail(Code::invalid_argument, "the factor is 0");
  const SymInt square = call.times(factor, factor);
  Sizes sizes = self.sizes;
  SymInt* last = &sizes[sizes.size() - 3];
  SymbolTable& symbols = call.symbols();
  last[0] = forward ? symbols.floor_div(last[0], square) : call.times(last[0], square);
  for (int i = 1; i < 3; ++i) {
    last[i] = forward ? call.times(last[i], factor) : symbols.floor_div(last[i], factor);
  }
  call.add(self.dtype, std::move(sizes));
}

constexpr std::array kRules = {
    Family{"mm _int_mm", mm, "self mat2", 0},
    Family{"bmm", mm, "self mat2", 1},
    Family{"addmm _addmm_activation", mm, "mat1 mat2", 0},
    Family{"baddbmm", mm, "batch1 batch2", 1},
    Family{"addbmm", addbmm},
    Family{"matmul", matmul, "self other"},
    Family{"mv", matmul, "self vec"},
    Family{"dot vdot inner", matmul, "self tensor"},
    Family{"addmv", matmul, "mat vec"},
    Family{"outer ger", outer},
    Family{"addr", addr},
    Family{"linear", linear},
    Family{"convolution _convolution", convolution, {}, 0},
    Family{"conv1d", convolution, {}, 1},
    Family{"conv2d", convolution, {}, 2},
    Family{"conv3d", convolution, {}, 3},
    Family{"conv_transpose1d", convolution, {}, -1},
    Family{"conv_transpose2d", convolution, {}, -2},
    Family{"conv_transpose3d", convolution, {}, -3},
    Family{"max_pool1d avg_pool1d", pool, {}, 1},
    Family{"max_pool2d avg_pool2d", pool, {}, 2},
    Family{"max_pool3d avg_pool3d", pool, {}, 3},
    Family{"max_pool1d_with_indices", pool, {}, 1 | kWithIndices},
    Family{"max_pool2d_with_indices", pool, {}, 2 | kWithIndices},
    Family{"max_pool3d_with_indices", pool, {}, 3 | kWithIndices},
    Family{"adaptive_avg_pool1d", pool_to_size, {}, 1},
    Family{"adaptive_avg_pool2d _adaptive_avg_pool2d", pool_to_size, {}, 2},
    Family{"adaptive_avg_pool3d _adaptive_avg_pool3d", pool_to_size, {}, 3},
    Family{"adaptive_max_pool1d", pool_to_size, {}, 1 | kWithIndices},
    Family{"adaptive_max_pool2d", pool_to_size, {}, 2 | kWithIndices},
    Family{"adaptive_max_pool3d", pool_to_size, {}, 3 | kWithIndices},
    Family{"upsample_nearest1d _upsample_nearest_exact1d upsample_linear1d", upsample, {}, 1},
    Family{"upsample_nearest2d _upsample_nearest_exact2d upsample_bilinear2d upsample_bicubic2d "
           "_upsample_bilinear2d_aa _upsample_bicubic2d_aa",
           upsample,
           {},
           2},
    Family{"upsample_nearest3d _upsample_nearest_exact3d upsample_trilinear3d", upsample, {}, 3},
    Family{"layer_norm group_norm batch_norm instance_norm rms_norm", like_input},
    Family{"native_layer_norm", layer_norm},
    Family{"native_group_norm", group_norm},
    Family{"native_batch_norm _native_batch_norm_legit", batch_norm, {}, 0},
    Family{"_native_batch_norm_legit_no_training", batch_norm, {}, 1},
    Family{"scaled_dot_product_attention", attention},
    Family{"glu", glu},
    Family{"pixel_shuffle", pixel_shuffle, {}, 1},
    Family{"pixel_unshuffle", pixel_shuffle, {}, -1},
};

}  // namespace

std::span<const Family> network_rules() {
  return kRules;
}

}  // namespace backplane::ops::meta
