"""Binary operators: tensors, 0-d tensors and numbers of many dtypes together."""

import torch
from values import ALL, COMPLEX, EVERY, FLOATS, INTS, random, special, strided

A = torch.ops.aten
f16, bf16, f32, f64 = torch.float16, torch.bfloat16, torch.float32, torch.float64
i8, u8, i32, i64 = torch.int8, torch.uint8, torch.int32, torch.int64
c64, b = torch.complex64, torch.bool

# Tensor, Scalar overloads by name; None where there is none.
OPERATORS = {
    "add": ("Tensor", "Scalar"), "sub": ("Tensor", "Scalar"), "rsub": ("Tensor", "Scalar"), "mul": ("Tensor", "Scalar"),
    "div": ("Tensor", "Scalar"), "floor_divide": ("default", "Scalar"), "remainder": ("Tensor", "Scalar"),
    "fmod": ("Tensor", "Scalar"), "pow": ("Tensor_Tensor", "Tensor_Scalar"), "maximum": ("default", None),
    "minimum": ("default", None), "fmax": ("default", None), "fmin": ("default", None), "atan2": ("default", None),
    "hypot": ("default", None), "copysign": ("Tensor", "Scalar"), "nextafter": ("default", None),
    "heaviside": ("default", None), "xlogy": ("Tensor", "Scalar_Other"), "special_xlog1py": ("default", "other_scalar"),
    "logaddexp": ("default", None), "logaddexp2": ("default", None), "gcd": ("default", None), "lcm": ("default", None),
    "ldexp": ("Tensor", None), "bitwise_and": ("Tensor", "Scalar"), "bitwise_or": ("Tensor", "Scalar"),
    "bitwise_xor": ("Tensor", "Scalar"), "bitwise_left_shift": ("Tensor", "Tensor_Scalar"),
    "bitwise_right_shift": ("Tensor", "Tensor_Scalar"), "__lshift__": ("Tensor", "Scalar"),
    "__rshift__": ("Tensor", "Scalar"), "logical_and": ("default", None), "logical_or": ("default", None),
    "logical_xor": ("default", None), "eq": ("Tensor", "Scalar"), "ne": ("Tensor", "Scalar"), "lt": ("Tensor", "Scalar"),
    "le": ("Tensor", "Scalar"), "gt": ("Tensor", "Scalar"), "ge": ("Tensor", "Scalar"),
    "float_power": ("Tensor_Tensor", "Tensor_Scalar"),
}
SHIFTS = ("bitwise_left_shift", "bitwise_right_shift", "__lshift__", "__rshift__")
REFUSED_ZERO = ("floor_divide", "remainder", "fmod", "pow")
LOOSE = {"pow": 1e-5, "logaddexp2": 1e-5, "float_power": 1e-5, "logaddexp": 1e-5}
PAIRS = [(f32, f64), (f16, f32), (f16, bf16), (i8, u8), (i32, i64), (i64, f16), (u8, f32), (b, i8), (b, f16), (c64, f64),
         (f32, c64), (i64, torch.float64), (torch.uint16, f32), (torch.uint16, i8), (torch.float8_e5m2, f32)]


def other_for(name, dtype, n):
    """A right operand that the operator takes: no zero divisors, no huge shifts."""
    return random([n], dtype, low=1 if name in REFUSED_ZERO and not dtype.is_floating_point else -3, high=5)


def left_for(name, dtype):
    """Awkward values; but the minimum of an integer stops PyTorch itself in some operators."""
    x = special(dtype)
    traps = name in ("gcd", "lcm", "fmod") and dtype in INTS
    return x[x != torch.iinfo(dtype).min] if traps and dtype != u8 else x


def tolerance(name, dtype):
    if name in LOOSE and dtype in (f32, torch.complex64):
        return {"tolerance": (LOOSE[name], 1e-6)}
    return {}


def half(dtype):
    """What PyTorch rounds in between depends on the length of a tensor of halves."""
    return {"tolerance": (2e-2, 1e-2)} if dtype in (f16, bf16) else {}


