// Softmaxes and normalisations: work on rows, or on channels.
#include <algorithm>
#include <cmath>
#include <limits>
#include <ranges>

#include "portable/reduce/rows.hpp"

namespace backplane::portable {
namespace {

// y[row] = f(x[row]) along one dimension; f(const T* x, T* y, n).
template <class T, class F>
Status along(Context& ctx, const Tensor& self, int64_t dim, const Tensor& out, F&& f) {
  BP_TRY(ctx.resize(out, self.shape()));
  BP_ASSIGN_OR_RETURN(const T* x, read<T>(ctx, self));
  BP_ASSIGN_OR_RETURN(T * y, open<T>(ctx, out));
  const Split s = self.dim() == 0 ? Split{} : split_at(self.shape(), dim);
  if (self.numel() == 0) return Ok{};
  BP_ASSIGN_OR_RETURN(T * buffer, ctx.scratch<T>(2 * s.size));
  for (int64_t o = 0; o < s.outer; ++o) {
    for (int64_t i = 0; i < s.inner; ++i) {
      const int64_t at = o * s.size * s.inner + i;
      if (s.inner == 1) {
        f(x + at, y + at, s.size);
        continue;
      }
      for (int64_t k = 0; k < s.size; ++k) buffer[k] = x[at + k * s.inner];
      f(buffer, buffer + s.size, s.size);
      for (int64_t k = 0; k < s.size; ++k) y[at + k * s.inner] = buffer[s.size + k];
    }
  }
  close(out, y);
  return Ok{};
}

template <bool Log, bool Safe>
Status softmax(Context& ctx, const Args& args) {
  const Tensor self = args.tensor(0);
  BP_ASSIGN_OR_RETURN(const int64_t dim, wrap_dim(args.integer(1), self.dim()));
  const Tensor out = args.out(0);
  const DType compute = is_floating(self.dtype()) ? self.dtype() : out.dtype();
  return dispatch<float, double>(compute, [&]<class T>() {
    return along<T>(ctx, self, dim, out, [](const T* x, T* y, int64_t n) {
      const T most = *std::max_element(
          x, x + n, [](T a, T b) { return a < b || (std::isnan(b) && !std::isnan(a)); });
      if (Safe && most == -std::numeric_limits<T>::infinity()) {
        std::fill(y, y + n, T{});
        return;
      }
      T sum{};
      for (int64_t i = 0; i < n; ++i) sum += y[i] = std::exp(x[i] - most);
      const T offset = Log ? most + std::log(sum) : T{};
      for (int64_t i = 0; i < n; ++i) y[i] = Log ? x[i] - offset : y[i] / sum;
    });
  });
}

template <class T>
Result<const T*> read_optional(Context& ctx, const Args& args, int64_t at) {
  if (!args.has(at)) return static_cast<const T*>(nullptr);
  return read<T>(ctx, args.tensor(at));
}

// The mean and 1/sqrt(variance + eps) of n values.
template <class T>
struct Moments {
  T mean;
  T rstd;
};
template <class T>
Moments<T> moments(const T* x, int64_t n, double eps) {
  const T mean = pairwise_sum(x, n) / static_cast<T>(n);
  double squares = 0;
  for (int64_t i = 0; i < n; ++i)
    squares += static_cast<double>(x[i] - mean) * static_cast<double>(x[i] - mean);
  return {mean, static_cast<T>(1 / std::sqrt(squares / static_cast<double>(n) + eps))};
}

template <class T>
Status layer_norm_of(Context& ctx, const Args& args, int64_t length, const Dims& left) {
  const Tensor self = args.tensor(0);
  BP_ASSIGN_OR_RETURN(const T* x, read<T>(ctx, self));
  BP_ASSIGN_OR_RETURN(const T* weight, read_optional<T>(ctx, args, 2));
  BP_ASSIGN_OR_RETURN(const T* bias, read_optional<T>(ctx, args, 3));
  BP_TRY(ctx.resize(args.out(0), self.shape()));
  BP_TRY(ctx.resize(args.out(1), left));
  BP_TRY(ctx.resize(args.out(2), left));
  BP_ASSIGN_OR_RETURN(T * y, open<T>(ctx, args.out(0)));
  BP_ASSIGN_OR_RETURN(T * means, open<T>(ctx, args.out(1)));
  BP_ASSIGN_OR_RETURN(T * rstds, open<T>(ctx, args.out(2)));
  const int64_t rows = length == 0 ? 0 : self.numel() / length;
  ctx.parallel_for(rows, 8, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      const Moments<T> m = moments(x + r * length, length, args.floating(4));
      for (int64_t i = 0; i < length; ++i) {
        const T v = (x[r * length + i] - m.mean) * m.rstd;
        y[r * length + i] =
            (weight == nullptr ? v : v * weight[i]) + (bias == nullptr ? T{} : bias[i]);
      }
      means[r] = m.mean;
      rstds[r] = m.rstd;
    }
  });
  close(args.out(0), y);
  close(args.out(1), means);
  close(args.out(2), rstds);
  return Ok{};
}

