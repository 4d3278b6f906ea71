"""Losses over classes, distances between rows, rows cut to a norm."""

import torch
from values import FLOATS, random, strided

A = torch.ops.aten
f16, bf16, f32, i64, u8 = torch.float16, torch.bfloat16, torch.float32, torch.int64, torch.uint8


def cases(add):
    for dtype in FLOATS:
        loose = {"tolerance": (2e-2, 2e-2)} if dtype in (f16, bf16) else {}
        x, image = random([4, 5], dtype), random([2, 3, 2, 2], dtype)
        target, places = torch.tensor([1, 0, 4, 2]), torch.randint(0, 3, [2, 2, 2])
        weight = random([5], dtype, low=0)
        for reduction in (0, 1, 2):
            for ignored in (-100, 0):
                add(A.nll_loss_forward, x, target, None, reduction, ignored, **loose)
                add(A.nll_loss_forward, x, target, weight, reduction, ignored, **loose)
                add(A.nll_loss2d_forward, image, places, weight[:3], reduction, ignored, **loose)
            add(A.nll_loss_forward, x[0], target[0], None, reduction, -100, **loose)
            for p in (1, 2):
                add(A.multi_margin_loss, x, target, p, 0.5, weight, reduction, **loose)
            add(A.multi_margin_loss, x[0], target[:1], 1, 1, None, reduction, **loose)
            labels = torch.tensor([[1, 2, -1, 0, 0], [-1, 0, 0, 0, 0], [0, 1, 2, 3, 4], [3, 3, -1, 1, 1]])
            add(A.multilabel_margin_loss_forward, x, labels, reduction, **loose)
            chances = random([4, 5], dtype, low=0, high=1)
            add(A.binary_cross_entropy, chances, random([4, 5], dtype, low=0, high=1), None, reduction, **loose)
            add(A.binary_cross_entropy, chances, chances, random([4, 5], dtype), reduction, **loose)
    for p in (0.0, 1.0, 2.0, 3.0, 0.5, float("inf")):
        add(A._cdist_forward, random([2, 1, 3, 4], f32), random([3, 5, 4], f32), p, None, tolerance=(1e-5, 1e-6))
        add(A._pdist_forward, random([5, 3], f32), p, tolerance=(1e-5, 1e-6))
        if p > 0:
            add(A.renorm, strided([3, 4, 2], f32), p, 1, 2.0, tolerance=(1e-5, 1e-6))
            add(A.embedding_renorm, random([5, 3], f32), torch.tensor([[0, 3], [3, 1]]), 1.5, p, tolerance=(1e-5, 1e-6))
    # nothing to sum over, and nothing to divide by
    add(A.nll_loss_forward, random([0, 5], f32), torch.zeros([0], dtype=i64), None, 1, -100)
    add(A.nll_loss_forward, random([0, 5], f32), torch.zeros([0], dtype=i64), None, 2, -100)
    add(A.nll_loss_forward, random([2, 5], f32), torch.tensor([3, 3]), None, 1, 3)
    add(A.nll_loss_forward, random([2, 5], f32), torch.tensor([3, 1], dtype=u8), None, 1, -100)
    add(A._cdist_forward, random([0, 3], f32), random([2, 3], f32), 2.0, None)
    add(A._cdist_forward, random([2, 0], f32), random([3, 0], f32), 2.0, None)
    add(A._pdist_forward, random([1, 3], f32), 2.0)
    # refused
    add(A.nll_loss_forward, random([2, 5], f32), torch.tensor([3, 5]), None, 1, -100)
    add(A.nll_loss_forward, random([2, 5], f32), torch.tensor([3, -1]), None, 1, -100)
    add(A.nll_loss_forward, random([2, 5], f32), torch.tensor([3.0, 1.0]), None, 1, -100)
    add(A.nll_loss_forward, random([3, 5], f32), torch.tensor([3, 1]), None, 1, -100)
    add(A.nll_loss_forward, random([2, 5], f32), torch.tensor([3, 1]), random([4], f32), 1, -100)
    add(A.nll_loss2d_forward, random([2, 3, 2, 2], f32), torch.zeros([2, 2, 3], dtype=i64), None, 1, -100)
    add(A.multi_margin_loss, random([2, 5], f32), torch.tensor([3, 1]), 3, 1, None, 1)
    add(A.multi_margin_loss, random([2, 5], f32), torch.tensor([3, 5]), 1, 1, None, 1)
    add(A.binary_cross_entropy, torch.tensor([0.5, 1.5]), torch.tensor([0.5, 0.5]), None, 1)
    add(A.binary_cross_entropy, random([2, 3], f32, low=0, high=1), random([3], f32), None, 1)
    add(A._cdist_forward, random([2, 3], f32), random([2, 4], f32), 2.0, None)
    add(A.renorm, random([2, 3], f32), -1.0, 0, 1.0)
    add(A.renorm, random([3], f32), 2.0, 0, 1.0)
    add(A.embedding_renorm, random([5, 3], f32), torch.tensor([0.5]), 1.5, 2.0)
