"""Grids, patches, pools undone."""

import torch
from values import FLOATS, random, strided

A = torch.ops.aten
f32, f64, i64 = torch.float32, torch.float64, torch.int64


def cases(add):
    close = {"tolerance": (1e-5, 2e-6)}
    for dtype in (f32, f64):
        image, grid = random([2, 2, 3, 4], dtype), random([2, 2, 3, 2], dtype, low=-2, high=2)
        grid[0, 0, 0] = float("nan")
        volume, points = random([1, 2, 3, 2, 4], dtype), random([1, 2, 1, 3, 3], dtype, low=-2, high=2)
        for padding in (0, 1, 2):
            for align in (False, True):
                for mode in (0, 1, 2):
                    add(A.grid_sampler_2d, image, grid[1:].repeat(2, 1, 1, 1), mode, padding, align, **close)
                for mode in (0, 1):
                    add(A.grid_sampler_3d, volume, points, mode, padding, align, **close)
        for align in (False, True):
            add(A.affine_grid_generator, random([2, 2, 3], dtype), [2, 1, 3, 4], align, **close)
            add(A.affine_grid_generator, random([1, 3, 4], dtype), [1, 1, 2, 1, 3], align, **close)
    for dtype in FLOATS + [torch.complex64, torch.bool]:
        for shape in ([2, 3, 5, 6], [3, 5, 6], [0, 3, 5, 6]):
            add(A.im2col, random(shape, dtype), [2, 3], [1, 2], [1, 0], [2, 1])
        loose = {"tolerance": (2e-2, 2e-2)} if dtype.itemsize == 2 else {}
        if dtype != torch.bool:
            add(A.col2im, random([2, 12, 15], dtype), [4, 6], [2, 2], [1, 1], [0, 0], [1, 1], **loose)
            add(A.col2im, random([4, 16], dtype), [4, 5], [2, 2], [2, 1], [1, 0], [1, 1], **loose)
    add(A.im2col, strided([2, 3, 5, 6], f32), [2, 2], [1, 1], [0, 0], [1, 1])
    for dtype in FLOATS + [i64]:
        x = random([2, 2, 2, 3], dtype)
        index = torch.stack([torch.randperm(20)[:6] for _ in range(4)]).view(2, 2, 2, 3)
        add(A.max_unpool2d, x, index, [4, 5])
        add(A.max_unpool2d, x[0], index[0], [4, 5])
        add(A.max_unpool3d, x.unsqueeze(0), index.unsqueeze(0), [1, 4, 5], [1, 1, 1], [0, 0, 0])
        if dtype.is_floating_point:
            big = random([2, 2, 4, 6], dtype)
            _, at = A.max_pool2d_with_indices(big, [3, 2], [1, 2])
            loose = {"tolerance": (2e-2, 2e-2)} if dtype.itemsize == 2 else {}
            add(A.max_pool2d_with_indices_backward, random(at.shape, dtype), big, [3, 2], [1, 2], [0, 0], [1, 1],
                False, at, **loose)
    # refused
    x, index = random([1, 1, 2, 2], f32), torch.tensor([[[[0, 1], [2, 16]]]])
    add(A.max_unpool2d, x, index, [4, 4])
    add(A.max_unpool2d, x, -index, [4, 4])
    add(A.max_unpool2d, x, index.int(), [4, 4])
    add(A.max_unpool2d, x, index[:, :, :1], [4, 4])
    add(A.im2col, random([3, 2, 2], f32), [3, 3], [1, 1], [0, 0], [1, 1])
    add(A.im2col, random([3, 2, 2], f32), [1, 1], [0, 1], [0, 0], [1, 1])
    add(A.im2col, random([2, 2], f32), [1, 1], [1, 1], [0, 0], [1, 1])
    add(A.col2im, random([3, 4], f32), [2, 2], [1, 2], [1, 1], [0, 0], [1, 1])
    add(A.col2im, random([4, 5], f32), [4, 5], [2, 2], [1, 1], [0, 0], [1, 1])
    add(A.grid_sampler_2d, random([2, 1, 3, 3], f32), random([1, 2, 2, 2], f32), 0, 0, False)
    add(A.grid_sampler_2d, random([1, 1, 3, 3], f32), random([1, 2, 2, 3], f32), 0, 0, False)
    add(A.grid_sampler_2d, random([1, 1, 3, 3], f32), random([1, 2, 2, 2], f64), 0, 0, False)
    add(A.grid_sampler_2d, random([1, 1, 0, 3], f32), random([1, 2, 2, 2], f32), 0, 0, False)
