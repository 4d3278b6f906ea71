#include "portable/elementwise.hpp"

#include "portable/shape.hpp"
#include "portable/walk.hpp"

namespace backplane::portable {
namespace {

constexpr int kMaxOperands = 4;
constexpr int kMaxParams = 8;

// Room for one strip of any compute type.
struct alignas(64) Strip {
  std::byte bytes[kStrip * sizeof(Complex128)];  // NOLINT: filled before it is read
};

// Where strips of one map() come from and go to.
class Runner {
 public:
  Runner(const Map& map, const Tensor& out, const Walk& walk) : map_(map), out_(out), walk_(walk) {}

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

  [[nodiscard]] size_t count() const { return map_.operands.size(); }

  static bool is_aligned(const void* p) { return reinterpret_cast<uintptr_t>(p) % 8 == 0; }

  void fill_numbers(Strips& strips) const {
    for (size_t k = 0; k < count(); ++k) {
      const Operand& operand = map_.operands[k];
      if (operand.tensor) {
        continue;
      }
      const auto fill = [&]<class T>(T value) {
        std::fill_n(reinterpret_cast<T*>(strips[k].bytes), kStrip, value);
      };
      switch (compute_of(operand.as)) {
        case Compute::f32:
          fill(operand.number.to<float>());
          break;
        case Compute::f64:
          fill(operand.number.to<double>());
          break;
        case Compute::i64:
          fill(operand.number.to<int64_t>());
          break;
        case Compute::u64:
          fill(operand.number.to<uint64_t>());
          break;
        case Compute::c64:
          fill(operand.number.to<Complex64>());
          break;
        case Compute::c128:
          fill(operand.number.to<Complex128>());
          break;
      }
      if (!operand.exact) {
        round_to(operand.as, strips[k].bytes, kStrip);
      }
    }
  }

  [[nodiscard]] const std::byte* element(const Operand& operand, const Walk::Cursor& cursor,
                                         size_t k) const {
    return operand.tensor.bytes() + cursor.offset[k + 1] * size_of(operand.tensor.dtype());
  }

  void load_into(std::byte* strip, size_t k, const Walk::Cursor& cursor, int64_t n) const {
    const Operand& operand = map_.operands[k];
    load(compute_of(operand.as), strip, operand.tensor.dtype(), element(operand, cursor, k),
         walk_.stride(static_cast<int>(k) + 1), n);
    if (operand.tensor.dtype() != operand.as && !operand.exact) {
      round_to(operand.as, strip, n);
    }
  }

  void round_result(std::byte* strip, int64_t n) const {
    if (map_.loop->result != DType::boolean && map_.result != out_.dtype()) {
      round_to(map_.result, strip, n);
    }
  }

  void store_from(const std::byte* strip, const Walk::Cursor& cursor, int64_t n) const {
    store(map_.loop->result, strip, out_.dtype(),
          out_.bytes() + cursor.offset[0] * size_of(out_.dtype()), walk_.stride(0), n);
  }

  // One stretch of a row: operands and result stay where they are if they need no conversion.
  void compute_row(Strips& strips, const Walk::Cursor& cursor, int64_t n) const {
    std::array<const void*, kMaxOperands> in{};
    for (size_t k = 0; k < count(); ++k) {
      const Operand& operand = map_.operands[k];
      in[k] = strips[k].bytes;
      if (operand.tensor) {
        const DType native = native_of(operand.as);
        const std::byte* const memory = element(operand, cursor, k);
        if (operand.tensor.dtype() == native && operand.as == native && is_aligned(memory) &&
            walk_.stride(static_cast<int>(k) + 1) == 1) {
          in[k] = memory;
        } else {
          load_into(strips[k].bytes, k, cursor, n);
        }
      }
    }
    std::byte* const memory = out_.bytes() + cursor.offset[0] * size_of(out_.dtype());
    const bool direct = out_.dtype() == map_.loop->result && map_.result == out_.dtype() &&
                        walk_.stride(0) == 1 && is_aligned(memory);
    std::byte* const result = direct ? memory : strips[kMaxOperands].bytes;
    map_.loop->run(result, in.data(), map_.params, n);
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
        if (map_.operands[k].tensor) {
          load_into(strips[k].bytes + done * size_of(native_of(map_.operands[k].as)), k, cursor,
                    part);
        }
      }
    });
    std::byte* const result = strips[kMaxOperands].bytes;
    map_.loop->run(result, in.data(), map_.params, n);
    round_result(result, n);
    for_pieces([&](int64_t done, int64_t part) {
      store_from(result + done * size_of(map_.loop->result), cursor, part);
    });
  }

  const Map& map_;
  const Tensor& out_;
  const Walk& walk_;
};

DType apply(Rule rule, DType common) {
  const bool exact = is_integral(common) || common == DType::boolean;
  return rule == Rule::to_float && exact ? DType::f32 : common;
}

