"""Small exported programs in every layout of `.pt2`, for tests/reader.

    python pt2.py OUT_DIR        (torch 2.14.1; writes OUT_DIR/NAME.pt2)

Element i of a weight's storage is i / 8. The archives of the present layout are written by PyTorch's own writer; the
two older layouts are put together here, from the same program, as torch 2.7 and 2.8 did. Paths of this machine are
taken out of the stack traces.
"""
import io
import json
import os
import re
import sys
import zipfile

import torch
from torch import nn
from torch.export import Dim, export, save


def counted(*sizes, dtype=torch.float32):
    count = 1
    for size in sizes:
        count *= size
    return (torch.arange(count) / 8).reshape(sizes).to(dtype)


class Weights(nn.Module):
    """Tied weights, views of one storage, a transposed one, an empty one, one outside of the state, small types."""

    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(5, 3)
        self.head = nn.Linear(3, 5, bias=False)
        self.head.weight = self.embed.weight
        whole = counted(4, 3, 3)
        self.register_buffer("row", whole[1])
        self.register_buffer("turned", whole[3].t())
        self.register_buffer("empty", torch.zeros(0, 4))
        self.register_buffer("small", counted(3, dtype=torch.bfloat16))
        self.register_buffer("tiny", counted(3).to(torch.float8_e4m3fn))
        self.register_buffer("scratch", counted(3), persistent=False)
        with torch.no_grad():
            self.embed.weight.copy_(counted(5, 3))

    def forward(self, i):
        x = self.embed(i) @ self.row @ self.turned + self.scratch
        x = x * self.small.to(torch.float32) + self.tiny.to(torch.float32)
        return self.head(x), torch.cat([self.empty, counted(2, 4)])


class Sizes(nn.Module):
    """Sizes that depend on one another, on a float factor, and on values."""

    def forward(self, x, y):
        half = x[: x.shape[0] // 2]
        wide = nn.functional.interpolate(y[None], scale_factor=1.7, mode="nearest")
        return half + 1, wide, torch.nonzero(x[:, 0] > 0), x.new_zeros(x.shape[0] + y.shape[1])


class Branches(nn.Module):
    """cond with captured weights, and while_loop."""

    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 2)

    def forward(self, x):
        y = torch.cond(x.sum() > 0, lambda v: self.fc(v), lambda v: v.sin(), (x,))
        n = torch.zeros((), dtype=torch.int64)
        return torch.while_loop(lambda i, v: i < 3, lambda i, v: (i + 1, v * 2), (n, y))


class State(nn.Module):
    """A buffer, one outside of the state, and an input, all written."""

    def __init__(self):
        super().__init__()
        self.register_buffer("count", torch.zeros((), dtype=torch.int64))
        self.register_buffer("last", counted(3), persistent=False)

    def forward(self, x, flag=None, scale=2):
        self.count.add_(1)
        self.last.copy_(x)
        x.mul_(scale)
        return x + self.count, None, 7


class Literals(nn.Module):
    """Numbers that JSON can't say, holes in an index, lists, types, texts."""

    def forward(self, x, i):
        x = x.clamp(max=float("inf")).nan_to_num(neginf=-1e30)
        x = torch.where(x > 0, x, -float("inf")) + torch.full_like(x, float("nan"))
        a, _, c = x[:, i].split([1, 1, 1], dim=1)
        return torch.div(a, c, rounding_mode="floor").to(torch.float64), x.to(memory_format=torch.channels_last)


def clean(text):
    text = text.replace(os.path.dirname(os.path.abspath(__file__)) + "/", "")
    return re.sub(r'/[^" ]*(/site-packages/)', r"\1", text)


def records(program):
    buffer = io.BytesIO()
    save(program, buffer)
    with zipfile.ZipFile(buffer) as archive:
        return {name.split("/", 1)[1]: archive.read(name) for name in archive.namelist()}


def write(path, entries):
    """By PyTorch's own writer, which adds version and serialization_id."""
    writer = torch._C.PyTorchFileWriter(path)
    for name, data in entries.items():
        if not name.startswith(".data/"):
            writer.write_record(name, data, len(data))
    writer.write_end_of_file()


def saved(tensors):
    buffer = io.BytesIO()
    torch.save(tensors, buffer)
    return buffer.getvalue()


def older(text):
    """What files of torch 2.6 lack, and the numbers that they spell otherwise."""
    model = json.loads(text)
    model["schema_version"] = {"major": 8, "minor": 2}
    del model["guards_code"]
    for node in model["graph_module"]["graph"]["nodes"]:
        del node["name"]
        for argument in node["inputs"]:
            del argument["kind"]
    return re.sub(r'"(-?Infinity|NaN)"', r"\1", json.dumps(model))


def main(out):
    os.makedirs(out, exist_ok=True)
    batch, width = Dim("batch", min=1, max=8), Dim("width", min=4, max=100)
    cases = {
        "weights": (Weights(), (torch.zeros(2, dtype=torch.int64),), None),
        "sizes": (Sizes(), (torch.ones(6, 2), torch.ones(2, 5)), {"x": {0: 2 * batch}, "y": {1: width}}),
        "branches": (Branches(), (torch.ones(2, 2),), None),
        "state": (State(), (torch.ones(3),), None),
        "literals": (Literals(), (torch.ones(2, 3, 2, 2), torch.tensor([0, 2, 1])), None),
    }
    for name, (module, inputs, shapes) in cases.items():
        program = export(module.eval(), inputs, dynamic_shapes=shapes)
        if name == "state":
            program = program.run_decompositions()
        entries = records(program)
        entries["models/model.json"] = clean(entries["models/model.json"].decode()).encode()
        write(f"{out}/{name}.pt2", entries)
        if name not in ("weights", "literals"):
            continue
        state = dict(program.state_dict)
        weights, constants = saved(state), saved(dict(program.constants))
        if state:
            kept = {k: v for k, v in entries.items() if not re.match(r"data/(weights|constants)/", k)}
            kept |= {"data/weights/model.pt": weights, "data/constants/model.pt": constants}
            write(f"{out}/{name}_saved.pt2", kept)
        with zipfile.ZipFile(f"{out}/{name}_flat.pt2", "w") as archive:
            for entry, data in {
                "serialized_exported_program.json": older(entries["models/model.json"].decode()),
                "serialized_state_dict.pt": weights if state else b"",
                "serialized_constants.pt": constants,
                "serialized_example_inputs.pt": b"",
                "version": "8.2",
            }.items():
                archive.writestr(zipfile.ZipInfo(entry), data)


if __name__ == "__main__":
    main(sys.argv[1])
