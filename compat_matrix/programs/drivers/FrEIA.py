"""Blocks of invertible networks: forward with its determinant, gradients, and back."""

import FrEIA.framework as framework
import FrEIA.modules as modules
import torch


def small(inputs, outputs):
    return torch.nn.Sequential(torch.nn.Linear(inputs, 8), torch.nn.ReLU(), torch.nn.Linear(8, outputs))


def program():
    x, net = torch.randn(4, 4), {"subnet_constructor": small}
    for name, options in {"AllInOneBlock": net, "GLOWCouplingBlock": net, "RNVPCouplingBlock": net, "GINCouplingBlock": net, "NICECouplingBlock": net, "ActNorm": {},
                          "PermuteRandom": {"seed": 1}, "OrthogonalTransform": {}, "HouseholderPerm": {"n_reflections": 2}, "RationalQuadraticSpline": {**net, "bins": 4},
                          "InvertibleSigmoid": {}}.items():
        torch.manual_seed(1)
        chain = framework.SequenceINN(4)
        chain.append(getattr(modules, name), **options)
        out, log_det = chain(x)
        loss = out.pow(2).sum() - torch.as_tensor(log_det).sum()
        if loss.requires_grad:
            loss.backward()
        yield name, out, log_det, [p.grad for p in chain.parameters()], bool((chain(out.detach(), rev=True)[0] - x).abs().max() < 1e-4)
