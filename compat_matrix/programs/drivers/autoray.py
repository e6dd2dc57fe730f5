"""Functions by name for whatever array comes: dispatch, composition, lazy graphs, autodiff through a compiled function."""

import autoray as ar
import torch


@ar.compose
def halves(x):
    return ar.do("sum", x, axis=0) / 2


def program():
    x = torch.randn(4, 3, dtype=torch.float64)
    yield "backend", ar.infer_backend(x), ar.get_dtype_name(x), ar.shape(x), ar.to_numpy(x)
    named = {
        "linalg.qr": (), "linalg.svdvals": (), "transpose": (), "reshape": ((2, 6),), "clip": (-1, 1), "take": (torch.tensor([0, 2]), 0), "diag": (),
        "sum": (0,), "max": (), "linalg.norm": (), "tensordot": (x, [(0, 1), (0, 1)]), "trace": (), "ravel": (), "real": (), "flip": (0,),
    }
    for name, args in named.items():
        yield name, ar.do(name, x, *args)
    yield "made", ar.do("zeros", (2,), like=x), ar.do("eye", 2, like=x, dtype="float64"), ar.do("arange", 4, like="torch")
    yield "composed", halves(x), ar.do("stack", [x, x]).shape, ar.do("concatenate", (x, x)).shape, ar.do("einsum", "ab,cb->ac", x, x)
    yield "complex", ar.do("exp", ar.astype(x, "complex128") * 1j), ar.do("conj", ar.astype(x, "complex64")[0])
    lazy = ar.lazy.array(x)
    result = ar.do("sum", ar.do("tanh", lazy.T @ lazy))
    yield "lazy", result.compute(), result.history_num_nodes()
    a = x.clone().requires_grad_()
    yield "grad", torch.autograd.grad(ar.do("linalg.norm", ar.do("cumsum", a, 0)), a)[0]
