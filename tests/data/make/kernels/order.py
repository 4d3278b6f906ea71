"""Order and what goes along a dimension: sort, topk, ranks, scans, searches, masks, diagonals."""

import torch
from values import ALL, EVERY, FLOATS, INTS, random, special, strided

A = torch.ops.aten
f16, f32, f64, i32, i64 = torch.float16, torch.float32, torch.float64, torch.int32, torch.int64
REAL = FLOATS + INTS
# Sums of halves differ in their last bits with the order of additions.
WIDE = {torch.float16: (3e-3, 1e-3), torch.bfloat16: (2e-2, 1e-2)}


def sorting(add):
    for dtype in ALL:
        x, v = random([3, 5, 2], dtype, low=-2, high=2), special(dtype)
        for down in (False, True):
            add(A.sort, x, 1, down)
            add(A.sort.stable, v, stable=True, dim=0, descending=down)
            add(A.topk, x, 3, 1, down)
        add(A.kthvalue, x, 2, 1)
        add(A.kthvalue, v, 3, -1, True)
        for op in (A.median.dim, A.nanmedian.dim, A.mode):
            add(op, x, 1, True)
            if op is not A.mode or dtype != f16:  # a NaN's place among equal halves is by chance
                add(op, v, 0)
        for op in (A.median, A.nanmedian):
            add(op, x)
            add(op, v)
    long = torch.randint(0, 9, (2, 300)).float()
    for k in (1, 4, 5, 200, 300):
        add(A.topk, long, k)
        add(A.kthvalue, long, k)
    add(A.topk, long, 100, sorted=False)
    add(A.mode, long)
    add(A.median.dim, long, 1)
    add(A.sort, torch.randperm(300).float(), 0, True)
    s, zero = strided([4, 3], f32), torch.tensor(2.5)
    for op in (A.sort, A.median.dim, A.nanmedian.dim, A.mode):
        add(op, s, -2)
        add(op, zero, 0)
        add(op, s, 2)
    for op in (A.median.dim, A.nanmedian.dim, A.mode):
        add(op, torch.zeros([2, 0, 3]), 1)
        add(op, torch.zeros([2, 0, 3]), 2)
    add(A.sort, torch.zeros([2, 0]), 1)
    add(A.topk, zero, 1, 0)
    add(A.topk, s, 0)
    add(A.topk, s, 4)
    add(A.topk, s, -1)
    add(A.kthvalue, zero, 1)
    add(A.kthvalue, s, 0)
    add(A.kthvalue, s, 4)
    add(A.median, torch.zeros([0]))
    add(A.nanmedian, torch.tensor([torch.nan, torch.nan]))
    add(A.nanmedian.dim, torch.tensor([[torch.nan, torch.nan], [torch.nan, 1.0]]), 1)


def scans(add):
    for dtype in ALL:
        x, v, wide = random([3, 5, 2], dtype), special(dtype), WIDE.get(dtype)
        for op in (A.cumsum, A.cumprod, A.logcumsumexp):
            add(op, x, 1, tolerance=wide or ((1e-5, 1e-5) if dtype in (f32, torch.complex64) else None))
        if not dtype.is_complex:
            for op in (A.cumsum, A.cumprod, A.logcumsumexp):
                add(op, v, 0, tolerance=wide)
        for op in (A.cummax, A.cummin):
            add(op, x, 1)
            add(op, v, -1)
    add(A.cumsum, random([4], torch.int8), 0, dtype=f32)
    add(A.cumsum, random([4], f32), 0, dtype=i32)
    for op in (A.cumsum, A.cumprod, A.logcumsumexp, A.cummax, A.cummin):
        add(op, torch.tensor(2.0), 0)
        add(op, torch.zeros([2, 0]), 1)
        add(op, strided([3, 4], f32), 0)
        add(op, random([3], f32), 1)


