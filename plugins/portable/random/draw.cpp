// Random tensors, drawn from the session's generator: the same seed gives the same values, which
// are not PyTorch's.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "portable/dense.hpp"

namespace backplane::portable {
namespace {

// In [0, 1), of as many bits as `dtype` holds without rounding up to 1.
double uniform(Context& ctx, DType dtype) {
  const int bits = dtype == DType::f64    ? 53
                   : dtype == DType::f16  ? 11
                   : dtype == DType::bf16 ? 8
                                          : 24;
  return std::ldexp(static_cast<double>(ctx.random() >> (64 - bits)), -bits);
}

// By Box and Muller; the logarithm's argument is in (0, 1].
double normal(Context& ctx) {
  const double radius = std::sqrt(-2 * std::log(1 - uniform(ctx, DType::f64)));
  return radius * std::cos(2 * std::numbers::pi * uniform(ctx, DType::f64));
}

// In [low, high), which is not empty.
int64_t integer(Context& ctx, int64_t low, int64_t high) {
  const auto range = static_cast<uint64_t>(high) - static_cast<uint64_t>(low);
  const uint64_t fair = UINT64_MAX - UINT64_MAX % range;  // beyond it some remainders lack a turn
  uint64_t bits = ctx.random();
  while (bits >= fair) bits = ctx.random();
  return static_cast<int64_t>(static_cast<uint64_t>(low) + bits % range);
}

// Every element of `out` as `draw()` gives it.
template <class T, class F>
Status fill(Context& ctx, const Tensor& out, std::span<const int64_t> shape, F&& draw) {
  BP_TRY(ctx.resize(out, shape));
  BP_ASSIGN_OR_RETURN(T * y, open<T>(ctx, out));
  for (int64_t i = 0, n = out.numel(); i < n; ++i) y[i] = draw();
  close(out, y);
  return Ok{};
}

Status fill_uniform(Context& ctx, const Tensor& out, std::span<const int64_t> shape, double from,
                    double to) {
  if (!is_floating(out.dtype())) return not_implemented(out.dtype());
  if (!(from <= to))
    return invalid(
        {"uniform expects to return a [from, to) range, but found from=", from, " > to=", to});
  return fill<double>(ctx, out, shape,
                      [&] { return from + (to - from) * uniform(ctx, out.dtype()); });
}
Status fill_normal(Context& ctx, const Tensor& out, std::span<const int64_t> shape, double mean,
                   double std) {
  if (!is_floating(out.dtype())) return not_implemented(out.dtype());
  if (!(std >= 0)) return invalid({"normal expects std >= 0.0, but found std ", std});
  return fill<double>(ctx, out, shape, [&] { return mean + std * normal(ctx); });
}
Status fill_integers(Context& ctx, const Tensor& out, std::span<const int64_t> shape, int64_t low,
                     int64_t high) {
  if (low >= high)
    return invalid(
        {"random expects 'from' to be less than 'to', but got from=", low, " >= to=", high});
  return fill<int64_t>(ctx, out, shape, [&] { return integer(ctx, low, high); });
}

Status rand(Context& ctx, const Args& args) {
  return fill_uniform(ctx, args.out(0), args.ints(0), 0, 1);
}
Status rand_like(Context& ctx, const Args& args) {
  return fill_uniform(ctx, args.out(0), args.tensor(0).shape(), 0, 1);
}
Status uniform_like(Context& ctx, const Args& args) {
  return fill_uniform(ctx, args.out(0), args.tensor(0).shape(), args.floating(1), args.floating(2));
}
Status randn(Context& ctx, const Args& args) {
  return fill_normal(ctx, args.out(0), args.ints(0), 0, 1);
}
Status randn_like(Context& ctx, const Args& args) {
  return fill_normal(ctx, args.out(0), args.tensor(0).shape(), 0, 1);
}
Status normal_like(Context& ctx, const Args& args) {
  return fill_normal(ctx, args.out(0), args.tensor(0).shape(), args.floating(1), args.floating(2));
}
Status normal_of_size(Context& ctx, const Args& args) {
  return fill_normal(ctx, args.out(0), args.ints(2), args.floating(0), args.floating(1));
}
Status randint(Context& ctx, const Args& args) {
  return fill_integers(ctx, args.out(0), args.ints(1), 0, args.integer(0));
}
Status randint_low(Context& ctx, const Args& args) {
  return fill_integers(ctx, args.out(0), args.ints(2), args.integer(0), args.integer(1));
}
Status randint_like(Context& ctx, const Args& args) {
  return fill_integers(ctx, args.out(0), args.tensor(0).shape(), 0, args.integer(1));
}
Status randint_like_low(Context& ctx, const Args& args) {
  return fill_integers(ctx, args.out(0), args.tensor(0).shape(), args.integer(1), args.integer(2));
}

Status exponential(Context& ctx, const Args& args) {
  const double rate = args.floating(1);
  if (!(rate > 0)) return invalid({"exponential expects lambda > 0.0, but found lambda=", rate});
  return fill<double>(ctx, args.out(0), args.tensor(0).shape(),
                      [&] { return -std::log(1 - uniform(ctx, DType::f64)) / rate; });
}

Status randperm(Context& ctx, const Args& args) {
  const int64_t n = args.integer(0);
  if (n < 0) return invalid({"n must be non-negative, got ", n});
  BP_TRY(ctx.resize(args.out(0), Dims{n}));
  BP_ASSIGN_OR_RETURN(int64_t * y, open<int64_t>(ctx, args.out(0)));
  for (int64_t i = 0; i < n; ++i) {  // the inside-out shuffle
    const int64_t at = integer(ctx, 0, i + 1);
    y[i] = y[at];
    y[at] = i;
  }
  close(args.out(0), y);
  return Ok{};
}

Error no_probability(double p) {
  return invalid({"expected a probability between 0 and 1, but got ", p});
}

Status bernoulli(Context& ctx, const Args& args) {
  const Tensor self = args.tensor(0);
  BP_ASSIGN_OR_RETURN(const double* p, read<double>(ctx, self));
  for (int64_t i = 0, n = self.numel(); i < n; ++i) {
    if (!(p[i] >= 0 && p[i] <= 1)) return no_probability(p[i]);
  }
  return fill<double>(ctx, args.out(0), self.shape(),
                      [&] { return uniform(ctx, DType::f64) < *p++ ? 1.0 : 0.0; });
}
Status bernoulli_of(Context& ctx, const Args& args) {
  const double p = args.floating(1);
  if (!(p >= 0 && p <= 1)) return no_probability(p);
  return fill<double>(ctx, args.out(0), args.tensor(0).shape(),
                      [&] { return uniform(ctx, DType::f64) < p ? 1.0 : 0.0; });
}

// args: input, p, train (absent: yes). What is kept is scaled; the second result says what that is.
Status native_dropout(Context& ctx, const Args& args) {
  const Tensor input = args.tensor(0);
  const double p = args.floating(1);
  if (!(p >= 0 && p <= 1)) return no_probability(p);
  const bool train = !args.has(2) || args.boolean(2);
  const int64_t n = input.numel();
  BP_TRY(ctx.resize(args.out(0), input.shape()));
  BP_TRY(ctx.resize(args.out(1), input.shape()));
  return dispatch<float, double>(input.dtype(), [&]<class T>() -> Status {
    BP_ASSIGN_OR_RETURN(const T* x, read<T>(ctx, input));
    BP_ASSIGN_OR_RETURN(T * y, open<T>(ctx, args.out(0)));
    BP_ASSIGN_OR_RETURN(int64_t * mask, ctx.scratch<int64_t>(std::max<int64_t>(n, 1)));
    const T scale = p == 1 ? T(0) : static_cast<T>(1 / (1 - p));
    for (int64_t i = 0; i < n; ++i) {
      mask[i] = !train || uniform(ctx, DType::f64) >= p ? 1 : 0;
      y[i] = !train ? x[i] : mask[i] != 0 ? x[i] * scale : T{};
    }
    close(args.out(0), y);
    close(args.out(1), static_cast<const int64_t*>(mask));
    return Ok{};
  });
}

// args: self, num_samples, replacement. One weight is chosen after the other.
Status multinomial(Context& ctx, const Args& args) {
  const Tensor self = args.tensor(0);
  const int64_t samples = args.integer(1);
  if (self.dim() < 1 || self.dim() > 2)
    return invalid({"prob_dist must be 1 or 2 dim, got ", self.shape()});
  const int64_t n = self.size(-1);
  const int64_t rows = self.dim() == 2 ? self.size(0) : 1;
  if (samples <= 0) return invalid({"cannot sample n_sample <= 0 samples, got ", samples});
  if (!args.boolean(2) && samples > n)
    return invalid({"cannot sample ", samples, " of ", n, " without replacement"});
  BP_ASSIGN_OR_RETURN(const double* given, read<double>(ctx, self));
  BP_ASSIGN_OR_RETURN(double* weights, ctx.scratch<double>(std::max<int64_t>(n, 1)));
  Dims shape(self.shape().first(static_cast<size_t>(self.dim() - 1)));
  shape.push_back(samples);
  BP_TRY(ctx.resize(args.out(0), shape));
  BP_ASSIGN_OR_RETURN(int64_t * y, open<int64_t>(ctx, args.out(0)));
  for (int64_t r = 0; r < rows; ++r) {
    double total = 0;
    for (int64_t i = 0; i < n; ++i) {
      weights[i] = given[r * n + i];
      if (!(weights[i] >= 0) || std::isinf(weights[i]))
        return invalid(
            {"probability tensor contains inf, nan or a negative element: ", weights[i]});
      total += weights[i];
    }
    for (int64_t s = 0; s < samples; ++s) {
      if (!(total > 0)) return invalid({"invalid multinomial distribution: its sum is ", total});
      double left = uniform(ctx, DType::f64) * total;
      int64_t chosen = -1;
      for (int64_t i = 0; i < n && (chosen < 0 || left >= 0); ++i) {
        if (weights[i] == 0) continue;
        chosen = i;
        left -= weights[i];
      }
      y[r * samples + s] = chosen;
      if (args.boolean(2)) continue;
      weights[chosen] = 0;
      total = 0;
      for (int64_t i = 0; i < n; ++i) total += weights[i];
    }
  }
  close(args.out(0), y);
  return Ok{};
}

constexpr Entry table[] = {
    {"aten::bernoulli.float_out", "tfI>t", bernoulli_of, kAll, BP_KERNEL_RANDOM},
    {"aten::bernoulli.out", "tI>t", bernoulli, kFloats, BP_KERNEL_RANDOM},
    {"aten::exponential.out", "tfI>t", exponential, kFloats, BP_KERNEL_RANDOM},
    {"aten::multinomial.out", "tibI>t", multinomial, kFloats, BP_KERNEL_RANDOM},
    {"aten::native_dropout.out", "tfB>tt", native_dropout, kFloats, BP_KERNEL_RANDOM},
    {"aten::normal.float_float_out", "ffnI>t", normal_of_size, kAll, BP_KERNEL_RANDOM},
    {"aten::normal.out", "tffI>t", normal_like, kFloats, BP_KERNEL_RANDOM},
    {"aten::normal_functional.out", "tffI>t", normal_like, kFloats, BP_KERNEL_RANDOM},
    {"aten::rand.out", "n>t", rand, kAll, BP_KERNEL_RANDOM},
    {"aten::rand_like.out", "tI>t", rand_like, kAll, BP_KERNEL_RANDOM},
    {"aten::randint.low_out", "iin>t", randint_low, kAll, BP_KERNEL_RANDOM},
    {"aten::randint.out", "in>t", randint, kAll, BP_KERNEL_RANDOM},
    {"aten::randint_like.low_dtype_out", "tiiI>t", randint_like_low, kAll, BP_KERNEL_RANDOM},
    {"aten::randint_like.out", "tiI>t", randint_like, kAll, BP_KERNEL_RANDOM},
    {"aten::randn.out", "n>t", randn, kAll, BP_KERNEL_RANDOM},
    {"aten::randn_like.out", "tI>t", randn_like, kAll, BP_KERNEL_RANDOM},
    {"aten::randperm.out", "i>t", randperm, kAll, BP_KERNEL_RANDOM},
    {"aten::uniform.out", "tffI>t", uniform_like, kFloats, BP_KERNEL_RANDOM},
};

}  // namespace

extern const std::span<const Entry> draw_kernels = table;

}  // namespace backplane::portable
