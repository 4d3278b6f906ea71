// Batches of matrices, seen through Eigen: header-only, so the plugin needs nothing at run time.
//
//   constexpr auto inverse = []<class T>(Context& ctx, const Args& args) -> Status {
//     BP_ASSIGN_OR_RETURN(const Batch<T> a, Batch<T>::read(ctx, args.tensor(0)));
//     BP_ASSIGN_OR_RETURN(Out<T> out, Out<T>::open(ctx, args.out(0), a.batch(), {n, n}));
//     for (int64_t i = 0; i < a.count(); ++i) out[i] = a[i].inverse();
//     out.close();
//     return Ok{};
//   };
//   constexpr Entry table[] = {{"aten::linalg_inv.out", "t>t", run<inverse>, kLinear}};
//
// Everything computes in double or complex double, whatever floats the tensors hold: half the code,
// and nothing is less exact than PyTorch. What a result shows (signs, pivots, reflectors) follows
// LAPACK.
#pragma once

#include <Eigen/Core>
#include <new>

#include "portable/dense.hpp"
#include "portable/shape.hpp"

namespace backplane::portable::linalg {

template <class T>
using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
template <class T>
using Vector = Eigen::Matrix<T, Eigen::Dynamic, 1>;
template <class T>
using View = Eigen::Map<Matrix<T>>;
template <class T>
using ConstView = Eigen::Map<const Matrix<T>>;
template <class T>
using Ref = Eigen::Ref<Matrix<T>, 0, Eigen::OuterStride<>>;
template <class T>
using RealOf = typename Eigen::NumTraits<T>::Real;
using Sizes = std::initializer_list<int64_t>;

constexpr DTypes kLinear = set_of(DType::f32, DType::f64) | kComplex;

// A tensor's shape without its last `item_rank` dimensions; a shape and more.
[[nodiscard]] Dims batch_of(const Tensor& tensor, int64_t item_rank = 2);
[[nodiscard]] Dims join(const Dims& batch, Sizes item);
[[nodiscard]] int64_t elements(std::span<const int64_t> shape);

// invalid_argument: fewer than two dimensions, not square, two dtypes.
Status expect_matrices(const Tensor& a);
Status expect_square(const Tensor& a);
Status expect_same_dtype(const Tensor& a, const Tensor& b);

// "matrix 2 of the batch" or "the matrix", to begin an error with.
[[nodiscard]] std::string which(int64_t i, int64_t count);

// A tensor read as [batch..., item], where an item is a matrix, a vector (of one column) or a
// number.
template <class T>
class Batch {
 public:
  // [batch..., item] has at least `item_rank` dimensions.
  static Result<Batch> read(Context& ctx, const Tensor& tensor, int64_t item_rank = 2) {
    BP_ASSIGN_OR_RETURN(const T* data, portable::read<T>(ctx, tensor));
    return Batch(data, batch_of(tensor, item_rank), item_rank > 0 ? tensor.size(-item_rank) : 1,
                 item_rank > 1 ? tensor.size(-1) : 1);
  }
  Batch(const T* data, Dims batch, int64_t rows, int64_t cols)
      : data_(data), batch_(batch), spread_(batch), rows_(rows), cols_(cols) {}

  // Indices count in a batch that this one broadcasts to from now on.
  Batch& spread(const Dims& batch) {
    spread_ = batch;
    return *this;
  }
  [[nodiscard]] ConstView<T> operator[](int64_t i) const {
    return {data_ + place(i) * rows_ * cols_, rows_, cols_};
  }
  [[nodiscard]] const Dims& batch() const { return batch_; }
  [[nodiscard]] int64_t count() const { return elements(spread_); }
  [[nodiscard]] int64_t rows() const { return rows_; }
  [[nodiscard]] int64_t cols() const { return cols_; }
  [[nodiscard]] int64_t rank() const { return std::min(rows_, cols_); }

 private:
  [[nodiscard]] int64_t place(int64_t i) const {
    int64_t at = 0, step = 1;
    for (int64_t d = spread_.size() - 1, own = batch_.size() - 1; own >= 0; --d, --own) {
      if (batch_[own] != 1) at += i % spread_[d] * step;
      i /= spread_[d];
      step *= batch_[own];
    }
    return at;
  }
  const T* data_;
  Dims batch_, spread_;
  int64_t rows_, cols_;
};

// An output of shape [batch..., item]; close() when it is written.
template <class T>
class Out {
 public:
  static Result<Out> open(Context& ctx, const Tensor& out, const Dims& batch, Sizes item) {
    BP_TRY(ctx.resize(out, join(batch, item)));
    BP_ASSIGN_OR_RETURN(T * data, portable::open<T>(ctx, out));
    const int64_t* const sizes = item.begin();
    return Out(out, data, item.size() > 0 ? sizes[0] : 1, item.size() > 1 ? sizes[1] : 1);
  }
  [[nodiscard]] View<T> operator[](int64_t i) { return {data_ + i * rows_ * cols_, rows_, cols_}; }
  [[nodiscard]] T& number(int64_t i) { return data_[i]; }
  [[nodiscard]] T* row(int64_t i) { return data_ + i * rows_ * cols_; }
  void close() const { portable::close<T>(out_, data_); }

 private:
  Out(const Tensor& out, T* data, int64_t rows, int64_t cols)
      : out_(out), data_(data), rows_(rows), cols_(cols) {}
  Tensor out_;
  T* data_;
  int64_t rows_, cols_;
};

// The function of a table's row for []<class T>(Context&, const Args&) -> Status.
template <auto op>
Status run(Context& ctx, const Args& args) {
  try {
    return is_complex(args.tensor(0).dtype()) ? op.template operator()<Complex128>(ctx, args)
                                              : op.template operator()<double>(ctx, args);
  } catch (const std::bad_alloc&) {  // Eigen's
    return error(Code::out_of_memory, {"no memory for matrices of ", args.tensor(0).shape()});
  }
}

}  // namespace backplane::portable::linalg
