"""What is written to the primal of a dual tensor that was computed, or to the tensor once it was unpacked: gradients, nodes, values after the level."""

from compat_matrix.case import case


def _node(t):
    return t.grad_fn and t.grad_fn.name()


def _dual(torch, needs=True):
    x = torch.tensor([1.0, 2.0, 0.5], dtype=torch.float64, requires_grad=needs)
    return x, torch.autograd.forward_ad.make_dual(x, torch.tensor([0.5, 1.0, 2.0], dtype=torch.float64))


WRITES = {"primal": lambda y, p, t, d: p.mul_(2), "itself": lambda y, p, t, d: y.mul_(d), "both": lambda y, p, t, d: (p.mul_(2), y.add_(d), p.mul_(3)),
          "a part of the primal": lambda y, p, t, d: p[1:].mul_(d.detach()[1:] * 3), "a part": lambda y, p, t, d: y[1:].mul_(d[1:]),
          "nothing": lambda y, p, t, d: None, "without history": lambda y, p, t, d: p.detach().mul_(2)}

for _name, _write in WRITES.items():
    for _needs in (True, False):
        @case(f"primals_written.{_name} {_needs}")
        def _(torch, write=_write, needs=_needs):
            fw = torch.autograd.forward_ad
            with fw.dual_level():
                x, d = _dual(torch, needs)
                y = d * 1.5
                before = y * 2
                p, t = fw.unpack_dual(y)
                write(y, p, t, d)
                after = y.sin()
                yield "inside", y.tolist(), p.tolist(), fw.unpack_dual(y).tangent.tolist(), fw.unpack_dual(after).tangent.tolist(), _node(y), _node(after)
            yield "outside", y.tolist(), p.tolist(), _node(y), _node(before), _node(after), y._version, p.requires_grad
            if needs:
                yield "gradients", [torch.autograd.grad(v.sum(), x, retain_graph=True)[0] for v in (y, before, p)]
                y.register_hook(lambda g: g * 10)
                y.sum().backward()
                yield "hooked", x.grad


@case("primals_written.nodes after the level")
def _(torch):
    fw = torch.autograd.forward_ad
    with fw.dual_level():
        x, d = _dual(torch)
        y = d * 1.5
        z = y.sin()
        v = z.view(3)
        kept = y.grad_fn
        fw.unpack_dual(z)
    yield "names", _node(y), _node(z), _node(v), [f.name() for f, _ in z.grad_fn.next_functions], y.grad_fn is kept, z.grad_fn.next_functions[0][0] is kept
    heard = []
    kept.register_hook(lambda given, got: heard.append((given[0], got[0])))
    v.sum().backward()
    yield "heard", heard, x.grad


@case("primals_written.tangents that require grad, tangents that are written to")
def _(torch):
    fw = torch.autograd.forward_ad
    with fw.dual_level():
        x, s = torch.tensor([1.0, 2.0], dtype=torch.float64), torch.tensor(3.0, dtype=torch.float64)
        d = fw.make_dual(x, torch.ones(2, dtype=torch.float64, requires_grad=True))
        y = d.sin()
        e, n = fw.make_dual(x * 2, torch.full((2,), 0.5, dtype=torch.float64)), fw.make_dual(s, torch.tensor(2.0, dtype=torch.float64))
        tangent = fw.unpack_dual(e).tangent
        tangent[0] = n.sin()
        yield "inside", y.requires_grad, e.tolist(), fw.unpack_dual(e).tangent.tolist(), fw.unpack_dual(tangent).tangent.tolist()
    yield "outside", y.requires_grad, y.grad_fn, e.tolist(), tangent.tolist()
