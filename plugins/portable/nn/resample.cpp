// Resizing images and volumes: along each dimension every output is a weighted sum of a few inputs,
// so one loop serves nearest, linear, cubic and the antialiased filters; only the weights differ.
#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "portable/dense.hpp"

namespace backplane::portable {
namespace {

enum class Filter : uint8_t { nearest, nearest_exact, linear, cubic, linear_aa, cubic_aa };

// What one output along an axis is made of.
struct Taps {
  std::vector<int64_t> first;  // by output: index of its first tap in the arrays below
  std::vector<int64_t> index;  // of the input
  std::vector<double> weight;
};

struct Axis {
  int64_t in, out;
  std::optional<double> factor;  // as given: output = input * factor
  bool align;
};

double cubic(double x, double a) {
  x = std::fabs(x);
  if (x < 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  if (x < 2) return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
  return 0;
}

// T: the type that PyTorch computes the scale in.
template <class T>
T scale_of(const Axis& axis) {
  if (axis.align) return axis.out > 1 ? T(axis.in - 1) / T(axis.out - 1) : T(0);
  return axis.factor && *axis.factor > 0 ? T(1.0 / *axis.factor) : T(axis.in) / T(axis.out);
}

template <class T>
void antialiased(const Axis& axis, bool is_cubic, Taps& taps) {
  const T scale = scale_of<T>(axis);
  const T half = is_cubic ? T(2) : T(1);
  const T support = scale >= 1 ? half * scale : half;
  const T inverse = scale >= 1 ? T(1) / scale : T(1);
  const int64_t most = 2 * static_cast<int64_t>(std::ceil(support)) + 1;
  for (int64_t i = 0; i < axis.out; ++i) {
    taps.first.push_back(static_cast<int64_t>(taps.index.size()));
    const T center = static_cast<T>(scale * (i + 0.5));
    const int64_t low = std::max<int64_t>(static_cast<int64_t>(center - support + 0.5), 0);
    const int64_t high = std::min<int64_t>(static_cast<int64_t>(center + support + 0.5), axis.in);
    const int64_t n = std::clamp<int64_t>(high - low, 0, most);
    T total = 0;
    for (int64_t j = 0; j < n; ++j) {
      const double x = (static_cast<double>(j + low) - center + 0.5) * inverse;
      const T w = static_cast<T>(is_cubic ? cubic(x, -0.5) : std::max(0.0, 1 - std::fabs(x)));
      taps.index.push_back(low + j);
      taps.weight.push_back(w);
      total += w;
    }
    for (int64_t j = 0; j < n && total != 0; ++j) {
      double& w = taps.weight[taps.weight.size() - 1 - static_cast<size_t>(j)];
      w = static_cast<T>(static_cast<T>(w) / total);
    }
  }
}

template <class T>
Taps taps_of(Filter filter, const Axis& axis) {
  Taps taps;
  const auto add = [&](int64_t index, double weight) {
    taps.index.push_back(std::clamp<int64_t>(index, 0, axis.in - 1));
    taps.weight.push_back(weight);
  };
  if (filter == Filter::linear_aa || filter == Filter::cubic_aa)
    antialiased<T>(axis, filter == Filter::cubic_aa, taps);
  const T scale = scale_of<T>(axis);
  for (int64_t i = 0; i < axis.out && taps.first.size() < static_cast<size_t>(axis.out); ++i) {
    taps.first.push_back(static_cast<int64_t>(taps.index.size()));
    if (filter == Filter::nearest || filter == Filter::nearest_exact) {
      const auto step = scale_of<float>({axis.in, axis.out, axis.factor, false});
      const float at = filter == Filter::nearest ? static_cast<float>(i) * step
                                                 : (static_cast<float>(i) + 0.5F) * step;
      add(static_cast<int64_t>(std::floor(at)), 1);
    } else if (filter == Filter::linear) {
      const T at = axis.align ? scale * T(i) : std::max(T(0), scale * (T(i) + T(0.5)) - T(0.5));
      const int64_t low = axis.in == axis.out ? i : std::min(static_cast<int64_t>(at), axis.in - 1);
      const T part = axis.in == axis.out ? T(0) : std::clamp(at - T(low), T(0), T(1));
      add(low, T(1) - part);
      add(low + 1, part);
    } else {
      const T at = axis.align ? scale * T(i) : scale * (T(i) + T(0.5)) - T(0.5);
      const T low = std::floor(at);
      const T part = at - low;
      for (int64_t j = -1; j <= 2; ++j)
        add(static_cast<int64_t>(low) + j,
            static_cast<T>(cubic(static_cast<double>(part) - static_cast<double>(j), -0.75)));
    }
  }
  taps.first.push_back(static_cast<int64_t>(taps.index.size()));
  return taps;
}

// One pass: [outer, in, inner] → [outer, out, inner].
template <class T>
void pass(const T* x, T* y, int64_t outer, const Axis& axis, int64_t inner, const Taps& taps) {
  for (int64_t o = 0; o < outer; ++o) {
    for (int64_t i = 0; i < axis.out; ++i) {
      T* to = y + (o * axis.out + i) * inner;
      std::fill_n(to, inner, T{});
      for (int64_t t = taps.first[static_cast<size_t>(i)];
           t < taps.first[static_cast<size_t>(i) + 1]; ++t) {
        const T* from = x + (o * axis.in + taps.index[static_cast<size_t>(t)]) * inner;
        const T weight = static_cast<T>(taps.weight[static_cast<size_t>(t)]);
        for (int64_t k = 0; k < inner; ++k) to[k] += weight * from[k];
      }
    }
  }
}

// uint8 with antialiasing: weights of 16 bits, each pass rounded to 8.
void pass_u8(const double* x, double* y, int64_t outer, const Axis& axis, int64_t inner,
             const Taps& taps) {
  double most = 0;
  for (const double w : taps.weight) most = std::max(most, w);
  int precision = 0;
  while (precision < 22 && static_cast<int64_t>(0.5 + most * std::exp2(precision + 1)) < (1 << 15))
    ++precision;
  for (int64_t o = 0; o < outer; ++o) {
    for (int64_t i = 0; i < axis.out; ++i) {
      for (int64_t k = 0; k < inner; ++k) {
        int64_t sum = int64_t{1} << (precision - 1);
        for (int64_t t = taps.first[static_cast<size_t>(i)];
             t < taps.first[static_cast<size_t>(i) + 1]; ++t) {
          const double scaled = taps.weight[static_cast<size_t>(t)] * std::exp2(precision);
          const auto whole = static_cast<int64_t>(scaled < 0 ? scaled - 0.5 : scaled + 0.5);
          sum += whole * static_cast<int64_t>(
                             x[(o * axis.in + taps.index[static_cast<size_t>(t)]) * inner + k]);
        }
        y[(o * axis.out + i) * inner + k] =
            static_cast<double>(std::clamp<int64_t>(sum >> precision, 0, 255));
      }
    }
  }
}

template <class T>
Status resample_in(Context& ctx, const Tensor& self, Filter filter, const std::vector<Axis>& axes,
                   const Tensor& out) {
  BP_ASSIGN_OR_RETURN(const T* x, read<T>(ctx, self));
  const int64_t planes = self.size(0) * self.size(1);
  Dims sizes = {planes};
  for (const Axis& axis : axes) sizes.push_back(axis.in);
  const bool whole = filter == Filter::linear_aa || filter == Filter::cubic_aa;
  // The innermost dimension first, as PyTorch does it.
  for (size_t a = axes.size(); a-- > 0;) {
    const Axis& axis = axes[a];
    if (whole && axis.in == axis.out) continue;
    const Taps taps = taps_of<T>(filter, axis);
    int64_t outer = 1;
    int64_t inner = 1;
    for (int64_t d = 0; d <= static_cast<int64_t>(a); ++d) outer *= sizes[d];
    for (int64_t d = static_cast<int64_t>(a) + 2; d < sizes.size(); ++d) inner *= sizes[d];
    BP_ASSIGN_OR_RETURN(T * y, ctx.scratch<T>(std::max<int64_t>(outer * axis.out * inner, 1)));
    if constexpr (std::is_same_v<T, double>) {
      if (self.dtype() == DType::u8 && whole) {
        pass_u8(x, y, outer, axis, inner, taps);
      } else {
        pass(x, y, outer, axis, inner, taps);
      }
    } else {
      pass(x, y, outer, axis, inner, taps);
    }
    sizes[static_cast<int64_t>(a) + 1] = axis.out;
    x = y;
  }
  close(out, x);
  return Ok{};
}

// Sizes wanted, or factors: of each spatial dimension.
Status resample(Context& ctx, const Tensor& self, Filter filter, int64_t spatial,
                std::span<const int64_t> sizes, std::span<const double> factors, bool align,
                const Tensor& out) {
  if (self.dim() != spatial + 2)
    return invalid({"expected ", spatial + 2, "D input, got ", self.shape()});
  std::vector<Axis> axes;
  Dims shape = {self.size(0), self.size(1)};
  for (int64_t d = 0; d < spatial; ++d) {
    Axis axis{self.size(d + 2), 0, std::nullopt, align};
    if (!factors.empty()) axis.factor = factors[static_cast<size_t>(d)];
    axis.out = sizes.empty() ? static_cast<int64_t>(static_cast<double>(axis.in) * *axis.factor)
                             : sizes[static_cast<size_t>(d)];
    if (axis.in <= 0 || axis.out <= 0) {
      return invalid({"input and output sizes should be greater than 0, but got input ",
                      self.shape(), " and output size ", axis.out});
    }
    shape.push_back(axis.out);
    axes.push_back(axis);
  }
  BP_TRY(ctx.resize(out, shape));
  if (out.numel() == 0) return Ok{};
  if (self.dtype() == DType::f64 || self.dtype() == DType::u8)
    return resample_in<double>(ctx, self, filter, axes, out);
  return resample_in<float>(ctx, self, filter, axes, out);
}

// self, output_size, (align_corners,) a factor for each dimension.
template <Filter F, int64_t Spatial>
Status resize(Context& ctx, const Args& args) {
  constexpr bool kAligned = F != Filter::nearest && F != Filter::nearest_exact;
  const auto sizes = args.ints(1);
  if (static_cast<int64_t>(sizes.size()) != Spatial)
    return invalid({"it is expected output_size equals to ", Spatial, ", but got size ",
                    static_cast<int64_t>(sizes.size())});
  std::vector<double> factors;
  for (int64_t i = kAligned ? 3 : 2; i < args.num_inputs(); ++i) {
    if (args.has(i)) factors.push_back(args.floating(i));
  }
  if (static_cast<int64_t>(factors.size()) != Spatial) factors.clear();
  return resample(ctx, args.tensor(0), F, Spatial, sizes, factors, kAligned && args.boolean(2),
                  args.out(0));
}

// input, output_size or none, (align_corners,) factors or none.
template <Filter F, int64_t Spatial>
Status resize_vec(Context& ctx, const Args& args) {
  constexpr bool kAligned = F != Filter::nearest && F != Filter::nearest_exact;
  const int64_t factors_at = kAligned ? 3 : 2;
  if (args.has(1) == args.has(factors_at))
    return invalid({"must specify exactly one of output_size and scale_factors"});
  const auto sizes = args.ints(1);
  const auto factors = args.doubles(factors_at);
  if (static_cast<int64_t>(std::max(sizes.size(), factors.size())) != Spatial)
    return invalid({"output_size or scale_factors should have ", Spatial, " elements"});
  return resample(ctx, args.tensor(0), F, Spatial, sizes, factors, kAligned && args.boolean(2),
                  args.out(0));
}

constexpr DTypes kImages = kFloats | set_of(DType::u8);

constexpr Entry table[] = {
    {"aten::_upsample_bicubic2d_aa.out", "tnbFF>t", resize<Filter::cubic_aa, 2>, kImages},
    {"aten::_upsample_bicubic2d_aa.vec_out", "tNbD>t", resize_vec<Filter::cubic_aa, 2>, kImages},
    {"aten::_upsample_bilinear2d_aa.out", "tnbFF>t", resize<Filter::linear_aa, 2>, kImages},
    {"aten::_upsample_bilinear2d_aa.vec_out", "tNbD>t", resize_vec<Filter::linear_aa, 2>, kImages},
    {"aten::_upsample_nearest_exact1d.out", "tnF>t", resize<Filter::nearest_exact, 1>, kImages},
    {"aten::_upsample_nearest_exact1d.vec_out", "tND>t", resize_vec<Filter::nearest_exact, 1>,
     kImages},
    {"aten::_upsample_nearest_exact2d.out", "tnFF>t", resize<Filter::nearest_exact, 2>, kImages},
    {"aten::_upsample_nearest_exact2d.vec_out", "tND>t", resize_vec<Filter::nearest_exact, 2>,
     kImages},
    {"aten::_upsample_nearest_exact3d.out", "tnFFF>t", resize<Filter::nearest_exact, 3>, kImages},
    {"aten::_upsample_nearest_exact3d.vec_out", "tND>t", resize_vec<Filter::nearest_exact, 3>,
     kImages},
    {"aten::upsample_bicubic2d.out", "tnbFF>t", resize<Filter::cubic, 2>, kFloats},
    {"aten::upsample_bicubic2d.vec_out", "tNbD>t", resize_vec<Filter::cubic, 2>, kFloats},
    {"aten::upsample_bilinear2d.out", "tnbFF>t", resize<Filter::linear, 2>, kFloats},
    {"aten::upsample_bilinear2d.vec_out", "tNbD>t", resize_vec<Filter::linear, 2>, kFloats},
    {"aten::upsample_linear1d.out", "tnbF>t", resize<Filter::linear, 1>, kFloats},
    {"aten::upsample_linear1d.vec_out", "tNbD>t", resize_vec<Filter::linear, 1>, kFloats},
    {"aten::upsample_nearest1d.out", "tnF>t", resize<Filter::nearest, 1>, kImages},
    {"aten::upsample_nearest1d.vec_out", "tND>t", resize_vec<Filter::nearest, 1>, kImages},
    {"aten::upsample_nearest2d.out", "tnFF>t", resize<Filter::nearest, 2>, kImages},
    {"aten::upsample_nearest2d.vec_out", "tND>t", resize_vec<Filter::nearest, 2>, kImages},
    {"aten::upsample_nearest3d.out", "tnFFF>t", resize<Filter::nearest, 3>, kImages},
    {"aten::upsample_nearest3d.vec_out", "tND>t", resize_vec<Filter::nearest, 3>, kImages},
    {"aten::upsample_trilinear3d.out", "tnbFFF>t", resize<Filter::linear, 3>, kFloats},
    {"aten::upsample_trilinear3d.vec_out", "tNbD>t", resize_vec<Filter::linear, 3>, kFloats},
};

}  // namespace

extern const std::span<const Entry> resample_kernels = table;

}  // namespace backplane::portable
