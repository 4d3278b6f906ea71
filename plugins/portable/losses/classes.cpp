// Losses over classes: a score or log-probability for each class, and which one is right.
#include <algorithm>
#include <cmath>
#include <limits>

#include "portable/dense.hpp"

namespace backplane::portable {
namespace {

constexpr int64_t kNoReduction = 0;
constexpr int64_t kMean = 1;

template <class T>
Result<const T*> read_optional(Context& ctx, const Args& args, int64_t at) {
  if (!args.has(at)) return static_cast<const T*>(nullptr);
  return read<T>(ctx, args.tensor(at));
}

Error out_of_bounds(int64_t target, int64_t classes) {
  return invalid({"target ", target, " is out of bounds for ", classes, " classes"});
}

// Scores are [rows, classes, area].
struct Layout {
  int64_t rows, classes, area;
};

// args: self, target, weight, reduction, ignore_index.
template <class T>
Status likelihood_of(Context& ctx, const Args& args, const Layout& l, const Dims& shape) {
  BP_ASSIGN_OR_RETURN(const T* x, read<T>(ctx, args.tensor(0)));
  BP_ASSIGN_OR_RETURN(const int64_t* target, read<int64_t>(ctx, args.tensor(1)));
  BP_ASSIGN_OR_RETURN(const T* weight, read_optional<T>(ctx, args, 2));
  const int64_t reduction = args.integer(3);
  const int64_t ignored = args.integer(4);
  BP_TRY(ctx.resize(args.out(0), shape));
  BP_TRY(ctx.resize(args.out(1), {}));
  BP_ASSIGN_OR_RETURN(T * y, open<T>(ctx, args.out(0)));
  double sum = 0;
  double total = 0;
  for (int64_t i = 0; i < l.rows * l.area; ++i) {
    T loss{};
    if (target[i] != ignored) {
      if (target[i] < 0 || target[i] >= l.classes) return out_of_bounds(target[i], l.classes);
      const T w = weight == nullptr ? T(1) : weight[target[i]];
      loss = -x[(i / l.area * l.classes + target[i]) * l.area + i % l.area] * w;
      total += static_cast<double>(w);
    }
    if (reduction == kNoReduction) y[i] = loss;
    sum += static_cast<double>(loss);
  }
  if (reduction != kNoReduction) y[0] = static_cast<T>(reduction == kMean ? sum / total : sum);
  close(args.out(0), y);
  const auto counted = static_cast<T>(reduction == kNoReduction && !shape.empty() ? 0 : total);
  close(args.out(1), &counted);
  return Ok{};
}

Status likelihood(Context& ctx, const Args& args, const Layout& l) {
  const Tensor self = args.tensor(0);
  const Tensor target = args.tensor(1);
  if (!set_of(DType::i64, DType::u8).has(target.dtype()))
    return invalid({"expected target of dtype Long or Byte, but got ", target.dtype()});
  if (args.has(2) && (args.tensor(2).dim() != 1 || args.tensor(2).size(0) != l.classes)) {
    return invalid({"weight should be defined for all ", l.classes, " classes, but has shape ",
                    args.tensor(2).shape()});
  }
  const Dims shape = args.integer(3) == kNoReduction ? Dims(target.shape()) : Dims();
  return dispatch<float, double>(self.dtype(),
                                 [&]<class T>() { return likelihood_of<T>(ctx, args, l, shape); });
}

Status nll_loss(Context& ctx, const Args& args) {
  const Tensor self = args.tensor(0);
  const Tensor target = args.tensor(1);
  if (self.dim() < 1 || self.dim() > 2)
    return invalid({"input tensor should be 1D or 2D, got ", self.shape()});
  const int64_t rows = self.dim() == 1 ? 1 : self.size(0);
  const bool fits = target.dim() == self.dim() - 1 || (self.dim() == 1 && target.dim() == 1);
  if (!fits || target.numel() != rows)
    return invalid({"size mismatch (got input: ", self.shape(), ", target: ", target.shape(), ")"});
  return likelihood(ctx, args, {rows, self.size(-1), 1});
}

Status nll_loss2d(Context& ctx, const Args& args) {
  const Tensor self = args.tensor(0);
  const Tensor target = args.tensor(1);
  const bool fits = self.dim() == 4 && target.dim() == 3 && target.size(0) == self.size(0) &&
                    target.size(1) == self.size(2) && target.size(2) == self.size(3);
  if (!fits)
    return invalid({"size mismatch (got input: ", self.shape(), ", target: ", target.shape(), ")"});
  return likelihood(ctx, args, {self.size(0), self.size(1), self.size(2) * self.size(3)});
}

// -- margins: rows of scores

struct Rows {
  int64_t rows, classes;
};

Result<Rows> rows_of(const Tensor& self) {
  if (self.dim() > 2 || (self.dim() > 0 && self.size(-1) == 0))
    return invalid({"expected non-empty vector or matrix, got ", self.shape()});
  return Rows{self.dim() < 2 ? 1 : self.size(0), self.dim() == 0 ? 1 : self.size(-1)};
}

// Stores the losses of the rows in `shape`, or what they are reduced to.
template <class T>
Status finish(Context& ctx, const Tensor& out, const T* losses, int64_t rows, const Dims& shape,
              int64_t reduction) {
  if (reduction == kNoReduction) {
    BP_TRY(ctx.resize(out, shape));
    close(out, losses);
    return Ok{};
  }
  BP_TRY(ctx.resize(out, {}));
  double sum = 0;
  for (int64_t i = 0; i < rows; ++i) sum += static_cast<double>(losses[i]);
  const auto value = static_cast<T>(reduction == kMean ? sum / static_cast<double>(rows) : sum);
  close(out, &value);
  return Ok{};
}

// args: self, target, p, margin, weight, reduction.
Status multi_margin_loss(Context& ctx, const Args& args) {
  const Tensor self = args.tensor(0);
  BP_ASSIGN_OR_RETURN(const Rows r, rows_of(self));
  const double p = args.scalar(2).to<double>();
  if (p != 1 && p != 2) return invalid({"only p == 1 and p == 2 supported, got ", p});
  if (args.tensor(1).numel() != r.rows || args.tensor(1).dim() > 1)
    return invalid(
        {"inconsistent target size, expected ", r.rows, " but got ", args.tensor(1).shape()});
  if (args.has(4) && args.tensor(4).numel() != r.classes)
    return invalid(
        {"inconsistent weight size, expected ", r.classes, " but got ", args.tensor(4).shape()});
  return dispatch<float, double>(self.dtype(), [&]<class T>() -> Status {
    BP_ASSIGN_OR_RETURN(const T* x, read<T>(ctx, self));
    BP_ASSIGN_OR_RETURN(const int64_t* target, read<int64_t>(ctx, args.tensor(1)));
    BP_ASSIGN_OR_RETURN(const T* weight, read_optional<T>(ctx, args, 4));
    BP_ASSIGN_OR_RETURN(T * losses, ctx.scratch<T>(std::max<int64_t>(r.rows, 1)));
    const T margin = args.scalar(3).to<T>();
    for (int64_t i = 0; i < r.rows; ++i, x += r.classes) {
      const int64_t right = target[i];
      if (right < 0 || right >= r.classes) return out_of_bounds(right, r.classes);
      T sum{};
      for (int64_t c = 0; c < r.classes; ++c) {
        const T z = margin - x[right] + x[c];
        if (c == right || !(z > 0)) continue;
        sum += (p == 1 ? z : z * z) * (weight == nullptr ? T(1) : weight[right]);
      }
      losses[i] = sum / static_cast<T>(r.classes);
    }
    return finish<T>(ctx, args.out(0), losses, r.rows, Dims(args.tensor(1).shape()),
                     args.integer(5));
  });
}

// args: self, target, reduction. A row of targets ends with a negative one.
Status multilabel_margin_loss(Context& ctx, const Args& args) {
  const Tensor self = args.tensor(0);
  const Tensor target = args.tensor(1);
  BP_ASSIGN_OR_RETURN(const Rows r, rows_of(self));
  const bool fits =
      target.numel() == self.numel() && target.dim() <= std::max<int64_t>(self.dim(), 1);
  if (!fits)
    return invalid(
        {"inconsistent target size: ", target.shape(), " for input of size ", self.shape()});
  return dispatch<float, double>(self.dtype(), [&]<class T>() -> Status {
    BP_ASSIGN_OR_RETURN(const T* x, read<T>(ctx, self));
    BP_ASSIGN_OR_RETURN(const int64_t* labels, read<int64_t>(ctx, target));
    BP_TRY(ctx.resize(args.out(1), target.shape()));
    BP_ASSIGN_OR_RETURN(T * is_target, open<T>(ctx, args.out(1)));
    BP_ASSIGN_OR_RETURN(T * losses, ctx.scratch<T>(std::max<int64_t>(r.rows, 1)));
    for (int64_t i = 0; i < r.rows; ++i) {
      const T* scores = x + i * r.classes;
      const int64_t* mine = labels + i * r.classes;
      T* marks = is_target + i * r.classes;
      std::fill_n(marks, r.classes, T{});
      int64_t count = 0;
      for (; count < r.classes && mine[count] >= 0; ++count) {
        if (mine[count] >= r.classes) return out_of_bounds(mine[count], r.classes);
        marks[mine[count]] = 1;
      }
      T sum{};
      for (int64_t k = 0; k < count; ++k) {
        for (int64_t c = 0; c < r.classes; ++c) {
          const T z = 1 - scores[mine[k]] + scores[c];
          if (marks[c] == 0 && z > 0) sum += z;
        }
      }
      losses[i] = sum / static_cast<T>(r.classes);
    }
    close(args.out(1), is_target);
    return finish<T>(ctx, args.out(0), losses, r.rows, self.dim() == 2 ? Dims{r.rows} : Dims(),
                     args.integer(2));
  });
}

// args: self, target, weight, reduction.
Status binary_cross_entropy(Context& ctx, const Args& args) {
  const Tensor self = args.tensor(0);
  const Tensor target = args.tensor(1);
  if (!std::equal(self.shape().begin(), self.shape().end(), target.shape().begin(),
                  target.shape().end()))
    return invalid(
        {"target size ", target.shape(), " is different to the input size ", self.shape()});
  if (args.has(2) && args.tensor(2).numel() != self.numel() && args.tensor(2).numel() != 1)
    return error(Code::unsupported, {"a weight of size ", args.tensor(2).shape(),
                                     " for an input of size ", self.shape()});
  return dispatch<float, double>(self.dtype(), [&]<class T>() -> Status {
    BP_ASSIGN_OR_RETURN(const T* x, read<T>(ctx, self));
    BP_ASSIGN_OR_RETURN(const T* t, read<T>(ctx, target));
    BP_ASSIGN_OR_RETURN(const T* weight, read_optional<T>(ctx, args, 2));
    const bool one_weight = weight != nullptr && args.tensor(2).numel() == 1;
    const int64_t n = self.numel();
    const int64_t reduction = args.integer(3);
    BP_ASSIGN_OR_RETURN(T * y, ctx.scratch<T>(std::max<int64_t>(n, 1)));
    double sum = 0;
    for (int64_t i = 0; i < n; ++i) {
      if (!(x[i] >= 0 && x[i] <= 1))
        return invalid({"all elements of input should be between 0 and 1, but one is ",
                        static_cast<double>(x[i])});
      y[i] = (t[i] - 1) * std::max(std::log1p(-x[i]), T(-100)) -
             t[i] * std::max(std::log(x[i]), T(-100));
      if (weight != nullptr) y[i] *= weight[one_weight ? 0 : i];
      sum += static_cast<double>(y[i]);
    }
    if (reduction == kNoReduction) {
      BP_TRY(ctx.resize(args.out(0), self.shape()));
    } else {
      BP_TRY(ctx.resize(args.out(0), {}));
      y[0] = static_cast<T>(reduction == kMean ? sum / static_cast<double>(n) : sum);
    }
    close(args.out(0), y);
    return Ok{};
  });
}

constexpr Entry table[] = {
    {"aten::binary_cross_entropy.out", "ttTi>t", binary_cross_entropy, kFloats},
    {"aten::multi_margin_loss.out", "ttssTi>t", multi_margin_loss, kFloats - kHalfs},
    {"aten::multilabel_margin_loss_forward.output", "tti>tt", multilabel_margin_loss, kFloats},
    {"aten::nll_loss2d_forward.output", "ttTii>tt", nll_loss2d, kFloats},
    {"aten::nll_loss_forward.output", "ttTii>tt", nll_loss, kFloats},
};

}  // namespace

extern const std::span<const Entry> class_losses_kernels = table;

}  // namespace backplane::portable