Status layer_norm(Context& ctx, const Args& args) {
  const Tensor self = args.tensor(0);
  const auto normalized = args.ints(1);
  const auto rank = static_cast<int64_t>(normalized.size());
  const bool fits =
      rank >= 1 && rank <= self.dim() &&
      std::ranges::equal(normalized,
                         self.shape().last(static_cast<size_t>(std::min(rank, self.dim()))));
  if (!fits) {
    return invalid({"given normalized_shape=", normalized,
                    ", expected input with shape ending in it, but got input of size ",
                    self.shape()});
  }
  for (const int64_t at : {2, 3}) {
    if (args.has(at) && !std::ranges::equal(args.tensor(at).shape(), normalized)) {
      return invalid({"expected weight and bias to be of same shape as normalized_shape, but got ",
                      args.tensor(at).shape(), " and normalized_shape = ", normalized});
    }
  }
  Dims left(self.shape());
  int64_t length = 1;
  for (int64_t d = self.dim() - rank; d < self.dim(); ++d) {
    length *= self.size(d);
    left[d] = 1;
  }
  return dispatch<float, double>(
      self.dtype(), [&]<class T>() { return layer_norm_of<T>(ctx, args, length, left); });
}

// args: input, weight, bias, N, C, HxW, group, eps.
template <class T>
Status group_norm_of(Context& ctx, const Args& args, int64_t batch, int64_t channels, int64_t area,
                     int64_t groups) {
  const Tensor self = args.tensor(0);
  BP_ASSIGN_OR_RETURN(const T* x, read<T>(ctx, self));
  BP_ASSIGN_OR_RETURN(const T* weight, read_optional<T>(ctx, args, 1));
  BP_ASSIGN_OR_RETURN(const T* bias, read_optional<T>(ctx, args, 2));
  BP_TRY(ctx.resize(args.out(0), self.shape()));
  const Dims left = {batch, groups};
  BP_TRY(ctx.resize(args.out(1), left));
  BP_TRY(ctx.resize(args.out(2), left));
  BP_ASSIGN_OR_RETURN(T * y, open<T>(ctx, args.out(0)));
  BP_ASSIGN_OR_RETURN(T * means, open<T>(ctx, args.out(1)));
  BP_ASSIGN_OR_RETURN(T * rstds, open<T>(ctx, args.out(2)));
  const int64_t each = channels / groups;
  for (int64_t g = 0; g < batch * groups; ++g) {
    const T* from = x + g * each * area;
    const Moments<T> m = moments(from, each * area, args.floating(7));
    for (int64_t i = 0; i < each * area; ++i) {
      const int64_t c = g % groups * each + i / area;
      const T v = (from[i] - m.mean) * m.rstd;
      y[g * each * area + i] =
          (weight == nullptr ? v : v * weight[c]) + (bias == nullptr ? T{} : bias[c]);
    }
    means[g] = m.mean;
    rstds[g] = m.rstd;
  }
  close(args.out(0), y);
  close(args.out(1), means);
  close(args.out(2), rstds);
  return Ok{};
}

Status group_norm(Context& ctx, const Args& args) {
  const Tensor self = args.tensor(0);
  const int64_t batch = args.integer(3);
  const int64_t channels = args.integer(4);
  const int64_t area = args.integer(5);
  const int64_t groups = args.integer(6);
  if (groups <= 0 || channels % std::max<int64_t>(groups, 1) != 0) {
    return invalid(
        {"expected number of channels in input to be divisible by num_groups, but got input of "
         "shape ",
         self.shape(), " and num_groups=", groups});
  }
  const Dims whole = {batch, channels, area};
  BP_ASSIGN_OR_RETURN(const int64_t total, count(whole));
  if (total != self.numel())
    return invalid(
        {"input of shape ", self.shape(), " does not have N * C * HxW = ", total, " elements"});
  return dispatch<float, double>(self.dtype(), [&]<class T>() {
    return group_norm_of<T>(ctx, args, batch, channels, area, groups);
  });
}

