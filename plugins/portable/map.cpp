#include "portable/map.hpp"

#include "portable/shape.hpp"
#include "portable/walk.hpp"

namespace backplane::portable {
namespace {

constexpr int kMaxOperands = 4;

// Room for one strip of any compute type.
struct alignas(64) Strip {
  std::byte bytes[kStrip * sizeof(Complex128)];  // NOLINT: filled before it is read
};

template <class F>
void with_number(Compute compute, const Scalar& number, F&& f) {
  switch (compute) {
    case Compute::f32:
      f(number.to<float>());
      break;
    case Compute::f64:
      f(number.to<double>());
      break;
    case Compute::i64:
      f(number.to<int64_t>());
      break;
    case Compute::u64:
      f(number.to<uint64_t>());
      break;
    case Compute::c64:
      f(number.to<Complex64>());
      break;
    case Compute::c128:
      f(number.to<Complex128>());
      break;
  }
}

// One map() ready to run: where its strips come from and go to.
class Runner {
 public:
  Runner(const Loop& loop, DType dtype, std::span<const Operand> operands, const void* params,
         const Tensor& out, const Walk& walk)
      : loop_(loop),
        result_(result_of(loop, dtype)),
        operands_(operands),
        params_(params),
        out_(out),
        walk_(walk) {}

  // Computes the elements [begin, end) in walking order.
  void run(int64_t begin, int64_t end) const {
    std::array<Strip, kMaxOperands + 1> strips;  // NOLINT: filled before it is read
    fill_numbers(strips);
    Walk::Cursor cursor = walk_.at(begin);
    while (begin < end) {
      const int64_t n = std::min(end - begin, kStrip);
      if (walk_.row_left(cursor) >= n) {
        compute_row(strips, cursor, n);
        walk_.advance(cursor, n);
      } else {
        compute_pieces(strips, cursor, n);
      }
      begin += n;
    }
  }

 private:
  using Strips = std::array<Strip, kMaxOperands + 1>;

  [[nodiscard]] size_t count() const { return operands_.size(); }

  static bool is_aligned(const void* p) { return reinterpret_cast<uintptr_t>(p) % 8 == 0; }

  void fill_numbers(Strips& strips) const {
    for (size_t k = 0; k < count(); ++k) {
      const Operand& operand = operands_[k];
      if (operand.tensor) {
        continue;
      }
      with_number(compute_of(*operand.as), operand.number.as(*operand.as), [&]<class T>(T value) {
        std::fill_n(reinterpret_cast<T*>(strips[k].bytes), kStrip, value);
      });
      if (!operand.exact) {
        round_to(*operand.as, strips[k].bytes, kStrip);
      }
    }
  }

  [[nodiscard]] const std::byte* element(const Operand& operand, const Walk::Cursor& cursor,
                                         size_t k) const {
    return operand.tensor.bytes() + cursor.offset[k + 1] * size_of(operand.tensor.dtype());
  }

  void load_into(std::byte* strip, size_t k, const Walk::Cursor& cursor, int64_t n) const {
    const Operand& operand = operands_[k];
    load(compute_of(*operand.as), strip, operand.tensor.dtype(), element(operand, cursor, k),
         walk_.stride(static_cast<int>(k) + 1), n);
    if (operand.tensor.dtype() != *operand.as && !operand.exact) {
      round_to(*operand.as, strip, n);
    }
  }

  void round_result(std::byte* strip, int64_t n) const {
    if (loop_.result != DType::boolean && result_ != out_.dtype()) {
      round_to(result_, strip, n);
    }
  }

  void store_from(const std::byte* strip, const Walk::Cursor& cursor, int64_t n) const {
    store(loop_.result, strip, out_.dtype(),
          out_.bytes() + cursor.offset[0] * size_of(out_.dtype()), walk_.stride(0), n);
  }

  // One stretch of a row: operands and result stay where they are if they need no conversion.
  void compute_row(Strips& strips, const Walk::Cursor& cursor, int64_t n) const {
    std::array<const void*, kMaxOperands> in{};
    for (size_t k = 0; k < count(); ++k) {
      const Operand& operand = operands_[k];
      in[k] = strips[k].bytes;
      if (operand.tensor) {
        const DType native = native_of(*operand.as);
        const std::byte* const memory = element(operand, cursor, k);
        if (operand.tensor.dtype() == native && *operand.as == native && is_aligned(memory) &&
            walk_.stride(static_cast<int>(k) + 1) == 1) {
          in[k] = memory;
        } else {
          load_into(strips[k].bytes, k, cursor, n);
        }
      }
    }
    std::byte* const memory = out_.bytes() + cursor.offset[0] * size_of(out_.dtype());
    const bool direct = out_.dtype() == loop_.result && result_ == out_.dtype() &&
                        walk_.stride(0) == 1 && is_aligned(memory);
    std::byte* const result = direct ? memory : strips[kMaxOperands].bytes;
    loop_.run(result, in.data(), params_, n);
    if (!direct) {
      round_result(result, n);
      store_from(result, cursor, n);
    }
  }

