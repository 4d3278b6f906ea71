"""Programs that write: in place, through views, in bodies, to buffers and inputs; and programs whose sizes come from
constants. With what eager PyTorch computes, for two calls one after the other.

    python passes.py OUT_DIR      writes OUT_DIR/NAME.pt2, NAME.safetensors (stepN.in.K, stepN.out.K, stepN.mutated.K)

Made with torch 2.14.1."""
import copy, sys, warnings, zipfile
import torch
from torch import nn
import torch.nn.functional as F
from torch.export import Dim, export, save
from safetensors.torch import save_file

warnings.filterwarnings("ignore")
PROGRAMS = {}


def program(*inputs, dynamic=None, second=None):
    """`second`: what makes the inputs of the second call, if not what makes the first's."""
    def add(cls):
        PROGRAMS[cls.__name__] = (cls, [inputs, second or inputs], dynamic)
        return cls
    return add


def rand(*sizes):
    return lambda: torch.randn(*sizes)


@program(rand(4, 5))
class chain_of_in_place(nn.Module):
    def forward(s, x):
        y = x + 1
        y.mul_(2).relu_().add_(x)
        z = y.clone().clamp_(max=3)
        return y, z.neg_()


@program(rand(4, 6))
class view_depth_1(nn.Module):
    def forward(s, x):
        y = x * 1
        y[1].mul_(3)
        y[:, 2:5:2] += 10
        y[-1, -1] = 7
        y.t()[0].sub_(1)
        y.diagonal().fill_(0)
        return y


@program(rand(2, 3, 4))
class view_depth_4(nn.Module):
    def forward(s, x):
        y = x * 1
        v = y.transpose(1, 2).reshape(2, 4, 3)[1].unsqueeze(0).squeeze(0)[1:3]
        v.mul_(2)
        w = y.view(6, 4).permute(1, 0)[2].view(2, 3)[:, 1]
        w.add_(100)
        return y, v, w, y.sum()


@program(rand(3, 4))
class stale_views(nn.Module):
    def forward(s, x):
        y = x * 1
        a, b, c = y[0], y.view(-1), y[:, 1]
        first = a.sum()
        b[5] = 50.0
        a.add_(1)
        second = a.sum()
        y.mul_(2)
        return a, b, c, first, second


@program(rand(6, 4))
class parts(nn.Module):
    def forward(s, x):
        y = x * 1
        a, b = y.chunk(2)
        c, d, e = y.split([1, 2, 3])
        r = y.unbind(1)
        a.add_(1)
        d.mul_(2)
        r[3].copy_(e.sum(1)[:1].expand(6))
        y.tensor_split(4)[1].neg_()
        return y, b, c, r[0]


@program(rand(3, 4), rand(3, 4))
class user_inputs(nn.Module):
    def forward(s, x, y):
        x.mul_(2)
        y[1:].copy_(x[:-1])
        y.t()[0].zero_()
        return x + y


@program(rand(4))
class buffers(nn.Module):
    def __init__(s):
        super().__init__()
        s.register_buffer("n", torch.zeros((), dtype=torch.int64))
        s.register_buffer("ring", torch.arange(12.0).view(3, 4))
        s.register_buffer("scratch", torch.ones(2, 2), persistent=False)

    def forward(s, x):
        s.n += 1
        s.ring[1:].copy_(s.ring[:-1].clone())
        s.ring[0] = x
        s.scratch.view(-1)[1:3] += s.n
        return s.ring.sum(0), s.scratch, s.n * 2


@program(rand(4))
class old_state(nn.Module):
    def __init__(s):
        super().__init__()
        s.register_buffer("a", torch.arange(4.0))
        s.register_buffer("b", torch.ones(4))

    def forward(s, x):
        before = s.a.clone()
        s.a.copy_(s.b)
        s.b.copy_(before)
        s.b.add_(x)
        y = x.clone()
        x.fill_(3)
        return before, s.b.clone(), y, y, s.a


