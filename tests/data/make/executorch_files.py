"""Makes tests/data/executorch with ExecuTorch's own exporter (1.5.1 with torch 2.14.1 was used).

Beside each file lies NAME.pte.txt or NAME.ptd.txt: what ExecuTorch's own reader says is in it, one
fact a line, in the form that tests/format/executorch_test.cpp prints what our reader says. Usage:
executorch_files.py FOLDER. With --describe FILE... it prints these lines of existing files instead.
"""

import hashlib
import pathlib
import re
import struct
import sys

import torch
from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
from executorch.exir import ExecutorchBackendConfig, to_edge, to_edge_transform_and_lower
from executorch.exir._serialize._program import deserialize_pte_binary
from executorch.exir.passes.init_mutable_pass import InitializedMutableBufferPass
from executorch.exir.schema import DataLocation
from executorch.extension.flat_tensor.serialize.serialize import FlatTensorSerializer
from torch.export import Dim, export

SIZES = {0: 1, 1: 1, 2: 2, 3: 4, 4: 8, 5: 2, 6: 4, 7: 8, 11: 1, 15: 2}


def digest(data):
    return hashlib.sha256(bytes(data)).hexdigest()[:16]


def text(value):
    return value.encode().hex() if value else "-"


def bits(value):
    return struct.pack("<d", float(value)).hex()


def items(values):
    return ",".join(str(int(v)) for v in values) or "-"


def layout_of(t):
    return f"{int(t.scalar_type)} sizes {items(t.sizes)} order {items(t.dim_order)}"


def tensor_line(t, file):
    line = f"tensor {layout_of(t)} dynamism {int(t.shape_dynamism)} data {t.data_buffer_idx}"
    if t.allocation_info:
        a = t.allocation_info
        line += f" at {a.memory_id}:{(a.memory_offset_high << 32) + a.memory_offset_low}"
    extra = t.extra_tensor_info
    if extra:
        line += f" name {text(extra.fully_qualified_name)} external {int(extra.location)}"
        line += f" device {int(extra.device_type)}:{extra.device_index}"
    else:
        line += " name - external 0 device 0:0"
    if t.data_buffer_idx and not (extra and extra.location):
        size = SIZES[int(t.scalar_type)]
        for s in t.sizes:
            size *= s
        pool = file.mutable_data if t.allocation_info else file.program.constant_buffer
        line += " bytes " + digest(pool[t.data_buffer_idx].storage[:size])
    return line


def value_line(v, file):
    kind = type(v).__name__
    if kind == "Tensor":
        return tensor_line(v, file)
    if kind == "Null":
        return "none"
    if kind == "Int":
        return f"int {v.int_val}"
    if kind == "Bool":
        return f"bool {int(v.bool_val)}"
    if kind == "Double":
        return f"double {bits(v.double_val)}"
    if kind == "String":
        return f"string {text(v.string_val)}"
    if kind == "DoubleList":
        return "double_list " + (",".join(map(bits, v.items)) or "-")
    names = {"IntList": "int_list", "BoolList": "bool_list", "TensorList": "tensor_list"}
    return f"{names.get(kind, 'optional_tensor_list')} {items(v.items)}"


def instruction_line(i):
    kind = type(i).__name__
    if kind == "KernelCall":
        return f"kernel {i.op_index} {items(i.args)}"
    if kind == "DelegateCall":
        return f"delegate {i.delegate_index} {items(i.args)}"
    if kind == "MoveCall":
        return f"move {i.move_from} {i.move_to}"
    if kind == "JumpFalseCall":
        return f"jump_false {i.cond_value_index} {i.destination_instruction}"
    return f"free {i.value_index}"


def describe_delegate(d, file):
    where = d.processed
    assert where.location == DataLocation.INLINE, "the reader restores payloads as inline"
    yield f"delegate {text(d.id)} {digest(file.program.backend_delegate_data[where.index].data)}"
    for spec in d.compile_specs:
        yield f"spec {text(spec.key)} {digest(spec.value)}"


def describe_plan(plan, file):
    yield f"method {text(plan.name)}"
    meta = plan.container_meta_type
    yield f"encoded {text(meta.encoded_inp_str)} {text(meta.encoded_out_str)}"
    yield f"inputs {items(plan.inputs)} outputs {items(plan.outputs)}"
    for value in plan.values:
        yield value_line(value.val, file)
    for op in plan.operators:
        yield f"operator {text(op.name)} {text(op.overload)}"
    for delegate in plan.delegates:
        yield from describe_delegate(delegate, file)
    for chain in plan.chains:
        yield f"chain {items(chain.inputs)} {items(chain.outputs)}"
        for instruction in chain.instructions:
            yield instruction_line(instruction.instr_args)
        for trace in chain.stacktrace or []:
            yield " ".join(["trace"] + [f"{f.filename}:{f.lineno}:{f.name}" for f in trace.items])
    yield f"buffers {items(plan.non_const_buffer_sizes)}"
    for d in plan.non_const_buffer_device or []:
        yield f"buffer_device {d.buffer_idx} {int(d.device_type)}:{d.device_index}"


