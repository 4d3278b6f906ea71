"""Writes ops/meta.txt: what torch says results are, from fake tensors of the CPU, as export does.

Usage: python meta.py > ../ops/meta.txt

A line is: operator, arguments, results, separated by tabs; their elements by ';'. An argument is
NAME=VALUE: T:DTYPE:SIZES a tensor, L:VALUE|VALUE a list of tensors, i: f: b: s: D: a literal, I: F: a
list of them, N None.
"""

import itertools

import torch
from torch._subclasses.fake_tensor import FakeTensorMode

aten = torch.ops.aten
FLOATS = [torch.float32, torch.float16, torch.bfloat16, torch.float64]
INTS = [torch.int64, torch.int32, torch.uint8, torch.bool]
MIXED = [torch.float32, torch.float16, torch.bfloat16, torch.int64, torch.int32, torch.int8, torch.uint8, torch.bool,
         torch.complex64]
lines = {}


def t(*sizes, dtype=torch.float32):
    return torch.empty(sizes, dtype=dtype, device="cpu")


def i(*sizes):
    return t(*sizes, dtype=torch.int64)


def name(dtype):
    return str(dtype).replace("torch.", "")


def sizes_text(sizes):
    return ",".join(str(int(s)) for s in sizes)


def value(x):
    if x is None:
        return "N"
    if isinstance(x, torch.Tensor):
        return "T:%s:%s" % (name(x.dtype), sizes_text(x.shape))
    if isinstance(x, bool):
        return "b:%d" % x
    if isinstance(x, int):
        return "i:%d" % x
    if isinstance(x, float):
        return "f:%r" % x
    if isinstance(x, str):
        return "s:" + x
    if isinstance(x, torch.dtype):
        return "D:" + name(x)
    if x and all(e is None or isinstance(e, torch.Tensor) for e in x):
        return "L:" + "|".join(value(e) for e in x)
    if x and isinstance(x[0], float):
        return "F:" + ",".join(repr(e) for e in x)
    return "I:" + ",".join(str(e) for e in x)


def case(op, *args, **kwargs):
    packet, _, overload = op.partition(".")
    function = getattr(getattr(aten, packet), overload or "default")
    named = dict(zip([a.name for a in function._schema.arguments], args), **kwargs)
    results = function(*args, **kwargs)
    if results is None:
        results = []
    if not isinstance(results, (tuple, list)):
        results = [results]
    text = ";".join(value(r)[2:] if isinstance(r, torch.Tensor) else value(r) for r in results)
    lines["aten::%s\t%s" % (op, ";".join(k + "=" + value(v) for k, v in named.items()))] = text