@program(rand(2, 3))
class copies(nn.Module):
    def forward(s, x):
        a = torch.zeros(4, 2, 3)
        a.copy_(x)
        b = torch.zeros(2, 3, dtype=torch.int32)
        b.copy_(x * 10)
        c = torch.ones(2, 3, dtype=torch.float16)
        c.add_(x)
        c[0] = 5
        d = torch.empty(3)
        d[:] = x[0, 0]
        return a, b, c, d


@program(rand(4, 5))
class masks(nn.Module):
    def forward(s, x):
        y = x.clone()
        y[y > 0] = 0
        y[torch.tensor([0, 2]), 1:3] = 9
        z = x * 1
        z.masked_fill_(z < 0, -1).index_fill_(0, torch.tensor([3]), 4)
        z[1].scatter_(0, torch.tensor([4, 0]), torch.tensor([8.0, 9.0]))
        z.view(-1).index_put_((torch.tensor([0, 0, 7]),), torch.ones(3), accumulate=True)
        return y, z


@program(rand(4, 6))
class maybe_views(nn.Module):
    def forward(s, x):
        y = x * 1
        y.reshape(2, 12)[0].add_(1)
        y.t().reshape(24).mul_(0)
        y.contiguous()[1] = 3
        y.t().contiguous()[1] = 4
        y.to(torch.float32)[2] = 5
        y.to(torch.float64)[3] = 6
        y.flatten()[0] = 8
        F.dropout(y, 0.5, training=False)[:, 5] = 9
        y.expand(2, 4, 6)[1, 0, 1] = 10
        return y


@program(rand(4, 3))
class shape_in_place(nn.Module):
    def forward(s, x):
        y = x * 1
        z = y[0]
        z.unsqueeze_(0)
        z.add_(1)
        y.t_()
        y[0].mul_(5)
        y.squeeze_().transpose_(0, 1)
        return y, z


@program(rand(4, 3))
class modes(nn.Module):
    def __init__(s):
        super().__init__()
        s.fc = nn.Linear(3, 3)
        s.register_buffer("seen", torch.zeros(3))

    def forward(s, x):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            y = s.fc(x)
            z = torch.softmax(y, -1)
            y[0].mul_(2)
        with torch.no_grad():
            s.seen += y.float().sum(0)
            x[1].zero_()
        return y, z.float(), s.seen * 1, x + 0


@program(rand(4, 3), lambda: torch.tensor([1.0]), second=[rand(4, 3), lambda: torch.tensor([-1.0])])
class cond_writes(nn.Module):
    def __init__(s):
        super().__init__()
        s.register_buffer("count", torch.zeros(3))

    def forward(s, x, p):
        def yes(a, c):
            a.mul_(2)
            c.add_(1)
            return a.sum(0)

        def no(a, c):
            t = a * 3
            t[0].zero_()
            a[1].sub_(1)
            return t.sum(0)

        y = x * 1
        with torch.no_grad():
            r = torch.cond(p.sum() > 0, yes, no, (y, s.count))
        return r, y, s.count + 0


@program(lambda: torch.tensor(3), rand(4))
class while_writes(nn.Module):
    def __init__(s):
        super().__init__()
        s.register_buffer("total", torch.zeros(4))

    def forward(s, n, x):
        def test(i, v):
            return i < n

        def step(i, v):
            s.total.add_(v)
            w = v * 0.5
            w[0].fill_(1)
            return i + 1, w + s.total.mean()

        with torch.no_grad():
            i, y = torch._higher_order_ops.while_loop(test, step, (torch.zeros((), dtype=torch.int64), x * 1))
        return i, y, s.total * 1


@program(lambda: torch.tensor(3), rand(4))
class while_carries(nn.Module):
    def forward(s, n, x):
        def test(i, v):
            return i < n

        def step(i, v):
            w = v * 0.5
            w[0].fill_(1)
            v.view(2, 2)[1].add_(1)
            return i + 1, w + v

        with torch.no_grad():
            return torch._higher_order_ops.while_loop(test, step, (torch.zeros((), dtype=torch.int64), x * 1))


