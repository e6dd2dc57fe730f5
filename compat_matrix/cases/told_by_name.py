"""What a subclass is told when methods are called by their names on Tensor, as its own methods do by super()."""

from compat_matrix.case import case

_READ = ("dim", "size", "numel", "stride", "is_floating_point", "is_complex", "is_signed", "is_contiguous", "element_size",
         "storage_offset", "tolist", "detach", "requires_grad_", "numpy")


def _told(torch, heard):
    class Told(torch.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            heard.append((torch.overrides.resolve_name(func), [t.__name__ for t in types], len(args), kwargs))
            return super().__torch_function__(func, types, args, kwargs or {})

        def dim(self):
            return super().dim()

        def size(self, *where):
            return super().size(*where)

        def detach(self):
            return super().detach()

    return Told


@case("told_by_name.methods")
def _(torch):
    heard = []
    kind = _told(torch, heard)
    for name in _READ:
        x = torch.ones(2, 3).as_subclass(kind)
        heard.clear()
        out = getattr(torch.Tensor, name)(x)
        yield name, type(out).__name__, heard[:1]


@case("told_by_name.super")
def _(torch):
    heard = []
    x = torch.ones(2, 3).as_subclass(_told(torch, heard))
    heard.clear()
    yield "dim", x.dim(), x.size(), x.size(1), type(x.detach()).__name__, [h[0] for h in heard]
    heard.clear()
    yield "by keyword", torch.Tensor.size(x, dim=0), torch.Tensor.stride(x, 1), heard
    heard.clear()
    with torch._C.DisableTorchFunctionSubclass():
        yield "off", torch.Tensor.dim(x), type(torch.Tensor.detach(x)).__name__, heard


@case("told_by_name.refusing")
def _(torch):
    class Refusing(torch.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return NotImplemented

    x = torch.ones(2).as_subclass(Refusing)
    for name in ("dim", "numel", "detach"):
        try:
            getattr(torch.Tensor, name)(x)
        except TypeError as e:
            yield name, str(e).split("\n")[0]


@case("told_by_name.parameters_in_modes")
def _(torch):
    class Plain(torch.Tensor):
        pass

    class Listening(torch.overrides.TorchFunctionMode):
        heard = ()

        def __torch_function__(self, func, types, args=(), kwargs=None):
            self.heard = (*self.heard, func.__name__)
            return func(*args, **(kwargs or {}))

    x, mode = torch.ones(2).as_subclass(Plain), Listening()
    with mode:
        p = torch.nn.Parameter(x, requires_grad=False)
    yield "mode", mode.heard, type(p).__name__, p.requires_grad, isinstance(p, torch.nn.Parameter)
    yield "outside", torch.nn.Parameter(x).requires_grad, torch.nn.Parameter(x, False).requires_grad
