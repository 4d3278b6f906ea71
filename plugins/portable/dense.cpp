#include "portable/dense.hpp"

#include <cstring>

#include "portable/shape.hpp"
#include "portable/walk.hpp"

namespace backplane::portable {
namespace {

bool is_direct(const Tensor& tensor, DType native) {
  const auto address = reinterpret_cast<uintptr_t>(tensor.bytes());
  const auto alignment = static_cast<uintptr_t>(std::min<int64_t>(size_of(native), 8));
  return tensor.dtype() == native && tensor.is_contiguous() && address % alignment == 0;
}

// Calls piece(offset of dense side, offset of the tensor's side, stride of it, n) over all runs.
template <class F>
void for_runs(std::span<const int64_t> shape, const Dims& strides, F&& piece) {
  const Dims both[] = {row_major(shape), strides};
  const Walk walk(shape, both);
  if (walk.numel() == 0) {
    return;
  }
  Walk::Cursor cursor = walk.at(0);
  for (int64_t done = 0; done < walk.numel();) {
    const int64_t n = walk.row_left(cursor);
    piece(cursor.offset[0], cursor.offset[1], walk.stride(1), n);
    walk.advance(cursor, n);
    done += n;
  }
}

}  // namespace

Result<const void*> read(Context& ctx, const Tensor& tensor, Compute compute, const Dims& order) {
  DType native = DType::f32;
  for (const DType d : {DType::f64, DType::i64, DType::u64, DType::c64, DType::c128}) {
    native = compute_of(d) == compute ? d : native;
  }
  bool permuted = false;
  Dims shape, strides;
  for (int64_t d = 0; d < tensor.dim(); ++d) {
    const int64_t from = order.empty() ? d : order[d];
    permuted = permuted || from != d;
    shape.push_back(tensor.size(from));
    strides.push_back(tensor.stride(from));
  }
  if (!permuted && is_direct(tensor, native)) {
    return static_cast<const void*>(tensor.bytes());
  }
  const int64_t width = size_of(native), step = size_of(tensor.dtype());
  const int64_t numel = tensor.numel();
  BP_ASSIGN_OR_RETURN(std::byte * values, ctx.scratch<std::byte>(numel * width));
  for_runs(shape, strides, [&](int64_t to, int64_t from, int64_t stride, int64_t n) {
    load(compute, values + to * width, tensor.dtype(), tensor.bytes() + from * step, stride, n);
  });
  return static_cast<const void*>(values);
}

Result<void*> open(Context& ctx, const Tensor& out, DType native) {
  if (is_direct(out, native)) {
    return static_cast<void*>(out.bytes());
  }
  BP_ASSIGN_OR_RETURN(std::byte * values, ctx.scratch<std::byte>(out.numel() * size_of(native)));
  return static_cast<void*>(values);
}

void close(const Tensor& out, DType native, const void* values) {
  if (values == out.bytes()) {
    return;
  }
  const int64_t width = size_of(native), step = size_of(out.dtype());
  const auto* const from = static_cast<const std::byte*>(values);
  for_runs(out.shape(), Dims(out.strides()),
           [&](int64_t dense, int64_t to, int64_t stride, int64_t n) {
             store(native, from + dense * width, out.dtype(), out.bytes() + to * step, stride, n);
           });
}

void copy_bytes(const Tensor& from, const Tensor& to) {
  const Dims strides[] = {Dims(to.strides()), Dims(from.strides())};
  const Walk walk(to.shape(), strides);
  if (walk.numel() == 0) {
    return;
  }
  const auto width = static_cast<size_t>(size_of(to.dtype()));
  const auto step = static_cast<int64_t>(width);
  Walk::Cursor cursor = walk.at(0);
  for (int64_t done = 0; done < walk.numel();) {
    const int64_t n = walk.row_left(cursor);
    std::byte* const target = to.bytes() + cursor.offset[0] * step;
    const std::byte* const source = from.bytes() + cursor.offset[1] * step;
    if (walk.stride(0) == 1 && walk.stride(1) == 1) {
      std::memmove(target, source, static_cast<size_t>(n) * width);
    } else {
      for (int64_t i = 0; i < n; ++i) {
        std::memmove(target + i * walk.stride(0) * step, source + i * walk.stride(1) * step, width);
      }
    }
    walk.advance(cursor, n);
    done += n;
  }
}

namespace {

// A tensor's shape and dtype over row-major memory.
bp_tensor_t over(std::byte* memory, const Tensor& like, const Dims& strides) {
  bp_tensor_t raw = *like.raw();
  raw.data = memory;
  raw.byte_offset = 0;
  raw.strides = const_cast<int64_t*>(strides.begin());  // NOLINT: the C struct has no const
  return raw;
}

}  // namespace

Result<std::byte*> dense_bytes(Context& ctx, const Tensor& tensor) {
  BP_ASSIGN_OR_RETURN(std::byte * bytes,
                      ctx.scratch<std::byte>(tensor.numel() * size_of(tensor.dtype())));
  const Dims strides = row_major(tensor.shape());
  bp_tensor_t raw = over(bytes, tensor, strides);
  copy_bytes(tensor, Tensor(&raw));
  return bytes;
}

void write_dense(const std::byte* bytes, const Tensor& out) {
  const Dims strides = row_major(out.shape());
  bp_tensor_t raw = over(const_cast<std::byte*>(bytes), out, strides);  // NOLINT: read only
  copy_bytes(Tensor(&raw), out);
}

}  // namespace backplane::portable
