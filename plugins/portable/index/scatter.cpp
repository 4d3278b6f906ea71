// Values written to elements that indices name: scatter and its reductions, put.
#include <algorithm>
#include <cstring>

#include "portable/index/along.hpp"
#include "portable/map.hpp"

namespace backplane::portable {
namespace {

Status check_same_dtype(const Tensor& self, const Tensor& source, std::string_view what) {
  if (self.dtype() == source.dtype()) return Ok{};
  return invalid({"expected self.dtype to be equal to ", what, ".dtype: ", self.dtype(), " and ",
                  source.dtype()});
}

// The arguments that all forms begin with: self, dim, index.
Result<int64_t> check_scatter(const Args& args, const Tensor& src) {
  const Tensor self = args.tensor(0);
  const Tensor index = args.tensor(2);
  BP_ASSIGN_OR_RETURN(const int64_t dim, wrap_dim(args.integer(1), self.dim()));
  if (index.numel() > 0) BP_TRY(check_index_dtype(index));
  BP_TRY(check_inside(index, self, dim, "self"));
  if (src) {
    BP_TRY(check_same_dtype(self, src, "src"));
    BP_TRY(check_inside(index, src, -1, "src"));
  }
  return dim;
}

// The bytes of elements, whatever they mean.
Status set_elements(Context& ctx, const Args& args, const Tensor& src, const std::byte* value) {
  const Tensor self = args.tensor(0);
  const Tensor out = args.out(0);
  BP_ASSIGN_OR_RETURN(const int64_t dim, check_scatter(args, src));
  BP_TRY(ctx.resize(out, self.shape()));
  if (out.bytes() != self.bytes()) copy_bytes(self, out);
  const auto size = static_cast<size_t>(size_of(out.dtype()));
  const auto step = static_cast<int64_t>(size);
  return for_index(ctx, args.tensor(2), dim, Place(out), src ? Place(src) : Place(Dims()),
                   [&](int64_t to, int64_t from) {
                     std::memcpy(out.bytes() + to * step, value + (src ? from * step : 0), size);
                   });
}
Status scatter_src(Context& ctx, const Args& args) {
  return set_elements(ctx, args, args.tensor(3), args.tensor(3).bytes());
}
Status scatter_value(Context& ctx, const Args& args) {
  alignas(16) std::array<std::byte, sizeof(Complex128)> value{};
  bp_tensor_t one = *args.out(0).raw();
  one.data = value.data();
  one.byte_offset = 0;
  one.ndim = 0;
  fill(Tensor(&one), args.scalar(3));
  return set_elements(ctx, args, Tensor(), value.data());
}

// Values come from src, or are one number. Sums are as wide as the compute type until the end.
Status reduce_into(Context& ctx, const Args& args, How how, bool has_src, bool include_self) {
  const Tensor self = args.tensor(0);
  const Tensor src = has_src ? args.tensor(3) : Tensor();
  BP_ASSIGN_OR_RETURN(const int64_t dim, check_scatter(args, src));
  const auto run = [&]<class T>() -> Status {
    BP_ASSIGN_OR_RETURN(auto into,
                        Accumulator<T>::begin(ctx, self, args.out(0), how, include_self, false));
    const T number = has_src ? T{} : args.scalar(3).to<T>();
    const T* from = &number;
    if (src) {
      BP_ASSIGN_OR_RETURN(from, read<T>(ctx, src));
    }
    BP_TRY(for_index(ctx, args.tensor(2), dim, Place(Dims(self.shape())),
                     src ? Place(Dims(src.shape())) : Place(Dims()),
                     [&](int64_t to, int64_t at) { into.put(to, from[src ? at : 0]); }));
    into.finish();
    return Ok{};
  };
  if (how == How::maximum || how == How::minimum)
    return dispatch<float, double, int64_t>(self.dtype(), run);
  return dispatch<float, double, int64_t, Complex64, Complex128>(self.dtype(), run);
}
Status scatter_add(Context& ctx, const Args& args) {
  return reduce_into(ctx, args, How::add, true, true);
}
template <bool Src>
Status scatter_by_name(Context& ctx, const Args& args) {
  const std::string_view name = args.string(4);
  if (name != "add" && name != "multiply")
    return invalid({"reduce argument must be either add or multiply, got ", name});
  return reduce_into(ctx, args, name == "add" ? How::add : How::multiply, Src, true);
}
Status scatter_reduce(Context& ctx, const Args& args) {
  BP_ASSIGN_OR_RETURN(const How how, how_of(args.string(4)));
  return reduce_into(ctx, args, how, true, args.boolean(5));
}
Status check_mean(const Args& args) {
  if (args.string(4) == "mean" && args.tensor(0).dtype() == DType::boolean)
    return not_implemented(DType::boolean);
  return Ok{};
}

// args: self, index, source, accumulate. Elements of self as one row, by number.
Status put(Context& ctx, const Args& args) {
  const Tensor self = args.tensor(0);
  const Tensor index = args.tensor(1);
  const Tensor source = args.tensor(2);
  if (index.dtype() != DType::i64)
    return invalid({"put_(): expected a long tensor for index, but got ", index.dtype()});
  BP_TRY(check_same_dtype(self, source, "source"));
  if (index.numel() != source.numel()) {
    return invalid({"put_(): expected source and index to have the same number of elements, got ",
                    source.numel(), " and ", index.numel()});
  }
  const How how = args.boolean(3) ? How::add : How::set;
  return dispatch<float, double, int64_t, Complex64, Complex128>(
      self.dtype(), [&]<class T>() -> Status {
        BP_ASSIGN_OR_RETURN(auto into,
                            Accumulator<T>::begin(ctx, self, args.out(0), how, true, true));
        BP_ASSIGN_OR_RETURN(const int64_t* values, read<int64_t>(ctx, index));
        BP_ASSIGN_OR_RETURN(const T* from, read<T>(ctx, source));
        for (int64_t i = 0; i < index.numel(); ++i) {
          BP_ASSIGN_OR_RETURN(const int64_t at, position(values[i], self.numel(), 0, true));
          into.put(at, from[i]);
        }
        into.finish();
        return Ok{};
      });
}

constexpr Entry table[] = {
    {"aten::put.out", "tttb>t", put, kNumbers, BP_KERNEL_IN_PLACE},
    {"aten::scatter.reduce_out", "tittz>t", scatter_by_name<true>, kNumbers, BP_KERNEL_IN_PLACE},
    {"aten::scatter.src_out", "titt>t", scatter_src, kAll - kFloat8s, BP_KERNEL_IN_PLACE},
    {"aten::scatter.value_out", "tits>t", scatter_value, kAll - kFloat8s, BP_KERNEL_IN_PLACE},
    {"aten::scatter.value_reduce_out", "titsz>t", scatter_by_name<false>, kNumbers,
     BP_KERNEL_IN_PLACE},
    {"aten::scatter_add.out", "titt>t", scatter_add, kNumbers, BP_KERNEL_IN_PLACE},
    {"aten::scatter_reduce.two_out", "tittzb>t", scatter_reduce, kNumbers, BP_KERNEL_IN_PLACE,
     check_mean},
};

}  // namespace

extern const std::span<const Entry> scatter_kernels = table;

}  // namespace backplane::portable
