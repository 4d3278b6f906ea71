// Sums, means or maxima of the rows of a table that bags of indices name.
#include <algorithm>

#include "portable/dense.hpp"

namespace backplane::portable {
namespace {

enum class Mode : int64_t { sum = 0, mean = 1, max = 2 };

struct Bags {
  int64_t rows, width, indices, bags;
  Mode mode;
  int64_t padding;
  const int64_t* index;
  const int64_t* offsets;
  const int64_t* begin(int64_t bag) const { return index + offsets[bag]; }
  const int64_t* end(int64_t bag, int64_t stated) const {
    return index + (bag + 1 < stated ? offsets[bag + 1] : indices);
  }
};

// One bag into y[width]; how many of its indices count. `at`: where each maximum is from, or null.
template <class T>
int64_t gather(const Bags& b, const T* table, const T* scales, const int64_t* begin,
               const int64_t* end, T* y, int64_t* at) {
  int64_t count = 0;
  std::fill_n(y, b.width, T{});
  for (const int64_t* i = begin; i < end; ++i) {
    if (*i == b.padding) continue;
    const T* row = table + *i * b.width;
    const T scale = scales == nullptr ? T(1) : scales[i - b.index];
    for (int64_t k = 0; k < b.width; ++k) {
      if (b.mode != Mode::max) {
        y[k] += row[k] * scale;
      } else if (count == 0 || row[k] > y[k]) {
        y[k] = row[k];
        at[k] = *i;
      }
    }
    ++count;
  }
  if (b.mode == Mode::mean && count > 0) {
    for (int64_t k = 0; k < b.width; ++k) y[k] /= static_cast<T>(count);
  }
  return count;
}

Status check_ranges(const Bags& b, int64_t stated) {
  if (stated > 0 && b.offsets[0] != 0)
    return invalid(
        {"offsets[0] has to be 0, i.e., the first sequence in the mini-batch has to "
         "start from position 0. However, got ",
         b.offsets[0]});
  for (int64_t i = 0; i < stated; ++i) {
    const int64_t least = i == 0 ? 0 : b.offsets[i - 1];
    if (b.offsets[i] < least || b.offsets[i] > b.indices)
      return invalid({"offset ", b.offsets[i], " of bag ", i, " is not between ", least,
                      " and the number of indices, ", b.indices});
  }
  for (int64_t i = 0; i < b.indices; ++i) {
    if (b.index[i] < 0 || b.index[i] >= b.rows)
      return invalid({"index ", b.index[i], " is out of range of ", b.rows, " rows"});
  }
  return Ok{};
}

// What beside the sums comes out: exports leave the bag of each index out where none is needed
// (eager PyTorch leaves it out for bf16 too, and so disagrees with its own exports).
template <class T>
Status run(Context& ctx, const Args& args, Bags b, int64_t stated) {
  const Tensor weight = args.tensor(0);
  BP_ASSIGN_OR_RETURN(const T* table, read<T>(ctx, weight));
  BP_ASSIGN_OR_RETURN(b.index, read<int64_t>(ctx, args.tensor(1)));
  BP_ASSIGN_OR_RETURN(b.offsets, read<int64_t>(ctx, args.tensor(2)));
  BP_TRY(check_ranges(b, stated));
  const T* scales = nullptr;
  if (args.has(6)) {
    BP_ASSIGN_OR_RETURN(scales, read<T>(ctx, args.tensor(6)));
  }
  const bool fast =
      b.mode == Mode::sum && b.padding < 0 && set_of(DType::f32, DType::f16).has(weight.dtype());
  const bool is_max = b.mode == Mode::max;
  BP_TRY(ctx.resize(args.out(0), Dims{b.bags, b.width}));
  BP_TRY(ctx.resize(args.out(1), Dims{fast ? 0 : b.indices}));
  BP_TRY(ctx.resize(args.out(2), Dims{b.bags}));
  BP_TRY(ctx.resize(args.out(3), is_max ? Dims{b.bags, b.width} : Dims{b.bags}));
  BP_ASSIGN_OR_RETURN(T * y, open<T>(ctx, args.out(0)));
  BP_ASSIGN_OR_RETURN(int64_t * bag_of, open<int64_t>(ctx, args.out(1)));
  BP_ASSIGN_OR_RETURN(int64_t * counts, open<int64_t>(ctx, args.out(2)));
  BP_ASSIGN_OR_RETURN(int64_t * at, open<int64_t>(ctx, args.out(3)));
  std::fill_n(at, args.out(3).numel(), int64_t{0});
  for (int64_t bag = 0; bag < b.bags; ++bag) {
    const int64_t* begin = b.begin(bag);
    const int64_t* end = b.end(bag, stated);
    counts[bag] = gather(b, table, scales, begin, end, y + bag * b.width,
                         is_max ? at + bag * b.width : nullptr);
    if (b.mode == Mode::sum) counts[bag] = 0;  // nobody divides by it
    if (!is_max) at[bag] = counts[bag];
    for (const int64_t* i = begin; i < end && !fast; ++i) bag_of[i - b.index] = bag;
  }
  close(args.out(0), y);
  close(args.out(1), bag_of);
  close(args.out(2), counts);
  close(args.out(3), at);
  return Ok{};
}

// args: weight, indices, offsets, scale_grad_by_freq, mode, sparse, per_sample_weights,
// include_last_offset, padding_idx.
Status embedding_bag(Context& ctx, const Args& args) {
  const Tensor weight = args.tensor(0);
  const Tensor indices = args.tensor(1);
  const Tensor offsets = args.tensor(2);
  constexpr DTypes kIndices = set_of(DType::i64, DType::i32);
  if (!kIndices.has(indices.dtype()) || !kIndices.has(offsets.dtype()))
    return invalid({"indices and offsets have to be Long or Int, got ", indices.dtype(), " and ",
                    offsets.dtype()});
  if (weight.dim() != 2 || indices.dim() != 1 || offsets.dim() != 1)
    return invalid({"weight has to be a matrix, indices and offsets vectors, but got ",
                    weight.shape(), ", ", indices.shape(), " and ", offsets.shape()});
  const int64_t mode = args.integer(4);
  if (mode < 0 || mode > 2) return invalid({"mode has to be 0, 1 or 2, got ", mode});
  const int64_t stated = offsets.size(0);
  const bool last = args.boolean(7);
  if (last && stated == 0) return invalid({"include_last_offset: offsets should be at least 1"});
  if (args.has(6) && (mode != 0 || args.tensor(6).numel() != indices.numel()))
    return invalid({"per_sample_weights are for mode 'sum' and as many as indices, but are ",
                    args.tensor(6).shape(), " for mode ", mode});
  Bags b{weight.size(0),          weight.size(1),  indices.size(0), last ? stated - 1 : stated,
         static_cast<Mode>(mode), args.integer(8), nullptr,         nullptr};
  return dispatch<float, double>(weight.dtype(),
                                 [&]<class T>() { return run<T>(ctx, args, b, stated); });
}

constexpr Entry table[] = {
    {"aten::_embedding_bag.out", "tttbibTbi>tttt", embedding_bag, kFloats},
    {"aten::_embedding_bag_forward_only.out", "tttbibTbi>tttt", embedding_bag, kFloats},
};

}  // namespace

extern const std::span<const Entry> embedding_bag_kernels = table;

}  // namespace backplane::portable
