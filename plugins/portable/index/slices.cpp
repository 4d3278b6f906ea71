// Slices written at positions of one dimension: index_copy, index_fill, index_add, index_reduce.
#include <algorithm>

#include "portable/index/along.hpp"
#include "portable/map.hpp"

namespace backplane::portable {
namespace {

// self's slices become what write(dim, i, slice) makes of them.
template <class F>
Status write_slices(Context& ctx, const Args& args, bool wraps, F&& write) {
  const Tensor self = args.tensor(0);
  const Tensor out = args.out(0);
  BP_ASSIGN_OR_RETURN(const int64_t dim, wrap_dim(args.integer(1), self.dim()));
  const int64_t size = self.dim() == 0 ? 1 : self.size(dim);
  BP_ASSIGN_OR_RETURN(const auto chosen, positions(ctx, args.tensor(2), size, dim, wraps));
  BP_TRY(ctx.resize(out, self.shape()));
  if (out.bytes() != self.bytes()) copy_bytes(self, out);
  for (size_t i = 0; i < chosen.size(); ++i)
    BP_TRY(write(dim, static_cast<int64_t>(i), slice_at(out, dim, chosen[i])));
  return Ok{};
}

// self, dim, index, source: one slice of the source for each index, shaped like self's.
Status check_source(const Args& args) {
  const Tensor self = args.tensor(0);
  const Tensor source = args.tensor(3);
  const int64_t count = args.tensor(2).numel();
  BP_ASSIGN_OR_RETURN(const int64_t dim, wrap_dim(args.integer(1), self.dim()));
  if (self.dtype() != source.dtype()) {
    return invalid({"self and source expected to have the same dtype, but got ", self.dtype(),
                    " and ", source.dtype()});
  }
  if (std::max<int64_t>(self.dim(), 1) != std::max<int64_t>(source.dim(), 1)) {
    return invalid({"source and destination slices must have the same shape: ", source.shape(),
                    " and ", self.shape()});
  }
  if ((source.dim() == 0 ? 1 : source.size(dim)) != count) {
    return invalid({"number of indices (", count, ") should be equal to source.size(dim) of ",
                    source.shape()});
  }
  for (int64_t d = 0; d < self.dim() && d < source.dim(); ++d) {
    if (d != dim && self.size(d) != source.size(d)) {
      return invalid({"source tensor shape ", source.shape(), " must match self tensor shape ",
                      self.shape(), " excluding dimension ", dim});
    }
  }
  return Ok{};
}

Status index_copy(Context& ctx, const Args& args) {
  BP_TRY(check_source(args));
  const Tensor source = args.tensor(3);
  return write_slices(ctx, args, false, [&](int64_t dim, int64_t i, Strided to) -> Status {
    Strided from = slice_at(source, dim, i);
    copy_bytes(from.tensor(), to.tensor());
    return Ok{};
  });
}

Status index_fill(Context& ctx, const Args& args) {
  if (args.is_tensor(3) && args.tensor(3).dim() != 0) {
    return invalid({"index_fill_ only supports a 0-dimensional value tensor, but got ",
                    args.tensor(3).shape()});
  }
  const Scalar value = args.is_tensor(3) ? item(args.tensor(3)) : args.scalar(3);
  if (value.is_complex() && !is_complex(args.tensor(0).dtype()))
    return invalid({"index_fill_(): a complex value does not go into ", args.tensor(0).dtype()});
  return write_slices(ctx, args, true, [&](int64_t, int64_t, Strided to) -> Status {
    fill(to.tensor(), value);
    return Ok{};
  });
}

// args: self, dim, index, source; value(i) changes one of the source. Rounds at every step.
template <class T, class F>
Status accumulate(Context& ctx, const Args& args, How how, bool include_self, F&& value) {
  const Tensor self = args.tensor(0);
  const Tensor source = args.tensor(3);
  BP_ASSIGN_OR_RETURN(const int64_t dim, wrap_dim(args.integer(1), self.dim()));
  const Split s = self.dim() == 0 ? Split{} : split_at(self.shape(), dim);
  BP_ASSIGN_OR_RETURN(const auto chosen, positions(ctx, args.tensor(2), s.size, dim, false));
  BP_ASSIGN_OR_RETURN(auto into,
                      Accumulator<T>::begin(ctx, self, args.out(0), how, include_self, true));
  BP_ASSIGN_OR_RETURN(const T* from, read<T>(ctx, source));
  const auto count = static_cast<int64_t>(chosen.size());
  for (int64_t o = 0; o < s.outer; ++o) {
    for (int64_t k = 0; k < count; ++k) {
      const int64_t to = (o * s.size + chosen[static_cast<size_t>(k)]) * s.inner;
      for (int64_t i = 0; i < s.inner; ++i)
        into.put(to + i, value(from[(o * count + k) * s.inner + i]));
    }
  }
  into.finish();
  return Ok{};
}

Status index_add(Context& ctx, const Args& args) {
  BP_TRY(check_source(args));
  const DType dtype = args.tensor(0).dtype();
  const Scalar alpha = args.scalar(4).as(dtype);
  if (args.tensor(0).dim() != args.tensor(3).dim()) {
    return invalid({"source tensor shape ", args.tensor(3).shape(),
                    " must match self tensor shape ", args.tensor(0).shape()});
  }
  return dispatch<float, double, int64_t, Complex64, Complex128>(dtype, [&]<class T>() {
    const T factor = alpha.to<T>();
    return accumulate<T>(ctx, args, How::add, true, [&](T x) { return x * factor; });
  });
}

Status index_reduce(Context& ctx, const Args& args) {
  BP_TRY(check_source(args));
  BP_ASSIGN_OR_RETURN(const How how, how_of(args.string(4)));
  if (how == How::add)
    return invalid({"index_reduce(): reduce must be prod, mean, amax or amin, got sum"});
  const auto run = [&]<class T>() {
    return accumulate<T>(ctx, args, how, args.boolean(5), [](T x) { return x; });
  };
  if (how == How::maximum || how == How::minimum)
    return dispatch<float, double, int64_t>(args.tensor(0).dtype(), run);
  return dispatch<float, double, int64_t, Complex64, Complex128>(args.tensor(0).dtype(), run);
}
Status check_reduced(const Args& args) {
  const DType dtype = args.tensor(0).dtype();
  const bool has_identity = kReals.has(dtype) || args.boolean(5);
  const bool has_mean = dtype != DType::boolean || args.string(4) != "mean";
  return has_identity && has_mean ? Status(Ok{}) : not_implemented(dtype);
}

constexpr Entry table[] = {
    {"aten::index_add.out", "titts>t", index_add, kNumbers, BP_KERNEL_IN_PLACE},
    {"aten::index_copy.out", "titt>t", index_copy, kNumbers, BP_KERNEL_IN_PLACE},
    {"aten::index_fill.int_Scalar_out", "tits>t", index_fill, kNumbers, BP_KERNEL_IN_PLACE},
    {"aten::index_fill.int_Tensor_out", "titt>t", index_fill, kNumbers, BP_KERNEL_IN_PLACE},
    {"aten::index_reduce.out", "tittzb>t", index_reduce, kNumbers, BP_KERNEL_IN_PLACE,
     check_reduced},
};

}  // namespace

extern const std::span<const Entry> slices_kernels = table;

}  // namespace backplane::portable