def cases(add):
    for name, (tensor_overload, scalar_overload) in OPERATORS.items():
        op = getattr(getattr(A, name), tensor_overload)
        for dtype in EVERY:
            x = left_for(name, dtype)
            add(op, x, other_for(name, dtype, x.numel()), **tolerance(name, dtype))
            if dtype in FLOATS and name not in ("ldexp",):
                add(op, x, x.flip(0), **tolerance(name, dtype))
        for left, right in PAIRS:
            add(op, random([2, 1, 3], left, low=1), random([4, 1], right, low=1), **tolerance(name, f32))
        add(op, random([3], i8, low=1), torch.tensor(3))
        add(op, random([3], f16, low=1), torch.tensor(1.2345678, dtype=f64))
        add(op, random([3], i32, low=1), torch.tensor(2.5))
        add(op, torch.tensor(2.5), random([3], i32, low=1))
        add(op, random([], i32, low=1), random([], i8, low=1))
        add(op, strided([3, 4], i32, low=1), strided([3, 4], i32, low=1))
        add(op, random([3, 4], f32), random([2, 4], f32))
        add(op, random([2, 0], f32), random([1], f32))
        if scalar_overload:
            op = getattr(getattr(A, name), scalar_overload)
            for dtype in EVERY:
                for number in (3, 2.5, True, 1 + 2j):
                    add(op, special(dtype), number, **tolerance(name, dtype))
            for number in (1000, -1, 0, 0.1234567, -2, 300):
                add(op, random([5], i8, low=1, high=100), number)
                add(op, random([5], u8, low=1, high=100), number)
                add(op, random([5], f16, low=0.5), number)

    # The result's dtype, for every pair of dtypes, with and without dimensions.
    for left in EVERY:
        for right in EVERY:
            for shapes in (([1], [1]), ([1], [])):
                op = A.eq.Tensor if left.itemsize == 1 and left.is_floating_point else A.mul.Tensor
                add(op, *(torch.ones(s).to(d) for s, d in zip(shapes, (left, right))))

    for dtype in ALL:
        x, y = special(dtype), random([special(dtype).numel()], dtype)
        for op in (A.add.Tensor, A.sub.Tensor, A.rsub.Tensor):
            for alpha in (2, 1.5, True):
                add(op, x, y, alpha=alpha, **half(dtype))
        for mode in ("trunc", "floor", None, "other"):
            add(A.div.Tensor_mode, x, other_for("fmod", dtype, x.numel()), rounding_mode=mode, **half(dtype))
            add(A.div.Scalar_mode, x, 2, rounding_mode=mode)
            add(A.div.Scalar_mode, x, -1.5, rounding_mode=mode)
        add(A.pow.Scalar, 2, y)
        add(A.pow.Scalar, 2.5, y, tolerance=(1e-5, 1e-6) if dtype in (f32, torch.complex64) else None)
        add(A.pow.Scalar, 1, y)
        for exponent in (0, 1, 2, 0.5, -1, -0.5, -2, 3):
            add(A.pow.Tensor_Scalar, x, exponent, **tolerance("pow", dtype))
        add(A.isclose, x, x)
        add(A.isclose, x, y, 0.5, 0.1, True)
        add(A.remainder.Scalar_Tensor, 7, other_for("fmod", dtype, 4))
        add(A.float_power.Scalar, 2, y)
        add(A.xlogy.Scalar_Self, 2.0, y)
        add(A.special_xlog1py.self_scalar, 2.0, y)
        add(A.bitwise_and.Scalar_Tensor, 5, y)
        add(A.bitwise_left_shift.Scalar_Tensor, 5, y)
        add(A.bitwise_right_shift.Scalar_Tensor, -500, y)
        add(A.__and__.Scalar, y, 3)
        add(A.__or__.Tensor, y, y)
        add(A.__xor__.Scalar, y, 1)
    for dtype in INTS:
        for name in ("floor_divide", "remainder", "fmod", "div"):
            op = A.div.Tensor if name == "div" else getattr(getattr(A, name), OPERATORS[name][0])
            add(op, random([3], dtype), torch.tensor([1, 0, 2], dtype=dtype))
        add(A.div.Tensor_mode, random([3], dtype), torch.tensor([1, 0, 2], dtype=dtype), rounding_mode="floor")
        add(A.floor_divide.Scalar, random([3], dtype), 0)
        add(A.remainder.Scalar, random([0], dtype), 0)
        for name in ("floor_divide", "remainder", "fmod", "gcd", "lcm") + SHIFTS:
            op = getattr(getattr(A, name), OPERATORS[name][0])
            for divisor in (-1, -3, 7, 200):
                add(op, left_for(name, dtype), torch.tensor([divisor], dtype=i64).to(dtype))
    for dtype in [f16, bf16, f32, f64]:
        add(A.complex, random([3], dtype), random([3], dtype))
        add(A.polar, random([3], dtype), random([3], dtype))
    add(A.complex, random([3], f32), random([3], f64))
    add(A.copysign.Scalar, random([3], f32), -0.0)
    for dtype in COMPLEX:
        add(A.mul.Tensor, special(dtype), random([25], dtype))
        add(A.div.Tensor, special(dtype), random([25], dtype))