// args: input, weight, bias, running_mean, running_var, momentum, eps.
template <class T>
Status batch_norm_of(Context& ctx, const Args& args) {
  const Tensor self = args.tensor(0);
  BP_ASSIGN_OR_RETURN(const T* x, read<T>(ctx, self));
  BP_ASSIGN_OR_RETURN(const T* weight, read_optional<T>(ctx, args, 1));
  BP_ASSIGN_OR_RETURN(const T* bias, read_optional<T>(ctx, args, 2));
  BP_ASSIGN_OR_RETURN(const T* mean, read<T>(ctx, args.tensor(3)));
  BP_ASSIGN_OR_RETURN(const T* var, read<T>(ctx, args.tensor(4)));
  BP_TRY(ctx.resize(args.out(0), self.shape()));
  const Dims none = {0};
  BP_TRY(ctx.resize(args.out(1), none));
  BP_TRY(ctx.resize(args.out(2), none));
  BP_ASSIGN_OR_RETURN(T * y, open<T>(ctx, args.out(0)));
  const Split s = split_at(self.shape(), 1);
  ctx.parallel_for(s.outer * s.size, 8, [&](int64_t begin, int64_t end) {
    for (int64_t plane = begin; plane < end; ++plane) {
      const int64_t c = plane % s.size;
      const T scale =
          static_cast<T>(1 / std::sqrt(static_cast<double>(var[c]) + args.floating(6))) *
          (weight == nullptr ? T(1) : weight[c]);
      const T shift = (bias == nullptr ? T{} : bias[c]) - mean[c] * scale;
      for (int64_t i = plane * s.inner; i < (plane + 1) * s.inner; ++i) y[i] = x[i] * scale + shift;
    }
  });
  close(args.out(0), y);
  return Ok{};
}

Status batch_norm(Context& ctx, const Args& args) {
  const Tensor self = args.tensor(0);
  if (self.dim() < 2) return invalid({"expected 2D or higher input, got ", self.shape()});
  for (const int64_t at : {1, 2, 3, 4}) {
    if (args.has(at) && (args.tensor(at).dim() != 1 || args.tensor(at).size(0) != self.size(1))) {
      return invalid({"weight, bias and running statistics should contain ", self.size(1),
                      " elements not ", args.tensor(at).shape()});
    }
  }
  return dispatch<float, double>(self.dtype(),
                                 [&]<class T>() { return batch_norm_of<T>(ctx, args); });
}

// Batch norm as in training: with the batch's own statistics, and what the running ones become.
// Where each argument stands; -1: the operator has none.
struct BatchNorm {
  int64_t running;   // running_mean; running_var is next
  int64_t training;  // then momentum and eps
  int64_t reserve;   // the result that stays empty
  bool always;       // in training, whatever the arguments say
};
constexpr BatchNorm kStatistics = {3, 5, -1, false};
constexpr BatchNorm kNoStatistics = {-1, 3, -1, false};
constexpr BatchNorm kUpdate = {3, 4, 3, true};

