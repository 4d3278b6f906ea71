"""Products of matrices and vectors, and what reads a tensor's bits."""

import torch
from values import ALL, EVERY, random, strided

A = torch.ops.aten
SOME = [torch.float32, torch.float16, torch.bfloat16, torch.float64, torch.int32, torch.uint8, torch.bool, torch.complex64]


def cases(add):
    for dtype in SOME:
        small = {"low": -2, "high": 2}
        m, v, b = random([2, 3], dtype, **small), random([3], dtype, **small), random([2, 2, 3], dtype, **small)
        add(A.mm, m, strided([3, 2], dtype, **small))
        if dtype != torch.bool:  # PyTorch refuses it only where there is something to compute
            add(A.mm, m[:0], random([3, 2], dtype))
            add(A.mm, m[:, :0], random([0, 2], dtype))
        add(A.mv, m, v)
        add(A.dot, v, v)
        add(A.outer, v, m[0])
        add(A.addmm, m[0, :1], m, random([3, 4], dtype, **small), beta=2, alpha=-1)
        add(A.addmv, random([2], dtype), m, v, alpha=2)
        add(A.bmm, b, random([2, 3, 1], dtype, **small))
        add(A.baddbmm, v, b, random([2, 3, 3], dtype, **small), beta=0)
        add(A.addbmm, m, b, random([2, 3, 3], dtype, **small))
        for numbers in ({}, {"beta": False}, {"alpha": False}) if dtype == torch.bool else ({}, {"beta": 2, "alpha": 3}):
            # PyTorch rounds half types after each of addr's four operations, the kernel once.
            loose = {"tolerance": (8e-3, 4e-2)} if dtype in (torch.float16, torch.bfloat16) else {}
            add(A.addr, random([3, 3], dtype), v, m[1], **numbers, **loose)
        # Refused.
        add(A.mm, m, m)
        add(A.mm, v, m)
        add(A.dot, v, v[:2])
        add(A.mv, m, v[:2])
        add(A.bmm, b, b)
        add(A.addmm, random([5], dtype), m, random([3, 4], dtype))
    add(A.mm, random([2, 2], torch.float32), random([2, 2], torch.float64))
    for dtype in EVERY:
        if dtype in ALL and not dtype.is_complex or dtype in (torch.uint16, torch.uint64):
            add(A.hash_tensor, random([2, 3, 2], dtype))
            add(A.hash_tensor, random([2, 3, 2], dtype), [1], keepdim=True)
        for target in (torch.uint8, torch.int16, torch.float32, torch.float64):
            add(A.view_copy.dtype, random([2, 8], dtype), target)
    add(A.hash_tensor, random([2, 0], torch.float32), [1])
    add(A.hash_tensor, random([2], torch.float32), [0], mode=1)
    add(A.view_copy.dtype, random([2, 3], torch.int16), torch.int32)
    add(A.view_copy.dtype, random([], torch.int16), torch.uint8)
    add(A.view_copy.dtype, random([], torch.int32), torch.float32)
