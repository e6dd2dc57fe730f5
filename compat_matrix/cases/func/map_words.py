"""What maps refuse of shapes, orders of dims in memory and draws into given tensors, in torch's words."""

from compat_matrix.case import case, raises


@case("func.map_words.products")
def _(torch):
    vmap, ones = torch.func.vmap, torch.ones
    yield "mm left", raises(lambda: vmap(torch.mm)(ones(7, 2, 2, 2), ones(7, 2)))
    yield "mm right alone", raises(lambda: vmap(torch.mm, in_dims=(None, 0))(ones(2, 2), ones(7, 2, 2, 2)))
    yield "mm left alone", raises(lambda: vmap(torch.mm, in_dims=(0, None))(ones(7, 2), ones(2, 2)))
    yield "mv", raises(lambda: vmap(torch.mv)(ones(7, 2, 2, 2), ones(7, 2)))
    yield "bmm", raises(lambda: vmap(torch.bmm)(ones(7, 2, 2, 2), ones(7, 2)))
    yield "dot", raises(lambda: vmap(torch.dot)(ones(7, 2, 2, 2), ones(7, 2)))
    yield "fits", vmap(torch.mm, in_dims=(0, None))(ones(7, 2, 3), ones(3, 2)).shape


@case("func.map_words.memory")
def _(torch):
    vmap, last = torch.func.vmap, torch.channels_last
    yield "as_strided", raises(lambda: vmap(lambda x: x.as_strided([1, 1, 1], [1, 1]))(torch.ones(5, 2, 3)))
    yield "clone", raises(lambda: vmap(lambda x: x.clone(memory_format=last))(torch.ones(3)))
    yield "contiguous", raises(lambda: vmap(lambda x: x.contiguous(memory_format=last))(torch.ones(3, 3)))
    yield "plain", vmap(lambda x: x.clone(memory_format=torch.contiguous_format))(torch.ones(3, 2))


@case("func.map_words.draws")
def _(torch):
    vmap, y = torch.func.vmap, torch.ones(3)
    yield "out", raises(lambda: vmap(lambda x: torch.randn(3, out=y), randomness="same")(torch.ones(3)))
    yield "rrelu", raises(lambda: vmap(lambda x: torch.nn.functional.rrelu(torch.ones(3)), randomness="same")(torch.ones(3)))
    yield "outside", torch.nn.functional.rrelu(torch.tensor([-1.0, 2.0]))
