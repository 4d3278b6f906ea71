"""Unary operators."""

import torch
from values import ALL, EVERY, random, special, strided

A = torch.ops.aten


def cases(add):
    for op in [A.abs, A.neg, A.exp]:
        for dtype in EVERY:
            add(op, special(dtype))
        add(op, strided([3, 4], torch.float32))
        add(op, random([], torch.float16))
        add(op, random([0, 2], torch.int32))