def elementwise():
    for op in ["abs", "neg", "relu", "floor", "sign", "exp", "sigmoid", "rsqrt", "isnan", "logical_not", "angle"]:
        for dtype in [torch.float32, torch.float16, torch.int64, torch.uint8, torch.complex64]:
            if dtype.is_complex and op in ("relu", "floor", "sign") or op == "angle" and dtype == torch.float16:
                continue
            case(op, t(2, 3, dtype=dtype))
    for op in ["exp", "sqrt", "isinf", "logical_not", "bitwise_not"]:
        case(op, t(4, dtype=torch.bool))
    for op in ["gelu", "silu", "mish", "elu", "hardswish", "hardsigmoid", "softplus", "leaky_relu", "hardtanh", "log_sigmoid"]:
        for dtype in [torch.float32, torch.bfloat16]:
            case(op, t(2, 5, dtype=dtype))
    operands = [(t(2, 3, dtype=a), t(3, dtype=b)) for a, b in itertools.product(MIXED, MIXED)]
    for a, b in operands:
        for op in ["add.Tensor", "div.Tensor", "eq.Tensor"]:
            case(op, a, b)
    for a, b in itertools.product([torch.int32, torch.float16, torch.bool, torch.float64], repeat=2):
        case("mul.Tensor", t(2, dtype=a), t(dtype=b))
        case("mul.Tensor", t(dtype=a), t(1, dtype=b))
        case("maximum", t(2, 1, 4, dtype=a), t(3, 1, dtype=b))
        if (a, b) != (torch.bool, torch.bool):  # computes nothing in eager torch
            case("pow.Tensor_Tensor", t(2, dtype=a), t(dtype=b))
        case("where.self", t(2, 1, dtype=torch.bool), t(3, dtype=a), t(2, 3, dtype=b))
    for dtype in [torch.int32, torch.float16, torch.bool, torch.float32, torch.complex64]:
        for scalar in [2, 1.5, True]:
            case("add.Scalar", t(2, dtype=dtype), scalar)
            case("mul.Tensor", t(2, dtype=dtype), scalar)
            case("div.Scalar", t(2, dtype=dtype), scalar)
            case("where.ScalarOther", t(2, 2, dtype=torch.bool), t(2, dtype=dtype), scalar)
            case("eq.Scalar", t(2, dtype=dtype), scalar)
            if dtype != torch.bool:
                case("rsub.Scalar", t(2, dtype=dtype), scalar)
                case("pow.Tensor_Scalar", t(2, dtype=dtype), scalar)
                case("pow.Scalar", scalar, t(2, dtype=dtype))
    for dtype in [torch.int32, torch.float16]:
        for scalar in [2, 1.5]:
            case("clamp", t(2, dtype=dtype), scalar, None)
            case("clamp", t(2, dtype=dtype), None, scalar)
            case("remainder.Scalar", t(2, dtype=dtype), scalar)
            case("fmod.Scalar", t(2, dtype=dtype), scalar)
        case("clamp.Tensor", t(2, 3, dtype=dtype), t(3), t(2, 1, dtype=dtype))
        case("div.Tensor_mode", t(2, dtype=dtype), t(2, dtype=torch.int32), rounding_mode="floor")
        case("div.Tensor_mode", t(2, dtype=dtype), t(2, dtype=torch.int32), rounding_mode=None)
        case("atan2", t(2, dtype=dtype), t(2, dtype=torch.int32))
        case("floor_divide", t(2, dtype=dtype), t(2, dtype=torch.int32))
    case("lerp.Scalar", t(2, 3), t(3), 0.5)
    case("lerp.Tensor", t(2, 3), t(3), t(4, 1, 1))
    case("addcmul", t(2, 3), t(3), t(1, 3))
    case("addcdiv", t(2, 3), t(3), t(2, 1), value=2)
    case("masked_fill.Scalar", t(3), t(2, 3, dtype=torch.bool), 1.5)
    case("masked_fill.Scalar", i(3), t(2, 3, dtype=torch.bool), 1)
    case("max.other", i(2, 3), t(3))
    case("logical_and", t(2), i(1))
    case("bitwise_and.Tensor", i(2), t(2, dtype=torch.int32))
    case("bitwise_and.Scalar", t(2, dtype=torch.bool), 1)
    case("copy", t(2, 3), i(3))
    case("clone", t(2, 3))
    case("native_dropout", t(2, 3), 0.5, True)
    for dtype in [torch.int64, torch.float16]:
        case("_to_copy", t(2, 3), dtype=dtype)
    case("_to_copy", t(2, 3))
    case("square", t(2, dtype=torch.bool))
    case("square", i(2))
    case("heaviside", t(2, 1), t(3))
    case("masked_scatter", t(3), t(2, 3, dtype=torch.bool), t(6))
    case("polygamma", 1, i(2))
    case("ldexp.Tensor", i(2, 1), i(3))
    case("special_zeta", t(2, 1), i(3))
    case("_assert_async.msg", t(dtype=torch.bool), "")
    case("tril", t(2, 3))
    case("fill.Scalar", t(2, 3), 1)


