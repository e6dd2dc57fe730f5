"""Memory that tensors share with NumPy arrays and buffers: writes of either side, views, gradients, optimizers, refusals."""

import copy

import numpy as np

from compat_matrix.case import case, raises


@case("shared_with_numpy.writes")
def _(torch):
    a = np.zeros((3, 4), np.float32)
    t = torch.from_numpy(a)
    a[1] = 5
    yield "of the array", t
    t.add_(1)
    t[0, 1] = 9
    yield "of the tensor", a.copy()
    row = t[1]
    row.mul_(2)
    yield "of a view", a.copy(), t._version
    a[1, 2] = -1
    yield "of the array, seen by a view", row, t.sum(), t._version
    t.t()[2].zero_()
    torch.add(row, 1, out=row)
    t[t > 8] = 0
    yield "in other ways", a.copy()
    a *= 2
    yield "in place", [x for x in t.unbind()], t.view(-1), t.clone()
    again = t.numpy()
    again[0, 0] = 77
    yield "of an array again", t[0, 0], a[0, 0].item(), np.shares_memory(a, again), t.data_ptr() == a.ctypes.data
    torch.as_tensor(a)[2] = 8
    torch.asarray(a)[1, 0] = 4
    yield "of tensors beside it", t, a.copy()
    torch.tensor(a).zero_()
    torch.asarray(a, copy=True).zero_()
    torch.as_tensor(a, dtype=torch.float64).zero_()
    copy.deepcopy(t).zero_()
    yield "of copies", t


@case("shared_with_numpy.arrays of a tensor")
def _(torch):
    x = torch.arange(6.0).reshape(2, 3)
    n = x.numpy()
    n[0] = 3
    yield "written", x, x * 2
    x.zero_()
    yield "zeroed", n.copy()
    y = x.t()
    m = y.numpy()
    m[2, 1] = 4
    yield "turned", x, y, n.copy(), m.strides
    h = torch.arange(3.0)
    np.asarray(h)[...] += 1
    yield "for a moment", h
    c = torch.zeros(3, dtype=torch.complex64)
    torch.view_as_real(c).numpy()[0, 1] = 2
    yield "parts", c
    yield "expanded", torch.ones(1, 3).expand(2, 3).numpy().strides
    number = np.array(3.0)
    zero_dim = torch.from_numpy(number)
    number[...] = 4
    yield "no dims", zero_dim.item()
    d = torch.ones(2, 2)
    address = d.data_ptr()
    yield "address", d.numpy().ctypes.data == address, (d + 1).sum(), d.data_ptr() == address
    s = torch.from_numpy(np.arange(12.0)[::2])
    yield "steps", s, s.stride(), s.is_contiguous(), s.numpy().strides


@case("shared_with_numpy.gradients")
def _(torch):
    w = torch.ones(3, requires_grad=True)
    w.detach().numpy()[1] = 7
    yield "a leaf", w, w._version
    held = w.detach().numpy()
    sgd = torch.optim.SGD([w], lr=0.1, momentum=0.9)
    for _ in range(3):
        sgd.zero_grad()
        (w * w).sum().backward()
        sgd.step()
    yield "trained", w, held.copy()
    g = w.grad.numpy()
    (w * 3).sum().backward()
    yield "accumulated", g.copy()
    source = np.zeros(4, np.float32)
    t = torch.from_numpy(source).requires_grad_()
    layer = torch.nn.Linear(4, 1)
    torch.nn.init.ones_(layer.weight)
    torch.nn.init.zeros_(layer.bias)
    out = []
    for i in range(4):
        source[i] = i + 1
        out.append(layer(t).item())
    yield "a buffer filled in a loop", out
    source[:] = 2
    loss = (t * t).sum()
    loss.backward()
    yield "requires grad", loss, t.grad, torch.func.grad(lambda x: (x * x).sum())(t.detach()), torch.func.vmap(lambda x: x * 2)(t.detach())
    layer.weight.data.numpy()[...] = 3
    yield "a parameter", layer.weight
    layer.weight.data = torch.from_numpy(source.reshape(1, 4))
    source[0] = -1
    yield "data", layer.weight
    with torch.inference_mode():
        x = torch.ones(2)
        x.numpy()[0] = 5
        yield "inference", x


@case("shared_with_numpy.buffers")
def _(torch):
    raw = bytearray(8)
    f = torch.frombuffer(raw, dtype=torch.int32)
    raw[0] = 3
    yield "written", f
    f[1] = 2
    yield "by the tensor", list(raw)
    flags = np.array([True, False])
    b = torch.from_numpy(flags)
    flags[1] = True
    b[0] = False
    yield "bool", b, flags.tolist()


