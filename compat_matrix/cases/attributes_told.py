"""What a mode of torch.overrides is told when attributes of plain tensors are read and written in it."""

from compat_matrix.case import case


def _listening(torch):
    class Listening(torch.overrides.TorchFunctionMode):
        def __init__(self):
            super().__init__()
            self.heard = []

        def __torch_function__(self, func, types, args=(), kwargs=None):
            self.heard.append((torch.overrides.resolve_name(func), [t.__name__ for t in types], len(args), kwargs))
            return func(*args, **(kwargs or {}))

    return Listening()


_READ = ("shape", "grad", "requires_grad", "dtype", "device", "is_leaf", "grad_fn", "ndim", "T", "layout", "_version", "output_nr", "is_sparse", "itemsize", "nbytes",
         "real", "_base", "retains_grad", "is_cuda", "_backward_hooks", "name", "mT", "is_meta", "is_quantized", "is_cpu", "H")


@case("attributes_told.read")
def _(torch):
    x = torch.ones(2, 3, requires_grad=True)
    mode = _listening(torch)
    with mode:
        for name in _READ:
            getattr(x, name)
    yield "heard", mode.heard


@case("attributes_told.written, and asked by methods")
def _(torch):
    x = torch.ones(2, 3, requires_grad=True)
    mode = _listening(torch)
    with mode:
        x.requires_grad = True
        x.grad = torch.zeros(2, 3)
        x.grad = None
        asked = x.size(), x.size(0), x.dim(), x.stride(), x.numel(), x.is_floating_point(), x.is_contiguous(), x.element_size(), x.is_complex(), x.storage_offset()
        repr(x)
        x.retain_grad()
    yield "asked", asked
    yield "heard", mode.heard
    yield "left", torch.overrides.resolve_name(torch.Tensor.grad.__get__), x.grad


@case("attributes_told.what a mode answers")
def _(torch):
    shape, grad = torch.Tensor.shape.__get__, torch.Tensor.grad.__get__

    class Answering(torch.overrides.TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            known = {shape: "a shape", grad: "a gradient"}
            return next((said for f, said in known.items() if func == f), None) or func(*args, **(kwargs or {}))

    x = torch.ones(2, requires_grad=True)
    with Answering():
        yield "within", x.shape, x.grad, (x * 2).shape
    yield "after", x.shape, x.grad


@case("attributes_told.modes in modes, and none")
def _(torch):
    outer, inner = _listening(torch), _listening(torch)
    x = torch.ones(2)
    with outer, inner:
        yield "shape", x.shape
        with torch._C.DisableTorchFunction():
            yield "dtype", x.dtype
    yield "heard", inner.heard, outer.heard