@program(rand(4, 3, 5))
class batch_norm_train(nn.Module):
    def __init__(s):
        super().__init__()
        s.bn = nn.BatchNorm1d(3)
        s.inorm = nn.InstanceNorm1d(3, affine=True, track_running_stats=True)

    def forward(s, x):
        return s.bn(x), s.inorm(x), s.bn.running_mean + 0


@program(rand(3, 2))
class complex_views(nn.Module):
    def forward(s, x):
        c = torch.view_as_complex(x * 1)
        c.real.mul_(2)
        torch.view_as_real(c)[:, 1] += 1
        return torch.view_as_real(c.conj().resolve_conj()) * 1, c.imag * 1


@program(rand(5, 4), dynamic={"x": {0: Dim("n", min=3, max=16)}}, second=[rand(8, 4)])
class dynamic_views(nn.Module):
    def forward(s, x):
        y = x * 1
        y[1:].mul_(2)
        y.view(-1)[-1] = 3
        y.t().reshape(4, -1)[0].zero_()
        z = (x + 1).reshape(-1, 2).relu_()
        a, b = y.split([1, x.shape[0] - 1])
        b.add_(a)
        return y, z, b


@program(rand(3, 4))
class detached(nn.Module):
    def forward(s, x):
        y = (x * 1).detach()
        with torch.no_grad():
            y.detach().view(12)[3:6].fill_(2)
        k = torch.tensor([1.0, 2.0, 3.0, 4.0])
        k[1] = 9
        return y, y + k


@program(rand(3, 4))
class out_variants(nn.Module):
    def forward(s, x):
        y = torch.empty(3, 4)
        torch.add(x, 1, out=y)
        z = torch.zeros(2, 3, 4)
        torch.mul(x, y, out=z[1])
        return y, z


@program(rand(3, 4))
class strided(nn.Module):
    def forward(s, x):
        y = x * 1
        v = y.t()
        w = v.as_strided((2, 3), (1, 4), 1)
        w.add_(10)
        u = y.as_strided((3, 3), (2, 1))
        return y, w, u, v


@program(rand(4, 6))
class sizes_from_constants(nn.Module):
    def forward(s, x):
        mask = torch.ones(4, dtype=torch.bool)
        mask[1] = False
        keep = mask.nonzero().squeeze(1)
        n = torch.tensor([2, 3]).sum().item()
        torch._check(n <= 6)
        k = torch.arange(6).sum().item() // 5
        return x[keep], x[:, :n], x[mask] * k, torch.zeros(n)


@program(rand(4, 4))
class known_branches(nn.Module):
    def __init__(s):
        super().__init__()
        s.fc = nn.Linear(4, 4)
        s.register_buffer("flag", torch.tensor(True))

    def forward(s, x):
        y = torch.cond(torch.ones(2).sum() > 1, lambda v: s.fc(v), lambda v: v.sin(), (x,))
        return torch.cond(s.flag, lambda v: v + 1, lambda v: v - 1, (y,))


@program(rand(2, 3), rand(3), lambda: torch.tensor(1.5), lambda: torch.tensor([3, 1, 2], dtype=torch.int16),
         dynamic={"x": {0: Dim("n", min=2, max=9)}, "v": None, "s": None, "i": None})
