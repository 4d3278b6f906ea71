"""Writes kernels/FAMILY.bin: calls of operators in their out form, with what PyTorch gives.

Usage: python kernels.py [FAMILY ...], run with the torch that core/ops/table.inc was made from.
A family is a file kernels/FAMILY.py beside this one with a function cases(add): each
add(torch.ops.aten.add.Tensor, x, y, alpha=2) is one case; PyTorch's refusals are cases too.
add(..., tolerance=(rtol, atol)) overrides the default of the results' dtype.

Layout, little-endian, strings and lists with a u32 count in front:
  file    u64 size of the rest unpacked, then it in zlib's format: u32 number of cases, cases
  case    string name, u8 fails, f64 rtol, f64 atol, list of values, list of values (the outputs)
  value   u8 kind (BP_BOX_*), then by kind: i64; f64; u8; list of i64, f64 or u8; string;
          f64 f64; tensor; list of (u8 present, tensor)
  tensor  u8 DLPack code, u8 bits, u8 rank, i64 sizes, i64 strides, u32 offset, u32 bytes, bytes
"""

import importlib
import os
import pathlib
import struct
import sys
import zlib

import torch

ROOT = pathlib.Path(__file__).resolve().parents[3]
D = torch
NUMBERS = {D.uint8: 0, D.int8: 1, D.int16: 2, D.int32: 3, D.int64: 4, D.float16: 5, D.float32: 6, D.float64: 7,
           D.complex32: 8, D.complex64: 9, D.complex128: 10, D.bool: 11, D.bfloat16: 15, D.float8_e5m2: 23,
           D.float8_e4m3fn: 24, D.float8_e5m2fnuz: 25, D.float8_e4m3fnuz: 26, D.uint16: 27, D.uint32: 28,
           D.uint64: 29, D.float8_e8m0fnu: 44}
DLPACK = {D.uint8: (1, 8), D.int8: (0, 8), D.int16: (0, 16), D.int32: (0, 32), D.int64: (0, 64), D.float16: (2, 16),
          D.float32: (2, 32), D.float64: (2, 64), D.complex32: (5, 32), D.complex64: (5, 64), D.complex128: (5, 128),
          D.bool: (6, 8), D.bfloat16: (4, 16), D.float8_e5m2: (12, 8), D.float8_e4m3fn: (10, 8),
          D.float8_e5m2fnuz: (13, 8), D.float8_e4m3fnuz: (11, 8), D.uint16: (1, 16), D.uint32: (1, 32),
          D.uint64: (1, 64), D.float8_e8m0fnu: (14, 8)}
TOLERANCE = {D.float16: (1e-3, 1e-6), D.bfloat16: (8e-3, 1e-6), D.float32: (2e-6, 1e-7), D.float64: (1e-13, 1e-14),
             D.complex64: (4e-6, 1e-6), D.complex128: (1e-12, 1e-14), D.complex32: (2e-3, 1e-3)}
MEMORY_FORMATS = {torch.contiguous_format: 0, torch.preserve_format: 1, torch.channels_last: 2,
                  torch.channels_last_3d: 3}


def out_names():
    """Functional operator -> name of its out form, as core/ops derives it."""
    names = {}
    for line in (ROOT / "core" / "ops" / "table.inc").read_text().splitlines():
        fields = line.removeprefix('R"(').split("\t")
        name = fields[0].split("(")[0]
        base, _, overload = name.partition(".")
        given = fields[2].lstrip("=") if len(fields) > 2 else ""
        names["aten::" + name] = "aten::%s.%s" % (base, given or (overload + "_out" if overload else "out"))
    return names


OUT_NAMES = out_names()


def text(value):
    data = value.encode()
    return struct.pack("<I", len(data)) + data


def storage(tensor):
    """Offset and the bytes of the storage that the tensor reaches."""
    if tensor.numel() == 0:
        return 0, b""
    reach = 1 + sum((n - 1) * s for n, s in zip(tensor.shape, tensor.stride()))
    flat = torch.as_strided(tensor.detach(), (reach,), (1,), tensor.storage_offset())
    return 0, flat.contiguous().view(torch.uint8).numpy().tobytes()


def tensor_bytes(tensor):
    tensor = tensor.resolve_conj().resolve_neg()
    offset, data = storage(tensor)
    code, bits = DLPACK[tensor.dtype]
    dims = list(tensor.shape) + list(tensor.stride())
    return struct.pack("<BBB%dqII" % len(dims), code, bits, tensor.dim(), *dims, offset, len(data)) + data