  // A strip gathered from several short rows; leaves the cursor behind it.
  void compute_pieces(Strips& strips, Walk::Cursor& cursor, int64_t n) const {
    const Walk::Cursor start = cursor;
    std::array<const void*, kMaxOperands> in{};
    for (size_t k = 0; k < count(); ++k) {
      in[k] = strips[k].bytes;
    }
    const auto for_pieces = [&](auto&& piece) {
      cursor = start;
      for (int64_t done = 0; done < n;) {
        const int64_t part = std::min(walk_.row_left(cursor), n - done);
        piece(done, part);
        walk_.advance(cursor, part);
        done += part;
      }
    };
    for_pieces([&](int64_t done, int64_t part) {
      for (size_t k = 0; k < count(); ++k) {
        if (operands_[k].tensor) {
          load_into(strips[k].bytes + done * size_of(native_of(*operands_[k].as)), k, cursor, part);
        }
      }
    });
    std::byte* const result = strips[kMaxOperands].bytes;
    loop_.run(result, in.data(), params_, n);
    round_result(result, n);
    for_pieces([&](int64_t done, int64_t part) {
      store_from(result + done * size_of(loop_.result), cursor, part);
    });
  }

  const Loop& loop_;
  DType result_;
  std::span<const Operand> operands_;
  const void* params_;
  const Tensor& out_;
  const Walk& walk_;
};

}  // namespace

Params::Params(DType dtype, std::initializer_list<Scalar> numbers) : compute_(compute_of(dtype)) {
  for (const Scalar& number : numbers) {
    push_back(number);
  }
}

void Params::push_back(const Scalar& number) {
  assert(count_ < kMax);
  with_number(compute_, number,
              [&]<class T>(T value) { reinterpret_cast<T*>(bytes_.data())[count_] = value; });
  ++count_;
}

DType result_of(const Loop& loop, DType dtype) {
  if (loop.result == DType::boolean) {
    return DType::boolean;
  }
  return is_complex(loop.result) ? complex_of(dtype) : real_of(dtype);
}

void fill(const Tensor& out, const Scalar& value) {
  const Dims strides(out.strides());
  const Walk walk(out.shape(), {&strides, 1});
  if (walk.numel() == 0) {
    return;
  }
  Strip strip;  // NOLINT: filled here
  with_number(compute_of(out.dtype()), value.as(out.dtype()), [&]<class T>(T number) {
    std::fill_n(reinterpret_cast<T*>(strip.bytes), kStrip, number);
  });
  Walk::Cursor cursor = walk.at(0);
  for (int64_t done = 0; done < walk.numel();) {
    const int64_t n = std::min(walk.row_left(cursor), kStrip);
    store(native_of(out.dtype()), strip.bytes, out.dtype(),
          out.bytes() + cursor.offset[0] * size_of(out.dtype()), walk.stride(0), n);
    walk.advance(cursor, n);
    done += n;
  }
}

Status map(Context& ctx, const Map& map, const Tensor& out) {
  assert(map.operands.size() <= kMaxOperands);
  std::array<Operand, kMaxOperands> operands;
  std::copy(map.operands.begin(), map.operands.end(), operands.begin());
  const std::span<Operand> used(operands.data(), map.operands.size());
  Dims shape;
  for (Operand& operand : used) {
    operand.as = operand.as.value_or(map.dtype);
    if (operand.tensor) {
      BP_ASSIGN_OR_RETURN(shape, broadcast(shape, operand.tensor.shape()));
    }
  }
  BP_TRY(ctx.resize(out, shape));
  std::array<Dims, kMaxOperands + 1> strides;
  strides[0] = Dims(out.strides());
  for (size_t k = 0; k < used.size(); ++k) {
    strides[k + 1] =
        used[k].tensor ? broadcast_strides(used[k].tensor, shape) : Dims(shape.size(), 0);
  }
  const Walk walk(shape, std::span(strides.data(), used.size() + 1));
  const Runner runner(map.loops->at(map.dtype), map.dtype, used, map.params, out, walk);
  ctx.parallel_for(walk.numel(), 1 << 15,
                   [&](int64_t begin, int64_t end) { runner.run(begin, end); });
  return Ok{};
}

}  // namespace backplane::portable
