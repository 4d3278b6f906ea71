// Pools over one to three dimensions: windows and what is made of them.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "portable/dense.hpp"
#include "portable/shape.hpp"

namespace backplane::portable {
namespace {

using Three = std::array<int64_t, 3>;

// A window of one output position along one dimension: [begin, end) with a step, inside the input.
struct Window {
  int64_t begin, end, step;
  int64_t padded;  // its length with the padding that counts
};

// How one dimension is pooled.
struct Axis {
  int64_t in = 1, out = 1;
  int64_t kernel = 1, stride = 1, padding = 0, dilation = 1;
  bool adaptive = false;

  [[nodiscard]] Window window(int64_t o) const {
    if (adaptive) {
      const int64_t begin = o * in / out;
      const int64_t end = ((o + 1) * in + out - 1) / out;
      return {begin, end, 1, end - begin};
    }
    int64_t begin = o * stride - padding;
    int64_t end = begin + (kernel - 1) * dilation + 1;
    const int64_t padded = std::min(end, in + padding) - begin;
    end = std::min(end, in);
    while (begin < 0) begin += dilation;
    return {begin, end, dilation, padded};
  }
};

int64_t pooled_size(int64_t in, int64_t kernel, int64_t stride, int64_t padding, int64_t dilation,
                    bool ceil_mode) {
  const int64_t room =
      in + 2 * padding - dilation * (kernel - 1) - 1 + (ceil_mode ? stride - 1 : 0);
  int64_t out = (room < 0 ? -((-room + stride - 1) / stride) : room / stride) + 1;
  // The last window has to begin inside the input or its left padding.
  if (ceil_mode && (out - 1) * stride >= in + padding) --out;
  return out;
}

struct Plan {
  std::array<Axis, 3> axes;
  Dims shape;
  int64_t planes = 1;
  [[nodiscard]] int64_t inputs() const { return axes[0].in * axes[1].in * axes[2].in; }
  [[nodiscard]] int64_t outputs() const { return axes[0].out * axes[1].out * axes[2].out; }
};

int64_t element(std::span<const int64_t> list, int64_t d, int64_t missing) {
  if (list.empty()) return missing;
  return list[list.size() == 1 ? 0 : static_cast<size_t>(d)];
}

Status check_rank(const Tensor& self, int64_t spatial) {
  if (self.dim() != spatial + 1 && self.dim() != spatial + 2) {
    return invalid(
        {"expected ", spatial + 1, "D or ", spatial + 2, "D tensor, but got ", self.shape()});
  }
  return Ok{};
}

// Lists: kernel, stride, padding, dilation.
Result<Plan> windows(const Tensor& self, int64_t spatial,
                     const std::array<std::span<const int64_t>, 4>& lists, bool ceil_mode) {
  BP_TRY(check_rank(self, spatial));
  Plan plan;
  const int64_t lead = self.dim() - spatial;
  for (int64_t d = 0; d < lead; ++d) {
    plan.shape.push_back(self.size(d));
    plan.planes *= self.size(d);
  }
  for (int64_t d = 0; d < spatial; ++d) {
    Axis& axis = plan.axes[static_cast<size_t>(3 - spatial + d)];
    axis.in = self.size(lead + d);
    axis.kernel = element(lists[0], d, 1);
    axis.stride = element(lists[1], d, axis.kernel);
    axis.padding = element(lists[2], d, 0);
    axis.dilation = element(lists[3], d, 1);
    if (axis.kernel <= 0 || axis.stride <= 0 || axis.dilation <= 0) {
      return invalid({"kernel size, stride and dilation should be greater than zero, but got ",
                      axis.kernel, ", ", axis.stride, " and ", axis.dilation});
    }
    if (axis.padding < 0 || axis.padding * 2 > axis.kernel) {
      return invalid({"pad should be at most half of effective kernel size, but got pad=",
                      axis.padding, ", kernel_size=", axis.kernel});
    }
    axis.out =
        pooled_size(axis.in, axis.kernel, axis.stride, axis.padding, axis.dilation, ceil_mode);
    if (axis.out < 1) {
      return invalid({"given input size ", self.shape(), ", calculated output size ", axis.out,
                      " at dimension ", lead + d, ": output size is too small"});
    }
    plan.shape.push_back(axis.out);
  }
  return plan;
}

Result<Plan> adaptive(const Tensor& self, int64_t spatial, std::span<const int64_t> sizes) {
  BP_TRY(check_rank(self, spatial));
  Plan plan;
  const int64_t lead = self.dim() - spatial;
  for (int64_t d = 0; d < lead; ++d) {
    plan.shape.push_back(self.size(d));
    plan.planes *= self.size(d);
  }
  for (int64_t d = 0; d < spatial; ++d) {
    Axis& axis = plan.axes[static_cast<size_t>(3 - spatial + d)];
    axis.in = self.size(lead + d);
    axis.out = element(sizes, d, 1);
    axis.adaptive = true;
    if (axis.out < 0) return invalid({"output size must be non-negative, got ", sizes});
    if (axis.in == 0)
      return invalid(
          {"expected input to have non-zero size for non-batch dimensions, but input has sizes ",
           self.shape()});
    plan.shape.push_back(axis.out);
  }
  return plan;
}

// Calls f(output index, input plane, windows of the three axes) for all outputs.
template <class T, class F>
void for_windows(Context& ctx, const Plan& plan, const T* x, F&& f) {
  ctx.parallel_for(plan.planes, 1, [&](int64_t first, int64_t last) {
    for (int64_t plane = first; plane < last; ++plane) {
      int64_t at = plane * plan.outputs();
      for (int64_t a = 0; a < plan.axes[0].out; ++a) {
        for (int64_t b = 0; b < plan.axes[1].out; ++b) {
          for (int64_t c = 0; c < plan.axes[2].out; ++c) {
            const std::array<Window, 3> w = {plan.axes[0].window(a), plan.axes[1].window(b),
                                             plan.axes[2].window(c)};
            f(at++, x + plane * plan.inputs(), w);
          }
        }
      }
    }
  });
}
template <class F>
void for_elements(const Plan& plan, const std::array<Window, 3>& w, F&& f) {
  for (int64_t a = w[0].begin; a < w[0].end; a += w[0].step) {
    for (int64_t b = w[1].begin; b < w[1].end; b += w[1].step) {
      for (int64_t c = w[2].begin; c < w[2].end; c += w[2].step)
        f((a * plan.axes[1].in + b) * plan.axes[2].in + c);
    }
  }
}

template <class T>
Status maximum_of(Context& ctx, const Args& args, const Plan& plan) {
  BP_ASSIGN_OR_RETURN(const T* x, read<T>(ctx, args.tensor(0)));
  const bool with_indices = args.size() - args.num_inputs() > 1;
  BP_TRY(ctx.resize(args.out(0), plan.shape));
  if (with_indices) BP_TRY(ctx.resize(args.out(1), plan.shape));
  BP_ASSIGN_OR_RETURN(T * y, open<T>(ctx, args.out(0)));
  int64_t* indices = nullptr;
  if (with_indices) {
    BP_ASSIGN_OR_RETURN(indices, open<int64_t>(ctx, args.out(1)));
  }
  for_windows(ctx, plan, x, [&](int64_t at, const T* plane, const std::array<Window, 3>& w) {
    int64_t best = -1;
    for_elements(plan, w, [&](int64_t i) {
      bool better = best < 0 || plane[i] > plane[best];
      if constexpr (std::is_floating_point_v<T>) better = better || std::isnan(plane[i]);
      if (better) best = i;
    });
    y[at] = best < 0 ? std::numeric_limits<T>::lowest() : plane[best];
    if (indices != nullptr) indices[at] = best;
  });
  close(args.out(0), y);
  if (with_indices) close(args.out(1), indices);
  return Ok{};
}

template <int64_t Spatial>
Status max_pool(Context& ctx, const Args& args) {
  const Tensor self = args.tensor(0);
  BP_ASSIGN_OR_RETURN(
      const Plan plan,
      windows(self, Spatial, {args.ints(1), args.ints(2), args.ints(3), args.ints(4)},
              args.boolean(5)));
  return dispatch<float, double, int64_t>(
      self.dtype(), [&]<class T>() { return maximum_of<T>(ctx, args, plan); });
}
template <int64_t Spatial>
Status adaptive_max(Context& ctx, const Args& args) {
  const Tensor self = args.tensor(0);
  BP_ASSIGN_OR_RETURN(const Plan plan, adaptive(self, Spatial, args.ints(1)));
  return dispatch<float, double>(self.dtype(),
                                 [&]<class T>() { return maximum_of<T>(ctx, args, plan); });
}

// divisor: 0 for the window's own count.
template <class T>
Status average_of(Context& ctx, const Args& args, const Plan& plan, bool count_padding,
                  int64_t divisor) {
  BP_ASSIGN_OR_RETURN(const T* x, read<T>(ctx, args.tensor(0)));
  BP_TRY(ctx.resize(args.out(0), plan.shape));
  BP_ASSIGN_OR_RETURN(T * y, open<T>(ctx, args.out(0)));
  for_windows(ctx, plan, x, [&](int64_t at, const T* plane, const std::array<Window, 3>& w) {
    T sum{};
    int64_t n = 0;
    for_elements(plan, w, [&](int64_t i) {
      sum += plane[i];
      ++n;
    });
    if (count_padding) n = w[0].padded * w[1].padded * w[2].padded;
    if (divisor != 0) n = divisor;
    y[at] = n == 0 ? T{} : sum / static_cast<T>(n);
  });
  close(args.out(0), y);
  return Ok{};
}

// args: self, kernel, stride, padding, ceil_mode, count_include_pad, divisor_override.
template <int64_t Spatial>
Status avg_pool(Context& ctx, const Args& args) {
  const Tensor self = args.tensor(0);
  BP_ASSIGN_OR_RETURN(
      const Plan plan,
      windows(self, Spatial, {args.ints(1), args.ints(2), args.ints(3), {}}, args.boolean(4)));
  const int64_t divisor = args.num_inputs() > 6 ? args.integer_or(6, 0) : 0;
  if (args.num_inputs() > 6 && args.has(6) && divisor == 0)
    return invalid({"divisor must be not zero"});
  return dispatch<float, double, int64_t>(self.dtype(), [&]<class T>() {
    return average_of<T>(ctx, args, plan, args.boolean(5), divisor);
  });
}
template <int64_t Spatial>
Status adaptive_avg(Context& ctx, const Args& args) {
  const Tensor self = args.tensor(0);
  BP_ASSIGN_OR_RETURN(const Plan plan, adaptive(self, Spatial, args.ints(1)));
  return dispatch<float, double>(
      self.dtype(), [&]<class T>() { return average_of<T>(ctx, args, plan, false, 0); });
}

constexpr DTypes kMax = kReals;
constexpr DTypes kMean = kFloats | set_of(DType::i64);

constexpr Entry table[] = {
    {"aten::_adaptive_avg_pool2d.out", "tn>t", adaptive_avg<2>, kFloats},
    {"aten::_adaptive_avg_pool3d.out", "tn>t", adaptive_avg<3>, kFloats},
    {"aten::adaptive_avg_pool1d.out", "tn>t", adaptive_avg<1>, kFloats},
    {"aten::adaptive_avg_pool2d.out", "tn>t", adaptive_avg<2>, kFloats},
    {"aten::adaptive_avg_pool3d.out", "tn>t", adaptive_avg<3>, kFloats},
    {"aten::adaptive_max_pool1d.out", "tn>tt", adaptive_max<1>, kFloats},
    {"aten::adaptive_max_pool2d.out", "tn>tt", adaptive_max<2>, kFloats},
    {"aten::adaptive_max_pool3d.out", "tn>tt", adaptive_max<3>, kFloats},
    {"aten::avg_pool1d.out", "tnnnbb>t", avg_pool<1>, kMean},
    {"aten::avg_pool2d.out", "tnnnbbI>t", avg_pool<2>, kMean},
    {"aten::avg_pool3d.out", "tnnnbbI>t", avg_pool<3>, kMean},
    {"aten::max_pool1d.out", "tnnnnb>t", max_pool<1>, kMax},
    {"aten::max_pool1d_with_indices.out", "tnnnnb>tt", max_pool<1>, kMax},
    {"aten::max_pool2d.out", "tnnnnb>t", max_pool<2>, kMax},
    {"aten::max_pool2d_with_indices.out", "tnnnnb>tt", max_pool<2>, kMax},
    {"aten::max_pool3d.out", "tnnnnb>t", max_pool<3>, kMax},
    {"aten::max_pool3d_with_indices.out", "tnnnnb>tt", max_pool<3>, kMax},
};

}  // namespace

extern const std::span<const Entry> pool_kernels = table;

}  // namespace backplane::portable
