"""Inputs for kernel cases: small tensors with the awkward values of each dtype in them."""

import math

import torch

FLOATS = [torch.float32, torch.float64, torch.float16, torch.bfloat16]
INTS = [torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64]
COMPLEX = [torch.complex64, torch.complex128]
UNSIGNED = [torch.uint16, torch.uint32, torch.uint64]
FLOAT8S = [torch.float8_e5m2, torch.float8_e4m3fn, torch.float8_e5m2fnuz, torch.float8_e4m3fnuz]
ALL = FLOATS + INTS + COMPLEX + [torch.bool]
EVERY = ALL + UNSIGNED + FLOAT8S

SPECIAL = [0.0, -0.0, 1.0, -1.0, math.inf, -math.inf, math.nan, 0.5, -0.5, 1.5, 2.5, -2.5, 1e-8, -3.25, 20.0, -20.0]


def special(dtype):
    """A vector with the dtype's awkward values."""
    if dtype == torch.bool:
        return torch.tensor([True, False, True])
    if dtype.is_complex:
        parts = [0.0, 1.0, -1.0, 0.5, -2.5]
        return torch.tensor([complex(a, b) for a in parts for b in parts], dtype=dtype)
    if dtype.is_floating_point:
        return torch.tensor(SPECIAL).to(dtype)
    info = torch.iinfo(dtype)
    values = [0, 1, 2, 3, 7, 10, info.max, info.max - 1, info.min] + ([-1, -2, -7] if info.min < 0 else [])
    return torch.tensor(values, dtype=dtype)


def random(shape, dtype, low=-4, high=4):
    """Uniform values in [low, high]."""
    if dtype == torch.bool:
        return torch.rand(shape) < 0.5
    if dtype.is_complex:
        return torch.complex(*(torch.rand(shape, dtype=torch.float64) * (high - low) + low for _ in "ri")).to(dtype)
    if dtype.is_floating_point:
        return (torch.rand(shape, dtype=torch.float64) * (high - low) + low).to(dtype)
    info = torch.iinfo(dtype)
    return torch.randint(max(low, info.min), high + 1, shape).to(dtype)


def strided(shape, dtype, **kwargs):
    """As random(), with the strides of a permuted slice."""
    return random([n * 2 for n in reversed(shape)], dtype, **kwargs)[tuple(slice(None, None, 2) for _ in shape)].permute(
        *reversed(range(len(shape))))
