"""Warnings name the line of the program, not one of the library."""

import os
import warnings

from compat_matrix.case import case

HERE = os.path.basename(__file__)


def places(fn):
    """(is the place in this file, start of the message) of each warning."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fn()
    return [(os.path.basename(w.filename) == HERE, w.category.__name__, str(w.message)[:50]) for w in caught]


@case("everyday.warned.index")
def _(torch):
    t = torch.ones(2, 3)
    yield "list of lists", places(lambda: t[[[0, 1], [0, 1]]])
    yield "list of a slice", places(lambda: t[[slice(None), [0]]])
    yield "write", places(lambda: t.__setitem__([[0, 1], [0, 1]], 5)), t
    yield "list of numbers", places(lambda: t[[0, 1]])
    yield "bytes", places(lambda: t[torch.ones(2, 3, dtype=torch.uint8)])


@case("everyday.warned.elsewhere")
def _(torch):
    t = torch.ones(2, 3, requires_grad=True)
    F = torch.nn.functional
    yield "grad", places(lambda: (t * 2).grad)
    yield "tensor", places(lambda: torch.tensor(t))
    yield "out", places(lambda: torch.add(t.detach(), 1, out=torch.ones(2)))
    yield "softmax", places(lambda: F.softmax(t))
    yield "sizes", places(lambda: F.mse_loss(t, torch.ones(3)))
    yield "range", places(lambda: torch.range(0, 3))
    yield "kl_div", places(lambda: F.kl_div(t, t))
    yield "chain_matmul", [w[1:] for w in places(lambda: [torch.chain_matmul(t, t.T), torch.chain_matmul(t, t.T)])]
    yield "meshgrid", [w[1:] for w in places(lambda: [torch.meshgrid(t[0], t[1]), torch.meshgrid(t[0], t[1])])]