def reductions():
    for dtype in [torch.float32, torch.float16, torch.int32, torch.bool, torch.uint8]:
        x = t(2, 3, 4, dtype=dtype)
        case("sum", x)
        case("any", x)
        case("all.dim", x, 1)
        case("argmax", x, None)
        case("prod.dim_int", x, 2, True)
        case("cumsum", x, -1)
        for dims in [[0], [1, 2], [], None]:
            for keepdim in [False, True]:
                case("sum.dim_IntList", x, dims, keepdim)
                if dims is not None:
                    case("amax", x, dims, keepdim)
    x = t(2, 3, 4)
    for dims in [[0], [-1, 1], [], None]:
        for keepdim in [False, True]:
            case("mean.dim", x, dims, keepdim)
            case("var.correction", x, dims, correction=1, keepdim=keepdim)
            case("any.dims", x, dims, keepdim)
            case("var_mean.correction", x, dims, correction=0, keepdim=keepdim)
            case("linalg_vector_norm", x, 2, dims, keepdim)
            if dims:
                case("logsumexp", x, dims, keepdim)
    for op in ["max.dim", "min.dim", "median.dim", "mode"]:
        case(op, x, 1)
        case(op, i(2, 3), -1, True)
    case("kthvalue", x, 2)
    case("max", i(2, 3))
    case("min", x)
    case("mean", t(2, dtype=torch.float16))
    case("sum", x, dtype=torch.float64)
    case("sum.dim_IntList", i(2, 3), [1], dtype=torch.float32)
    case("sum", t())
    case("argmin", x, 1, True)
    case("aminmax", x, dim=1)
    case("aminmax", x)
    case("cumsum", t(), 0)
    case("cumsum", i(2, 3), 0, dtype=torch.float32)
    case("cummax", x, 1)
    case("_softmax", x, -1, False)
    case("_log_softmax", t(2, 3, dtype=torch.bfloat16), 1, False)
    case("softmax.int", t(2, 3, dtype=torch.float16), 1, torch.float32)
    case("sort", x, 1)
    case("msort", x)
    case("sort.stable", x, stable=True, dim=0, descending=True)
    case("argsort", x)
    case("topk", x, 2)
    case("topk", i(5, 3), 4, 0)
    case("topk", t(), 1)
    case("var.dim", t(2, 3, dtype=torch.complex64), [1])
    case("std", x)


def views():
    x = t(2, 3, 4)
    for op, *args in [
        ("view", [6, 4]), ("view", [-1, 2, 2]), ("view", [24]), ("reshape", [4, -1]), ("_unsafe_view", [3, 8]),
        ("view_copy", [6, -1]), ("permute", [2, 0, -2]), ("permute_copy", [0, 2, 1]), ("transpose.int", 0, -1),
        ("expand", [5, 2, 3, 4]), ("expand", [-1, 3, -1]), ("unsqueeze", -1), ("unsqueeze", 1), ("unsqueeze", -4),
        ("slice.Tensor", 1, 1, 2), ("slice.Tensor", 2, -3, 2**63 - 1, 2), ("slice.Tensor", 0), ("slice.Tensor", 1, 5, 7),
        ("slice.Tensor", 1, -100, 100), ("slice.Tensor", 1, 2, 1), ("slice.Tensor", -1, 1, -1), ("narrow", 1, 1, 2),
        ("select.int", 1, 0), ("select.int", -1, -4), ("diagonal",), ("diagonal", 1, -1, 0), ("diagonal", -2, 1, 2),
        ("as_strided", [2, 2], [1, 2]), ("unfold", 2, 3, 1), ("unfold", -1, 2, 2), ("flatten.using_ints", 1),
        ("flatten.using_ints", 0, 1), ("flatten.using_ints",), ("unflatten.int", 2, [2, -1]), ("repeat", [2, 1, 3]),
        ("repeat", [5, 1, 1, 2]), ("flip", [0, 2]), ("roll", [1], [0]), ("constant_pad_nd", [1, 2]),
        ("constant_pad_nd", [1, 2, -1, 0, 0, 3]), ("pad", [2, 2], "reflect"), ("reflection_pad1d", [1, 2]),
        ("split.Tensor", 2, 1), ("split.Tensor", 2, 2), ("split_with_sizes", [1, 3], 2), ("split_with_sizes_copy", [3], 1),
        ("chunk", 3, 2), ("chunk", 2, 1), ("chunk", 7, 1), ("unbind.int",), ("unbind.int", -1), ("squeeze",), ("alias",),
        ("select_copy.int", 0, 1), ("slice_copy.Tensor", 1, 1, 3), ("sym_size.int", 1), ("sym_numel",), ("detach",),
        ("unbind_copy.int", 1), ("split_copy.Tensor", 2), ("repeat_interleave.self_int", 2), ("repeat_interleave.self_int", 2, 1),
    ]:
        case(op, x, *args)
    y = t(1, 3, 1, 2)
    for op, *args in [("squeeze",), ("squeeze.dim", 0), ("squeeze.dim", 1), ("squeeze.dims", [0, 2, 1]), ("expand", [4, 3, 5, 2])]:
        case(op, y, *args)
    case("view", t(0, 3), [3, 0])
    case("view", t(0, 3), [-1, 3])
    case("view", t(), [1, 1])
    case("t", t(2, 3))
    case("t", t(3))
    case("t", t())
    case("squeeze.dim", t(), 0)
    case("transpose.int", t(), 0, -1)
    case("flatten.using_ints", t())
    case("unsqueeze", t(), 0)
    case("expand", t(), [2, 3])
    case("view.dtype", t(2, 4), torch.float16)
    case("view.dtype", t(2, 4), torch.int32)
    case("view.dtype", t(2, 4), torch.complex64)
    case("view_as_real", t(2, 4, dtype=torch.complex64))
    case("view_as_complex", t(3, 2))
    case("unfold", t(), 0, 1, 1)
    case("expand_as", t(3), t(2, 3))
    case("replication_pad2d", t(2, 3, 4), [1, 1, 2, 0])
    case("slice.Tensor", t(0, 3), 0, 1, 4)