def searches(add):
    for dtype in ALL:
        edges, x = random([6], dtype).sort().values if not dtype.is_complex else random([6], dtype), random([2, 4], dtype)
        for right in (False, True):
            add(A.bucketize.Tensor, x, edges, right=right)
            add(A.searchsorted.Tensor, edges, x, right=right, out_int32=right)
        add(A.searchsorted.Scalar, edges, 1.5)
        add(A.bucketize.Scalar, 1, edges)
        for op in (A.isin.Tensor_Tensor,):
            add(op, x, edges)
            add(op, x, random([40], dtype), invert=True)
        add(A.isin.Tensor_Scalar, x, 1)
        add(A.isin.Scalar_Tensor, 1, x)
    rows, x = random([3, 5], f32).sort().values, random([3, 2], f32)
    add(A.searchsorted.Tensor, rows, x)
    add(A.searchsorted.Tensor, rows, x, side="right")
    add(A.searchsorted.Tensor, rows.flip(1), x, sorter=torch.arange(4, -1, -1).expand(3, 5).contiguous())
    add(A.searchsorted.Tensor, strided([3, 5], f32).sort().values, strided([3, 2], f32))
    odd = torch.tensor([-1.0, 0.0, torch.inf, torch.nan])
    add(A.searchsorted.Tensor, odd, special(f32))
    add(A.searchsorted.Tensor, odd, special(f32), right=True)
    add(A.searchsorted.Tensor, torch.tensor([2**53, 2**53 + 1, 2**53 + 2]), torch.tensor([2**53 + 1]))
    add(A.searchsorted.Tensor, torch.tensor([1, 2, 3]), torch.tensor([1.5, 2.0]))
    add(A.searchsorted.Tensor, torch.tensor([1.0, 2.0, 3.0]), torch.tensor(2))
    add(A.searchsorted.Tensor, torch.zeros([0]), x)
    add(A.searchsorted.Tensor, rows, x[:2])
    add(A.searchsorted.Tensor, rows, x[0])
    add(A.searchsorted.Scalar, rows, 1)
    add(A.searchsorted.Tensor, torch.tensor(1.0), x)
    add(A.searchsorted.Tensor, rows, x, side="middle")
    add(A.searchsorted.Tensor, rows, x, side="left", right=True)
    add(A.searchsorted.Tensor, rows, x, sorter=torch.arange(5))
    add(A.searchsorted.Tensor, rows, x, sorter=torch.full([3, 5], 5))
    add(A.bucketize.Tensor, x, rows)
    add(A.isin.Tensor_Tensor, special(f32), torch.tensor([torch.nan, 1.0]))
    add(A.isin.Tensor_Tensor, torch.tensor([1, 2]), torch.tensor([1.0, 2.5]))
    add(A.isin.Tensor_Tensor, x, torch.zeros([0]))
    add(A.isin.Tensor_Tensor, torch.tensor(1), torch.tensor([1, 3]))


def masks(add):
    for dtype in EVERY:
        x = random([3, 4], f32, low=-1, high=1).round().to(dtype)
        mask = torch.rand([3, 4]) < 0.5
        add(A.nonzero, x)
        add(A.nonzero_static, x, size=5)
        add(A.nonzero_static, x, size=20, fill_value=-7)
        add(A.masked_select, x, mask)
        add(A.masked_scatter, x, mask, random([12], f32).to(dtype))
        add(A.tril, x, -1)
        add(A.triu, x, 1)
    for dtype in ALL:
        x = random([2, 3], dtype)
        add(A.diag_embed, x)
        add(A.diag_embed, x, 1, 0, -1)
        add(A.diag_embed, x, -2, 2, 0)
        add(A.trace, x)
    x = strided([3, 4, 2], f32)
    add(A.nonzero, torch.tensor(3.0))
    add(A.nonzero, torch.zeros([2, 0]))
    add(A.nonzero_static, torch.tensor(3.0), size=2)
    add(A.nonzero_static, x, size=-1)
    add(A.nonzero_static, x, size=0)
    add(A.masked_select, x, torch.tensor([True, False]))
    add(A.masked_select, torch.tensor([1.0, 2.0]), torch.tensor([[True], [False]]))
    add(A.masked_select, x, torch.tensor([1, 0]))
    add(A.masked_select, x, torch.tensor([True, False, True]))
    add(A.masked_scatter, x, x > 0, random([2], f32))
    add(A.masked_scatter, x, x > 0, random([24], f64))
    add(A.tril, x, 0)
    add(A.triu, strided([2, 2, 4, 3], f64), -2)
    add(A.tril, random([3], f32))
    add(A.diag_embed, x, 0, 1, 1)
    add(A.diag_embed, x, 0, 4, 1)
    add(A.diag_embed, torch.zeros([0]), 3)
    add(A.trace, x)
    add(A.trace, strided([3, 5], f32))
    add(A.trace, torch.zeros([0, 3]))


def cases(add):
    sorting(add)
    scans(add)
    searches(add)
    masks(add)
