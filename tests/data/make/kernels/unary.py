"""Unary operators, each on the awkward values of every dtype."""

import torch
from values import ALL, EVERY, random, special, strided

A = torch.ops.aten

PLAIN = """abs neg negative positive sign sgn signbit ceil floor trunc fix round frac real imag conj_physical
_conj_physical angle isnan isinf isfinite isposinf isneginf isreal square logical_not bitwise_not
exp exp2 expm1 log log2 log10 log1p sqrt rsqrt reciprocal sigmoid sin cos tan sinh cosh tanh asin acos atan
asinh acosh atanh sinc erf erfc erfinv lgamma digamma i0 deg2rad rad2deg relu relu6 silu mish hardswish hardsigmoid
selu log_sigmoid softshrink hardshrink softplus celu elu leaky_relu hardtanh logit nan_to_num gelu""".split()

# Complex functions go over their branch cuts and infinities in ways that depend on the library.
ACCURACY = {"lgamma": 1e-5, "digamma": 1e-5, "erfinv": 1e-5, "i0": 1e-5, "tan": 1e-5, "logit": 1e-5, "asin": 1e-5,
            "erfc": 1e-5, "acos": 1e-5, "mish": 1e-5, "log_sigmoid": 1e-5, "acosh": 1e-5,
            "gelu": 1e-3}


def cases(add):
    for name in PLAIN:
        op = getattr(A, name).default
        for dtype in EVERY:
            kwargs = {}
            if name in ACCURACY and dtype == torch.float32:
                kwargs["tolerance"] = (ACCURACY[name], 1e-6)
            if name in ACCURACY and dtype == torch.float64:
                kwargs["tolerance"] = (1e-11, 1e-12)
            add(op, special(dtype), **kwargs)
        add(op, strided([3, 4], torch.float32), tolerance=(1e-5, 1e-6))
        add(op, random([], torch.float16))
        add(op, random([0, 2], torch.float32))
        add(op, random([3], torch.float64, low=0.1, high=0.9), tolerance=(1e-11, 1e-12))

    for dtype in ALL:
        x = special(dtype)
        for decimals in (0, 1, 3, -1):
            add(A.round.decimals, x * (3 if dtype != torch.bool else 1), decimals=decimals)
        add(A.clamp_min, x, 1)
        add(A.hardtanh, x, -2, 3)
        add(A.hardtanh, x, 0, 3)
        add(A.leaky_relu, x, 0.3)
        add(A.elu, x, 0.5, 2.0, 1.5)
        add(A.celu, x, 0.7)
        add(A.softplus, x, 2.0, 5.0)
        add(A.softshrink, x, 0.3)
        add(A.hardshrink, x, 0.3)
        add(A.threshold, x, 1, 7)
        add(A.threshold, x, 0.5, 2.5)
        add(A.logit, x, 0.1, tolerance=(1e-5, 1e-6) if dtype != torch.bfloat16 else (1e-2, 1e-6))
        add(A.nan_to_num, x, 1.5, 2.5, -3.5)
        add(A.nan_to_num, x, None, 7.0, None)
        add(A.gelu, x, approximate="tanh", tolerance=(1e-2, 1e-3) if x.element_size() == 2 else (1e-5, 1e-6))
    add(A.celu, special(torch.float32), 0.0)
    add(A.softshrink, special(torch.float32), -1.0)
    add(A.gelu, special(torch.float32), approximate="other")
