// Copies whose source index along each dimension comes from a small table: flips, rolls, repeats,
// pads. An index of -1 stands for the fill value.
#include <algorithm>
#include <cstring>
#include <numeric>
#include <vector>

#include "portable/views/strided.hpp"

namespace backplane::portable {
namespace {

using Table = std::vector<int64_t>;  // by output index: the source index

Table identity(int64_t size) {
  Table table(static_cast<size_t>(size));
  std::iota(table.begin(), table.end(), int64_t{0});
  return table;
}

std::vector<Table> identities(const Tensor& self) {
  std::vector<Table> tables;
  for (const int64_t size : self.shape()) tables.push_back(identity(size));
  return tables;
}

// out[i, j, …] = self[tables[0][i], tables[1][j], …]. `fill` is one element's bytes.
class Gather {
 public:
  Gather(const Tensor& self, const Tensor& out, const std::vector<Table>& tables,
         const std::byte* fill)
      : self_(self),
        out_(out),
        tables_(tables),
        fill_(fill),
        size_(static_cast<size_t>(size_of(self.dtype()))) {}

  void run() {
    if (out_.numel() > 0) walk(0, self_.bytes(), out_.bytes());
  }

 private:
  void walk(size_t d, const std::byte* from, std::byte* to) {
    if (d == tables_.size()) {
      std::memcpy(to, from == nullptr ? fill_ : from, size_);
      return;
    }
    const auto dim = static_cast<int64_t>(d);
    const int64_t from_step = self_.stride(dim) * static_cast<int64_t>(size_);
    const int64_t to_step = out_.stride(dim) * static_cast<int64_t>(size_);
    for (const int64_t index : tables_[d]) {
      walk(d + 1, from == nullptr || index < 0 ? nullptr : from + index * from_step, to);
      to += to_step;
    }
  }