def value(v, type_=""):
    if v is None:
        return struct.pack("<B", 0)
    if isinstance(v, torch.Tensor):
        return struct.pack("<B", 1) + tensor_bytes(v)
    if isinstance(v, bool):
        return struct.pack("<BB", 7, v)
    if isinstance(v, int):
        return struct.pack("<Bd", 5, v) if type_ in ("float", "Optional[float]") else struct.pack("<Bq", 3, v)
    if isinstance(v, float):
        return struct.pack("<Bd", 5, v)
    if isinstance(v, complex):
        return struct.pack("<Bdd", 10, v.real, v.imag)
    if isinstance(v, str):
        return struct.pack("<B", 9) + text(v)
    if isinstance(v, torch.dtype):
        return struct.pack("<Bq", 3, NUMBERS[v])
    if isinstance(v, torch.memory_format):
        return struct.pack("<Bq", 3, MEMORY_FORMATS[v])
    if isinstance(v, torch.layout):
        return struct.pack("<Bq", 3, 0)
    assert isinstance(v, (list, tuple)), v
    if "Tensor" in type_ or any(isinstance(e, torch.Tensor) for e in v):
        parts = [b"\0" if e is None else b"\1" + tensor_bytes(e) for e in v]
        return struct.pack("<BI", 2, len(v)) + b"".join(parts)
    if "bool" in type_:
        return struct.pack("<BI%dB" % len(v), 8, len(v), *v)
    if "float" in type_ or any(isinstance(e, float) for e in v):
        return struct.pack("<BI%dd" % len(v), 6, len(v), *v)
    return struct.pack("<BI%dq" % len(v), 4, len(v), *v)


def arguments(op, args, kwargs):
    """(name of the out form, [(value, type)] in its order), defaults filled in."""
    schema = op._schema
    given = dict(zip((a.name for a in schema.arguments), args), **kwargs)
    name = OUT_NAMES[schema.name + ("." + schema.overload_name if schema.overload_name else "")]
    base, overload = name.split(".")
    packet = getattr(torch.ops.aten, base.removeprefix("aten::"))
    ordered = list(schema.arguments)
    if overload in packet.overloads():
        ordered = [a for a in getattr(packet, overload)._schema.arguments if not a.is_out]
    values = []
    for a in ordered:
        v = given.get(a.name, a.default_value if a.has_default_value() else None)
        values.append((v, str(a.real_type)))
    return name, values


class Writer:
    def __init__(self):
        self.cases, self.failed = [], 0

    def add(self, op, *args, tolerance=None, **kwargs):
        if isinstance(op, torch._ops.OpOverloadPacket):
            op = op.default
        name, values = arguments(op, args, kwargs)
        body = b"".join(value(v, t) for v, t in values)
        try:
            results = op(*args, **kwargs)
            fails = 0
        except (RuntimeError, IndexError, ValueError, TypeError, NotImplementedError, ZeroDivisionError):
            results, fails = [], 1
            outputs = [kwargs.get("dtype") or next((a.dtype for a in args if isinstance(a, torch.Tensor)), torch.float32)]
            self.failed += 1
        if isinstance(results, torch.Tensor):
            results = [results]
        lists = bool(op._schema.returns) and "List" in str(op._schema.returns[0].type) and not fails
        if fails:  # refused with a tensor of this dtype to write to
            results = [torch.empty(0, dtype=d) for d in outputs]
        outputs = value(list(results), "Tensor[]") if lists else b"".join(value(r) for r in results)
        dtype = results[0].dtype if len(results) else None
        rtol, atol = tolerance or TOLERANCE.get(dtype, (0.0, 0.0))
        self.cases.append(text(name) + struct.pack("<Bdd", fails, rtol, atol)
                          + struct.pack("<I", len(values)) + body
                          + struct.pack("<I", 1 if lists else len(results)) + outputs)

    def save(self, path):
        data = struct.pack("<I", len(self.cases)) + b"".join(self.cases)
        path.write_bytes(struct.pack("<Q", len(data)) + zlib.compress(data, 9))
        print("%s: %d cases (%d refused), %d bytes" % (path.name, len(self.cases), self.failed, path.stat().st_size))


if __name__ == "__main__":
    here = pathlib.Path(__file__).resolve().parent
    sys.path.insert(0, str(here / "kernels"))
    target = pathlib.Path(os.environ.get("KERNEL_CASES", here.parent / "kernels"))
    families = sys.argv[1:] or sorted(p.stem for p in (here / "kernels").glob("*.py") if p.stem != "values")
    for family in families:
        torch.manual_seed(0)
        writer = Writer()
        importlib.import_module(family).cases(writer.add)
        writer.save(target / (family + ".bin"))
