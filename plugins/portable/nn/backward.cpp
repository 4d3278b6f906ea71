// What flows back through softmax, dropout, layer norm, embeddings and average pools.
#include <algorithm>
#include <array>
#include <cmath>

#include "portable/dense.hpp"
#include "portable/shape.hpp"

namespace backplane::portable {
namespace {

bool same_shape(const Tensor& a, const Tensor& b) {
  return std::equal(a.shape().begin(), a.shape().end(), b.shape().begin(), b.shape().end());
}

// args: grad_output, output, dim, input_dtype.
template <bool Log>
Status softmax_backward(Context& ctx, const Args& args) {
  const Tensor grad = args.tensor(0);
  const Tensor output = args.tensor(1);
  if (!same_shape(grad, output))
    return invalid(
        {"gradient of shape ", grad.shape(), " for an output of shape ", output.shape()});
  BP_ASSIGN_OR_RETURN(const int64_t dim, wrap_dim(args.integer(2), grad.dim()));
  BP_TRY(ctx.resize(args.out(0), grad.shape()));
  const Split s = grad.dim() == 0 ? Split{} : split_at(grad.shape(), dim);
  return dispatch<float, double>(grad.dtype(), [&]<class T>() -> Status {
    BP_ASSIGN_OR_RETURN(const T* g, read<T>(ctx, grad));
    BP_ASSIGN_OR_RETURN(const T* y, read<T>(ctx, output));
    BP_ASSIGN_OR_RETURN(T * x, open<T>(ctx, args.out(0)));
    for (int64_t line = 0; line < s.outer * s.inner; ++line) {
      const int64_t first = line / s.inner * s.size * s.inner + line % s.inner;
      const int64_t end = first + s.size * s.inner;
      T sum{};
      for (int64_t i = first; i < end; i += s.inner) sum += Log ? g[i] : g[i] * y[i];
      for (int64_t i = first; i < end; i += s.inner)
        x[i] = Log ? g[i] - std::exp(y[i]) * sum : (g[i] - sum) * y[i];
    }
    close(args.out(0), x);
    return Ok{};
  });
}

// args: grad_output, mask, scale.
Status dropout_backward(Context& ctx, const Args& args) {
  const Tensor grad = args.tensor(0);
  const Tensor mask = args.tensor(1);
  if (mask.dtype() != DType::boolean)
    return invalid({"mask should be Bool scalar type, but got ", mask.dtype()});
  if (!same_shape(grad, mask))
    return error(Code::unsupported,
                 {"gradient of shape ", grad.shape(), " with a mask of shape ", mask.shape()});
  BP_TRY(ctx.resize(args.out(0), grad.shape()));
  return dispatch<float, double, int64_t, Complex64, Complex128>(
      grad.dtype(), [&]<class T>() -> Status {
        BP_ASSIGN_OR_RETURN(const T* g, read<T>(ctx, grad));
        BP_ASSIGN_OR_RETURN(const int64_t* kept, read<int64_t>(ctx, mask));
        BP_ASSIGN_OR_RETURN(T * x, open<T>(ctx, args.out(0)));
        const T scale = args.scalar(2).to<T>();
        for (int64_t i = 0, n = grad.numel(); i < n; ++i) x[i] = kept[i] != 0 ? g[i] * scale : T{};
        close(args.out(0), x);
        return Ok{};
      });
}

// Each row's gradient is summed into its class. args: grad_output, indices, num_weights,
// padding_idx, scale_grad_by_freq.
Status embedding_backward(Context& ctx, const Args& args) {
  const Tensor grad = args.tensor(0);
  const Tensor indices = args.tensor(1);
  const int64_t rows = args.integer(2);
  const int64_t n = indices.numel();
  if (!set_of(DType::i64, DType::i32).has(indices.dtype()))
    return invalid({"indices have to be Long or Int, got ", indices.dtype()});
  if (grad.dim() < 1 || rows < 0 || grad.numel() != n * grad.size(-1))
    return invalid({"gradient of shape ", grad.shape(), " for indices of shape ", indices.shape()});
  const int64_t width = grad.size(-1);
  BP_TRY(ctx.resize(args.out(0), Dims{rows, width}));
  return dispatch<float, double>(grad.dtype(), [&]<class T>() -> Status {
    BP_ASSIGN_OR_RETURN(const T* g, read<T>(ctx, grad));
    BP_ASSIGN_OR_RETURN(const int64_t* index, read<int64_t>(ctx, indices));
    BP_ASSIGN_OR_RETURN(T * x, open<T>(ctx, args.out(0)));
    BP_ASSIGN_OR_RETURN(int64_t * counts, ctx.scratch<int64_t>(std::max<int64_t>(rows, 1)));
    std::fill_n(x, rows * width, T{});
    std::fill_n(counts, rows, int64_t{0});
    for (int64_t i = 0; i < n; ++i) {
      if (index[i] < 0 || index[i] >= rows) {
        if (index[i] == args.integer(3)) continue;
        return invalid({"index ", index[i], " is out of range of ", rows, " rows"});
      }
      ++counts[index[i]];
    }
    for (int64_t i = 0; i < n; ++i) {
      if (index[i] == args.integer(3)) continue;
      const T scale = args.boolean(4) ? T(1) / static_cast<T>(counts[index[i]]) : T(1);
      for (int64_t k = 0; k < width; ++k) x[index[i] * width + k] += g[i * width + k] * scale;
    }
    close(args.out(0), x);
    return Ok{};
  });
}

// args: grad_out, input, normalized_shape, mean, rstd, weight, bias, output_mask.
template <class T>
Status layer_norm_backward_of(Context& ctx, const Args& args, int64_t length) {
  const Tensor self = args.tensor(1);
  const auto wanted = args.bools(7);
  BP_ASSIGN_OR_RETURN(const T* g, read<T>(ctx, args.tensor(0)));
  BP_ASSIGN_OR_RETURN(const T* x, read<T>(ctx, self));
  BP_ASSIGN_OR_RETURN(const T* mean, read<T>(ctx, args.tensor(3)));
  BP_ASSIGN_OR_RETURN(const T* rstd, read<T>(ctx, args.tensor(4)));
  const T* weight = nullptr;
  if (args.has(5)) {
    BP_ASSIGN_OR_RETURN(weight, read<T>(ctx, args.tensor(5)));
  }
  BP_ASSIGN_OR_RETURN(T * dx, ctx.scratch<T>(std::max<int64_t>(self.numel(), 1)));
  BP_ASSIGN_OR_RETURN(T * dw, ctx.scratch<T>(std::max<int64_t>(length, 1)));
  BP_ASSIGN_OR_RETURN(T * db, ctx.scratch<T>(std::max<int64_t>(length, 1)));
  std::fill_n(dw, length, T{});
  std::fill_n(db, length, T{});
  const int64_t rows = length == 0 ? 0 : self.numel() / length;
  for (int64_t r = 0; r < rows; ++r) {
    T sum{};
    T product{};
    const auto norm = [&](int64_t i) { return (x[r * length + i] - mean[r]) * rstd[r]; };
    const auto flow = [&](int64_t i) {
      return g[r * length + i] * (weight == nullptr ? T(1) : weight[i]);
    };
    for (int64_t i = 0; i < length; ++i) {
      sum += flow(i);
      product += flow(i) * norm(i);
      dw[i] += g[r * length + i] * norm(i);
      db[i] += g[r * length + i];
    }
    const T n = static_cast<T>(length);
    for (int64_t i = 0; i < length; ++i)
      dx[r * length + i] = rstd[r] * (flow(i) - sum / n - norm(i) * product / n);
  }
  const std::array<const T*, 3> results = {dx, dw, db};
  for (int64_t o = 0; o < 3; ++o) {
    if (wanted[static_cast<size_t>(o)] == 0 || (o > 0 && !args.has(4 + o))) continue;
    BP_TRY(ctx.resize(args.out(o), o == 0 ? Dims(self.shape()) : Dims(args.ints(2))));
    close(args.out(o), results[static_cast<size_t>(o)]);
  }
  return Ok{};
}

Status layer_norm_backward(Context& ctx, const Args& args) {
  const Tensor self = args.tensor(1);
  int64_t length = 1;
  for (const int64_t n : args.ints(2)) length *= n;
  const int64_t rows = length == 0 ? 0 : self.numel() / length;
  const bool fits = same_shape(args.tensor(0), self) && args.bools(7).size() == 3 &&
                    args.tensor(3).numel() == rows && args.tensor(4).numel() == rows &&
                    (!args.has(5) || args.tensor(5).numel() == length);
  if (!fits)
    return invalid({"gradient, statistics and weight do not fit an input of shape ", self.shape()});
  return dispatch<float, double>(
      self.dtype(), [&]<class T>() { return layer_norm_backward_of<T>(ctx, args, length); });
}

// args: grad_output, self. Each output's gradient is shared by its window.
template <int64_t Spatial>
Status adaptive_avg_backward(Context& ctx, const Args& args) {
  const Tensor grad = args.tensor(0);
  const Tensor self = args.tensor(1);
  if (grad.dim() != self.dim() || (self.dim() != Spatial + 1 && self.dim() != Spatial + 2))
    return invalid({"gradient of shape ", grad.shape(), " for an input of shape ", self.shape()});
  std::array<int64_t, 3> in = {1, 1, 1};
  std::array<int64_t, 3> out = {1, 1, 1};
  int64_t planes = 1;
  for (int64_t d = 0; d < self.dim(); ++d) {
    const int64_t axis = d - (self.dim() - Spatial);
    if (axis < 0) {
      if (grad.size(d) != self.size(d))
        return invalid(
            {"gradient of shape ", grad.shape(), " for an input of shape ", self.shape()});
      planes *= self.size(d);
      continue;
    }
    in[static_cast<size_t>(3 - Spatial + axis)] = self.size(d);
    out[static_cast<size_t>(3 - Spatial + axis)] = grad.size(d);
  }
  BP_TRY(ctx.resize(args.out(0), self.shape()));
  const int64_t area = out[0] * out[1] * out[2];
  return dispatch<float, double>(grad.dtype(), [&]<class T>() -> Status {
    BP_ASSIGN_OR_RETURN(const T* g, read<T>(ctx, grad));
    BP_ASSIGN_OR_RETURN(T * x, open<T>(ctx, args.out(0)));
    std::fill_n(x, self.numel(), T{});
    for (int64_t i = 0; i < planes * area; ++i) {
      T* plane = x + i / area * in[0] * in[1] * in[2];
      const std::array<int64_t, 3> at = {i % area / (out[1] * out[2]), i / out[2] % out[1],
                                         i % out[2]};
      std::array<int64_t, 3> begin{};
      std::array<int64_t, 3> end{};
      int64_t n = 1;
      for (size_t d = 0; d < 3; ++d) {
        begin[d] = at[d] * in[d] / out[d];
        end[d] = ((at[d] + 1) * in[d] + out[d] - 1) / out[d];
        n *= end[d] - begin[d];
      }
      for (int64_t a = begin[0]; a < end[0]; ++a) {
        for (int64_t b = begin[1]; b < end[1]; ++b) {
          for (int64_t c = begin[2]; c < end[2]; ++c)
            plane[(a * in[1] + b) * in[2] + c] += g[i] / static_cast<T>(n);
        }
      }
    }
    close(args.out(0), x);
    return Ok{};
  });
}

constexpr Entry table[] = {
    {"aten::_adaptive_avg_pool2d_backward.out", "tt>t", adaptive_avg_backward<2>, kFloats},
    {"aten::_adaptive_avg_pool3d_backward.out", "tt>t", adaptive_avg_backward<3>, kFloats},
    {"aten::_log_softmax_backward_data.out", "ttii>t", softmax_backward<true>, kFloats},
    {"aten::_softmax_backward_data.out", "ttii>t", softmax_backward<false>, kFloats},
    {"aten::embedding_dense_backward.out", "ttiib>t", embedding_backward, kFloats},
    {"aten::native_dropout_backward.out", "ttf>t", dropout_backward, kNumbers},
    {"aten::native_layer_norm_backward.out", "ttnttTTm>ttt", layer_norm_backward, kFloats},
};

}  // namespace

extern const std::span<const Entry> backward_kernels = table;

}  // namespace backplane::portable
