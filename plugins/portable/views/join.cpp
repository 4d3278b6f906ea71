// Putting tensors together along a dimension, and taking them apart.
#include <algorithm>

#include "portable/views/strided.hpp"

namespace backplane::portable {
namespace {

// Tensors that cat passes over: legacy empty ones of shape [0].
bool skipped(const Tensor& tensor) {
  return tensor.dim() == 1 && tensor.size(0) == 0;
}

Status cat(Context& ctx, const Args& args) {
  const int64_t count = args.list_size(0);
  const Tensor out = args.out(0);
  int64_t first = 0;
  while (first < count && skipped(args.list_tensor(0, first))) ++first;
  if (count == 0) return invalid({"cat(): expected a non-empty list of Tensors"});
  const Tensor like = args.list_tensor(0, first < count ? first : 0);
  if (like.dim() == 0)
    return invalid({"zero-dimensional tensor (at position ", first, ") cannot be concatenated"});
  BP_ASSIGN_OR_RETURN(const int64_t dim, wrap_dim(args.integer(1), like.dim()));
  Dims shape(like.shape());
  shape[dim] = 0;
  for (int64_t i = 0; i < count; ++i) {
    const Tensor part = args.list_tensor(0, i);
    if (skipped(part)) continue;
    bool same = part.dim() == like.dim();
    for (int64_t d = 0; same && d < like.dim(); ++d)
      same = d == dim || part.size(d) == like.size(d);
    if (!same) {
      return invalid({"sizes of tensors must match except in dimension ", dim, ": ", like.shape(),
                      " and ", part.shape(), " (tensor number ", i, " in the list)"});
    }
    shape[dim] += part.size(dim);
  }
  BP_TRY(ctx.resize(out, shape));
  int64_t at = 0;
  for (int64_t i = 0; i < count; ++i) {
    const Tensor part = args.list_tensor(0, i);
    if (skipped(part)) continue;
    BP_ASSIGN_OR_RETURN(Strided place, sliced(out, dim, {at, part.size(dim)}, 1));
    convert(part, place.tensor());
    at += part.size(dim);
  }
  return Ok{};
}

Status stack(Context& ctx, const Args& args) {
  const int64_t count = args.list_size(0);
  if (count == 0) return invalid({"stack expects a non-empty TensorList"});
  const Tensor like = args.list_tensor(0, 0);
  BP_ASSIGN_OR_RETURN(const int64_t dim, wrap_dim(args.integer(1), like.dim() + 1));
  Dims shape;
  for (int64_t d = 0; d <= like.dim(); ++d) {
    if (d == dim) shape.push_back(count);
    if (d < like.dim()) shape.push_back(like.size(d));
  }
  for (int64_t i = 0; i < count; ++i) {
    const Tensor part = args.list_tensor(0, i);
    if (!std::ranges::equal(part.shape(), like.shape())) {
      return invalid({"stack expects each tensor to be equal size, but got ", like.shape(),
                      " at entry 0 and ", part.shape(), " at entry ", i});
    }
  }
  const Tensor out = args.out(0);
  BP_TRY(ctx.resize(out, shape));
  for (int64_t i = 0; i < count; ++i) {
    Strided place(out);
    place.offset = i * place.strides[dim];
    place.shape.erase(dim);
    place.strides.erase(dim);
    convert(args.list_tensor(0, i), place.tensor());
  }
  return Ok{};
}

// Pieces of the given lengths into the list of outputs.
template <class Length>
Status split(Context& ctx, const Args& args, int64_t dim_at, Length&& length) {
  const Tensor self = args.tensor(0);
  if (self.dim() == 0) return invalid({"split expects at least a 1-dimensional tensor"});
  BP_ASSIGN_OR_RETURN(const int64_t dim, wrap_dim(args.integer(dim_at), self.dim()));
  int64_t at = 0;
  for (int64_t i = 0; i < args.out_list_size(); ++i) {
    const int64_t n = length(i, self.size(dim) - at);
    if (n < 0 || n > self.size(dim) - at) {
      return invalid(
          {"split: lengths don't add up to the size ", self.size(dim), " of dimension ", dim});
    }
    BP_ASSIGN_OR_RETURN(Strided piece, sliced(self, dim, {at, n}, 1));
    BP_TRY(copy_view(ctx, piece, args.out_list(i)));
    at += n;
  }
  if (at != self.size(dim))
    return invalid({"split: lengths add up to ", at, " of the size ", self.size(dim)});
  return Ok{};
}

Status split_even(Context& ctx, const Args& args) {
  const int64_t each = args.integer(1);
  if (each < 0)
    return invalid({"split expects split_size be non-negative, but got split_size=", each});
  return split(ctx, args, 2, [&](int64_t, int64_t left) { return std::min(each, left); });
}
Status split_sizes(Context& ctx, const Args& args) {
  const auto sizes = args.ints(1);
  if (static_cast<int64_t>(sizes.size()) != args.out_list_size()) {
    return invalid({"split_with_sizes: ", static_cast<int64_t>(sizes.size()), " sizes for ",
                    args.out_list_size(), " outputs"});
  }
  return split(ctx, args, 2, [&](int64_t i, int64_t) { return sizes[static_cast<size_t>(i)]; });
}

Status unbind(Context& ctx, const Args& args) {
  const Tensor self = args.tensor(0);
  if (self.dim() == 0)
    return invalid({"unbind: dimension specified as 0 but tensor has no dimensions"});
  BP_ASSIGN_OR_RETURN(const int64_t dim, wrap_dim(args.integer(1), self.dim()));
  if (args.out_list_size() != self.size(dim)) {
    return invalid({"unbind: ", self.size(dim), " slices for ", args.out_list_size(), " outputs"});
  }
  for (int64_t i = 0; i < self.size(dim); ++i) {
    Strided view(self);
    view.offset = i * view.strides[dim];
    view.shape.erase(dim);
    view.strides.erase(dim);
    BP_TRY(copy_view(ctx, view, args.out_list(i)));
  }
  return Ok{};
}

constexpr Entry table[] = {
    {"aten::cat.out", "li>t", cat},
    {"aten::split_copy.Tensor_out", "tii>l", split_even},
    {"aten::split_with_sizes_copy.out", "tni>l", split_sizes},
    {"aten::stack.out", "li>t", stack},
    {"aten::unbind_copy.int_out", "ti>l", unbind},
};

}  // namespace

extern const std::span<const Entry> join_kernels = table;

}  // namespace backplane::portable