@case("shared_with_numpy.refused")
def _(torch):
    a = np.zeros((2, 2))
    t = torch.from_numpy(a)
    yield "grown", raises(lambda: torch.from_numpy(np.zeros((2, 2))).resize_((5, 5))), raises(lambda: t.untyped_storage().resize_(100)), \
        t.untyped_storage().resizable()
    yield "shrunk", t.resize_(1, 2)
    fields = np.zeros(4, np.dtype([("a", np.uint8), ("b", "f4")]))
    for part in (fields["b"], fields["b"][::-1], fields["b"][:1], np.zeros(4, ">f4")[::-1], np.zeros(4, ">f4"), fields):
        yield f"{part.dtype} {part.strides} {part.size}", raises(lambda part=part: torch.from_numpy(part))
    fixed = np.zeros(3)
    fixed.flags.writeable = False
    yield "read only", torch.from_numpy(fixed)


@case("shared_with_numpy.dlpack")
def _(torch):
    a = np.zeros((2, 3), np.float32)
    t = torch.from_dlpack(a)
    a[0] = 1
    yield "of the array", t
    t.add_(1)
    torch.from_dlpack(a, copy=True).zero_()
    yield "of the tensor", a.copy()
    turned = np.asfortranarray(np.arange(6.0).reshape(2, 3))
    t = torch.from_dlpack(turned)
    turned[0] = 1
    yield "by columns", t, t.stride()


@case("shared_with_numpy.out")
def _(torch):
    a = np.zeros(6, np.float32)
    t = torch.from_numpy(a)
    torch.add(torch.ones(2, 2), 2, out=t)
    yield "smaller", t, a.copy(), t._version
    yield "larger", raises(lambda: torch.add(torch.ones(7), 2, out=t)), raises(lambda: torch.add(torch.ones(7), 2, out=torch.from_numpy(a)[:3]))
    own = torch.zeros(6)
    other = own.detach()
    torch.add(torch.ones(2), 3, out=own)
    yield "of its own", own, other
    torch.add(torch.ones(7), 1, out=other)
    yield "grown", own, other
    held = torch.from_numpy(a)
    with torch.inference_mode():
        strict = torch.from_numpy(a)
    yield "inference", raises(lambda: strict.add_(1)), strict, held


@case("shared_with_numpy.storages")
def _(torch):
    a = np.zeros(3, np.float32)
    t = torch.from_numpy(a)
    s = t.untyped_storage()
    a[0] = 1
    yield "read", s.tolist(), s[3], t.storage().tolist(), t.storage().resizable()
    s[7] = 64
    s[8:10] = 300
    yield "bytes written", t, a.copy(), t._version
    s.copy_(torch.arange(3.0).untyped_storage())
    yield "copied", t, a.copy()
    yield "filled", s.fill_(64) is s, a.copy(), raises(lambda: s.fill_(1.5)), raises(lambda: s.copy_(torch.ones(1).untyped_storage())), \
        raises(lambda: s.copy_(t))
    yield "refused", [raises(f) for f in (lambda: s[100], lambda: s["a"], lambda: s[::2], lambda: s.__setitem__(100, 1), lambda: s.__setitem__("a", 1),
                                          lambda: s.__setitem__(0, 1.5), lambda: s.__setitem__(slice(0, 4, 2), 1))]
    w = torch.ones(2, dtype=torch.bfloat16, requires_grad=True)
    w.untyped_storage().fill_(64)
    yield "a leaf", w, w._version


@case("shared_with_numpy.dlpack of a tensor")
def _(torch):
    t = torch.arange(4.0)
    n = np.from_dlpack(t)
    t[0] = 9
    torch.from_dlpack(t).mul_(2)
    yield "written", t, n.tolist(), torch.from_dlpack(t).data_ptr() == t.data_ptr()
    turned = np.from_dlpack(t.view(2, 2).t())
    t[1] = -1
    torch.from_dlpack(t, copy=True).zero_()
    part = torch.ones(2, 3)[:, 1:]
    torch.from_dlpack(part).zero_()
    yield "parts", turned.tolist(), turned.strides, part._base


@case("shared_with_numpy.differentiable steps")
def _(torch):
    p = torch.ones(2, requires_grad=True)
    p.sum().backward()
    with torch.no_grad():
        yield "on leaves", raises(torch.optim.SGD([p], lr=0.1, differentiable=True).step), raises(torch.optim.Adam([p], lr=0.1, differentiable=True).step)


@case("shared_with_numpy.kernels")
def _(torch):
    """An operator of a program's own that fills its argument through NumPy, however large; it needs no fake kernel."""
    @torch.library.custom_op("shared_with_numpy::sin", mutates_args={"out"}, device_types="cpu")
    def sin(x: torch.Tensor, out: torch.Tensor) -> None:
        np.sin(x.numpy(), out=out.numpy())

    for n in (4, 100_000):
        x, out, wide, tall = torch.linspace(0, 1, n), torch.zeros(n), torch.zeros(2, n), torch.zeros(n, 2)
        part = out[-2:]
        sin(x, out)
        sin(x, wide[1])
        sin(x, tall.t()[0])
        yield f"{n}", part, out._version, wide[:, -1], tall[-1], bool((out == wide[1]).all()), bool((out == tall[:, 0]).all())
        yield f"{n} checked", torch.library.opcheck(sin, (x, out))
    sin(x.to("meta"), out.to("meta"))
