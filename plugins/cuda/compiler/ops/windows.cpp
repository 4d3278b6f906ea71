// Pooling and resizing: each element from a window of the input.
#include <algorithm>

#include "cuda/compiler/ops/op_call.hpp"

namespace backplane::cuda::compiler {
namespace {

// Windows over the last dimensions.
struct Windows {
  TensorId x = -1;
  std::vector<int64_t> size, stride, padding, dilation;

  [[nodiscard]] size_t num_dims() const { return size.size(); }
};

// Lists of as many numbers as there are dimensions; a single one is for all of them.
Result<std::vector<int64_t>> per_dim(OpCall& call, size_t arg, size_t n, int64_t otherwise) {
  BP_ASSIGN_OR_RETURN(std::vector<int64_t> list, call.known_ints(arg));
  if (list.empty()) list.assign(n, otherwise);
  if (list.size() == 1) list.resize(n, list[0]);
  if (list.size() != n) return call.refuse("a window's lists have other lengths");
  return list;
}

Result<Windows> windows(OpCall& call, size_t n, bool is_dilated) {
  Windows w;
  BP_ASSIGN_OR_RETURN(w.x, call.tensor(0));
  if (call.rank(w.x) < n) return call.refuse("an input of too few dimensions");
  BP_ASSIGN_OR_RETURN(w.size, per_dim(call, 1, n, 1));
  BP_ASSIGN_OR_RETURN(w.stride, per_dim(call, 2, n, 0));
  for (size_t d = 0; d < n; ++d) {
    if (w.stride[d] == 0) w.stride[d] = w.size[d];
  }
  BP_ASSIGN_OR_RETURN(w.padding, per_dim(call, 3, n, 0));
  w.dilation.assign(n, 1);
  if (is_dilated) {
    BP_ASSIGN_OR_RETURN(w.dilation, per_dim(call, 4, n, 1));
  }
  return w;
}

// One window: its variables, and where in the input (and outside of it) they lead.
struct Place {
  std::vector<AtomId> vars;
  std::vector<Index> at, tested;
  std::vector<SizeId> limits;
};
Place place_of(OpCall& call, const Windows& w, const std::vector<Index>& at) {
  Place out;
  out.at = at;
  SizeTable& sizes = call.g.sizes();
  const size_t first = call.rank(w.x) - w.num_dims();
  for (size_t d = 0; d < w.num_dims(); ++d) {
    out.vars.push_back(call.ix.variable(sizes.constant(w.size[d])));
    Index i = call.ix.scale(at[first + d], sizes.constant(w.stride[d]));
    i = call.ix.add(i, call.ix.scale(call.ix.of(out.vars[d]), sizes.constant(w.dilation[d])));
    out.at[first + d] = call.ix.add(i, call.ix.number(-w.padding[d]));
    out.tested.push_back(out.at[first + d]);
    out.limits.push_back(call.at(w.x).shape[first + d]);
  }
  return out;
}

ExprId lowest(OpCall& call, bp_dtype_t dtype) {
  if (is_floating(dtype)) return call.ex.literal(-std::numeric_limits<double>::infinity(), dtype);
  return call.ex.apply(dtype, "lowest_value<" + std::string(register_type(dtype)) + ">()", {});
}

// max_poolNd_with_indices(x, size, stride, padding, dilation, ceil): values, and places in a plane.
Status max_pool(OpCall& call) {
  const size_t n = call.op().find('2') != std::string_view::npos ? 2 : 3;
  BP_ASSIGN_OR_RETURN(const Windows w, windows(call, n, true));
  const bp_dtype_t dtype = call.at(w.x).dtype;
  const auto element = [&](const Place& p) {
    return call.ex.guard(p.tested, p.limits, call.g.load(w.x, p.at), lowest(call, dtype));
  };
  BP_TRY(call.give([&](const std::vector<Index>& at) {
    const Place p = place_of(call, w, at);
    return call.ex.reduce(Reduction::max, element(p), p.vars);
  }));
  return call.give(
      [&](const std::vector<Index>& at) {
        const Place p = place_of(call, w, at);
        const ExprId position = call.ex.index(call.ix.dot(p.tested, call.g.dense(p.limits)));
        return call.ex.reduce(Reduction::arg_max, element(p), p.vars, position);
      },
      1);
}

// How many places of a window count: those in the input, and in the padding if that counts too.
ExprId count_of(OpCall& call, const Windows& w, Place p, bool with_padding, bp_dtype_t in) {
  int64_t all = 1;
  for (const int64_t size : w.size) all *= size;
  for (size_t d = 0; d < w.num_dims() && with_padding; ++d) {
    SizeTable& sizes = call.g.sizes();
    p.tested[d] = call.ix.add(p.tested[d], call.ix.number(w.padding[d]));
    p.limits[d] = sizes.add(p.limits[d], sizes.constant(2 * w.padding[d]));
  }
  const ExprId one = call.ex.literal(int64_t{1}, in);
  const ExprId counted = call.ex.guard(p.tested, p.limits, one, call.ex.literal(int64_t{0}, in));
  if (counted == one) return call.ex.literal(all, in);
  return call.ex.reduce(Reduction::sum, counted, p.vars);
}

// avg_poolNd(x, size, stride, padding, ceil, count_include_pad, divisor?)
Status avg_pool(OpCall& call) {
  const size_t n = static_cast<size_t>(call.op()[14] - '0');
  BP_ASSIGN_OR_RETURN(const Windows w, windows(call, n, false));
  const bool with_padding = call.flag(5);
  const bool has_divisor = call.num_args() > 6 && !call.is_none(6);
  const bp_dtype_t in = accumulator(call.at(w.x).dtype);
  ExprId divisor = -1;
  if (has_divisor) {
    BP_ASSIGN_OR_RETURN(divisor, call.number(6, in));
  }
  return call.give([&](const std::vector<Index>& at) {
    const Place p = place_of(call, w, at);
    const ExprId value = call.ex.cast(call.g.load(w.x, p.at), in);
    const ExprId element =
        call.ex.guard(p.tested, p.limits, value, call.ex.literal(int64_t{0}, in));
    const ExprId sum = call.ex.reduce(Reduction::sum, element, p.vars);
    const ExprId by = has_divisor ? divisor : count_of(call, w, p, with_padding, in);
    return call.ex.apply(in, "$0 / $1", {sum, by});
  });
}

// Windows from ⌊i · size / n⌋ to ⌈(i + 1) · size / n⌉.
Status adaptive_avg_pool(OpCall& call) {
  BP_ASSIGN_OR_RETURN(const TensorId x, call.tensor(0));
  BP_ASSIGN_OR_RETURN(const std::vector<SizeId> shape, call.out_shape());
  SizeTable& sizes = call.g.sizes();
  const size_t rank = shape.size();
  const bp_dtype_t in = accumulator(call.at(x).dtype);
  const size_t first = call.op().find("2d") != std::string_view::npos ? rank - 2 : rank - 1;
  for (size_t d = first; d < rank; ++d) {
    if (!sizes.known(shape[d]) || *sizes.known(shape[d]) < 1)
      return call.refuse("a pool to a dynamic size");
  }
  return call.give([&](const std::vector<Index>& at) {
    std::vector<Index> from = at;
    std::vector<Index> left;  // to the window's end
    std::vector<AtomId> vars;
    std::vector<SizeId> limits;
    for (size_t d = first; d < rank; ++d) {
      const SizeId extent = call.at(x).shape[d];
      const SizeId n = shape[d];
      const Index start = call.ix.quotient(call.ix.scale(at[d], extent), n);
      Index end = call.ix.scale(call.ix.add(at[d], call.ix.number(1)), extent);
      end = call.ix.add(end, call.ix.number(*sizes.known(n) - 1));
      end = call.ix.quotient(end, n);
      const SizeId longest = sizes.exact_div(extent, n)
                                 ? *sizes.exact_div(extent, n)
                                 : sizes.add(sizes.ceil_div(extent, n), sizes.constant(1));
      vars.push_back(call.ix.variable(longest));
      from[d] = call.ix.add(start, call.ix.of(vars.back()));
      if (sizes.exact_div(extent, n)) continue;
      left.push_back(call.ix.add(call.ix.add(end, call.ix.number(-1)),
                                 call.ix.scale(from[d], sizes.constant(-1))));
      limits.push_back(longest);
    }
    const ExprId zero = call.ex.literal(int64_t{0}, in);
    const auto sum = [&](ExprId e) {
      return call.ex.reduce(Reduction::sum, call.ex.guard(left, limits, e, zero), vars);
    };
    return call.ex.apply(
        in, "$0 / $1",
        {sum(call.ex.cast(call.g.load(x, from), in)), sum(call.ex.literal(int64_t{1}, in))});
  });
}

// How a resize maps a place in the result to one in the input.
struct Resize {
  TensorId x;
  std::vector<SizeId> in, out;  // sizes of the last dimensions
  std::vector<double> scale;    // given; 0: none
  bool aligns_corners;
};
Result<Resize> resize(OpCall& call, bool can_align) {
  Resize r{};
  BP_ASSIGN_OR_RETURN(r.x, call.tensor(0));
  BP_ASSIGN_OR_RETURN(const std::vector<SizeId> shape, call.out_shape());
  r.in.assign(call.at(r.x).shape.begin() + 2, call.at(r.x).shape.end());
  r.out.assign(shape.begin() + 2, shape.end());
  r.aligns_corners = can_align && call.flag(2);
  r.scale.assign(r.out.size(), 0);
  const size_t scales = can_align ? 3 : 2;
  if (const auto given = sdk::floats_of(call.arg(scales)); given && call.is_none(1))
    std::copy_n(given->begin(), std::min(given->size(), r.scale.size()), r.scale.begin());
  return r;
}

// The size of a step in the input for one in the result, in float.
ExprId step_of(OpCall& call, const Resize& r, size_t d) {
  const bp_dtype_t f = sdk::kFloat32;
  const auto size = [&](SizeId id) { return call.ex.cast(call.ex.index({id, {}}), f); };
  if (r.aligns_corners)
    return call.ex.apply(f, "$1 > 1 ? ($0 - 1) / ($1 - 1) : 0.0f", {size(r.in[d]), size(r.out[d])});
  if (r.scale[d] > 0) return call.ex.literal(1.0 / r.scale[d], f);
  return call.ex.apply(f, "$0 / $1", {size(r.in[d]), size(r.out[d])});
}

Status nearest(OpCall& call) {
  BP_ASSIGN_OR_RETURN(const Resize r, resize(call, false));
  return call.give([&](std::vector<Index> at) {
    for (size_t d = 0; d < r.in.size(); ++d) {
      const ExprId place = call.ex.cast(call.ex.index(at[d + 2]), sdk::kFloat32);
      const ExprId from =
          call.ex.apply(sdk::kInt64, "math_min((long long)math_floor($0 * $1), $2 - 1)",
                        {place, step_of(call, r, d), call.ex.index({r.in[d], {}})});
      at[d + 2] = call.ix.of(call.ix.value(from, r.in[d]));
    }
    return call.g.load(r.x, std::move(at));
  });
}

Status bilinear(OpCall& call) {
  BP_ASSIGN_OR_RETURN(const Resize r, resize(call, true));
  const bp_dtype_t f = sdk::kFloat32;
  if (call.at(r.x).dtype == sdk::kFloat64) return call.refuse("bilinear resizing of float64");
  return call.give([&](const std::vector<Index>& at) {
    Index low[2];
    Index high[2];
    ExprId weight[2];
    for (size_t d = 0; d < 2; ++d) {
      const ExprId place = call.ex.cast(call.ex.index(at[d + 2]), f);
      const ExprId source =
          call.ex.apply(f, r.aligns_corners ? "$0 * $1" : "math_max($1 * ($0 + 0.5f) - 0.5f, 0.0f)",
                        {place, step_of(call, r, d)});
      const ExprId last = call.ex.index({r.in[d], {}});
      const ExprId below =
          call.ex.apply(sdk::kInt64, "math_min((long long)$0, $1 - 1)", {source, last});
      const ExprId above = call.ex.apply(sdk::kInt64, "math_min($0 + 1, $1 - 1)", {below, last});
      low[d] = call.ix.of(call.ix.value(below, r.in[d]));
      high[d] = call.ix.of(call.ix.value(above, r.in[d]));
      weight[d] = call.ex.apply(f, "$0 - (float)$1", {source, below});
    }
    const auto corner = [&](const Index& row, const Index& column) {
      return call.ex.cast(call.g.load(r.x, {at[0], at[1], row, column}), f);
    };
    return call.ex.apply(f, "(1 - $4) * ((1 - $5) * $0 + $5 * $1) + $4 * ((1 - $5) * $2 + $5 * $3)",
                         {corner(low[0], low[1]), corner(low[0], high[1]), corner(high[0], low[1]),
                          corner(high[0], high[1]), weight[0], weight[1]});
  });
}

constexpr OpRule kRules[] = {
    {"aten::max_pool2d_with_indices", max_pool},
    {"aten::max_pool3d_with_indices", max_pool},
    {"aten::avg_pool1d", avg_pool},
    {"aten::avg_pool2d", avg_pool},
    {"aten::avg_pool3d", avg_pool},
    {"aten::_adaptive_avg_pool2d", adaptive_avg_pool},
    {"aten::upsample_nearest2d.vec", nearest},
    {"aten::upsample_nearest1d.vec", nearest},
    {"aten::upsample_bilinear2d.vec", bilinear},
};

}  // namespace

std::span<const OpRule> window_rules() {
  return kRules;
}

}  // namespace backplane::cuda::compiler