def indexing():
    x = t(4, 5, 6)
    case("gather", x, 1, i(4, 2, 6))
    case("take", x, i(2, 2))
    case("index_select", x, 1, i(7))
    case("index_select", x, -1, i())
    for indices in [[i(3)], [i(3), i(2, 1)], [None, i(3)], [i(3), None, i(3)], [None, i(2), i(2)], [i(2, 2), i(1), i(2)],
                    [None, None, i(2, 3)], [i()], [i(), None, i(2)]]:
        case("index.Tensor", x, indices)
        case("_unsafe_index.Tensor", x, indices)
    case("index_put", x, [i(3)], t(5, 6))
    case("scatter.src", x, 0, i(1, 5, 6), x)
    case("scatter.value", x, 0, i(1, 5, 6), 1.0)
    case("scatter_add", x, 0, i(1, 5, 6), x)
    case("index_add", x, 0, i(2), t(2, 5, 6))
    case("slice_scatter", x, t(4, 2, 6), 1, 0, 2)
    case("select_scatter", x, t(4, 6), 1, 0)
    case("diagonal_scatter", t(3, 3), t(3))
    case("embedding", t(10, 8, dtype=torch.float16), i(2, 3))
    case("one_hot", i(2, 3), 7)
    case("bucketize.Tensor", t(2, 3), t(5))
    case("searchsorted.Tensor", t(5), t(2, 3), out_int32=True)
    case("cat", [t(2, 3), t(4, 3)])
    case("cat", [t(2, 3), t(2, 1), t(2, 0)], -1)
    case("cat", [t(0), t(2, 3)], 1)
    case("cat", [t(0), t(3)])
    case("cat", [i(2), t(2, dtype=torch.float16), t(2, dtype=torch.bool)])
    case("stack", [t(2, 3), t(2, 3)])
    case("stack", [i(2, 3), t(2, 3), i(2, 3)], -1)
    case("stack", [t(), t()])


