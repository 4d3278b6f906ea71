// lstm, gru and the plain recurrent layers: any number of layers, one or both directions.
#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "portable/dense.hpp"
#include "portable/nn/gemm.hpp"

namespace backplane::portable {
namespace {

enum class Cell : uint8_t { lstm, gru, tanh, relu };
constexpr int64_t gates_of(Cell cell) {
  return cell == Cell::lstm ? 4 : cell == Cell::gru ? 3 : 1;
}

template <class T>
T logistic(T x) {
  return T(1) / (T(1) + std::exp(-x));
}

// One direction of one layer.
template <class T>
struct Weights {
  const T* input;       // [gates * hidden, width]
  const T* recurrent;   // [gates * hidden, out]
  const T* input_bias;  // or null
  const T* recurrent_bias;
  const T* projection;  // [out, hidden] or null
};

struct Sizes {
  int64_t steps, batch, width, hidden, out;  // out: hidden, or what it is projected to
};

// y[rows, n] = x[rows, k] · wᵀ + bias.
template <class T>
Status affine(Context& ctx, const T* x, const T* w, const T* bias, int64_t rows, int64_t n,
              int64_t k, T* y) {
  for (int64_t i = 0; i < rows * n; ++i) y[i] = bias == nullptr ? T{} : bias[i % n];
  return gemm<T>(ctx, {rows, n, k}, {x, k, 1}, {w, 1, k}, y, n);
}

// New states from the gates of one sequence element of one batch row.
template <class T>
void step(Cell cell, int64_t hidden, const T* in, const T* back, T* h, T* c) {
  for (int64_t j = 0; j < hidden; ++j) {
    const auto sum = [&](int64_t gate) { return in[gate * hidden + j] + back[gate * hidden + j]; };
    if (cell == Cell::lstm) {
      c[j] = logistic(sum(1)) * c[j] + logistic(sum(0)) * std::tanh(sum(2));
      h[j] = logistic(sum(3)) * std::tanh(c[j]);
    } else if (cell == Cell::gru) {
      const T reset = logistic(sum(0));
      const T update = logistic(sum(1));
      const T fresh = std::tanh(in[2 * hidden + j] + reset * back[2 * hidden + j]);
      h[j] = (T(1) - update) * fresh + update * h[j];
    } else {
      h[j] = cell == Cell::tanh ? std::tanh(sum(0)) : std::max(sum(0), T{});
    }
  }
}

// x[steps, batch, width] → y[steps, batch, stride] from `offset` on; h and c are updated in place.
template <class T>
Status layer(Context& ctx, Cell cell, const Sizes& s, const Weights<T>& w, bool reverse, const T* x,
             T* h, T* c, T* y, int64_t stride) {
  const int64_t gates = gates_of(cell) * s.hidden;
  BP_ASSIGN_OR_RETURN(T * in, ctx.scratch<T>(std::max<int64_t>(s.steps * s.batch * gates, 1)));
  BP_ASSIGN_OR_RETURN(T * back, ctx.scratch<T>(std::max<int64_t>(s.batch * gates, 1)));
  BP_ASSIGN_OR_RETURN(T * full, ctx.scratch<T>(std::max<int64_t>(s.batch * s.hidden, 1)));
  BP_TRY(affine(ctx, x, w.input, w.input_bias, s.steps * s.batch, gates, s.width, in));
  for (int64_t t = 0; t < s.steps; ++t) {
    const int64_t at = reverse ? s.steps - 1 - t : t;
    BP_TRY(affine(ctx, h, w.recurrent, w.recurrent_bias, s.batch, gates, s.out, back));
    T* state = w.projection == nullptr ? h : full;
    for (int64_t b = 0; b < s.batch; ++b) {
      step(cell, s.hidden, in + (at * s.batch + b) * gates, back + b * gates, state + b * s.hidden,
           c == nullptr ? nullptr : c + b * s.hidden);
    }
    if (w.projection != nullptr)
      BP_TRY(affine<T>(ctx, full, w.projection, nullptr, s.batch, s.out, s.hidden, h));
    for (int64_t b = 0; b < s.batch; ++b)
      std::copy_n(h + b * s.out, s.out, y + (at * s.batch + b) * stride);
  }
  return Ok{};
}

// Swaps the first two dimensions of [a, b, n].
template <class T>
void turn(const T* from, T* to, int64_t a, int64_t b, int64_t n) {
  for (int64_t i = 0; i < a; ++i) {
    for (int64_t j = 0; j < b; ++j) std::copy_n(from + (i * b + j) * n, n, to + (j * a + i) * n);
  }
}

// The options after the weights, the same for all: has_biases, layers, dropout, train,
// bidirectional, batch_first.
struct Layout {
  bool biases;
  int64_t layers;
  int64_t directions;
  bool batch_first;
};

template <class T>
Status run(Context& ctx, const Args& args, Cell cell, const Layout& l, const Tensor& h0,
           const Tensor& c0) {
  const Tensor input = args.tensor(0);
  const int64_t steps = input.size(l.batch_first ? 1 : 0);
  const int64_t batch = input.size(l.batch_first ? 0 : 1);
  const int64_t out = h0.size(2);
  const int64_t hidden = cell == Cell::lstm ? c0.size(2) : out;
  const bool projected = hidden != out;
  const int64_t each = (l.biases ? 4 : 2) + (projected ? 1 : 0);
  if (args.list_size(2) != each * l.layers * l.directions) {
    return invalid(
        {"expected ", each * l.layers * l.directions, " weights, got ", args.list_size(2)});
  }
  BP_ASSIGN_OR_RETURN(const T* x, read<T>(ctx, input));
  int64_t width = input.size(2);
  if (l.batch_first) {
    BP_ASSIGN_OR_RETURN(T * turned, ctx.scratch<T>(std::max<int64_t>(input.numel(), 1)));
    turn(x, turned, batch, steps, width);
    x = turned;
  }
  BP_ASSIGN_OR_RETURN(const T* h_in, read<T>(ctx, h0));
  BP_ASSIGN_OR_RETURN(T * h, ctx.scratch<T>(std::max<int64_t>(h0.numel(), 1)));
  std::copy_n(h_in, h0.numel(), h);
  T* c = nullptr;
  if (c0) {
    BP_ASSIGN_OR_RETURN(const T* c_in, read<T>(ctx, c0));
    BP_ASSIGN_OR_RETURN(c, ctx.scratch<T>(std::max<int64_t>(c0.numel(), 1)));
    std::copy_n(c_in, c0.numel(), c);
  }
  const int64_t stride = out * l.directions;
  for (int64_t i = 0; i < l.layers; ++i) {
    BP_ASSIGN_OR_RETURN(T * y, ctx.scratch<T>(std::max<int64_t>(steps * batch * stride, 1)));
    for (int64_t d = 0; d < l.directions; ++d) {
      const int64_t part = i * l.directions + d;
      std::array<const T*, 5> list{};
      const int64_t gates = gates_of(cell) * hidden;
      const std::array<int64_t, 5> wanted = {gates * width, gates * out,
                                             l.biases ? gates : out * hidden, gates, out * hidden};
      for (int64_t k = 0; k < each; ++k) {
        const Tensor weight = args.list_tensor(2, part * each + k);
        if (weight.numel() != wanted[static_cast<size_t>(k)])
          return invalid({"weight ", part * each + k, " has shape ", weight.shape(),
                          ", which does not fit the layer"});
        BP_ASSIGN_OR_RETURN(list[static_cast<size_t>(k)], read<T>(ctx, weight));
      }
      const Weights<T> w = {list[0], list[1], l.biases ? list[2] : nullptr,
                            l.biases ? list[3] : nullptr,
                            projected ? list[static_cast<size_t>(each - 1)] : nullptr};
      BP_TRY(layer(ctx, cell, {steps, batch, width, hidden, out}, w, d == 1, x,
                   h + part * batch * out, c == nullptr ? nullptr : c + part * batch * hidden,
                   y + d * out, stride));
    }
    x = y;
    width = stride;
  }
  if (l.batch_first) {
    BP_ASSIGN_OR_RETURN(T * turned, ctx.scratch<T>(std::max<int64_t>(steps * batch * stride, 1)));
    turn(x, turned, steps, batch, stride);
    x = turned;
  }
  const Dims shape = l.batch_first ? Dims{batch, steps, stride} : Dims{steps, batch, stride};
  BP_TRY(ctx.resize(args.out(0), shape));
  BP_TRY(ctx.resize(args.out(1), h0.shape()));
  close(args.out(0), x);
  close(args.out(1), static_cast<const T*>(h));
  if (c != nullptr) {
    BP_TRY(ctx.resize(args.out(2), c0.shape()));
    close(args.out(2), static_cast<const T*>(c));
  }
  return Ok{};
}

template <Cell C>
Status recurrent(Context& ctx, const Args& args) {
  const Tensor input = args.tensor(0);
  const Layout l = {args.boolean(3), args.integer(4), args.boolean(7) ? 2 : 1, args.boolean(8)};
  if (input.dim() != 3) return invalid({"expected a 3-D input, got ", input.shape()});
  if (args.boolean(6) && args.floating(5) != 0 && l.layers > 1)
    return invalid({"dropout in training is not supported"});
  Tensor h0;
  Tensor c0;
  if constexpr (C == Cell::lstm) {
    if (args.list_size(1) != 2) return invalid({"lstm expects two hidden states"});
    h0 = args.list_tensor(1, 0);
    c0 = args.list_tensor(1, 1);
  } else {
    h0 = args.tensor(1);
  }
  const int64_t batch = input.size(l.batch_first ? 0 : 1);
  for (const Tensor& state : {h0, c0}) {
    if (state &&
        (state.dim() != 3 || state.size(0) != l.layers * l.directions || state.size(1) != batch)) {
      return invalid({"expected hidden states of shape [", l.layers * l.directions, ", ", batch,
                      ", …], got ", state.shape()});
    }
  }
  return dispatch<float, double>(input.dtype(),
                                 [&]<class T>() { return run<T>(ctx, args, C, l, h0, c0); });
}

constexpr Entry table[] = {
    {"aten::gru.input_out", "ttlbifbbb>tt", recurrent<Cell::gru>, kFloats},
    {"aten::lstm.input_out", "tllbifbbb>ttt", recurrent<Cell::lstm>, kFloats},
    {"aten::rnn_relu.input_out", "ttlbifbbb>tt", recurrent<Cell::relu>, kFloats},
    {"aten::rnn_tanh.input_out", "ttlbifbbb>tt", recurrent<Cell::tanh>, kFloats},
};

}  // namespace

extern const std::span<const Entry> recurrent_kernels = table;

}  // namespace backplane::portable