class composite_joins(nn.Module):
    def forward(s_, x, v, s, i):
        half = v.to(torch.float16)
        return (torch.hstack([v, s, half]), torch.hstack([x, x + 1]), torch.vstack([v, x]), torch.dstack([x, -x]),
                torch.column_stack([v, i, half]), torch.row_stack([v, i]), torch.block_diag(x, s, v, i),
                *torch.meshgrid(v, v[1:], s, indexing="xy"), *torch.meshgrid(i, i[:2], indexing="ij"),
                *torch.broadcast_tensors(v, s, x), torch.cartesian_prod(i, i[1:]), torch.cartesian_prod(v),
                torch.combinations(v), torch.combinations(i, 3, with_replacement=True), torch.combinations(i, 0),
                *torch.atleast_3d([s, v, x]), torch.atleast_2d(s), torch.atleast_1d(s), torch.atleast_3d(v),
                torch._chunk_cat([x, x[:, :2]], 1, 2), torch._chunk_cat([v, half.float()], 0, 2))


@program(rand(4, 4, 2), lambda: torch.tensor([3, 1], dtype=torch.int64))
class composite_views(nn.Module):
    def forward(s, x, at):
        m = x[:, :, 0]
        c = torch.complex(m, m + 1)
        return (m.mT, m.H, m.mH, torch.view_as_real(c.mH.resolve_conj()), torch.adjoint(m), torch.fliplr(m), torch.flipud(x),
                *torch.hsplit(x, 2), *torch.vsplit(x, [1, 3]), *torch.dsplit(x, 2), torch.hsplit(m[0], [1])[1],
                torch.diag(m, -1), torch.diag(m[0], 1), torch.diagflat(x[0], -2), torch.diag_embed(x, -1, 0, 2),
                x.sum_to_size(4, 1), x.to(torch.int32).sum_to_size(1, 4, 1), (m > 0).sum_to_size(4),
                *torch.tensor_split(m, 3), *torch.tensor_split(m, at - 1, 1),
                x.unflatten(0, (2, -1)), x.movedim((0, 2), (1, 0)), m.moveaxis(-1, 0), m.swapaxes(0, 1),
                m.T, torch.hash_tensor(x, 1), torch.hash_tensor(at), x.view(torch.int32))


SOME = Dim("n", min=4, max=9)


@program(rand(5, 4), rand(5), rand(3), dynamic={"x": {0: SOME}, "t": {0: SOME}, "v": {0: Dim("m", min=2, max=9)}},
         second=[rand(7, 4), rand(7), rand(2)])
class composite_sizes(nn.Module):
    def forward(s, x, t, v):
        return (torch.diff(x, 2, 0), torch.trapezoid(x, dim=0), torch.trapezoid(x, t, dim=0),
                torch.cumulative_trapezoid(x, t, dim=0), torch.einsum("ij,i", x, t), torch.einsum("i...,i...->...", x, x),
                torch.tensordot(t, x, dims=1), torch.outer(t, v), torch.block_diag(x, t, v), torch.inner(x.mT, t),
                *torch.meshgrid(t, v, indexing="xy"), torch.cartesian_prod(t, v), torch.diag(t, 1), torch.diag(x, -1),
                torch.diag_embed(x, 1), torch.hstack([t, v]), torch.column_stack([t, x]), torch.vstack([x, x]), torch.trace(x),
                x.sum_to_size(1, 4), torch.atleast_3d(x), torch.flipud(x))


@program(rand(5, 4), lambda: torch.tensor([0.5, 1.0, 2.5, 3.0, 4.5]))
class composite_calculus(nn.Module):
    def forward(s, x, t):
        i = (x * 4).to(torch.int32)
        return (torch.diff(x, 2, 0), torch.diff(x > 0), torch.diff(i, prepend=i[:, :2], append=i[:, 1:2]), torch.diff(x, 0),
                torch.diff(x, 9, 1), *torch.gradient(x), *torch.gradient(x, spacing=0.5, edge_order=2),
                *torch.gradient(x, spacing=(t,), dim=0), *torch.gradient(x, spacing=[t, t[:4]], dim=[0, 1], edge_order=2),
                *torch.gradient(i, spacing=[2.5, 0.25], dim=(1, 0)), *torch.gradient(x.to(torch.float16), dim=1),
                torch.trapezoid(x), torch.trapezoid(i, dx=3, dim=0), torch.trapezoid(x, t, dim=0), torch.trapz(x, x * 2, dim=0),
                torch.trapezoid(x[:, :0]), torch.cumulative_trapezoid(x, dim=0), torch.cumulative_trapezoid(x, t, dim=0),
                torch.cumulative_trapezoid(i, dx=0.5))


