// Sequences of numbers and of indices.
#include <algorithm>
#include <cmath>
#include <limits>

#include "portable/dense.hpp"
#include "portable/shape.hpp"

namespace backplane::portable {
namespace {

constexpr DTypes kSpread = kReals | kComplex;
constexpr double kTooMany = 0x1p62;  // elements; the host refuses long before

// How many numbers [start, end) has. 64-bit integers are counted exactly, others in double.
Result<int64_t> arange_size(const Scalar& start, const Scalar& end, const Scalar& step,
                            DType dtype) {
  const double from = start.to<double>(), to = end.to<double>(), by = step.to<double>();
  if (by == 0) {
    return invalid({"arange: step must be nonzero"});
  }
  if (!std::isfinite(from) || !std::isfinite(to) || !std::isfinite(by)) {
    return invalid({"arange: unsupported range: ", from, " -> ", to});
  }
  if ((by > 0) != (to >= from) && to != from) {
    return invalid({"arange: upper bound and larger bound inconsistent with step sign"});
  }
  double size = std::ceil((to - from) / by);
  if (dtype == DType::i64 && start.is_integral() && end.is_integral() && step.is_integral()) {
    const auto s = static_cast<uint64_t>(start.to<int64_t>());
    const auto e = static_cast<uint64_t>(end.to<int64_t>());
    const auto d = static_cast<uint64_t>(step.to<int64_t>());
    const uint64_t distance = by > 0 ? e - s : s - e, stride = by > 0 ? d : -d;
    size = static_cast<double>(distance / stride + (distance % stride != 0 ? 1 : 0));
  }
  if (!(size >= 0 && size < kTooMany)) {
    return invalid({"arange: invalid size ", size});
  }
  return static_cast<int64_t>(size);
}

Status arange(Context& ctx, const Scalar& start, const Scalar& end, const Scalar& step,
              const Tensor& out) {
  BP_ASSIGN_OR_RETURN(const int64_t n, arange_size(start, end, step, out.dtype()));
  BP_TRY(ctx.resize(out, Dims{n}));
  return dispatch<float, double, int64_t>(out.dtype(), [&]<class T>() -> Status {
    BP_ASSIGN_OR_RETURN(T * values, open<T>(ctx, out));
    if constexpr (std::is_same_v<T, int64_t>) {
      const auto from = start.to<int64_t>(), by = step.to<int64_t>();
      for (int64_t i = 0; i < n; ++i) {
        values[i] = from + i * by;
      }
    } else {
      const auto from = start.to<double>(), by = step.to<double>();
      for (int64_t i = 0; i < n; ++i) {
        values[i] = static_cast<T>(from + static_cast<double>(i) * by);
      }
    }
    close(out, values);
    return Ok{};
  });
}

Status arange_end(Context& ctx, const Args& args) {
  return arange(ctx, Scalar(int64_t{0}), args.scalar(0), Scalar(int64_t{1}), args.out(0));
}
Status arange_start(Context& ctx, const Args& args) {
  return arange(ctx, args.scalar(0), args.scalar(1), args.scalar(2), args.out(0));
}

// An end of a sequence: a number or a 0-d tensor.
Result<Scalar> end_of(const Args& args, int64_t i) {
  if (!args.is_tensor(i)) {
    return args.scalar(i);
  }
  const Tensor tensor = args.tensor(i);
  if (tensor.dim() != 0) {
    return invalid({"only 0-dimensional start and end tensors are supported, but got one of ",
                    tensor.dim(), " dimensions"});
  }
  return item(tensor);
}

// Values at equal distances, counted from the nearer end so that both ends are exact.
template <class T, class F>
void spread(T* values, int64_t steps, const T& start, const T& end, F&& finish) {
  const T step = steps > 1 ? (end - start) / static_cast<T>(static_cast<double>(steps - 1)) : T(0);
  for (int64_t i = 0; i < steps; ++i) {
    const bool first = i < steps / 2 || steps == 1;
    const auto distance = static_cast<T>(static_cast<double>(first ? i : steps - i - 1));
    values[i] = finish(first ? start + step * distance : end - step * distance);
  }
}

// Integers are spread as doubles between whole ends, then cut.
template <class F>
Status spread_integers(Context& ctx, const Args& args, int64_t steps, F&& finish) {
  const Tensor out = args.out(0);
  BP_ASSIGN_OR_RETURN(const Scalar start, end_of(args, 0));
  BP_ASSIGN_OR_RETURN(const Scalar end, end_of(args, 1));
  BP_ASSIGN_OR_RETURN(double* values, ctx.scratch<double>(steps));
  BP_ASSIGN_OR_RETURN(int64_t * whole, open<int64_t>(ctx, out));
  int64_t ends[] = {start.as(out.dtype()).to<int64_t>(), end.as(out.dtype()).to<int64_t>()};
  round_to(out.dtype(), ends, 2);
  spread(values, steps, static_cast<double>(ends[0]), static_cast<double>(ends[1]), finish);
  for (int64_t i = 0; i < steps; ++i) {
    whole[i] = to_int64(values[i]);
  }
  close(out, whole);
  return Ok{};
}

template <class F>
Status spread_all(Context& ctx, const Args& args, F&& finish) {
  const int64_t steps = args.integer(2);
  const Tensor out = args.out(0);
  if (steps < 0) {
    return invalid({"number of steps must be non-negative, got ", steps});
  }
  BP_ASSIGN_OR_RETURN(const Scalar first, end_of(args, 0));
  BP_ASSIGN_OR_RETURN(const Scalar last, end_of(args, 1));
  if (steps > 1 && !kSpread.has(out.dtype())) {
    return not_implemented(out.dtype());
  }
  if (!first.fits(out.dtype()) || !last.fits(out.dtype())) {
    return invalid({"value cannot be converted to type ", out.dtype(), " without overflow"});
  }
  BP_TRY(ctx.resize(out, Dims{steps}));
  if (!is_floating(out.dtype()) && !is_complex(out.dtype())) {
    return spread_integers(ctx, args, steps, finish);
  }
  return dispatch<float, double, Complex64, Complex128>(out.dtype(), [&]<class T>() -> Status {
    BP_ASSIGN_OR_RETURN(const Scalar start, end_of(args, 0));
    BP_ASSIGN_OR_RETURN(const Scalar end, end_of(args, 1));
    BP_ASSIGN_OR_RETURN(T * values, open<T>(ctx, out));
    spread(values, steps, start.to<T>(), end.to<T>(), finish);
    close(out, values);
    return Ok{};
  });
}

Status linspace(Context& ctx, const Args& args) {
  return spread_all(ctx, args, [](auto x) { return x; });
}

Status logspace(Context& ctx, const Args& args) {
  const double base = args.floating(3);
  return spread_all(ctx, args,
                    [base](auto x) { return std::pow(static_cast<decltype(x)>(base), x); });
}

Status eye(Context& ctx, const Tensor& out, int64_t n, int64_t m) {
  if (n < 0 || m < 0) {
    return invalid({"n and m must be greater or equal to 0, got ", n, " and ", m});
  }
  const Dims shape{n, m};
  BP_ASSIGN_OR_RETURN(const int64_t numel, count(shape));
  BP_TRY(ctx.resize(out, shape));
  BP_ASSIGN_OR_RETURN(bool* values, (open<bool>(ctx, out)));
  for (int64_t i = 0; i < numel; ++i) {
    values[i] = i / m == i % m;
  }
  close(out, values);
  return Ok{};
}
Status eye_square(Context& ctx, const Args& args) {
  return eye(ctx, args.out(0), args.integer(0), args.integer(0));
}
Status eye_any(Context& ctx, const Args& args) {
  return eye(ctx, args.out(0), args.integer(0), args.integer(1));
}

// How many elements of a matrix lie on or below a diagonal.
int64_t lower_count(int64_t rows, int64_t columns, int64_t offset) {
  const int64_t first = std::clamp<int64_t>(-offset, 0, rows);  // the first row with any
  const int64_t shortest = std::min(columns, first + offset + 1);
  const int64_t growing = std::min(rows - first, columns - shortest);
  return growing * shortest + growing * (growing - 1) / 2 + (rows - first - growing) * columns;
}

// Row and column of all elements on one side of a diagonal, row by row.
template <bool Lower>
Status triangle(Context& ctx, const Args& args) {
  const int64_t rows = args.integer(0), columns = args.integer(1);
  if (rows < 0 || columns < 0) {
    return invalid({"row and col must be non-negative, got ", rows, " and ", columns});
  }
  BP_ASSIGN_OR_RETURN(const int64_t all, count(Dims{2, rows, columns}));
  const int64_t offset = std::clamp(args.integer(2), -rows, columns);
  int64_t n = 0;
  if (all > 0) {
    n = Lower ? lower_count(rows, columns, offset)
              : rows * columns - lower_count(rows, columns, offset - 1);
  }
  const Tensor out = args.out(0);
  BP_TRY(ctx.resize(out, Dims{2, n}));
  BP_ASSIGN_OR_RETURN(int64_t * values, open<int64_t>(ctx, out));
  int64_t at = 0;
  for (int64_t r = Lower ? std::max<int64_t>(-offset, 0) : 0; at < n; ++r) {
    const int64_t begin = Lower ? 0 : std::max<int64_t>(r + offset, 0);
    const int64_t end = Lower ? std::min(r + offset + 1, columns) : columns;
    for (int64_t c = begin; c < end; ++c, ++at) {
      values[at] = r;
      values[n + at] = c;
    }
  }
  close(out, values);
  return Ok{};
}

constexpr Entry table[] = {
    {"aten::arange.out", "s>t", arange_end, kReals},
    {"aten::arange.start_out", "sss>t", arange_start, kReals},
    {"aten::linspace.out", "ssi>t", linspace, kAll},
    {"aten::linspace.Tensor_Tensor_out", "tti>t", linspace, kAll},
    {"aten::linspace.Tensor_Scalar_out", "tsi>t", linspace, kAll},
    {"aten::linspace.Scalar_Tensor_out", "sti>t", linspace, kAll},
    {"aten::logspace.out", "ssif>t", logspace, kAll},
    {"aten::logspace.Tensor_Tensor_out", "ttif>t", logspace, kAll},
    {"aten::logspace.Tensor_Scalar_out", "tsif>t", logspace, kAll},
    {"aten::logspace.Scalar_Tensor_out", "stif>t", logspace, kAll},
    {"aten::eye.out", "i>t", eye_square, kAll - kUnsigned},
    {"aten::eye.m_out", "ii>t", eye_any, kAll - kUnsigned},
    {"aten::tril_indices.out", "iii>t", triangle<true>, kInts},
    {"aten::triu_indices.out", "iii>t", triangle<false>, kInts},
};

}  // namespace

extern const std::span<const Entry> range_kernels = table;

}  // namespace backplane::portable
