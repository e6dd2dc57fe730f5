"""Which tangents `make_dual` takes as they are, and how the others are laid out."""

from compat_matrix.case import case


@case("forward_ad_layouts.bits")
def _(torch):
    fw = torch.autograd.forward_ad
    ways = {"plain": lambda t: t, "conj": lambda t: t.conj(), "neg": lambda t: t._neg_view()}
    z, w = torch.tensor([1 + 2j, 3 - 1j]), torch.tensor([0.5 + 1j, 2 - 3j])
    for a, f in ways.items():
        for b, g in ways.items():
            with fw.dual_level():
                x, t = f(z), g(w)
                u = fw.unpack_dual(fw.make_dual(x, t)).tangent
                yield f"{a} {b}", u is t, u.is_conj(), u.is_neg(), torch.equal(u, t)


@case("forward_ad_layouts.sizes")
def _(torch):
    fw = torch.autograd.forward_ad
    pairs = {
        "alike": (torch.ones(3), torch.ones(3)),
        "a piece": (torch.ones(5)[:4].detach(), torch.ones(4)),
        "of a piece": (torch.ones(4), torch.ones(5)[:4]),
        "pieces": (torch.ones(5)[:4], torch.ones(5)[:4]),
        "transposed": (torch.ones(2, 2).t(), torch.ones(2, 2)),
        "nothing": (torch.ones(1).as_strided((0,), (1,), 1), torch.ones(1).as_strided((0,), (1,), 0)),
        "one": (torch.ones(1).as_strided((1,), (2,), 0), torch.ones(1).as_strided((1,), (1,), 0)),
    }
    for name, (x, t) in pairs.items():
        with fw.dual_level():
            u = fw.unpack_dual(fw.make_dual(x, t)).tangent
            yield name, u is t, u.stride()