const Loop& loop_for(const Elementwise& op, DType dtype) {
  const Loops& all =
      dtype == DType::boolean && op.bool_loops != nullptr ? *op.bool_loops : *op.loops;
  return all.of[static_cast<size_t>(compute_of(dtype))];
}

DType result_of(const Loop& loop, DType dtype) {
  if (loop.result == DType::boolean) {
    return DType::boolean;
  }
  return is_complex(loop.result) ? dtype : real_of(dtype);
}

// The numbers behind the operands, in the compute type.
struct Params {
  alignas(16) std::array<std::byte, kMaxParams * sizeof(Complex128)> bytes{};

  Params(const Args& args, int first, Compute compute) {
    for (int64_t i = first; i < args.num_inputs(); ++i) {
      const auto put = [&]<class T>(T value) {
        reinterpret_cast<T*>(bytes.data())[i - first] = value;
      };
      const Scalar number = args.scalar(i);
      switch (compute) {
        case Compute::f32:
          put(number.to<float>());
          break;
        case Compute::f64:
          put(number.to<double>());
          break;
        case Compute::i64:
          put(number.to<int64_t>());
          break;
        case Compute::u64:
          put(number.to<uint64_t>());
          break;
        case Compute::c64:
          put(number.to<Complex64>());
          break;
        case Compute::c128:
          put(number.to<Complex128>());
          break;
      }
    }
  }
};

}  // namespace

Status map(Context& ctx, const Map& map, const Tensor& out) {
  assert(map.operands.size() <= kMaxOperands);
  Dims shape;
  for (const Operand& operand : map.operands) {
    if (operand.tensor) {
      BP_ASSIGN_OR_RETURN(shape, broadcast(shape, operand.tensor.shape()));
    }
  }
  BP_TRY(ctx.resize(out, shape));
  std::array<Dims, kMaxOperands + 1> strides;
  strides[0] = Dims(out.strides());
  for (size_t k = 0; k < map.operands.size(); ++k) {
    const Tensor& tensor = map.operands[k].tensor;
    strides[k + 1] = tensor ? broadcast_strides(tensor, shape) : Dims(shape.size(), 0);
  }
  const Walk walk(shape, std::span(strides.data(), map.operands.size() + 1));
  const Runner runner(map, out, walk);
  ctx.parallel_for(walk.numel(), 1 << 15,
                   [&](int64_t begin, int64_t end) { runner.run(begin, end); });
  return Ok{};
}

Result<DType> common_dtype(const Args& args, int first, int count) {
  ResultType type;
  for (int i = first; i < first + count; ++i) {
    BP_TRY(args.is_tensor(i) ? type.add(args.tensor(i)) : type.add(args.scalar(i)));
  }
  return type.get();
}

Status check_cast(DType from, const Tensor& out) {
  if (!can_cast(from, out.dtype())) {
    return invalid(
        {"result type ", from, " can't be cast to the desired output type ", out.dtype()});
  }
  return Ok{};
}

Status check_elementwise(const Args& args, const Elementwise& op) {
  BP_ASSIGN_OR_RETURN(const DType common, common_dtype(args, 0, op.loops->arity));
  const DType dtype = apply(op.rule, common);
  if (op.check != nullptr) {
    BP_TRY(op.check(args, common));
  }
  const Loop& loop = loop_for(op, dtype);
  if (!op.dtypes.has(dtype) || loop.run == nullptr) {
    return not_implemented(dtype);
  }
  return check_cast(result_of(loop, dtype), args.out(0));
}

Status run_elementwise(Context& ctx, const Args& args, const Elementwise& op) {
  const int arity = op.loops->arity;
  BP_ASSIGN_OR_RETURN(const DType common, common_dtype(args, 0, arity));
  const DType dtype = apply(op.rule, common);
  const Loop& loop = loop_for(op, dtype);
  std::array<Operand, kMaxOperands> operands;
  for (int i = 0; i < arity; ++i) {
    Operand& operand = operands[static_cast<size_t>(i)];
    operand.as = dtype;
    if (args.is_tensor(i)) {
      operand.tensor = args.tensor(i);
    } else {
      operand.number = args.scalar(i);
    }
    operand.exact = op.exact_numbers && (!operand.tensor || operand.tensor.dim() == 0);
  }
  const Params params(args, arity, compute_of(dtype));
  return map(ctx,
             {&loop, std::span(operands.data(), static_cast<size_t>(arity)), result_of(loop, dtype),
              params.bytes.data()},
             args.out(0));
}

Status run_row(Context& ctx, const Args& args) {
  return run_elementwise(ctx, args, *static_cast<const Elementwise*>(args.entry().data));
}

Status check_row(const Args& args) {
  return check_elementwise(args, *static_cast<const Elementwise*>(args.entry().data));
}

}  // namespace backplane::portable
