"""Conversions between representations of rotations and back, gradients through them, Procrustes, slerp and rigid transformations."""

import roma
import torch


def program():
    torch.set_default_dtype(torch.float64)
    v = torch.randn(5, 3, requires_grad=True)
    for name in ["rotvec_to_rotmat", "rotvec_to_unitquat"]:
        out = getattr(roma, name)(v)
        yield name, out, torch.autograd.grad(out.pow(3).sum(), v)
    m = roma.rotvec_to_rotmat(v)
    q = roma.rotmat_to_unitquat(m)
    yield "quaternions", q, roma.unitquat_to_rotvec(q), roma.quat_action(q, v), roma.quat_composition([q, q.flip(0)]), roma.quat_inverse(q)
    yield "back", torch.autograd.grad(roma.rotmat_to_rotvec(m).pow(3).sum(), v)
    yield "euler", roma.rotmat_to_euler("xyz", m.detach()), roma.euler_to_rotmat("ZYX", [30.0, 20.0, 10.0], degrees=True)
    a = torch.randn(4, 3, 3, requires_grad=True)
    r, d = roma.special_procrustes(a, return_singular_values=True)
    yield "procrustes", r, d, torch.autograd.grad(r.pow(3).sum(), a)
    six = torch.randn(4, 3, 2, requires_grad=True)
    g = roma.special_gramschmidt(six)
    yield "gram-schmidt", g, torch.autograd.grad(g.pow(3).sum(), six)
    steps = torch.linspace(0, 1, 3)
    yield "slerp", roma.rotvec_slerp(v[0], v[1], steps), roma.unitquat_slerp(q[0], q[1], steps)
    yield "distance", roma.rotmat_geodesic_distance(m, m.flip(0)), roma.rotmat_cosine_angle(m), roma.unitquat_geodesic_distance(q, q.flip(0))
    x = torch.randn(5, 3)
    rigid = roma.Rigid(m, v)
    yield "rigid", rigid.apply(x), rigid.inverse().to_homogeneous(), (rigid @ rigid).linear
    yield "registration", roma.rigid_points_registration(x, x @ m[0].detach().T + 1)
    yield "random", roma.random_rotmat(2), roma.random_unitquat(3), roma.random_rotvec(2), roma.identity_quat(2)
    yield "mean", roma.rotmat_weighted_mean(m, torch.ones(5) / 5) if hasattr(roma, "rotmat_weighted_mean") else None
    yield "symmetric", roma.symmatrixvec_to_symmatrix(torch.arange(6.0)) if hasattr(roma, "symmatrixvec_to_symmatrix") else None
