"""What flows back, bags of embeddings, batch norm with its running statistics."""

import torch
from values import FLOATS, random, strided

A = torch.ops.aten
f16, f32, f64, i64 = torch.float16, torch.float32, torch.float64, torch.int64


def cases(add):
    for dtype in FLOATS:
        loose = {"tolerance": (3e-2, 3e-2)} if dtype.itemsize == 2 else {"tolerance": (1e-5, 1e-6)}
        g, x = random([3, 4, 2], dtype), random([3, 4, 2], dtype)
        for dim in (0, 1, -1):
            add(A._softmax_backward_data, g, torch.softmax(x, dim), dim, dtype, **loose)
            add(A._log_softmax_backward_data, g, torch.log_softmax(x, dim), dim, dtype, **loose)
        add(A.native_dropout_backward, g, x > 0, 1.25, **loose)
        index = torch.tensor([[0, 2], [2, 4]])
        for padding in (-1, 2):
            for scale in (False, True):
                add(A.embedding_dense_backward, random([2, 2, 3], dtype), index, 5, padding, scale, **loose)
        table, bags = random([6, 3], dtype), torch.tensor([0, 2, 2])
        picks = torch.tensor([0, 5, 1, 1, 3])
        differs = dtype == torch.bfloat16  # whose eager sums leave out what exports have
        for mode in (1, 2) if differs else (0, 1, 2):
            add(A._embedding_bag, table, picks, bags, False, mode, **loose)
            add(A._embedding_bag, table, picks, torch.tensor([0, 2, 5]), False, mode, False, None, True, **loose)
        if not differs:
            add(A._embedding_bag, table, picks, bags, False, 0, False, random([5], dtype), **loose)
        add(A._adaptive_avg_pool2d_backward, random([2, 3, 2, 3], dtype), random([2, 3, 5, 4], dtype), **loose)
    for dtype in (f32, f64):
        loose = {"tolerance": (1e-5, 1e-5)}
        x = random([3, 4, 6], dtype)
        for shape in ([6], [4, 6]):
            weight, bias = random(shape, dtype), random(shape, dtype)
            _, mean, rstd = A.native_layer_norm(x, shape, weight, bias, 1e-5)
            add(A.native_layer_norm_backward, random([3, 4, 6], dtype), x, shape, mean, rstd, weight, bias, [True] * 3,
                **loose)
        c = lambda low=-2: random([4], dtype, low=low)
        add(A._batch_norm_with_update_functional, x, c(), c(), c(), c(0), 0.1, 1e-5, **loose)
        add(A._batch_norm_with_update_functional, x, None, None, c(), c(0), 0.5, 0.5, **loose)
    # refused
    table = random([6, 3], f32)
    add(A._embedding_bag, table, torch.tensor([0, 6]), torch.tensor([0]))
    add(A._embedding_bag, table, torch.tensor([0, 1]), torch.tensor([1]))
    add(A._embedding_bag, table, torch.tensor([0, 1]), torch.tensor([0, 3]))
    add(A._embedding_bag, table, torch.tensor([0.0, 1.0]), torch.tensor([0]))
    add(A._softmax_backward_data, random([2, 3], f32), random([2, 3], f32), 2, f32)
