// Convolution and transposed convolution over one, two or three dimensions: patches laid out as
// columns of a matrix, a tile of positions at a time, and gemm().
#include <algorithm>
#include <array>

#include "portable/dense.hpp"
#include "portable/nn/gemm.hpp"

namespace backplane::portable {
namespace {

using Three = std::array<int64_t, 3>;
constexpr int64_t kTile = 1024;  // positions

// One problem, always three spatial dimensions (ones in front).
struct Geometry {
  int64_t batch, in_channels, out_channels, groups;
  Three in, out, kernel, stride, padding, dilation;
  bool transposed;
  [[nodiscard]] static int64_t volume(const Three& s) { return s[0] * s[1] * s[2]; }
};

Three three(std::span<const int64_t> list, int64_t spatial, int64_t missing) {
  Three out = {missing, missing, missing};
  for (int64_t d = 0; d < spatial; ++d) {
    out[static_cast<size_t>(3 - spatial + d)] =
        list.empty() ? missing : list[list.size() == 1 ? 0 : static_cast<size_t>(d)];
  }
  return out;
}

// Calls f(row, column, image offset) for the elements of patches [first, last): row is the place in
// the kernel, column the position; the offset is -1 in the padding. `image` is what patches are
// taken from, `grid` what positions count over.
template <class F>
void for_patches(const Geometry& g, const Three& image, const Three& grid, int64_t first,
                 int64_t last, F&& f) {
  int64_t row = 0;
  for (int64_t a = 0; a < g.kernel[0]; ++a) {
    for (int64_t b = 0; b < g.kernel[1]; ++b) {
      for (int64_t c = 0; c < g.kernel[2]; ++c, ++row) {
        for (int64_t p = first; p < last; ++p) {
          const int64_t z =
              p / (grid[1] * grid[2]) * g.stride[0] - g.padding[0] + a * g.dilation[0];
          const int64_t y = p / grid[2] % grid[1] * g.stride[1] - g.padding[1] + b * g.dilation[1];
          const int64_t x = p % grid[2] * g.stride[2] - g.padding[2] + c * g.dilation[2];
          const bool inside =
              z >= 0 && z < image[0] && y >= 0 && y < image[1] && x >= 0 && x < image[2];
          f(row, p - first, inside ? (z * image[1] + y) * image[2] + x : -1);
        }
      }
    }
  }
}

// out[co, positions] += weight[co, ci·kernel] · patches.
template <class T>
Status forward(Context& ctx, const Geometry& g, const T* x, const T* w, T* y, T* columns) {
  const int64_t ci = g.in_channels / g.groups;
  const int64_t co = g.out_channels / g.groups;
  const int64_t taps = Geometry::volume(g.kernel);
  const int64_t positions = Geometry::volume(g.out);
  const int64_t pixels = Geometry::volume(g.in);
  const bool direct = taps == 1 && g.stride == Three{1, 1, 1} && g.padding == Three{0, 0, 0};
  if (direct) return gemm<T>(ctx, {co, positions, ci}, {w, ci, 1}, {x, pixels, 1}, y, positions);
  for (int64_t first = 0; first < positions; first += kTile) {
    const int64_t n = std::min(kTile, positions - first);
    ctx.parallel_for(ci, 1, [&](int64_t begin, int64_t end) {
      for (int64_t c = begin; c < end; ++c) {
        const T* image = x + c * pixels;
        T* rows = columns + c * taps * n;
        for_patches(g, g.in, g.out, first, first + n, [&](int64_t row, int64_t column, int64_t at) {
          rows[row * n + column] = at < 0 ? T{} : image[at];
        });
      }
    });
    BP_TRY(
        gemm<T>(ctx, {co, n, ci * taps}, {w, ci * taps, 1}, {columns, n, 1}, y + first, positions));
  }
  return Ok{};
}

// Every input position spreads weightᵀ · x over the patch of the output that it would have read.
template <class T>
Status backward(Context& ctx, const Geometry& g, const T* x, const T* w, T* y, T* columns) {
  const int64_t ci = g.in_channels / g.groups;
  const int64_t co = g.out_channels / g.groups;
  const int64_t taps = Geometry::volume(g.kernel);
  const int64_t positions = Geometry::volume(g.in);
  const int64_t pixels = Geometry::volume(g.out);
  for (int64_t first = 0; first < positions; first += kTile) {
    const int64_t n = std::min(kTile, positions - first);
    std::fill(columns, columns + co * taps * n, T{});
    // w is [ci, co·taps]: read across.
    BP_TRY(
        gemm<T>(ctx, {co * taps, n, ci}, {w, 1, co * taps}, {x + first, positions, 1}, columns, n));
    for (int64_t c = 0; c < co; ++c) {
      const T* rows = columns + c * taps * n;
      T* image = y + c * pixels;
      for_patches(g, g.out, g.in, first, first + n, [&](int64_t row, int64_t column, int64_t at) {
        if (at >= 0) image[at] += rows[row * n + column];
      });
    }
  }
  return Ok{};
}

// One channel in and out a group: no matrix in it.
template <class T>
void depthwise(Context& ctx, const Geometry& g, const T* x, const T* w, T* y) {
  const int64_t taps = Geometry::volume(g.kernel);
  const int64_t positions = Geometry::volume(g.out);
  const int64_t pixels = Geometry::volume(g.in);
  ctx.parallel_for(g.groups, 1, [&](int64_t begin, int64_t end) {
    for (int64_t c = begin; c < end; ++c) {
      for_patches(g, g.in, g.out, 0, positions, [&](int64_t row, int64_t p, int64_t at) {
        if (at >= 0) y[c * positions + p] += w[c * taps + row] * x[c * pixels + at];
      });
    }
  });
}

template <class T>
Status convolve(Context& ctx, const Args& args, const Geometry& g, const Tensor& out) {
  BP_ASSIGN_OR_RETURN(const T* x, read<T>(ctx, args.tensor(0)));
  BP_ASSIGN_OR_RETURN(const T* w, read<T>(ctx, args.tensor(1)));
  const int64_t positions = Geometry::volume(g.out);
  const int64_t total = g.batch * g.out_channels * positions;
  BP_ASSIGN_OR_RETURN(T * y, ctx.scratch<T>(std::max<int64_t>(total, 1)));
  std::fill(y, y + total, T{});
  if (args.has(2)) {
    BP_ASSIGN_OR_RETURN(const T* bias, read<T>(ctx, args.tensor(2)));
    for (int64_t i = 0; i < g.batch * g.out_channels; ++i)
      std::fill_n(y + i * positions, positions, bias[i % g.out_channels]);
  }
  const int64_t ci = g.in_channels / g.groups;
  const int64_t co = g.out_channels / g.groups;
  const int64_t rows = (g.transposed ? co : ci) * Geometry::volume(g.kernel);
  BP_ASSIGN_OR_RETURN(T * columns, ctx.scratch<T>(std::max<int64_t>(rows * kTile, 1)));
  const int64_t pixels = Geometry::volume(g.in);
  const int64_t weights = Geometry::volume(g.kernel) * ci * co;
  for (int64_t b = 0; b < g.batch && total > 0; ++b) {
    const T* image = x + b * g.in_channels * pixels;
    T* result = y + b * g.out_channels * positions;
    if (ci == 1 && co == 1 && !g.transposed) {
      depthwise(ctx, g, image, w, result);
      continue;
    }
    for (int64_t group = 0; group < g.groups; ++group) {
      const T* from = image + group * ci * pixels;
      T* to = result + group * co * positions;
      BP_TRY(g.transposed ? backward(ctx, g, from, w + group * weights, to, columns)
                          : forward(ctx, g, from, w + group * weights, to, columns));
    }
  }
  close(out, y);
  return Ok{};
}

Status check_lists(const Args& args, int64_t spatial) {
  for (const auto& [at, name] :
       {std::pair{3, "stride"}, std::pair{4, "padding"}, std::pair{5, "dilation"}}) {
    const auto list = args.ints(at);
    if (static_cast<int64_t>(list.size()) != spatial && list.size() != 1) {
      return invalid({"expected ", name, " to be a single integer value or a list of ", spatial,
                      " values, but got ", list});
    }
    for (const int64_t v : list) {
      if (v < (at == 4 ? 0 : 1))
        return invalid({at == 4 ? "negative padding" : "non-positive ", at == 4 ? "" : name,
                        " is not supported: ", list});
    }
  }
  return Ok{};
}

Status convolution(Context& ctx, const Args& args) {
  const Tensor input = args.tensor(0);
  const Tensor weight = args.tensor(1);
  const int64_t spatial = weight.dim() - 2;
  if (spatial < 1 || spatial > 3)
    return invalid({"weight should have three to five dimensions, but is ", weight.shape()});
  const bool batched = input.dim() == weight.dim();
  if (!batched && input.dim() != weight.dim() - 1) {
    return invalid({"expected ", spatial + 1, "D (unbatched) or ", spatial + 2,
                    "D (batched) input, but got input of size: ", input.shape()});
  }
  if (input.dtype() != weight.dtype()) {
    return invalid({"input type (", input.dtype(), ") and weight type (", weight.dtype(),
                    ") should be the same"});
  }
  BP_TRY(check_lists(args, spatial));
  Geometry g{};
  g.transposed = args.boolean(6);
  g.groups = args.integer(8);
  g.batch = batched ? input.size(0) : 1;
  g.in_channels = input.size(batched ? 1 : 0);
  if (g.groups <= 0 || weight.size(0) % std::max<int64_t>(g.groups, 1) != 0) {
    return invalid({"given groups=", g.groups, ", weight of size ", weight.shape(),
                    " is not divisible by it"});
  }
  g.out_channels = g.transposed ? weight.size(1) * g.groups : weight.size(0);
  const int64_t wanted = g.transposed ? weight.size(0) : weight.size(1) * g.groups;
  if (g.in_channels != wanted) {
    return invalid({"given groups=", g.groups, ", weight of size ", weight.shape(),
                    ", expected input", input.shape(), " to have ", wanted, " channels, but got ",
                    g.in_channels, " channels instead"});
  }
  if (args.has(2) && (args.tensor(2).dim() != 1 || args.tensor(2).size(0) != g.out_channels)) {
    return invalid({"expected bias to be 1-dimensional with ", g.out_channels,
                    " elements, but got bias of size ", args.tensor(2).shape()});
  }
  g.in = three(input.shape().subspan(batched ? 2 : 1), spatial, 1);
  g.kernel = three(weight.shape().subspan(2), spatial, 1);
  g.stride = three(args.ints(3), spatial, 1);
  g.padding = three(args.ints(4), spatial, 0);
  g.dilation = three(args.ints(5), spatial, 1);
  const Three extra = three(args.ints(7), spatial, 0);
  Dims shape(input.shape().first(batched ? 2 : 1));
  shape[batched ? 1 : 0] = g.out_channels;
  for (size_t d = 0; d < 3; ++d) {
    const int64_t reach = g.dilation[d] * (g.kernel[d] - 1) + 1;
    if (g.transposed) {
      g.out[d] = (g.in[d] - 1) * g.stride[d] - 2 * g.padding[d] + reach + extra[d];
    } else {
      const int64_t room = g.in[d] + 2 * g.padding[d] - reach;
      if (room < 0) {
        return invalid({"calculated padded input size per channel: (", g.in[d] + 2 * g.padding[d],
                        "). Kernel size: (", reach,
                        "). Kernel size can't be greater than actual input size"});
      }
      g.out[d] = room / g.stride[d] + 1;
    }
    if (g.out[d] < 0)
      return invalid({"given input size per channel: (", g.in[d],
                      "). Calculated output size is too small: ", g.out[d]});
    if (static_cast<int64_t>(d) >= 3 - spatial) shape.push_back(g.out[d]);
  }
  const Tensor out = args.out(0);
  BP_TRY(ctx.resize(out, shape));
  return dispatch<float, double, int64_t>(
      input.dtype(), [&]<class T>() { return convolve<T>(ctx, args, g, out); });
}

constexpr Entry table[] = {
    {"aten::convolution.out", "ttTnnnbni>t", convolution, kReals},
    {"aten::_convolution.out", "ttTnnnbnibbbb>t", convolution, kReals},
};

}  // namespace

extern const std::span<const Entry> convolution_kernels = table;

}  // namespace backplane::portable