  const Tensor& self_;
  const Tensor& out_;
  const std::vector<Table>& tables_;
  const std::byte* fill_;
  size_t size_;
};

Status gather(Context& ctx, const Tensor& self, const std::vector<Table>& tables, const Tensor& out,
              const std::byte* fill = nullptr) {
  Dims shape;
  for (const Table& table : tables) shape.push_back(static_cast<int64_t>(table.size()));
  BP_TRY(ctx.resize(out, shape));
  Gather(self, out, tables, fill).run();
  return Ok{};
}

Status flip(Context& ctx, const Args& args) {
  const Tensor self = args.tensor(0);
  std::vector<Table> tables = identities(self);
  std::array<bool, kMaxRank> named{};
  for (const int64_t dim : args.ints(1)) {
    BP_ASSIGN_OR_RETURN(const int64_t wrapped, wrap_dim(dim, self.dim()));
    if (named[static_cast<size_t>(wrapped)])
      return invalid({"dim ", wrapped, " appears multiple times in the list of dims"});
    named[static_cast<size_t>(wrapped)] = true;
    if (self.dim() > 0)
      std::reverse(tables[static_cast<size_t>(wrapped)].begin(),
                   tables[static_cast<size_t>(wrapped)].end());
  }
  return gather(ctx, self, tables, args.out(0));
}

void roll_table(Table& table, int64_t shift) {
  if (table.empty()) return;
  const auto size = static_cast<int64_t>(table.size());
  shift = ((shift % size) + size) % size;
  std::rotate(table.begin(), table.end() - shift, table.end());
}

Status roll(Context& ctx, const Args& args) {
  const Tensor self = args.tensor(0);
  const auto shifts = args.ints(1);
  const auto dims = args.ints(2);
  if (shifts.empty()) return invalid({"`shifts` required"});
  if (dims.empty() && shifts.size() == 1) {
    // As if flat.
    BP_TRY(ctx.resize(args.out(0), self.shape()));
    const int64_t n = self.numel();
    if (n == 0) return Ok{};
    Strided flat_out(args.out(0));
    const auto size = static_cast<size_t>(size_of(self.dtype()));
    BP_ASSIGN_OR_RETURN(auto* dense, ctx.scratch<std::byte>(n * static_cast<int64_t>(size)));
    bp_tensor_t raw = *self.raw();
    Dims strides(self.dim(), 1);
    for (int64_t d = self.dim() - 1; d > 0; --d) strides[d - 1] = strides[d] * self.size(d);
    raw.data = dense;
    raw.byte_offset = 0;
    raw.strides = const_cast<int64_t*>(strides.begin());  // NOLINT: the C struct has no const
    copy_bytes(self, Tensor(&raw));
    const int64_t shift = ((shifts[0] % n) + n) % n;
    std::rotate(dense, dense + static_cast<size_t>(n - shift) * size,
                dense + static_cast<size_t>(n) * size);
    copy_bytes(Tensor(&raw), args.out(0));
    return Ok{};
  }
  if (shifts.size() != dims.size()) {
    return invalid(
        {"shifts and dimensions must align. shifts: ", static_cast<int64_t>(shifts.size()),
         ", dims:", static_cast<int64_t>(dims.size())});
  }
  std::vector<Table> tables = identities(self);
  for (size_t i = 0; i < dims.size(); ++i) {
    BP_ASSIGN_OR_RETURN(const int64_t dim, wrap_dim(dims[i], self.dim()));
    roll_table(tables[static_cast<size_t>(dim)], shifts[i]);
  }
  return gather(ctx, self, tables, args.out(0));
}

Status repeat(Context& ctx, const Args& args) {
  const Tensor self = args.tensor(0);
  const auto repeats = args.ints(1);
  const auto rank = static_cast<int64_t>(repeats.size());
  if (rank < self.dim()) {
    return invalid(
        {"number of dimensions of repeat dims can not be smaller than number of dimensions of "
         "tensor"});
  }
  if (rank > kMaxRank) return invalid({"repeat: rank ", rank, " is over ", kMaxRank});
  Strided view(self);
  view.shape = Dims(rank, 1);
  view.strides = Dims(rank, 0);
  std::vector<Table> tables;
  for (int64_t d = 0; d < rank; ++d) {
    const int64_t from = d - (rank - self.dim());
    if (from >= 0) {
      view.shape[d] = self.size(from);
      view.strides[d] = self.stride(from);
    }
    const int64_t times = repeats[static_cast<size_t>(d)];
    if (times < 0)
      return invalid({"trying to create tensor with negative dimension ", times, ": ", repeats});
    const Dims one = {view.shape[d], times};
    BP_ASSIGN_OR_RETURN(const int64_t length, count(one));
    Table table(static_cast<size_t>(length));
    for (int64_t i = 0; i < length; ++i) table[static_cast<size_t>(i)] = i % view.shape[d];
    tables.push_back(std::move(table));
  }
  return gather(ctx, view.tensor(), tables, args.out(0));
}

enum class Pad : uint8_t { constant, reflect, replicate };

// Source indices of one padded dimension. Negative pads crop.
Result<Table> padded(int64_t size, int64_t before, int64_t after, Pad mode) {
  int64_t length = 0;
  if (__builtin_add_overflow(size, before, &length) ||
      __builtin_add_overflow(length, after, &length) || length < 0) {
    return invalid({"the input size ", size, ", plus negative padding ", before, " and ", after,
                    ", resulted in a negative output size"});
  }
  const Dims one = {length};
  BP_ASSIGN_OR_RETURN(length, count(one));
  Table table(static_cast<size_t>(length));
  for (int64_t i = 0; i < length; ++i) {
    int64_t from = i - before;
    if (mode == Pad::constant && (from < 0 || from >= size)) from = -1;
    if (mode == Pad::replicate) from = std::clamp<int64_t>(from, 0, size - 1);
    if (mode == Pad::reflect) {
      if (from < 0) from = -from;
      if (from >= size) from = 2 * (size - 1) - from;
    }
    table[static_cast<size_t>(i)] = from;
  }
  return table;
}

// pads: (before, after) of the last dimension first.
Status pad(Context& ctx, const Tensor& self, std::span<const int64_t> pads, Pad mode,
           const Tensor& out, const std::byte* fill = nullptr) {
  std::vector<Table> tables = identities(self);
  for (size_t i = 0; i + 1 < pads.size(); i += 2) {
    const int64_t dim = self.dim() - 1 - static_cast<int64_t>(i / 2);
    const int64_t size = self.size(dim);
    if (mode == Pad::reflect && (pads[i] >= size || pads[i + 1] >= size)) {
      return invalid(
          {"padding size should be less than the corresponding input dimension, but got: padding (",
           pads[i], ", ", pads[i + 1], ") at dimension ", dim, " of input ", self.shape()});
    }
    if (mode == Pad::replicate && size == 0)
      return invalid({"replication_pad: dimension ", dim, " of input ", self.shape(), " is empty"});
    BP_ASSIGN_OR_RETURN(tables[static_cast<size_t>(dim)], padded(size, pads[i], pads[i + 1], mode));
  }
  return gather(ctx, self, tables, out, fill);
}

Status constant_pad(Context& ctx, const Args& args) {
  const Tensor self = args.tensor(0);
  const auto pads = args.ints(1);
  if (pads.size() % 2 != 0)
    return invalid(
        {"length of pad must be even but instead it equals ", static_cast<int64_t>(pads.size())});
  if (static_cast<int64_t>(pads.size()) > 2 * self.dim()) {
    return invalid(
        {"length of pad should be no more than twice the number of dimensions of the input. Pad "
         "length is ",
         static_cast<int64_t>(pads.size()), " while the input has ", self.dim(), " dimensions."});
  }
  const Scalar value = args.scalar(2);
  alignas(16) std::array<std::byte, 16> fill{};
  alignas(16) Complex128 number = value.to<Complex128>();
  const int64_t whole = value.to<int64_t>();
  if (is_integral(self.dtype()) && !value.is_floating()) {
    store(&whole, self.dtype(), fill.data(), 1, 1);
  } else {
    store(&number, self.dtype(), fill.data(), 1, 1);
  }
  return pad(ctx, self, pads, Pad::constant, args.out(0), fill.data());
}

template <Pad Mode, int64_t Spatial>
Status spatial_pad(Context& ctx, const Args& args) {
  const Tensor self = args.tensor(0);
  const auto pads = args.ints(1);
  if (static_cast<int64_t>(pads.size()) != 2 * Spatial)
    return invalid({"padding size is expected to be ", 2 * Spatial});
  if (self.dim() != Spatial + 1 && self.dim() != Spatial + 2) {
    return invalid(
        {"expected ", Spatial + 1, "D or ", Spatial + 2, "D tensor, but got: ", self.shape()});
  }
  return pad(ctx, self, pads, Mode, args.out(0));
}

Status rot90(Context& ctx, const Args& args) {
  const Tensor self = args.tensor(0);
  const auto dims = args.ints(2);
  if (dims.size() != 2)
    return invalid(
        {"expected total rotation dims == 2, but got dims = ", static_cast<int64_t>(dims.size())});
  BP_ASSIGN_OR_RETURN(const int64_t a, wrap_dim(dims[0], self.dim()));
  BP_ASSIGN_OR_RETURN(const int64_t b, wrap_dim(dims[1], self.dim()));
  if (a == b || self.dim() < 2)
    return invalid({"expected rotation dims to be different, but got dim0 = ", dims[0],
                    " and dim1 = ", dims[1]});
  const int64_t turns = ((args.integer(1) % 4) + 4) % 4;
  Strided view(self);
  if (turns % 2 == 1) {
    std::swap(view.shape[a], view.shape[b]);
    std::swap(view.strides[a], view.strides[b]);
  }
  const Tensor turned = view.tensor();
  std::vector<Table> tables = identities(turned);
  const auto mirror = [&](int64_t dim) {
    std::reverse(tables[static_cast<size_t>(dim)].begin(), tables[static_cast<size_t>(dim)].end());
  };
  if (turns == 1 || turns == 2) mirror(a);
  if (turns == 2 || turns == 3) mirror(b);
  return gather(ctx, turned, tables, args.out(0));
}

constexpr Entry table[] = {
    {"aten::constant_pad_nd.out", "tns>t", constant_pad},
    {"aten::flip.out", "tn>t", flip},
    {"aten::reflection_pad1d.out", "tn>t", spatial_pad<Pad::reflect, 1>},
    {"aten::reflection_pad2d.out", "tn>t", spatial_pad<Pad::reflect, 2>},
    {"aten::reflection_pad3d.out", "tn>t", spatial_pad<Pad::reflect, 3>},
    {"aten::repeat.out", "tn>t", repeat},
    {"aten::replication_pad1d.out", "tn>t", spatial_pad<Pad::replicate, 1>},
    {"aten::replication_pad2d.out", "tn>t", spatial_pad<Pad::replicate, 2>},
    {"aten::replication_pad3d.out", "tn>t", spatial_pad<Pad::replicate, 3>},
    {"aten::roll.out", "tnn>t", roll},
    {"aten::rot90.out", "tin>t", rot90},
};

}  // namespace

extern const std::span<const Entry> gathered_kernels = table;

}  // namespace backplane::portable
