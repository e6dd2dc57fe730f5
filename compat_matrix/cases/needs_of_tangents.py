"""Which tangents require grad: those that PyTorch's formulas compute from what does, and what backward passes through them give."""

import importlib

from compat_matrix.case import case


def _calls(torch):
    f, at, m = torch.nn.functional, torch.tensor([0, 2]), torch.tensor([True, False, True])
    return {
        "mul by 2": lambda x, w: x * 2, "neg": lambda x, w: -x, "add": lambda x, w: x + w, "sub": lambda x, w: x - w, "1 - x": lambda x, w: 1 - x, "mul": lambda x, w: x * w,
        "div": lambda x, w: x / w, "square": lambda x, w: x * x, "sin": lambda x, w: x.sin(), "relu": lambda x, w: x.relu(), "abs": lambda x, w: x.abs(),
        "clamp": lambda x, w: x.clamp(0, 2), "clamp by tensors": lambda x, w: x.clamp(w - 5, w), "max": lambda x, w: x.max(), "max of dim": lambda x, w: x.max(0)[0],
        "amax": lambda x, w: x.amax(0), "maximum": lambda x, w: torch.maximum(x, w), "sort": lambda x, w: x.sort()[0], "topk": lambda x, w: x.topk(2)[0],
        "median": lambda x, w: x.median(), "kthvalue": lambda x, w: x.kthvalue(2)[0], "cummax": lambda x, w: x.cummax(0)[0], "sum": lambda x, w: x.sum(), "mean": lambda x, w: x.mean(),
        "prod": lambda x, w: x.prod(), "cumsum": lambda x, w: x.cumsum(0), "cumprod": lambda x, w: x.cumprod(0), "var": lambda x, w: x.var(), "norm": lambda x, w: x.norm(),
        "view": lambda x, w: x.view(3, 1), "slice": lambda x, w: x[1:], "view of sum": lambda x, w: (x + w)[1:], "view of sin": lambda x, w: x.sin().view(3, 1),
        "index": lambda x, w: x[at], "mask": lambda x, w: x[m], "clone": lambda x, w: x.clone(), "flip": lambda x, w: x.flip(0), "roll": lambda x, w: x.roll(1),
        "repeat": lambda x, w: x.repeat(2), "expand": lambda x, w: x.expand(2, 3), "pad": lambda x, w: f.pad(x, (1, 1)), "cat": lambda x, w: torch.cat([x, w]),
        "stack": lambda x, w: torch.stack([x, w]), "where": lambda x, w: torch.where(m, x, w), "masked_fill": lambda x, w: x.masked_fill(m, 0.0), "floor": lambda x, w: x.floor(),
        "sign": lambda x, w: x.sign(), "gather": lambda x, w: x.gather(0, at), "scatter": lambda x, w: w.scatter(0, at, x[:2]),
        "index_put": lambda x, w: w.index_put((at,), x[:2]), "index_add": lambda x, w: w.index_add(0, at, x[:2]), "diag": lambda x, w: x.diag(), "tril": lambda x, w: x.expand(3, 3).tril(),
        "unbind": lambda x, w: x.unbind()[0], "split": lambda x, w: x.split(2)[0], "double": lambda x, w: x.double(), "complex": lambda x, w: torch.complex(x, w), "fft": lambda x, w: torch.fft.fft(x),
        "matmul": lambda x, w: torch.ones(2, 3) @ x, "matmul by w": lambda x, w: x @ w, "linear": lambda x, w: f.linear(x, torch.ones(3, 3), w), "linear by w": lambda x, w: f.linear(x, w[None]),
        "addmv": lambda x, w: torch.addmv(w, torch.ones(3, 3), x), "addcmul": lambda x, w: torch.addcmul(w, x, torch.ones(3)), "lerp": lambda x, w: x.lerp(w, 0.3), "lerp by w": lambda x, w: x.lerp(w, w),
        "conv": lambda x, w: f.conv1d(x[None, None], torch.ones(1, 1, 2), w[:1]), "max_pool": lambda x, w: f.max_pool1d(x[None, None], 2),
        "avg_pool": lambda x, w: f.avg_pool1d(x[None, None], 2), "interpolate": lambda x, w: f.interpolate(x[None, None], size=6, mode="linear"), "dropout": lambda x, w: f.dropout(x, 0.5, False),
        "nan_to_num": lambda x, w: x.nan_to_num(), "nll": lambda x, w: f.nll_loss(x, torch.tensor(1)), "mse": lambda x, w: f.mse_loss(x, w),
        "detached": lambda x, w: x.detach() * w, "add_": lambda x, w: x.clone().add_(w), "mul_": lambda x, w: x.clone().mul_(w),
        "a part written": lambda x, w: _put(x.clone(), w), "filled": lambda x, w: x.clone().fill_(w[0]), "zeroed": lambda x, w: x.clone().zero_(), "chain": lambda x, w: (-(x + w)[1:]).clamp(-9)}