def describe_pte(data):
    file = deserialize_pte_binary(data)
    for plan in file.program.execution_plan:
        yield from describe_plan(plan, file)
    named = file.named_data
    for key in sorted(named.pte_data if named else {}):
        yield f"named {text(key)} {digest(named.buffers[named.pte_data[key].buffer_index])}"


def describe_ptd(data):
    payload = FlatTensorSerializer().deserialize(data)
    for key in sorted(payload.named_data):
        entry = payload.named_data[key]
        layout = layout_of(entry.tensor_layout) if entry.tensor_layout else "-"
        yield f"named {text(key)} {digest(payload.buffers[entry.buffer_index])} layout {layout}"


def describe(path):
    data = path.read_bytes()
    lines = describe_pte(data) if path.suffix == ".pte" else describe_ptd(data)
    return "".join(line + "\n" for line in lines)


class State(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("count", torch.arange(4, dtype=torch.float32))

    def forward(self, x):
        self.count.add_(1)
        return x + self.count


class Control(torch.nn.Module):
    def forward(self, x):
        return torch.cond(x.sum() > 0, lambda x: x.sin() + 1, lambda x: x.cos() - 1, (x,))


class Kinds(torch.nn.Module):
    """Constants of many types; lists of integers, numbers, tensors and maybe-tensors."""

    def __init__(self):
        super().__init__()
        for name, dtype in {
            "i8": torch.int8, "u8": torch.uint8, "i16": torch.int16, "i32": torch.int32,
            "i64": torch.int64, "f16": torch.float16, "bf16": torch.bfloat16,
            "f64": torch.float64, "b": torch.bool,
        }.items():  # fmt: skip
            self.register_buffer(name, torch.arange(6).reshape(2, 3).to(dtype))

    def forward(self, x):
        parts = [self.i8, self.u8, self.i16, self.i32, self.f16, self.bf16, self.f64, self.b]
        joined = torch.cat([x] + [p.to(torch.float32) for p in parts])
        picked = x[:, self.i64[0]]
        flat = x.reshape(x.shape[0] * 3)
        wide = torch.nn.functional.interpolate(x[None, None], scale_factor=(2.0, 2.0), mode="nearest")
        return joined, picked, flat, wide, x.to(memory_format=torch.contiguous_format), None, 7


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.first = torch.nn.Linear(5, 4)
        self.second = torch.nn.Linear(4, 3)

    def forward(self, x):
        return self.second(torch.relu(self.first(x)))


def programs():
    rows = {0: Dim("rows", max=8)}
    net = export(Net().eval(), (torch.ones(2, 5),), strict=True)
    plain = ExecutorchBackendConfig()

    state = to_edge(export(State(), (torch.ones(2, 4),), dynamic_shapes=(rows,), strict=True))
    yield "state", state.to_executorch(
        ExecutorchBackendConfig(
            passes=[InitializedMutableBufferPass(["count"])], emit_mutable_buffer_names=True
        )
    )
    yield "control", to_edge(export(Control(), (torch.ones(3),), strict=True)).to_executorch(plain)
    kinds = export(Kinds(), (torch.ones(2, 3),), dynamic_shapes=(rows,), strict=True)
    for node in kinds.graph.nodes:  # no folders of the machine that runs this
        trace = node.meta.get("stack_trace")
        if trace:
            node.meta["stack_trace"] = re.sub(r'File "[^"]*/', 'File "', trace)
    yield "kinds", to_edge(kinds).to_executorch(ExecutorchBackendConfig(emit_stacktrace=True))
    constants = {"answer": 42, "half": 0.5, "yes": True, "label": "héllo", "sizes": [1, 2, 3]}
    yield "methods", to_edge({"forward": net, "again": net}, constant_methods=constants).to_executorch(
        plain
    )
    yield "external", to_edge(net).to_executorch(ExecutorchBackendConfig(external_constants=True))
    for name, config in {
        "delegate": plain,
        "inline": ExecutorchBackendConfig(extract_delegate_segments=False),
        "aligned": ExecutorchBackendConfig(segment_alignment=1024, constant_tensor_alignment=256),
    }.items():
        yield name, to_edge_transform_and_lower(
            {"forward": net, "again": net}, partitioner=[XnnpackPartitioner()]
        ).to_executorch(config)


def main(folder):
    folder.mkdir(parents=True, exist_ok=True)
    for name, program in programs():
        (folder / f"{name}.pte").write_bytes(program.buffer)
        program.write_tensor_data_to_file(str(folder))
    for path in sorted(folder.iterdir()):
        if path.suffix in (".pte", ".ptd"):
            path.with_name(path.name + ".txt").write_text(describe(path))


if __name__ == "__main__":
    if sys.argv[1] == "--describe":
        for argument in sys.argv[2:]:
            sys.stdout.write(describe(pathlib.Path(argument)))
    else:
        main(pathlib.Path(sys.argv[1]))
