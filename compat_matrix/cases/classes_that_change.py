"""Subclasses that begin to override after they were made, that name methods as Tensor does, and what modes and loaders hand to them."""

from compat_matrix.case import case


def _telling(torch, seen):
    def told(cls, func, types, args=(), kwargs=None):
        seen.append(func.__name__)
        return torch.Tensor.__torch_function__.__func__(cls, func, types, args, kwargs or {})
    return classmethod(told)


def _calls(torch, x):
    y = x + 1
    x.sum()
    len(x.shape)
    x.size()
    x[0]
    torch.add(x, 1)
    x.add_(1)
    return type(y).__name__


@case("classes_that_change.given_later")
def _(torch):
    seen = []

    class Quiet(torch.Tensor):
        __torch_function__ = torch._C._disabled_torch_function_impl

    class Below(Quiet):
        pass
    x, z = torch.ones(2).as_subclass(Quiet), torch.ones(2).as_subclass(Below)
    yield "before", _calls(torch, x), _calls(torch, z), seen
    Quiet.__torch_function__ = _telling(torch, seen)
    yield "given", _calls(torch, x), _calls(torch, z), list(seen)
    seen.clear()
    Quiet.__torch_function__ = torch._C._disabled_torch_function_impl
    yield "taken", _calls(torch, x), _calls(torch, z), list(seen)
    del Quiet.__torch_function__
    yield "inherited", _calls(torch, x), _calls(torch, z), list(seen)


@case("classes_that_change.own_detach")
def _(torch):
    class Own(torch.Tensor):
        def detach(self):
            return "detached"

        def clone(self):
            return "cloned"

        def contiguous(self):
            return "contiguous"
    x = torch.arange(6.0).reshape(2, 3).as_subclass(Own)
    yield "data", type(x.data).__name__, x.data.tolist()
    y = torch.tensor(x)
    yield "tensor", type(y).__name__, y
    yield "histc", torch.histc(x, 3).tolist()
    yield "own", x.detach(), x.clone(), x.contiguous()
    yield "printed", repr(x)


@case("classes_that_change.modes")
def _(torch):
    seen = []

    class Mode(torch.overrides.TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            seen.append(("mode", func.__name__))
            return func(*args, **(kwargs or {}))

    class Told(torch.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            seen.append(("class", func.__name__))
            return super().__torch_function__(func, types, args, kwargs or {})
    x = torch.ones(2).as_subclass(Told)
    with Mode():
        for read in (lambda: x.shape, lambda: x.dtype, lambda: x.size(), lambda: x.dim(), lambda: x[0], lambda: x.tolist(), lambda: x.requires_grad):
            read()
    yield "seen", seen


@case("classes_that_change.loaded")
def _(torch):
    class Own(torch.Tensor):
        pass
    DataLoader, Subset, TensorDataset = (getattr(torch.utils.data, n) for n in ("DataLoader", "Subset", "TensorDataset"))
    data = TensorDataset(torch.arange(6.0).reshape(3, 2).as_subclass(Own), torch.arange(3))
    for name, part in (("whole", data), ("part", Subset(data, [2, 0]))):
        yield name, [(type(x).__name__, type(y).__name__, x.tolist()) for x, y in DataLoader(part, 2)]
