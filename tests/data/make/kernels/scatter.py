"""Elements and slices by index: gather, take, scatter and its reductions, put, index_*."""

import torch
from values import ALL, EVERY, FLOATS, INTS, random, special, strided

A = torch.ops.aten
i32, i64, f16, f32 = torch.int32, torch.int64, torch.float16, torch.float32
REDUCED = FLOATS + [torch.uint8, torch.int16, torch.int32, torch.int64]


def index(shape, size, dtype=i64):
    return torch.randint(0, size, shape).to(dtype)


def chosen(add):
    for dtype in EVERY:
        x = random([3, 4], f32).to(dtype)
        add(A.gather, x, 1, index([3, 2], 4))
        add(A.index_select, x, -1, index([3], 4))
        add(A.take, x, torch.tensor([[0, -1], [11, -12]]))
    x = strided([3, 4, 2], f32)
    add(A.gather, x, -2, index([2, 5, 2], 4, i32))
    add(A.gather, x, 0, index([3, 4, 2], 3).transpose(0, 1).contiguous().transpose(0, 1))
    add(A.gather, torch.tensor(3.0), 0, torch.tensor([0, 0, 0]))
    add(A.gather, torch.tensor([3.0]), 0, torch.tensor(0))
    add(A.gather, x, 1, torch.zeros([0], dtype=i64))
    add(A.gather, x, 1, torch.zeros([0], dtype=torch.uint8))
    add(A.index_select, x, 0, torch.tensor(2))
    add(A.index_select, x, 1, torch.zeros([0], dtype=i64))
    add(A.index_select, torch.tensor(3.0), 0, torch.tensor([0]))
    add(A.take, x, torch.tensor(23))
    add(A.take, x, torch.zeros([2, 0], dtype=i64))
    for bad in (torch.tensor([4]), torch.tensor([-1]), torch.tensor([0.0]), torch.tensor([[1]]), torch.tensor([1], dtype=torch.int16)):
        add(A.index_select, random([3, 4], f32), 1, bad)
        add(A.gather, random([3], f32), 0, bad)
    add(A.gather, x, 3, index([3, 4, 2], 2))
    add(A.gather, x, 0, index([3, 4], 2))
    add(A.gather, x, 0, index([3, 5, 2], 2))
    add(A.gather, x, 0, torch.tensor([[[3]]]))
    add(A.take, x, torch.tensor([24]))
    add(A.take, x, torch.tensor([0], dtype=i32))
    add(A.take, torch.zeros([0]), torch.tensor([0]))


def scattered(add):
    for dtype in EVERY:
        x, at, src = random([3, 4], f32).to(dtype), torch.tensor([[3, 1], [0, 0], [2, 2]]), random([3, 3], f32).to(dtype)
        add(A.scatter.src, x, 1, at, src)
        add(A.scatter.value, x, 1, at, 2)
    for dtype in ALL:
        x, at, src = random([3, 4], dtype), index([3, 6], 4), random([3, 6], dtype)
        add(A.scatter_add, x, 1, at, src)
        add(A.put, x, torch.tensor([0, -1, 5, 0]), random([4], dtype), False)
        add(A.put, x, torch.tensor([[0, -1], [5, 0]]), random([4], dtype), True)
        add(A.scatter.value, x, 1, at, 2.75)
        for how in ("add", "multiply"):
            add(A.scatter.reduce, x, 1, at, src, reduce=how)
            add(A.scatter.value_reduce, x, 0, at[:, :4] % 3, 3, reduce=how)
        for how in ("sum", "prod", "mean", "amax", "amin"):
            for include in (True, False):
                add(A.scatter_reduce.two, x, -1, at, src, how, include_self=include)
    x = strided([4, 3, 2], f32)
    add(A.scatter.src, x, 0, index([2, 3, 2], 4, i32), strided([3, 3, 2], f32))
    add(A.scatter.src, x, 0, torch.zeros([0], dtype=i64), torch.zeros([0]))
    add(A.scatter.value, x, 0, torch.zeros([0], dtype=torch.uint8), 1)
    add(A.scatter.src, torch.tensor(1.0), 0, torch.tensor(0), torch.tensor(5.0))
    add(A.scatter.src, torch.tensor([1.0]), 0, torch.tensor(0), torch.tensor([5.0]))
    add(A.scatter.value, torch.tensor([1, 2]), 0, torch.tensor([1]), -1.5)
    add(A.scatter_reduce.two, special(f32), 0, torch.arange(16), special(f32).flip(0), "amax")
    add(A.scatter_reduce.two, special(f32), 0, torch.arange(16), special(f32).flip(0), "amin", include_self=False)
    add(A.scatter_reduce.two, x, 1, torch.zeros([0, 3, 2], dtype=i64), x, "mean", include_self=False)
    add(A.scatter.src, x, 0, torch.tensor([[[4]]]), x)
    add(A.scatter.src, x, 0, torch.tensor([[[-1]]]), x)
    add(A.scatter.src, x, 0, index([4, 4, 2], 4), random([4, 4, 2], f32))
    add(A.scatter.src, x, 0, index([4, 3, 2], 4), random([3, 3, 2], f32))
    add(A.scatter.src, x, 0, index([4, 3, 2], 4), random([4, 3, 2], torch.float64))
    add(A.scatter.src, x, 0, random([4, 3, 2], f32), random([4, 3, 2], f32))
    add(A.scatter.src, x, 0, index([4], 4), random([4], f32))
    add(A.scatter.reduce, x, 0, index([4, 3, 2], 4), x, reduce="sum")
    add(A.scatter_reduce.two, x, 0, index([4, 3, 2], 4), x, "add")
    add(A.put, x, torch.tensor([24]), torch.tensor([1.0]))
    add(A.put, x, torch.tensor([1, 2]), torch.tensor([1.0]))
    add(A.put, x, torch.tensor([1]), torch.tensor([1]))


