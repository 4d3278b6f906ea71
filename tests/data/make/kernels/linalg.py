"""Linear algebra: what PyTorch's LAPACK gives, and what it refuses."""

import torch

A = torch.ops.aten
DTYPES = (torch.float32, torch.float64, torch.complex64, torch.complex128)


def tolerance(dtype):
    single = dtype in (torch.float32, torch.complex64)
    return (2e-4, 2e-4) if single else (1e-9, 1e-10)


def matrices(*shape, dtype):
    """Well conditioned where square."""
    x = torch.randn(*shape, dtype=dtype)
    return x + 3 * torch.eye(*shape[-2:], dtype=dtype)


def positive(*shape, dtype):
    x = matrices(*shape, dtype=dtype)
    return x @ x.mH


def systems(add, dtype, t):
    a, batch = matrices(5, 5, dtype=dtype), matrices(2, 1, 3, 3, dtype=dtype)
    for x in (a, batch, matrices(0, 0, dtype=dtype), matrices(2, 0, 3, 3, dtype=dtype), a.mT):
        add(A.linalg_inv, x, **t)
        add(A.linalg_det, x, **t)
        add(A.linalg_slogdet, x, **t)
    add(A.linalg_inv_ex, a, **t)
    for x in (a, batch, matrices(3, 5, dtype=dtype), matrices(2, 5, 3, dtype=dtype), matrices(1, 3, dtype=dtype)):
        add(A.linalg_lu, x, **t)
        add(A.linalg_lu_factor_ex, x, **t)
        add(A.lu_unpack, *torch.linalg.lu_factor(x), **t)
    for b, left in ((torch.randn(5, dtype=dtype), True), (torch.randn(5, 2, dtype=dtype), True),
                    (torch.randn(2, 5, dtype=dtype), False), (torch.randn(3, 5, 2, dtype=dtype), True)):
        add(A.linalg_solve, a, b, left=left, **t)
        add(A.linalg_solve_ex, a, b, left=left, **t)
    factors, pivots = torch.linalg.lu_factor(batch)
    for adjoint in (False, True):
        add(A.linalg_lu_solve, factors, pivots, torch.randn(4, 3, 2, dtype=dtype), adjoint=adjoint, **t)
        add(A.linalg_lu_solve, factors, pivots, torch.randn(4, 2, 3, dtype=dtype), left=False, adjoint=adjoint, **t)
    add(A.lu_solve, torch.randn(2, 4, 3, 2, dtype=dtype), factors.expand(2, 4, 3, 3).contiguous(),
        pivots.expand(2, 4, 3).contiguous(), **t)
    add(A.linalg_tensorinv, matrices(6, 6, dtype=dtype).reshape(2, 3, 6), 2, **t)
    add(A.linalg_tensorsolve, matrices(6, 6, dtype=dtype).reshape(2, 3, 6), torch.randn(2, 3, dtype=dtype), **t)


def triangles(add, dtype, t):
    a = matrices(2, 4, 4, dtype=dtype)
    for upper in (False, True):
        for left in (False, True):
            add(A.linalg_solve_triangular, a, torch.randn(3, 1, 4, 4, dtype=dtype), upper=upper, left=left,
                unitriangular=upper != left, **t)
        add(A.triangular_solve, torch.randn(2, 4, 3, dtype=dtype), a, upper, not upper, False, **t)
    for hermitian in (False, True):
        x = torch.randn(6, 6, dtype=dtype)
        factors, pivots = torch.linalg.ldl_factor(x + (x.mH if hermitian else x.mT), hermitian=hermitian)
        add(A.linalg_ldl_solve, factors, pivots, torch.randn(6, 2, dtype=dtype), hermitian=hermitian, **t)


def factors(add, dtype, t):
    for x in (positive(5, 5, dtype=dtype), positive(2, 3, 3, dtype=dtype), positive(0, 0, dtype=dtype)):
        for upper in (False, True):
            add(A.linalg_cholesky, x, upper=upper, **t)
            add(A.linalg_cholesky_ex, x, upper=upper, **t)
            factor = torch.linalg.cholesky(x, upper=upper)
            add(A.cholesky_inverse, factor, upper, **t)
            add(A.cholesky_solve, torch.randn(*x.shape[:-1], 2, dtype=dtype), factor, upper, **t)
    for x in (torch.randn(4, 4, dtype=dtype), torch.randn(2, 5, 3, dtype=dtype), torch.randn(3, 5, dtype=dtype)):
        for mode in ("reduced", "complete", "r"):
            add(A.linalg_qr, x, mode, **t)
        packed, tau = torch.geqrf(x)
        add(A.geqrf, x, **t)
        if x.shape[-2] >= x.shape[-1]:
            add(A.linalg_householder_product, packed, tau, **t)
            for transpose in (False, True):
                add(A.ormqr, packed, tau, torch.randn(*x.shape[:-1], 2, dtype=dtype), True, transpose, **t)
                add(A.ormqr, packed, tau, torch.randn(*x.shape[:-2], 2, x.shape[-2], dtype=dtype), False, transpose, **t)


def refusals(add):
    singular, flat = torch.tensor([[1.0, 2.0], [2.0, 4.0]]), torch.randn(2, 3)
    for op in (A.linalg_inv, A.linalg_det, A.linalg_cholesky):
        add(op, flat)
        add(op, torch.randn(3))
        add(op, torch.randn(2, 2).half())
        add(op, torch.ones(2, 2, dtype=torch.int64))
    add(A.linalg_inv, singular)
    add(A.linalg_det, singular)
    add(A.linalg_slogdet, singular)
    add(A.linalg_lu_factor, singular)
    add(A.linalg_lu_factor, torch.eye(2), pivot=False)
    add(A.linalg_solve, singular, torch.randn(2))
    add(A.linalg_solve, torch.eye(2), torch.randn(3))
    add(A.linalg_solve, torch.eye(2), torch.randn(2).double())
    add(A.linalg_cholesky, -torch.eye(3))
    add(A.linalg_solve_triangular, torch.eye(3), torch.randn(2, 2), upper=True)
    add(A.linalg_qr, flat, "full")
    add(A.linalg_tensorinv, torch.randn(2, 3, 5), 2)


def cases(add):
    for dtype in DTYPES:
        t = {"tolerance": tolerance(dtype)}
        systems(add, dtype, t)
        triangles(add, dtype, t)
        factors(add, dtype, t)
    refusals(add)