template <class T>
Status trained_of(Context& ctx, const Args& args, const BatchNorm& op) {
  const Tensor self = args.tensor(0);
  BP_ASSIGN_OR_RETURN(const T* x, read<T>(ctx, self));
  BP_ASSIGN_OR_RETURN(const T* weight, read_optional<T>(ctx, args, 1));
  BP_ASSIGN_OR_RETURN(const T* bias, read_optional<T>(ctx, args, 2));
  const bool running = op.running >= 0 && args.has(op.running);
  const T* mean = nullptr;
  const T* var = nullptr;
  if (running) {
    BP_ASSIGN_OR_RETURN(mean, read<T>(ctx, args.tensor(op.running)));
    BP_ASSIGN_OR_RETURN(var, read<T>(ctx, args.tensor(op.running + 1)));
  }
  const bool training = op.always || args.boolean(op.training);
  const double momentum = args.floating(op.training + 1);
  const double eps = args.floating(op.training + 2);
  const Split s = split_at(self.shape(), 1);
  const Dims channels = {s.size};
  const Dims saved = {training ? s.size : 0};
  BP_TRY(ctx.resize(args.out(0), self.shape()));
  for (int64_t o = 1; o < args.size() - args.num_inputs(); ++o)
    BP_TRY(ctx.resize(args.out(o), o == op.reserve ? Dims{0} : o < 3 ? saved : channels));
  BP_ASSIGN_OR_RETURN(T * y, open<T>(ctx, args.out(0)));
  BP_ASSIGN_OR_RETURN(T * stats, ctx.scratch<T>(std::max<int64_t>(4 * s.size, 1)));
  BP_ASSIGN_OR_RETURN(T * row, ctx.scratch<T>(std::max<int64_t>(s.outer * s.inner, 1)));
  const int64_t n = s.outer * s.inner;
  for (int64_t c = 0; c < s.size; ++c) {
    T center = running ? mean[c] : T{};
    T rstd = running ? static_cast<T>(1 / std::sqrt(static_cast<double>(var[c]) + eps)) : T(1);
    if (training) {
      for (int64_t o = 0; o < s.outer; ++o)
        std::copy_n(x + (o * s.size + c) * s.inner, s.inner, row + o * s.inner);
      const Moments<T> m = moments(row, n, eps);
      center = m.mean;
      rstd = m.rstd;
      if (running) {
        const double biased = 1 / (static_cast<double>(m.rstd) * static_cast<double>(m.rstd)) - eps;
        const double unbiased = biased * static_cast<double>(n) / static_cast<double>(n - 1);
        stats[2 * s.size + c] = static_cast<T>((1 - momentum) * mean[c] + momentum * center);
        stats[3 * s.size + c] = static_cast<T>((1 - momentum) * var[c] + momentum * unbiased);
      }
    } else if (running) {
      stats[2 * s.size + c] = mean[c];
      stats[3 * s.size + c] = var[c];
    }
    stats[c] = center;
    stats[s.size + c] = rstd;
    const T scale = rstd * (weight == nullptr ? T(1) : weight[c]);
    const T shift = (bias == nullptr ? T{} : bias[c]) - center * scale;
    for (int64_t o = 0; o < s.outer; ++o) {
      for (int64_t i = (o * s.size + c) * s.inner, end = i + s.inner; i < end; ++i)
        y[i] = x[i] * scale + shift;
    }
  }
  close(args.out(0), y);
  for (int64_t o = 1; o < args.size() - args.num_inputs(); ++o) {
    const int64_t at = op.reserve >= 0 && o > op.reserve ? o - 2 : o - 1;
    if (args.out(o).numel() > 0) close(args.out(o), static_cast<const T*>(stats + at * s.size));
  }
  return Ok{};
}

template <const BatchNorm& Op>
Status trained(Context& ctx, const Args& args) {
  const Tensor self = args.tensor(0);
  if (self.dim() < 2) return invalid({"expected 2D or higher input, got ", self.shape()});
  for (int64_t at = 1; at < Op.training + (Op.always ? 1 : 0); ++at) {
    if (args.has(at) && (args.tensor(at).dim() != 1 || args.tensor(at).size(0) != self.size(1))) {
      return invalid({"weight, bias and running statistics should contain ", self.size(1),
                      " elements not ", args.tensor(at).shape()});
    }
  }
  return dispatch<float, double>(self.dtype(),
                                 [&]<class T>() { return trained_of<T>(ctx, args, Op); });
}

constexpr Entry table[] = {
    {"aten::_batch_norm_with_update_functional.out", "tTTttff>tttttt", trained<kUpdate>, kFloats},
    {"aten::_log_softmax.out", "tib>t", softmax<true, false>, kFloats},
    {"aten::_native_batch_norm_legit.no_stats_out", "tTTbff>ttt", trained<kNoStatistics>, kFloats},
    {"aten::_native_batch_norm_legit_functional.out", "tTTttbff>ttttt", trained<kStatistics>,
     kFloats},
    {"aten::native_batch_norm.out", "tTTTTbff>ttt", trained<kStatistics>, kFloats},
    {"aten::_native_batch_norm_legit_no_training.out", "tTTttff>ttt", batch_norm, kFloats},
    {"aten::_safe_softmax.out", "tiI>t", softmax<false, true>, kReals},
    {"aten::_softmax.out", "tib>t", softmax<false, false>, kFloats},
    {"aten::log_softmax.int_out", "tiI>t", softmax<true, false>, kReals},
    {"aten::native_group_norm.out", "tTTiiiif>ttt", group_norm, kFloats},
    {"aten::native_layer_norm.out", "tnTTf>ttt", layer_norm, kFloats},
    {"aten::softmax.int_out", "tiI>t", softmax<false, false>, kReals},
};

}  // namespace

extern const std::span<const Entry> normalise_kernels = table;

}  // namespace backplane::portable
