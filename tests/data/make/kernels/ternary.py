"""Choosing, clamping and blending."""

import math

import torch
from values import ALL, EVERY, random, special, strided

A = torch.ops.aten
f16, bf16, f32, f64 = torch.float16, torch.bfloat16, torch.float32, torch.float64
i8, i32, i64, c64 = torch.int8, torch.int32, torch.int64, torch.complex64


def cases(add):
    for dtype in EVERY:
        x = special(dtype)
        n = x.numel()
        y, mask = random([n], dtype), random([n], torch.bool)
        add(A.where.self, mask, x, y)
        add(A.where.ScalarOther, mask, x, 2)
        add(A.where.ScalarSelf, mask, 2.5, x)
        add(A.where.Scalar, mask, 1, 2.5)
        for value in (3, 2.5, True, 1000, -1, 1j):
            add(A.masked_fill.Scalar, x, mask, value)
        add(A.masked_fill.Tensor, x, mask, torch.tensor(3))
        add(A.masked_fill.Tensor, x, mask, torch.tensor(3.5))
        add(A.clamp, x, -1, 2)
        add(A.clamp, x, -1.5, None)
        add(A.clamp, x, None, 2)
        add(A.clamp, x, 3, 1)
        add(A.clamp, x, None, None)
        add(A.clamp.Tensor, x, y, None)
        add(A.clamp.Tensor, x, None, y)
        add(A.clamp.Tensor, x, y, y)
        add(A.clamp_min, x, 1)
        add(A.clamp_max, x, 1.5)
        add(A.clamp_min.Tensor, x, y)
        add(A.clamp_max.Tensor, x, y)
    for dtype in ALL:
        x = random([2, 3], dtype, low=1)
        loose = {"tolerance": (2e-2, 1e-2)} if dtype.is_floating_point and dtype.itemsize == 2 else {}
        for weight in (0.25, 0.75, 2.0, 1):
            add(A.lerp.Scalar, x, random([1, 3], dtype), weight, **loose)
        add(A.lerp.Tensor, x, random([3], dtype), random([2, 3], dtype), **loose)
        for value in (1, 2, 0.5):
            add(A.addcmul, x, random([3], dtype), random([2, 1], dtype), value=value, **loose)
            add(A.addcdiv, x, random([3], dtype), random([2, 1], dtype, low=1), value=value, **loose)
    for left, right in [(f32, f64), (f16, f32), (i32, i8), (i64, f16), (f32, c64), (torch.bool, i32), (torch.uint16, f32)]:
        mask = random([4, 1], torch.bool)
        add(A.where.self, mask, random([3], left), random([4, 3], right))
        add(A.where.self, mask, random([], left), random([4, 3], right))
        add(A.clamp.Tensor, random([3], left), random([2, 1], right), None)
        add(A.lerp.Tensor, random([3], left), random([3], right), random([3], left))
        add(A.addcmul, random([3], left), random([3], right), random([3], left), value=2)
    add(A.where.self, random([3], torch.uint8), random([3], f32), random([3], f32))
    add(A.where.self, random([3], f32), random([3], f32), random([3], f32))
    add(A.where.self, random([2, 3], torch.bool), random([4], f32), random([3], f32))
    add(A.where.ScalarOther, random([3], torch.bool), random([3], i32), 1.5)
    add(A.masked_fill.Scalar, random([3], f32), random([2, 3], torch.bool), 7)
    add(A.masked_fill.Scalar, random([3], f32), random([3], f32), 7)
    add(A.masked_fill.Tensor, random([3], f32), random([3], torch.bool), random([1], f32))
    add(A.clamp, special(f32), math.nan, 1.0)
    add(A.clamp, random([3], i8), -1000, 1000)
    add(A.clamp_min, random([3], i32), 1.5)
    add(A.clamp, strided([3, 4], f32), -0.5, 0.5)