def factories():
    for dtype in [None, torch.float16, torch.int64]:
        case("zeros", [2, 3], dtype=dtype)
        case("empty.memory_format", [2, 3], dtype=dtype)
        case("ones_like", i(2, 3), dtype=dtype)
        case("new_zeros", i(2, 3), [4], dtype=dtype)
        for fill in [1, 1.5, True]:
            case("full", [2], fill, dtype=dtype)
        case("arange", 5, dtype=dtype)
        case("arange.start_step", 1, 10, 3, dtype=dtype)
    case("arange", 5.5)
    case("arange.start", 2, 5)
    case("arange.start_step", 0.0, 1.0, 0.1)
    case("arange.start_step", 10, 0, -3)
    case("arange.start", 3, 3)
    case("full_like", t(2, 3), 1)
    case("new_full", i(2), [2, 2], 1.5)
    case("new_ones", t(2, dtype=torch.bool), [])
    case("empty_strided", [2, 3], [1, 2])
    case("linspace", 0.0, 1.0, 7)
    case("scalar_tensor", 1)
    case("scalar_tensor", 1, dtype=torch.int64)
    case("eye", 3)
    case("eye.m", 3, 4)
    case("rand", [2, 3])
    case("randint", 10, [2, 3])
    case("randperm", 5)
    case("empty_like", t(2, 3, dtype=torch.float16))


