"""Writes ops/promotion.txt: two dtypes and the one that torch promotes them to, or none, a line.

Usage: python promotion.py > ../ops/promotion.txt
"""

import itertools

import torch

NAMES = ["bool", "uint8", "int8", "int16", "int32", "int64", "uint16", "uint32", "uint64", "float16", "bfloat16",
         "float32", "float64", "complex32", "complex64", "complex128", "float8_e5m2", "float8_e4m3fn",
         "float8_e5m2fnuz", "float8_e4m3fnuz", "float8_e8m0fnu"]

for a, b in itertools.product(NAMES, NAMES):
    try:
        both = str(torch.promote_types(getattr(torch, a), getattr(torch, b))).replace("torch.", "")
    except RuntimeError:
        both = "none"
    print(a, b, both)
