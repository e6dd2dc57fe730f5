"""Attacks on a classifier through EagerPy's tensors: by gradients, by minimization, by decisions alone."""

import eagerpy as ep
import foolbox as fb
import numpy as np
import torch
from torch import nn


def program():
    np.random.seed(0)
    net = nn.Sequential(nn.Flatten(), nn.Linear(3 * 5 * 5, 12), nn.Tanh(), nn.Linear(12, 4)).eval()
    model = fb.PyTorchModel(net, bounds=(0, 1), device="cpu", preprocessing={"mean": [0.5] * 3, "std": [0.5] * 3, "axis": -3})
    x = torch.rand(5, 3, 5, 5)
    y = model(x).argmax(1)
    yield "accuracy", fb.utils.accuracy(model, x, y)
    attacks = fb.attacks
    for attack in (attacks.FGSM(), attacks.LinfPGD(steps=4), attacks.L2PGD(steps=4), attacks.LinfBasicIterativeAttack(steps=3),
                   attacks.L2DeepFoolAttack(steps=4), attacks.L2CarliniWagnerAttack(steps=5, binary_search_steps=2), attacks.DDNAttack(steps=4),
                   attacks.NewtonFoolAttack(steps=3), attacks.SparseL1DescentAttack(steps=3)):
        torch.manual_seed(1)
        _, clipped, success = attack(model, x, y, epsilons=0.3)
        yield type(attack).__name__, clipped, success
    t = ep.astensor(torch.randn(3, 4))
    value, grad = ep.value_and_grad(lambda z: (z.tanh() ** 2).sum(), t)
    yield "eagerpy", value.raw, grad.raw, t.norms.l2(axis=-1).raw, t.argsort(-1).raw, ep.stack([t, t]).shape
    yield "one hot", t.onehot_like(ep.astensor(torch.tensor([0, 1, 2])), value=2).raw, t.pad(((0, 0), (1, 1)), mode="constant").raw