def network():
    case("mm", t(2, 3), t(3, 4))
    case("bmm", t(5, 2, 3), t(5, 3, 4))
    case("addmm", t(4), t(2, 3), t(3, 4))
    case("baddbmm", t(5, 2, 4), t(5, 2, 3), t(5, 3, 4))
    case("addbmm", t(2, 4), t(5, 2, 3), t(5, 3, 4))
    case("mv", t(2, 3), t(3))
    case("dot", t(3), t(3))
    case("addmv", t(2), t(2, 3), t(3))
    case("outer", t(2), t(3))
    for a, b in [((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 4)), ((5, 2, 3), (3, 4)), ((2, 3), (5, 3, 4)),
                 ((7, 1, 2, 3), (5, 3, 4)), ((5, 2, 3), (3,)), ((3,), (5, 3, 4)), ((5, 2, 3), (5, 3, 4))]:
        case("matmul", t(*a), t(*b))
    case("linear", t(2, 5, 3), t(4, 3), t(4))
    case("linear", t(3, dtype=torch.float16), t(4, 3, dtype=torch.float16))
    case("convolution", t(2, 4, 9, 10), t(6, 4, 3, 3), None, [2, 2], [1, 1], [1, 1], False, [0, 0], 1)
    case("convolution", t(2, 4, 9, 10), t(6, 2, 3, 2), t(6), [1, 2], [0, 1], [2, 1], False, [0, 0], 2)
    case("convolution", t(2, 4, 9), t(4, 3, 3), None, [2], [1], [1], True, [1], 1)
    case("convolution", t(2, 4, 5, 6), t(4, 2, 3, 3), None, [2, 3], [1, 0], [1, 2], True, [1, 2], 2)
    case("convolution", t(1, 2, 5, 6, 7), t(3, 2, 2, 2, 2), None, [1, 1, 1], [0, 0, 0], [1, 1, 1], False, [0, 0, 0], 1)
    case("conv1d", t(2, 4, 9), t(6, 4, 3), None, [2], [1])
    case("conv2d", t(2, 4, 9, 9), t(6, 4, 3, 3))
    case("conv2d.padding", t(2, 4, 9, 9), t(6, 4, 3, 3), None, [1, 1], "same")
    case("conv2d.padding", t(2, 4, 9, 9), t(6, 4, 3, 3), None, [1, 1], "valid")
    case("conv2d", t(4, 9, 9), t(6, 4, 3, 3))
    case("conv_transpose1d", t(2, 4, 9), t(4, 3, 3), None, [2])
    case("conv_transpose2d.input", t(2, 4, 5, 6), t(4, 3, 3, 3), None, [2, 2], [1, 1], [1, 1])
    for ceil_mode in [False, True]:
        for size in [7, 8, 9, 10]:
            case("max_pool2d_with_indices", t(2, 3, size, 12), [3, 3], [2, 2], [1, 1], [1, 1], ceil_mode)
            case("avg_pool2d", t(2, 3, size, 5), [2, 2], [], [0, 0], ceil_mode)
            case("max_pool2d_with_indices", t(2, 3, size, 6), [2, 2], [3, 3], [1, 1], [1, 1], ceil_mode)
    case("avg_pool1d", t(2, 3, 8), [2])
    case("max_pool2d", t(3, 8, 8), [3])
    case("max_pool3d_with_indices", t(1, 2, 6, 6, 6), [2, 2, 2])
    case("_adaptive_avg_pool2d", t(2, 3, 8, 8), [1, 2])
    case("adaptive_max_pool2d", t(2, 3, 8, 8), [3, 2])
    case("upsample_nearest2d", t(2, 3, 4, 5), [8, 9])
    case("upsample_bilinear2d", t(2, 3, 4, 5), [8, 9], False)
    case("upsample_bilinear2d.vec", t(2, 3, 4, 5), None, True, [1.5, 2.0])
    case("upsample_nearest2d.vec", t(2, 3, 4, 5), [7, 8], None)
    case("upsample_nearest1d", t(2, 3, 4), [9])
    case("native_layer_norm", t(2, 3, 4), [3, 4], None, None, 1e-5)
    for dtype in [torch.float16, torch.bfloat16]:
        case("native_layer_norm", t(2, 3, 4, dtype=dtype), [4], t(4, dtype=dtype), None, 1e-5)
        case("native_group_norm", t(2, 6, 4, dtype=dtype), None, None, 2, 6, 4, 3, 1e-5)
    case("native_group_norm", t(2, 6, 4), None, None, 2, 6, 4, 3, 1e-5)
    case("layer_norm", t(2, 3, 4), [4])
    case("_native_batch_norm_legit_no_training", t(2, 3, 4), t(3), t(3), t(3), t(3), 0.1, 1e-5)
    case("native_batch_norm", t(2, 3, 4), t(3), t(3), t(3), t(3), True, 0.1, 1e-5)
    case("native_batch_norm", t(2, 3, 4, dtype=torch.bfloat16), t(3), t(3), t(3), t(3), True, 0.1, 1e-5)
    case("_native_batch_norm_legit.no_stats", t(2, 3, 4, dtype=torch.float16), None, None, True, 0.1, 1e-5)
    case("scaled_dot_product_attention", t(2, 4, 5, 8), t(2, 4, 7, 8), t(2, 4, 7, 6))
    case("glu", t(2, 6))
    case("im2col", t(2, 3, 8, 9), [3, 2], [1, 1], [1, 0], [2, 1])
    case("im2col", t(3, 8, 9), [3, 3], [2, 1], [0, 0], [1, 2])
    case("col2im", t(2, 12, 9), [4, 4], [2, 2], [1, 1], [0, 0], [1, 1])
    case("grid_sampler_2d", t(2, 3, 4, 5), t(2, 6, 7, 2), 0, 0, False)
    case("_cdist_forward", t(5, 1, 2, 3), t(4, 6, 3), 2.0, None)
    case("vdot", t(3), t(3))
    for onesided in [False, True]:
        case("_fft_r2c", t(4, 7), [0, 1], 0, onesided)
    case("_fft_c2r", t(4, 5, dtype=torch.complex64), [0, 1], 0, 8)
    case("_fft_c2c", t(4, 5, dtype=torch.complex128), [1], 0, True)
    case("upsample_nearest2d.vec", t(2, 3, 4, 8), None, [1.5, 0.25])
    case("diag_embed", t(2, 3), 1)
    case("diag_embed", t(2, 3), -2, 0, 2)
    case("pixel_shuffle", t(2, 8, 3, 4), 2)
    case("pixel_unshuffle", t(2, 2, 6, 8), 2)


for section in [elementwise, reductions, views, indexing, factories, network]:
    with FakeTensorMode():
        section()
print("\n".join("%s\t%s" % item for item in lines.items()))