@program(rand(3, 3, 2), rand(3, 2), lambda: torch.tensor([2, -1, 3], dtype=torch.int32))
class composite_products(nn.Module):
    def forward(s, x, y, i):
        h = y.to(torch.bfloat16)
        return (torch.einsum("...ij,...kj->...ik", x, y), torch.einsum("iij->ij", x), torch.einsum("iij", x),
                torch.einsum("ba,bc", y, y), torch.einsum("abc,bc->", x, y), torch.einsum("ij,kj->ikj", x[:, :, 0], x[0, :, :1].mT),
                torch.einsum("i,j,i->j", i, i, i), torch.einsum("i,i->i", i > 0, i > 2), torch.einsum("...a->...", x),
                torch.einsum("ab,cb,cd->ad", y, h.float(), y), torch.einsum("ab,ca", y, y.mT), torch.einsum("Ba,aB->aB", y, y.mT),
                torch.inner(y, y), torch.inner(i, torch.tensor(3, dtype=torch.int32)), torch.inner(x, y[0]), torch.inner(h, h),
                torch.tensordot(x, y, dims=2), torch.tensordot(x, y, dims=([1], [0])), torch.tensordot(x, y[:1], dims=([1], [0])),
                torch.tensordot(y, y, dims=0), torch.kron(y, i), torch.kron(x, h), torch.outer(i > 0, i > 2), torch.outer(i, y[:, 0]),
                torch.vdot(i, i), torch.linalg.cross(x.mT, x.mT.roll(1, 0)), torch.cross(i, i * i + 1, dim=0), torch.linalg.cross(y, x[0], dim=0),
                torch.trace(y), torch.trace(i.view(1, 3)), torch.addr(i.view(3, 1) > 2, i > 0, i > 2, beta=True, alpha=True),
                torch.addr(torch.outer(i, i), i, i, beta=2, alpha=-1))


def pack(path):
    """The same archive, deflated: a fifth of the size. Archives as torch stores them are in tests/data/pt2."""
    with zipfile.ZipFile(path) as archive:
        entries = [(entry, archive.read(entry)) for entry in archive.namelist()]
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for entry, data in entries:
            archive.writestr(zipfile.ZipInfo(entry), data, zipfile.ZIP_DEFLATED)


def save_program(out, name):
    cls, inputs, dynamic = PROGRAMS[name]
    torch.manual_seed(0)
    module = cls()
    if name != "batch_norm_train":
        module.eval()
    steps = [[make() for make in step] for step in inputs]
    exported = export(copy.deepcopy(module), tuple(t.clone() for t in steps[0]), dynamic_shapes=dynamic)
    save(exported, f"{out}/{name}.pt2")
    pack(f"{out}/{name}.pt2")
    data = {}
    for i, step in enumerate(steps, 1):
        given = [t.clone() for t in step]
        with torch.no_grad():
            results = module(*given)
        results = results if isinstance(results, tuple) else (results,)
        for k, t in enumerate(step):
            data[f"step{i}.in.{k}"] = t.contiguous()
            if not torch.equal(t, given[k]):
                data[f"step{i}.mutated.{k}"] = given[k].contiguous()
        for k, t in enumerate(results):
            data[f"step{i}.out.{k}"] = t.detach().clone().contiguous()
    save_file(data, f"{out}/{name}.safetensors", metadata={"torch": torch.__version__})


if __name__ == "__main__":
    for program_name in sys.argv[2:] or PROGRAMS:
        try:
            save_program(sys.argv[1], program_name)
        except Exception as error:  # one that PyTorch can't export doesn't hide the others
            print(f"{program_name}: {str(error)[:300]}", file=sys.stderr)