def slices(add):
    for dtype in EVERY:
        x, source = random([3, 4], f32).to(dtype), random([3, 2], f32).to(dtype)
        add(A.index_copy, x, 1, torch.tensor([3, 0]), source)
        add(A.index_fill.int_Scalar, x, 0, torch.tensor([-1, 0]), 3)
    for dtype in ALL:
        x, source = random([4, 3], dtype), random([6, 3], dtype)
        at = index([6], 4)
        add(A.index_add, x, 0, at, source)
        add(A.index_add, x, 0, at, source, alpha=-2)
        add(A.index_add, x, 0, at, source, alpha=0.5)
        add(A.index_add, x[0], 0, at % 3, source[:, 0].contiguous())
        add(A.index_fill.int_Tensor, x, 1, torch.tensor([0, 2]), torch.tensor(2.5))
        for how in ("prod", "mean", "amax", "amin"):
            for include in (True, False):
                add(A.index_reduce, x, 0, at, source, how, include_self=include)
    x = strided([4, 3, 2], f32)
    add(A.index_add, x, -2, torch.tensor([2, 2], dtype=i32), strided([4, 2, 2], f32))
    add(A.index_add, torch.tensor(1.0), 0, torch.tensor(0), torch.tensor(2.0))
    add(A.index_add, torch.tensor(1.0), 0, torch.tensor([0]), torch.tensor([2.0]))
    add(A.index_copy, torch.tensor(1.0), 0, torch.tensor([0]), torch.tensor([2.0]))
    add(A.index_fill.int_Scalar, torch.tensor(1.0), 0, torch.tensor([0]), 2.0)
    add(A.index_fill.int_Scalar, x, 0, torch.zeros([0], dtype=i64), 2.0)
    add(A.index_copy, x, 0, torch.tensor([1]), random([1, 3, 2], f32))
    for op in (A.index_add, A.index_copy):
        add(op, x, 0, torch.tensor([4]), random([1, 3, 2], f32))
        add(op, x, 0, torch.tensor([-1]), random([1, 3, 2], f32))
        add(op, x, 0, torch.tensor([1]), random([2, 3, 2], f32))
        add(op, x, 0, torch.tensor([1]), random([1, 2, 2], f32))
        add(op, x, 0, torch.tensor([1]), random([1, 3, 2], torch.float64))
        add(op, x, 0, torch.tensor([[1]]), random([1, 3, 2], f32))
        add(op, x, 0, torch.tensor([1.0]), random([1, 3, 2], f32))
        add(op, x, 3, torch.tensor([1]), random([1, 3, 2], f32))
    add(A.index_fill.int_Scalar, x, 0, torch.tensor([4]), 2.0)
    add(A.index_fill.int_Scalar, x, 0, torch.tensor([-5]), 2.0)
    add(A.index_fill.int_Tensor, x, 0, torch.tensor([1]), torch.tensor([2.0]))
    add(A.index_reduce, x, 0, torch.tensor([1]), random([1, 3, 2], f32), "sum")
    add(A.index_reduce, x, 0, torch.tensor([4]), random([1, 3, 2], f32), "prod")


def cases(add):
    chosen(add)
    scattered(add)
    slices(add)
