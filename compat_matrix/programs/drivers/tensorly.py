"""Decompositions over the PyTorch backend, gradients through a reconstruction, a regression."""

import tensorly as tl
import torch
from tensorly.decomposition import non_negative_parafac, parafac, partial_tucker, tensor_train, tucker
from tensorly.random import random_cp
from tensorly.tenalg import khatri_rao, kronecker, mode_dot, multi_mode_dot

tl.set_backend("pytorch")


def program():
    torch.set_default_dtype(torch.float64)
    x = torch.randn(4, 5, 3)
    yield "unfold", tl.unfold(x, 1), tl.fold(tl.unfold(x, 1), 1, x.shape), tl.tensor_to_vec(x).shape
    yield "products", mode_dot(x, torch.ones(2, 5), 1), khatri_rao([x[0], x[1]]), kronecker([x[0, :2], x[1, :2]])
    cp = parafac(x, rank=2, n_iter_max=5, init="svd")
    yield "parafac", cp.weights, cp.factors, tl.cp_to_tensor(cp)
    positive = non_negative_parafac(x.abs(), rank=2, n_iter_max=5, init="svd")
    yield "non-negative", tl.cp_to_tensor(positive)
    yield "tucker", tl.tucker_to_tensor(tucker(x, rank=[2, 2, 2], n_iter_max=5)), tl.norm(x), tl.norm(x, 1)
    yield "partial", tl.to_numpy(partial_tucker(x, rank=[2, 2], modes=[0, 1], n_iter_max=3)[0][0])
    yield "train", tl.tt_to_tensor(tensor_train(x, rank=[1, 2, 2, 1]))
    factors = [torch.randn(n, 2, requires_grad=True) for n in (4, 5, 3)]
    loss = (tl.cp_to_tensor((None, factors)) - x).pow(2).sum()
    yield "gradients", loss, torch.autograd.grad(loss, factors)
    core = torch.randn(2, 2, 2, requires_grad=True)
    loss = multi_mode_dot(core, factors).pow(2).mean()
    yield "multi", loss, torch.autograd.grad(loss, [core, *factors])
    yield "random", random_cp((3, 3, 2), rank=2, full=True, random_state=0)
    yield "numbers", tl.svd(x[0])[1], tl.qr(x[0])[1].abs(), tl.solve(x[0, :3], x[1, :3]), tl.argmax(x), tl.sort(x[0, 0], 0)
