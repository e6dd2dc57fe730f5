"""Versions of deep copies, which torch fills once they are made."""

import copy

from compat_matrix.case import case, raises


@case("inplace.copied_versions")
def _(torch):
    written = torch.ones(2)
    written.add_(1).add_(1)
    for name, t in (("fresh", torch.ones(2)), ("written", written), ("leaf", torch.ones(2, requires_grad=True)), ("view", torch.ones(4)[1:3]),
                    ("parameter", torch.nn.Parameter(torch.ones(2)))):
        other = copy.deepcopy(t)
        yield name, t._version, other._version, other
    module = copy.deepcopy(torch.nn.BatchNorm1d(2))
    yield "module", [p._version for p in module.parameters()], [b._version for b in module.buffers()]
    leaf = copy.deepcopy(torch.ones(3, requires_grad=True))
    z = (leaf * leaf).sum()
    with torch.no_grad():
        leaf.add_(1)
    yield "written after", leaf._version, raises(lambda: z.backward())
    z = (leaf * leaf).sum()
    z.backward()
    yield "grad", leaf.grad
