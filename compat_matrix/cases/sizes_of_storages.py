"""Storages that are told to hold fewer bytes, or as many again: what libraries do to let memory go for a while."""

import warnings

from ..case import case


@case("sizes_of_storages.held")
def _(torch):
    a = torch.arange(4.0)
    s = a.untyped_storage()
    full = s.nbytes()
    yield "emptied", s.resize_(0) is s, s.nbytes(), s.size(), len(s), a.shape, a._version
    yield "filled", s.resize_(full).nbytes(), a.copy_(torch.ones(4)), a.untyped_storage().nbytes()
    b = torch.tensor([1, 2, 3], dtype=torch.uint8).untyped_storage()
    yield "cut", b.resize_(2).tolist(), b.nbytes()
    leaf = torch.arange(4.0, requires_grad=True)
    leaf.untyped_storage().resize_(0)
    yield "leaf", leaf.untyped_storage().nbytes(), leaf.numel(), leaf._version
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        t = torch.zeros(4)
        yield "typed", t.storage().resize_(2), t.storage().size(), t.untyped_storage().nbytes()
    for size in (-1, 1.5):
        try:
            torch.zeros(2).untyped_storage().resize_(size)
        except RuntimeError as e:
            yield f"{size}", str(e)
