// Sampling images and volumes where a grid of points in [-1, 1] says.
#include <algorithm>
#include <array>
#include <cmath>

#include "portable/dense.hpp"

namespace backplane::portable {
namespace {

// PyTorch's numbers.
enum class Mode : int64_t { linear = 0, nearest = 1, cubic = 2 };
enum class Padding : int64_t { zeros = 0, border = 1, reflection = 2 };

struct Options {
  Mode mode;
  Padding padding;
  bool align;
};

// A coordinate of the grid in pixels.
template <class T>
T pixels(T x, int64_t size, bool align) {
  return align ? (x + 1) / 2 * static_cast<T>(size - 1) : ((x + 1) * static_cast<T>(size) - 1) / 2;
}

// Folds x into [low / 2, high / 2].
template <class T>
T reflected(T x, int64_t low, int64_t high) {
  if (low == high) return 0;
  const T least = static_cast<T>(low) / 2;
  const T span = static_cast<T>(high - low) / 2;
  x = std::fabs(x - least);
  const T rest = std::fmod(x, span);
  const bool even = std::fmod(std::floor(x / span), T(2)) == 0;
  return even ? rest + least : span - rest + least;
}

template <class T>
T bounded(T x, int64_t size, const Options& o) {
  if (o.padding == Padding::reflection)
    x = o.align ? reflected(x, 0, 2 * (size - 1)) : reflected(x, -1, 2 * size - 1);
  if (o.padding == Padding::zeros) return x;
  // NaN becomes 0.
  return std::min(static_cast<T>(size - 1), x > 0 ? x : T(0));
}

// Up to four neighbours along an axis; an index of -1 counts nothing.
template <class T>
struct Taps {
  std::array<int64_t, 4> index{};
  std::array<T, 4> weight{};
  int count = 0;
  void add(T at, T w, int64_t size) {
    const bool inside = at > -1 && at < static_cast<T>(size);
    index[static_cast<size_t>(count)] = inside ? static_cast<int64_t>(at) : -1;
    weight[static_cast<size_t>(count++)] = w;
  }
};

template <class T>
T cubic(T x) {
  constexpr T a = T(-0.75);
  x = std::fabs(x);
  return x <= 1 ? ((a + 2) * x - (a + 3)) * x * x + 1 : ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
}

template <class T>
Taps<T> taps_of(T at, int64_t size, const Options& o) {
  Taps<T> taps;
  at = pixels(at, size, o.align);
  if (o.mode == Mode::cubic) {
    const T low = std::floor(at);
    const T part = at - low;
    for (int j = -1; j <= 2; ++j)
      taps.add(bounded(low + static_cast<T>(j), size, o), cubic(part - static_cast<T>(j)), size);
    return taps;
  }
  at = bounded(at, size, o);
  if (o.mode == Mode::nearest) {
    taps.add(std::nearbyint(at), 1, size);
    return taps;
  }
  const T low = std::floor(at);
  taps.add(low, low + 1 - at, size);
  taps.add(low + 1, at - low, size);
  return taps;
}

// Sum over the neighbours of `axes` axes; the grid's first number is the last dimension's.
template <class T>
T sample(const T* plane, const std::array<Taps<T>, 3>& taps, const std::array<int64_t, 3>& sizes) {
  T sum{};
  for (int a = 0; a < taps[0].count; ++a) {
    for (int b = 0; b < taps[1].count; ++b) {
      for (int c = 0; c < taps[2].count; ++c) {
        const auto i = static_cast<size_t>(a);
        const auto j = static_cast<size_t>(b);
        const auto k = static_cast<size_t>(c);
        const int64_t z = taps[0].index[i];
        const int64_t y = taps[1].index[j];
        const int64_t x = taps[2].index[k];
        if (z < 0 || y < 0 || x < 0) continue;
        sum += plane[(z * sizes[1] + y) * sizes[2] + x] *
               (taps[0].weight[i] * taps[1].weight[j] * taps[2].weight[k]);
      }
    }
  }
  return sum;
}

template <class T, int64_t Spatial>
Status sample_all(Context& ctx, const Args& args, const Options& o) {
  const Tensor input = args.tensor(0);
  const Tensor grid = args.tensor(1);
  BP_ASSIGN_OR_RETURN(const T* x, read<T>(ctx, input));
  BP_ASSIGN_OR_RETURN(const T* points, read<T>(ctx, grid));
  BP_ASSIGN_OR_RETURN(T * y, open<T>(ctx, args.out(0)));
  std::array<int64_t, 3> sizes = {1, 1, 1};
  int64_t area = 1;
  int64_t places = 1;
  for (int64_t d = 0; d < Spatial; ++d) {
    sizes[static_cast<size_t>(3 - Spatial + d)] = input.size(2 + d);
    area *= input.size(2 + d);
    places *= grid.size(1 + d);
  }
  const int64_t channels = input.size(1);
  ctx.parallel_for(input.size(0) * places, 16, [&](int64_t begin, int64_t end) {
    for (int64_t at = begin; at < end; ++at) {
      std::array<Taps<T>, 3> taps;
      if (Spatial == 2) taps[0].add(0, 1, 1);
      for (int64_t d = 0; d < Spatial; ++d) {
        const auto axis = static_cast<size_t>(2 - d);
        taps[axis] = taps_of(points[at * Spatial + d], sizes[axis], o);
      }
      const int64_t batch = at / places;
      for (int64_t c = 0; c < channels; ++c) {
        const int64_t plane = batch * channels + c;
        y[plane * places + at % places] = sample(x + plane * area, taps, sizes);
      }
    }
  });
  close(args.out(0), y);
  return Ok{};
}

// args: input, grid, interpolation_mode, padding_mode, align_corners.
template <int64_t Spatial>
Status grid_sampler(Context& ctx, const Args& args) {
  const Tensor input = args.tensor(0);
  const Tensor grid = args.tensor(1);
  const int64_t mode = args.integer(2);
  const int64_t padding = args.integer(3);
  if (mode < 0 || mode > 2 || padding < 0 || padding > 2)
    return invalid({"interpolation mode ", mode, " with padding mode ", padding});
  if (mode == 2 && Spatial != 2) return invalid({"bicubic interpolation only supports 4D input"});
  if (input.dim() != Spatial + 2 || grid.dim() != Spatial + 2 || grid.size(-1) != Spatial ||
      input.size(0) != grid.size(0)) {
    return invalid({"expected input of ", Spatial + 2,
                    " dimensions and a grid of the same batch "
                    "size with size ",
                    Spatial, " in last dimension, but got ", input.shape(), " and ", grid.shape()});
  }
  if (input.dtype() != grid.dtype())
    return invalid({"expected input and grid to have same dtype, but input has ", input.dtype(),
                    " and grid has ", grid.dtype()});
  Dims shape = {input.size(0), input.size(1)};
  for (int64_t d = 0; d < Spatial; ++d) {
    if (input.size(2 + d) == 0)
      return invalid(
          {"expected input to have non-empty spatial dimensions, but got ", input.shape()});
    shape.push_back(grid.size(1 + d));
  }
  BP_TRY(ctx.resize(args.out(0), shape));
  const Options o = {static_cast<Mode>(mode), static_cast<Padding>(padding), args.boolean(4)};
  return dispatch<float, double>(input.dtype(),
                                 [&]<class T>() { return sample_all<T, Spatial>(ctx, args, o); });
}

// args: theta [n, rows, rows + 1], size, align_corners.
Status affine_grid(Context& ctx, const Args& args) {
  const Tensor theta = args.tensor(0);
  const auto size = args.ints(1);
  const int64_t spatial = static_cast<int64_t>(size.size()) - 2;
  if (spatial < 2 || spatial > 3)
    return invalid({"affine_grid_generator needs 4d or 5d size input, got ", size});
  if (theta.dim() != 3 || theta.size(0) != size[0] || theta.size(1) != spatial ||
      theta.size(2) != spatial + 1)
    return invalid({"theta of shape ", theta.shape(), " does not fit size ", size});
  Dims shape = {size[0]};
  int64_t places = 1;
  for (int64_t d = 0; d < spatial; ++d) {
    shape.push_back(size[static_cast<size_t>(d + 2)]);
    places *= size[static_cast<size_t>(d + 2)];
  }
  shape.push_back(spatial);
  BP_TRY(ctx.resize(args.out(0), shape));
  return dispatch<float, double>(theta.dtype(), [&]<class T>() -> Status {
    BP_ASSIGN_OR_RETURN(const T* matrix, read<T>(ctx, theta));
    BP_ASSIGN_OR_RETURN(T * y, open<T>(ctx, args.out(0)));
    for (int64_t i = 0; i < size[0] * places; ++i) {
      const T* m = matrix + i / places * spatial * (spatial + 1);
      std::array<T, 4> point{};
      int64_t left = i % places;
      for (int64_t d = 0; d < spatial; ++d) {  // the last dimension first
        const int64_t n = shape[spatial - d];
        const T step = n > 1 ? T(2) / static_cast<T>(n - 1) : T(0);
        const T at = n > 1 ? T(-1) + step * static_cast<T>(left % n) : T(0);
        point[static_cast<size_t>(d)] =
            args.boolean(2) ? at : at * static_cast<T>(n - 1) / static_cast<T>(n);
        left /= n;
      }
      point[static_cast<size_t>(spatial)] = 1;
      for (int64_t d = 0; d < spatial; ++d) {
        T sum{};
        for (int64_t k = 0; k <= spatial; ++k)
          sum += m[d * (spatial + 1) + k] * point[static_cast<size_t>(k)];
        y[i * spatial + d] = sum;
      }
    }
    close(args.out(0), y);
    return Ok{};
  });
}

constexpr Entry table[] = {
    {"aten::affine_grid_generator.out", "tnb>t", affine_grid, kFloats},
    {"aten::grid_sampler_2d.out", "ttiib>t", grid_sampler<2>, kFloats - kHalfs},
    {"aten::grid_sampler_3d.out", "ttiib>t", grid_sampler<3>, kFloats - kHalfs},
};

}  // namespace

extern const std::span<const Entry> grid_kernels = table;

}  // namespace backplane::portable
