"""Factories, copies and casts."""

import math

import torch
from values import ALL, EVERY, random, special, strided

A = torch.ops.aten
f16, bf16, f32, f64 = torch.float16, torch.bfloat16, torch.float32, torch.float64
CASTS = EVERY + [torch.float8_e8m0fnu, torch.complex32]


def cases(add):
    for source in CASTS:
        for target in CASTS:
            x = special(source) if source in EVERY else random([5], f32).to(source)
            if source.is_floating_point or source.is_complex:
                x = x[torch.isfinite(x.to(torch.complex128))] if not target.is_floating_point else x
            add(A._to_copy, x, dtype=target)
        add(A.clone, strided([3, 4], torch.float32).to(source))
    bits = torch.randint(-2**31, 2**31, [600], dtype=torch.int64).to(torch.int32).view(f32)
    grid = torch.cat([bits, torch.linspace(-500, 500, 400), torch.linspace(-0.02, 0.02, 400), 2.0 ** torch.arange(-30, 20)])
    for target in (f16, bf16, torch.float8_e5m2, torch.float8_e4m3fn, torch.float8_e5m2fnuz, torch.float8_e4m3fnuz,
                   torch.float8_e8m0fnu):
        add(A._to_copy, grid, dtype=target)
    for small in (torch.float8_e5m2, torch.float8_e4m3fn, torch.float8_e5m2fnuz, torch.float8_e4m3fnuz,
                  torch.float8_e8m0fnu):
        add(A._to_copy, torch.arange(256, dtype=torch.int32).to(torch.uint8).view(small), dtype=f32)
    for target in (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64):
        for source in (f32, f64, f16):
            add(A._to_copy, torch.tensor([-1.7, 1.7, 300.5, -300.5, 40000.0, -129.0]).to(source), dtype=target)
    for dtype in EVERY:
        x = special(dtype)
        for value in (3, 2.5, True, 1000, -1, 1j, 70000.0, math.inf):
            add(A.full_like, x, value)
            add(A.fill.Scalar, x, value)
            add(A.full, [2, 3], value, dtype=dtype)
            add(A.scalar_tensor, value, dtype=dtype)
        add(A.new_full, x, [2], 2)
        add(A.fill.Tensor, x, torch.tensor(2.5))
        add(A.fill.Tensor, x, torch.tensor([2.5]))
        for op in (A.zeros_like, A.ones_like, A.zero):
            add(op, x)
        add(A.zeros, [2, 0, 3], dtype=dtype)
        add(A.ones, [2, 1, 3], dtype=dtype)
        add(A.new_zeros, x, [2, 2])
        add(A.new_ones, x, [2, 2])
        add(A.eye, 3, dtype=dtype)
        add(A.eye.m, 2, 4, dtype=dtype)
        add(A.arange, 5, dtype=dtype)
        add(A.arange.start_step, 7, 1, -2, dtype=dtype)
        add(A.arange.start_step, 0.5, 3, 0.25, dtype=dtype)
        loose = {"tolerance": (1e-2, 1e-2)} if dtype in (f16, bf16) else {}
        for steps in (0, 1, 5, 8):
            add(A.linspace, 1, 9, steps, dtype=dtype, **loose)
            add(A.logspace, 0, 3, steps, 2.0, dtype=dtype, **loose)
        add(A.linspace.Tensor_Tensor, torch.tensor(-2.5), torch.tensor(3.5), 6, dtype=dtype, **loose)
        add(A.linspace.Tensor_Scalar, torch.tensor(-2), 3.5, 6, dtype=dtype, **loose)
        add(A.copy, x, random([1], f32))
        add(A.copy, random([2, x.numel()], f32), x)
        add(A.copy, x, random([2, x.numel()], dtype))
        for op in (A.alias_copy, A.detach_copy, A.lift_fresh_copy):
            add(op, x)
        add(A.view_as_real_copy, x)
    for args in [(0,), (2.5,), (-1,)]:
        add(A.arange, *args)
    for args in [(1, 5), (5, 1), (0.0, 1.0)]:
        add(A.arange.start, *args)
    for args in [(0, 10, 3), (0, 10, 0), (0, 1, 0.1), (10, 0, -3), (0, -5, 1), (0, math.inf, 1), (1, 1, -1)]:
        add(A.arange.start_step, *args)
    add(A.linspace, 0, 1, -1)
    add(A.linspace, 0, 1j, 5)
    add(A.logspace, 0, 2, 5)
    add(A.linspace.Tensor_Tensor, torch.tensor([1.0]), torch.tensor(2.0), 3)
    add(A.eye, -1)
    add(A.eye, 0)
    for row, column in [(3, 3), (2, 5), (5, 2), (0, 3), (3, 0), (1, 1), (-1, 2)]:
        for offset in (-7, -1, 0, 1, 2, 9):
            add(A.tril_indices, row, column, offset)
            add(A.triu_indices, row, column, offset)
    add(A.view_as_complex_copy, random([3, 2], f32))
    add(A.view_as_complex_copy, random([3, 2], f16))
    add(A.view_as_complex_copy, random([3, 3], f32))
