"""How often a step writes to its parameters, as their versions count it."""

from compat_matrix.case import case


@case("optim.versions")
def _(torch):
    o = torch.optim
    kinds = {"AdamW": lambda p: o.AdamW(p), "AdamW 0": lambda p: o.AdamW(p, weight_decay=0), "Adam": lambda p: o.Adam(p, weight_decay=0.1),
             "decoupled": lambda p: o.Adam(p, weight_decay=0.1, decoupled_weight_decay=True), "SGD": lambda p: o.SGD(p, lr=0.1, momentum=0.9, weight_decay=0.1),
             "NAdam": lambda p: o.NAdam(p), "NAdam decoupled": lambda p: o.NAdam(p, weight_decay=0.1, decoupled_weight_decay=True), "RAdam": lambda p: o.RAdam(p),
             "RAdam decoupled": lambda p: o.RAdam(p, weight_decay=0.1, decoupled_weight_decay=True), "ASGD": lambda p: o.ASGD(p), "Rprop": lambda p: o.Rprop(p)}
    for name, make in kinds.items():
        p = torch.ones(2, 2, requires_grad=True)
        step, seen = make([p]), []
        for _ in range(3):
            (p * p).sum().backward()
            step.step()
            seen.append(p._version)
            step.zero_grad()
        yield name, seen, p.detach()