def _put(y, w):
    y[1:] = y[1:] + w[1:]
    return y


@case("needs_of_tangents.dual levels")
def _(torch):
    forward_ad = importlib.import_module(f"{torch.__name__}.autograd.forward_ad")
    for name, call in _calls(torch).items():
        for which in ("x", "w", "tangent", "x and w"):
            x, t, w = torch.tensor([1.0, -2.0, 0.5]), torch.tensor([1.0, 0.5, 2.0]), torch.tensor([3.0, 1.0, 2.0])
            {"x": x, "w": w, "tangent": t, "x and w": x}[which].requires_grad_()
            if which == "x and w":
                w.requires_grad_()
            with forward_ad.dual_level():
                primal, tangent = forward_ad.unpack_dual(call(forward_ad.make_dual(x, t), w))
                if tangent is None:
                    yield f"{name}, {which}", primal.requires_grad, None
                    continue
                yield f"{name}, {which}", primal.requires_grad, tangent.requires_grad, tangent.is_leaf, tangent.detach()
                if tangent.requires_grad:
                    found = torch.autograd.grad(tangent.abs().sum(), [v for v in (x, t, w) if v.requires_grad], allow_unused=True)
                    yield f"{name}, {which}, gradients", [None if g is None else g + 0 for g in found]


@case("needs_of_tangents.jvp")
def _(torch):
    for name, call in _calls(torch).items():
        for which in ("x", "w", "tangent"):
            x, t, w = torch.tensor([1.0, -2.0, 0.5]), torch.tensor([1.0, 0.5, 2.0]), torch.tensor([3.0, 1.0, 2.0])
            {"x": x, "w": w, "tangent": t}[which].requires_grad_()
            out, tangent = torch.func.jvp(lambda a, call=call, w=w: call(a, w), (x,), (t,))
            yield f"{name}, {which}", out.requires_grad, tangent.requires_grad, tangent.detach()


@case("needs_of_tangents.who gets a gradient")
def _(torch):
    """What is only added to a primal gets none from the tangent (None, no zeros, so that no optimizer decays it), nor a tangent from the primal."""
    forward_ad, func, nn = importlib.import_module(f"{torch.__name__}.autograd.forward_ad"), torch.func, torch.nn
    x, t = torch.tensor([[1.0, 2.0, -0.5]]), torch.tensor([[0.3, -1.0, 2.0]])
    first, last = nn.Linear(3, 3), nn.Linear(3, 1)
    with torch.no_grad():
        for p, value in zip((first.weight, first.bias, last.weight, last.bias), (torch.eye(3) + 0.1, 0.5, 0.7, 0.1)):
            p.copy_(torch.as_tensor(value).expand(p.shape))
    parameters = [*first.parameters(), *last.parameters()]
    nets = {"linear": first, "tanh": nn.Sequential(first, nn.Tanh(), last), "relu": nn.Sequential(first, nn.ReLU(), last),
            "deep": nn.Sequential(first, nn.Tanh(), first, nn.Tanh(), last)}

    def gradients(loss, of=parameters, **how):
        return torch.autograd.grad(loss.sum(), of, allow_unused=True, **how)

    for name, net in nets.items():
        for looked in (False, True):
            out, pushed = func.jvp(net, (x,), (t,))
            if looked:
                out.tolist(), pushed.tolist()
            label = f"{name}, {looked}"
            yield f"{label}: jvp", gradients(pushed, retain_graph=True), gradients(out, retain_graph=True), gradients(out + pushed, retain_graph=True), gradients(out * pushed)
            with forward_ad.dual_level():
                out, pushed = forward_ad.unpack_dual(net(forward_ad.make_dual(x, t)))
                yield f"{label}: inside", gradients(pushed, retain_graph=True)
            yield f"{label}: after", gradients(pushed, retain_graph=True), gradients(out + pushed)
            jacobian = func.jacfwd(net)(x)
            yield f"{label}: jacfwd", gradients(jacobian)
        func.jvp(net, (x,), (t,))[1].pow(2).sum().backward()
        yield f"{name}: backward", [p.grad for p in parameters]
        for p in parameters:
            p.grad = None
    for name, f in {"linear": lambda v: (v * 2 + 1).clamp(-9, 9), "other": lambda v: torch.cat([v, v.sin()]).sort(1)[0], "none": lambda v: v.floor() + v}.items():
        a, b = x.clone().requires_grad_(), t.clone().requires_grad_()
        out, pushed = func.jvp(f, (a,), (b,))
        yield f"{name}: of both", gradients(pushed, (a, b), retain_graph=True), gradients(out, (a, b))
