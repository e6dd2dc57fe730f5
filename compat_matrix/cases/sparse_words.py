"""What torch says of sparse tensors: young layouts, old constructors, and the switch for checks."""

from compat_matrix.case import case, raises, warned


@case("sparse_words.said")
def _(torch):
    i, v = torch.tensor([[0, 1], [1, 0]]), torch.ones(2)
    before = torch.is_warn_always_enabled()
    torch.set_warn_always(True)
    try:
        x = torch.sparse_coo_tensor(i, v, (2, 2), check_invariants=True)
        yield "checked", warned(lambda: torch.sparse_coo_tensor(i, v, (2, 2), check_invariants=True))
        yield "csr", warned(lambda: torch.sparse_csr_tensor([0, 1, 2], [0, 1], [1.0, 2.0], check_invariants=False))
        yield "to csr", warned(lambda: x.coalesce().to_sparse_csr()), warned(lambda: torch.eye(2).to_sparse_csr())
        yield "other", warned(lambda: x.coalesce()), warned(lambda: x + x), warned(lambda: torch.sparse.mm(x, torch.ones(2, 2))), warned(lambda: x.to_dense())
        yield "old", warned(lambda: torch.sparse.FloatTensor(i, v, (2, 2))), warned(lambda: torch.sparse.DoubleTensor(i, v.double()))
        yield "old sizes", warned(lambda: torch.sparse.FloatTensor(2, 2)), warned(lambda: torch.sparse.FloatTensor(torch.Size((2, 2))))
        yield "nothing", warned(lambda: torch.sparse.FloatTensor()), torch.sparse.FloatTensor().shape
    finally:
        torch.set_warn_always(before)


@case("sparse_words.switch")
def _(torch):
    switch = torch.sparse.check_sparse_tensor_invariants

    def asked():
        return switch.is_enabled()

    yield "at first", asked()
    with switch():
        yield "within", asked(), switch(False)(asked)(), switch(True)(asked)()
    yield "after", asked(), switch()(asked)()
    switch.enable()
    yield "enabled", asked(), torch.sparse_coo_tensor([[1]], [1.0], (2,)).shape
    switch.disable()
    yield "disabled", asked()
    c = switch(False)
    yield "kept", c.state, c.saved_state

    def twice():
        with c, c:
            pass

    yield "twice", raises(twice), raises(lambda: torch.sparse_coo_tensor([[5]], [1.0], (2,), check_invariants=True))
