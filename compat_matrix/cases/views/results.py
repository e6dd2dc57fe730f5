"""``out=`` of a view that has other sizes than the result."""

from compat_matrix.case import case, warned


def outs(torch):
    x, y = torch.zeros(2, 4), torch.zeros(4, 2).t()
    return {
        "row, fewer": (x, x[0], lambda v, o: torch.add(v[:2], 1, out=o)),
        "row, more": (x, x[1], lambda v, o: torch.add(torch.arange(6.0), 1, out=o)),
        "all, fewer": (x, x.view(8), lambda v, o: torch.take(v, torch.tensor([0, 2, 1]), out=o)),
        "column": (y, y[:, 1], lambda v, o: torch.mul(v[:1], 2, out=o)),
        "row, two dims": (x, x[0], lambda v, o: torch.add(v[:2, None], v, out=o)),
        "selected": (x, x[1, 1:], lambda v, o: torch.masked_select(v, v > 1, out=o)),
        "same": (x, x[1, 1:], lambda v, o: torch.exp(v, out=o)),
        "steps": (x, torch.zeros(6)[::2], lambda v, o: torch.mul(v[:2], 2, out=o)),
    }


for _name in ("row, fewer", "row, more", "all, fewer", "column", "row, two dims", "selected", "same", "steps"):
    @case(f"views.out.{_name}")
    def _(torch, _name=_name):
        base, out, run = outs(torch)[_name]
        found = []
        yield "warnings", warned(lambda: found.append(run(torch.arange(1.0, 4.0), out)))
        yield "result", found[0].clone(), found[0] is out, tuple(out.shape), out.stride(), out.storage_offset()
        yield "base", base.clone(), base._version
        out.zero_()
        yield "shared", base.clone()
