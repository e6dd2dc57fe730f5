"""Warnings that PyTorch gives once in a process, of operators whose ways are to change; and names that say where to ask instead."""

import warnings

from compat_matrix.case import attempt, case


def said(f):
    """What a call warns of."""
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        f()
    return [(w.category.__name__, str(w.message).partition(" (Triggered")[0]) for w in seen]


@case("said_once.operators")
def _(torch):
    was = torch.is_warn_always_enabled()
    torch.set_warn_always(True)
    try:
        x, i, one = torch.zeros(3), torch.tensor([0, 1]), torch.ones(2)
        mask = torch.tensor([1, 0, 1], dtype=torch.uint8)
        for n, f in enumerate((
                lambda: torch.index_reduce(x, 0, i, one, "amax"), lambda: x.index_reduce(0, i, one, "mean"), lambda: x.clone().index_reduce_(0, i, one, "prod"),
                lambda: x.scatter(0, i, 1.5, reduce="add"), lambda: torch.scatter(x, 0, i, one, reduce="add"), lambda: x.clone().scatter_(0, i, one, reduce="multiply"),
                lambda: x.scatter(0, i, one), lambda: torch.frobenius_norm(torch.ones(3, 3), [0, 1]),
                lambda: torch.where(mask, x, x), lambda: x.where(mask, 2.0), lambda: torch.where(mask.bool(), x, x))):
            yield n, said(f)
    finally:
        torch.set_warn_always(was)


@case("said_once.windows")
def _(torch):
    was = torch.is_warn_always_enabled()
    torch.set_warn_always(True)
    try:
        x, w = torch.arange(100.0).sin(), torch.ones(16)
        s = torch.stft(x, 16, window=w, return_complex=True)
        for n, f in enumerate((
                lambda: torch.stft(x, 16, return_complex=True), lambda: x.stft(16, return_complex=False), lambda: torch.stft(x, 16, window=w, return_complex=False),
                lambda: torch.stft(x, 16, window=w, return_complex=True), lambda: torch.istft(s, 16), lambda: s.istft(16, window=w))):
            yield n, said(f)
    finally:
        torch.set_warn_always(was)


@case("said_once.built_with")
def _(torch):
    for name in ("has_mps", "has_cuda", "has_cudnn", "has_mkldnn"):
        yield name, said(lambda name=name: getattr(torch, name)), isinstance(getattr(torch, name), bool), name in dir(torch)


@case("said_once.betas")
def _(torch):
    for betas in ((0, 0.9), (0.9, 0), (0, 0), (1, 0.9), (False, 0.5)):
        for name in ("Adam", "AdamW", "Adamax", "NAdam", "RAdam"):
            yield f"{name} {betas}", attempt(lambda name=name, betas=betas: type(getattr(torch.optim, name)([torch.ones(2, requires_grad=True)], betas=betas)).__name__)
