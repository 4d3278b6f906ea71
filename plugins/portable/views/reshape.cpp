// The same elements in row-major order under another shape.
#include <algorithm>
#include <optional>

#include "portable/views/strided.hpp"

namespace backplane::portable {
namespace {

Status copy_as(Context& ctx, const Tensor& self, const Dims& shape, const Tensor& out) {
  BP_TRY(ctx.resize(out, shape));
  Strided view(out.is_contiguous() ? out : self);
  if (out.is_contiguous()) {
    // out's memory under self's shape.
    view.shape = Dims(self.shape());
    view.strides = Dims(self.dim(), 1);
    for (int64_t d = self.dim() - 1; d > 0; --d)
      view.strides[d - 1] = view.strides[d] * std::max<int64_t>(view.shape[d], 1);
    copy_bytes(self, view.tensor());
    return Ok{};
  }
  const DType native = native_of(out.dtype());
  BP_ASSIGN_OR_RETURN(const void* values, read(ctx, self, compute_of(out.dtype())));
  close(out, native, values);
  return Ok{};
}

// One size of -1 is what is left.
Result<Dims> resolve(const Tensor& self, std::span<const int64_t> sizes) {
  if (static_cast<int64_t>(sizes.size()) > kMaxRank)
    return invalid({"rank ", static_cast<int64_t>(sizes.size()), " is over ", kMaxRank});
  Dims shape(sizes);
  int64_t known = 1;
  int64_t open = -1;
  for (int64_t d = 0; d < shape.size(); ++d) {
    if (shape[d] == -1 && open < 0) {
      open = d;
    } else if (shape[d] < 0) {
      return invalid(
          {shape[d] == -1 ? "only one dimension can be inferred: " : "invalid shape dimension ",
           sizes});
    } else if (__builtin_mul_overflow(known, shape[d], &known)) {
      return invalid({"shape '", sizes, "' is too large"});
    }
  }
  const int64_t have = self.numel();
  if (open >= 0) {
    if (known == 0 && have == 0) {
      return invalid(
          {"cannot reshape tensor of 0 elements into shape ", sizes,
           " because the unspecified dimension size -1 can be any value and is ambiguous"});
    }
    shape[open] = known == 0 ? 0 : have / known;
    known *= shape[open];
  }
  if (known != have) return invalid({"shape '", sizes, "' is invalid for input of size ", have});
  return shape;
}

Status view(Context& ctx, const Args& args) {
  BP_ASSIGN_OR_RETURN(const Dims shape, resolve(args.tensor(0), args.ints(1)));
  return copy_as(ctx, args.tensor(0), shape, args.out(0));
}

Status flatten(Context& ctx, const Args& args) {
  const Tensor self = args.tensor(0);
  BP_ASSIGN_OR_RETURN(const int64_t first, wrap_dim(args.integer(1), self.dim()));
  BP_ASSIGN_OR_RETURN(const int64_t last, wrap_dim(args.integer(2), self.dim()));
  if (first > last)
    return invalid({"flatten() has invalid args: start_dim cannot come after end_dim"});
  Dims shape;
  int64_t merged = 1;
  for (int64_t d = 0; d < self.dim(); ++d) {
    if (d < first || d > last) shape.push_back(self.size(d));
    if (d >= first && d <= last) merged *= self.size(d);
    if (d == last) shape.push_back(merged);
  }
  if (self.dim() == 0) shape.push_back(1);
  return copy_as(ctx, self, shape, args.out(0));
}

// Drops dimensions of size 1: of those in `dims`, or all.
Status squeezed(Context& ctx, const Args& args, std::optional<std::span<const int64_t>> dims) {
  const Tensor self = args.tensor(0);
  std::array<bool, kMaxRank> named{};
  named.fill(!dims);
  for (const int64_t dim : dims.value_or(std::span<const int64_t>())) {
    BP_ASSIGN_OR_RETURN(const int64_t wrapped, wrap_dim(dim, self.dim()));
    named[static_cast<size_t>(wrapped)] = true;
  }
  Dims shape;
  for (int64_t d = 0; d < self.dim(); ++d) {
    if (self.size(d) != 1 || !named[static_cast<size_t>(d)]) shape.push_back(self.size(d));
  }
  return copy_as(ctx, self, shape, args.out(0));
}
Status squeeze(Context& ctx, const Args& args) {
  return squeezed(ctx, args, std::nullopt);
}
Status squeeze_dims(Context& ctx, const Args& args) {
  return squeezed(ctx, args, args.ints(1));
}
Status squeeze_dim(Context& ctx, const Args& args) {
  const int64_t dim = args.integer(1);
  return squeezed(ctx, args, std::span(&dim, 1));
}

Status unsqueeze(Context& ctx, const Args& args) {
  const Tensor self = args.tensor(0);
  BP_ASSIGN_OR_RETURN(const int64_t dim, wrap_dim(args.integer(1), self.dim() + 1));
  Dims shape;
  for (int64_t d = 0; d <= self.dim(); ++d) {
    if (d == dim) shape.push_back(1);
    if (d < self.dim()) shape.push_back(self.size(d));
  }
  return copy_as(ctx, self, shape, args.out(0));
}

// The blocks of channels that become pixels, or the other way round: a copy between two views with
// the dimensions [lead, channels, rows, r, columns, r].
template <bool Shuffle>
Status pixels(Context& ctx, const Args& args) {
  const Tensor self = args.tensor(0);
  const int64_t r = args.integer(1);
  if (self.dim() < 3 || r <= 0) {
    return invalid({"pixel_shuffle expects at least 3 dimensions and a positive factor, but got ",
                    self.shape(), " and ", r});
  }
  const int64_t lead = self.dim() - 3;
  const int64_t channels = self.size(lead);
  const int64_t rows = self.size(lead + 1);
  const int64_t columns = self.size(lead + 2);
  if (Shuffle ? channels % (r * r) != 0 : rows % r != 0 || columns % r != 0) {
    return invalid({"sizes ", self.shape(), " are not divisible by the factor ", r,
                    Shuffle ? " squared in channels" : " in height and width"});
  }
  Dims shape(self.shape());
  shape[lead] = Shuffle ? channels / (r * r) : channels * r * r;
  shape[lead + 1] = Shuffle ? rows * r : rows / r;
  shape[lead + 2] = Shuffle ? columns * r : columns / r;
  const Tensor out = args.out(0);
  BP_TRY(ctx.resize(out, shape));
  const Tensor& deep = Shuffle ? self : out;  // many channels, few pixels
  const Tensor& wide = Shuffle ? out : self;
  const auto view = [&](const Tensor& tensor, bool is_deep) {
    Strided v(tensor);
    v.shape = Dims(tensor.shape().first(static_cast<size_t>(lead)));
    v.strides = Dims(tensor.strides().first(static_cast<size_t>(lead)));
    const auto add = [&](int64_t size, int64_t stride) {
      v.shape.push_back(size);
      v.strides.push_back(stride);
    };
    const int64_t c = tensor.stride(lead);
    const int64_t y = tensor.stride(lead + 1);
    const int64_t x = tensor.stride(lead + 2);
    add(wide.size(lead), is_deep ? c * r * r : c);
    add(deep.size(lead + 1), is_deep ? y : y * r);
    add(r, is_deep ? c * r : y);
    add(deep.size(lead + 2), is_deep ? x : x * r);
    add(r, is_deep ? c : x);
    return v;
  };
  Strided from = view(self, Shuffle);
  Strided to = view(out, !Shuffle);
  copy_bytes(from.tensor(), to.tensor());
  return Ok{};
}

constexpr Entry table[] = {
    {"aten::_reshape_alias_copy.out", "tnn>t", view},
    {"aten::_unsafe_view.out", "tn>t", view},
    {"aten::flatten.using_ints_out", "tii>t", flatten},
    {"aten::pixel_shuffle.out", "ti>t", pixels<true>},
    {"aten::pixel_unshuffle.out", "ti>t", pixels<false>},
    {"aten::reshape.out", "tn>t", view},
    {"aten::squeeze_copy.dim_out", "ti>t", squeeze_dim},
    {"aten::squeeze_copy.dims_out", "tn>t", squeeze_dims},
    {"aten::squeeze_copy.out", "t>t", squeeze},
    {"aten::unsqueeze_copy.out", "ti>t", unsqueeze},
    {"aten::view_copy.out", "tn>t", view},
};

}  // namespace

extern const std::span<const Entry> reshape_kernels = table;

}  // namespace backplane::portable
