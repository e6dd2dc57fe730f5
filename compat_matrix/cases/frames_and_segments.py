"""stft of frames that begin where the window does, and segment_reduce of half precision, which is rounded after each element."""

from compat_matrix.probes import each

STRETCHES = (3, 0, 17, 20)


def signals(torch, expression):
    x = torch.arange(1.0, 21.0, dtype=torch.float64, requires_grad=True)
    for n, width, hop in ((8, 8, 2), (8, 4, 2), (8, 3, 4), (8, 5, 2), (8, 5, 1), (24, 4, 2), (7, 4, 2)):
        for aligned in (None, False, True):
            try:
                yield f"{n} {width} {hop} {aligned}", expression(torch, x, n, hop, width, torch.ones(width, dtype=torch.float64), aligned)
            except RuntimeError as e:
                yield f"{n} {width} {hop} {aligned}", str(e).split("\n")[0]


def frames(torch, x, n, hop, width, window, aligned):
    out = torch.stft(x, n, hop, width, window, center=False, return_complex=True, align_to_window=aligned)
    names, node = [], out.grad_fn
    while node is not None:
        names.append(node.name())
        node = node.next_functions[0][0] if node.next_functions else None
    return out, names, torch.autograd.grad(out.abs().square().sum(), x)[0]


def halves(torch, expression):
    for dtype in (torch.bfloat16, torch.float16):
        x = (torch.arange(120.0).mul(7).sin().reshape(40, 3) * 0.3 + 1).to(dtype).requires_grad_()
        for start in ({}, {"initial": 1.3}):
            yield f"{dtype} {start}", expression(torch, x, start)


def reduced(reduce):
    def expression(torch, x, start):
        out = torch.segment_reduce(x, reduce, lengths=torch.tensor(STRETCHES), **start)
        return out, torch.autograd.grad(out, x, torch.arange(12).reshape(4, 3).to(x.dtype))

    return expression


each("frames_and_segments.stft", signals, {"frames": frames})
each("frames_and_segments.segment_reduce of halves", halves, {name: reduced(name) for name in ("sum", "mean", "prod", "max")})
