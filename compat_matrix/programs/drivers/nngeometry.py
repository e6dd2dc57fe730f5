"""Fisher matrices and the Hessian of a network: dense and as Kronecker products; products and solves."""

import torch
from nngeometry.hessian import Hessian
from nngeometry.layercollection import LayerCollection
from nngeometry.metrics import FIM
from nngeometry.object import PMatDense, PMatKFAC
from nngeometry.object.vector import PVector, random_pvector
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def program():
    torch.set_default_dtype(torch.float64)
    model = nn.Sequential(nn.Conv2d(1, 2, 3), nn.Tanh(), nn.Flatten(), nn.Linear(18, 3))
    loader = DataLoader(TensorDataset(torch.randn(6, 1, 5, 5), torch.tensor([0, 1, 2, 0, 1, 2])), batch_size=3)
    layers = LayerCollection.from_model(model)
    yield "layers", layers.numel(), [type(x).__name__ for x in layers.layers.values()], PVector.from_model(model).norm()
    v = random_pvector(layers, device="cpu")
    for kind in (PMatDense, PMatKFAC):
        matrix = FIM(model=model, loader=loader, representation=kind, variant="classif_logits", device="cpu")
        dense = matrix.to_torch()
        yield kind.__name__, dense.diagonal(), dense.square().sum(), matrix.trace(), matrix.mv(v).to_torch(), matrix.vTMv(v), matrix.frobenius_norm()
        yield f"{kind.__name__} solved", matrix.solve(v, regul=0.1).to_torch()
    curved = Hessian(model, loader, PMatDense, function=nn.functional.cross_entropy, layer_collection=layers)
    yield "hessian", curved.to_torch().diagonal(), curved.trace()
