"""Methods and properties that a subclass defines anew and hands on to Tensor's own: they are asked, and results keep the class."""

from compat_matrix.case import case

METHODS = {
    "__getitem__": [(0,), (slice(0, 2),), (slice(None),), ((slice(None), 1),), (None,), (-1,)], "__reversed__": [()], "__len__": [()], "__contains__": [(2.0,)],
    "add_": [(1.0,), (2.0,)], "mul_": [(2,), (3,)], "neg_": [(), ()], "exp": [(), ()], "add": [(1.0,), (1.0,)], "t": [(), ()], "view": [(-1,), (-1,)], "size": [()],
    "sum": [(), (0,)], "clone": [()], "detach": [()], "unbind": [()], "split": [(1,)], "__iadd__": [(1.0,), (1.0,)], "__add__": [(1.0,), (1.0,)], "requires_grad_": [()],
    "item": [], "tolist": [()], "clamp_": [(0.0, 1.0)], "zero_": [(), ()], "select": [(0, 1), (0, 1)], "unsqueeze": [(0,), (0,)], "__format__": [("",)]}
PROPERTIES = ["T", "mT", "H", "data", "shape", "dtype", "device", "ndim", "requires_grad", "is_leaf", "grad", "grad_fn", "is_sparse", "real", "layout"]


def _kind(torch, r):
    if isinstance(r, (tuple, list)) and not isinstance(r, torch.Size):
        return [_kind(torch, x) for x in r]
    return type(r).__name__ if isinstance(r, torch.Tensor) else type(r).__name__ if isinstance(r, torch.Size) else str(r)


def _class(torch, name, told, how):
    """A subclass with one attribute that it hands on, by `super()` or by name."""
    def asked(cls, func, types, args=(), kwargs=None):
        told.append(getattr(func, "__name__", "?"))
        return torch.Tensor.__torch_function__.__func__(cls, func, types, args, kwargs or {})

    own = {"__torch_function__": classmethod(asked)} if told is not None else {}
    if name in PROPERTIES:
        own[name] = property(lambda self: getattr(super(kept, self), name))
    elif how == "super":
        own[name] = lambda self, *args: getattr(super(kept, self), name)(*args)
    else:
        own[name] = lambda self, *args: getattr(torch.Tensor, name)(self, *args)
    kept = type("Own", (torch.Tensor,), own)
    return kept


def _run(torch, told, how):
    for name, calls in METHODS.items():
        x = torch.arange(6.0).reshape(2, 3).as_subclass(_class(torch, name, told, how))
        seen = []
        for args in calls:
            if told is not None:
                told.clear()
            r = getattr(x, name)(*args)
            seen.append((_kind(torch, r), list(told or ())))
        yield name, seen


@case("overrides_by_super.methods")
def _(torch):
    yield from _run(torch, None, "super")


@case("overrides_by_super.methods_that_are_told")
def _(torch):
    yield from _run(torch, [], "super")


@case("overrides_by_super.methods_by_name")
def _(torch):
    yield from _run(torch, None, "name")


@case("overrides_by_super.methods_by_name_that_are_told")
def _(torch):
    yield from _run(torch, [], "name")


@case("overrides_by_super.properties")
def _(torch):
    for told in (None, []):
        for name in PROPERTIES:
            x = torch.arange(6.0).reshape(2, 3).as_subclass(_class(torch, name, told, "super"))
            if told is not None:
                told.clear()
            r = getattr(x, name)
            yield f"{name} {told is not None}", _kind(torch, r), list(told or ())


@case("overrides_by_super.labelled")
def _(torch):
    """A tensor with labels, as libraries for differential equations have them."""
    class Labelled(torch.Tensor):
        @staticmethod
        def __new__(cls, x, labels):
            return super().__new__(cls, x)

        def __init__(self, x, labels):
            super().__init__()
            self.labels = labels

        def __getitem__(self, index):
            out = super().__getitem__(index)
            out.labels = self.labels[index[1]] if isinstance(index, tuple) else self.labels
            return out

        def clone(self, *args, **kwargs):
            return Labelled(super().clone(*args, **kwargs), self.labels)

        @property
        def dtype(self):
            return super().dtype

    x = Labelled(torch.rand(4, 2, requires_grad=True), ["x", "y"])
    for i, part in enumerate((x[:2], x[1:3], x[0], x[1], x[:, 0:1], x[:, 1:2], x[torch.tensor([0, 2])])):
        yield f"part {i}", type(part).__name__, part.labels, part.shape, part.requires_grad, part.grad_fn.name()
    (x[:2] * 2).sum().backward()
    yield "grad", x.grad, type(x.grad).__name__, x.clone().labels, x.dtype


@case("overrides_by_super.copies")
def _(torch):
    """Shallow copies and pickled ones of a leaf in a class: views of the leaf that is made again."""
    import copy
    import io

    kept = globals()["Kept"] = type("Kept", (torch.Tensor,), {"__module__": __name__})
    try:
        for needs in (False, True):
            x = torch.ones(2).as_subclass(kept).requires_grad_(needs)
            x.note = 5
            file = io.BytesIO()
            torch.save(x, file)
            file.seek(0)
            for name, y in {"copy": copy.copy(x), "loaded": torch.load(file, weights_only=False)}.items():
                yield f"{name} {needs}", type(y).__name__, y.note, y.is_leaf, y.requires_grad, y.grad_fn is None or y.grad_fn.name()
    finally:
        del globals()["Kept"]


@case("overrides_by_super.who_is_told")
def _(torch):
    told = []

    class Told(torch.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            told.append((func.__name__, [t.__name__ for t in types]))
            return super().__torch_function__(func, types, args, kwargs)

    x = torch.ones(2).as_subclass(Told).requires_grad_()
    told.clear()
    x.backward(torch.ones(2))
    yield "backward", list(told)
    y = torch.nn.utils.parameters_to_vector([x])
    yield "vector", type(y).__name__, y.grad_fn.name(), [name for name, _ in told if name == "cat"]

    class Duck:
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return "asked"

    module = torch.nn.Module()
    module.register_buffer("duck", Duck())
    yield "buffer", type(module.duck).__name__, [n for n, _ in module.named_buffers()]


@case("overrides_by_super.operators_by_their_own_names")
def _(torch):
    """Subclasses, other objects and modes are told of operators of torch.ops as they were called."""
    told, aten = [], torch.ops.aten

    class Told(torch.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            told.append((str(func), [t.__name__ for t in types], kwargs))
            return super().__torch_function__(func, types, args, kwargs or {})

    class Other:
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return str(func), len(args), kwargs

    class Mode(torch.overrides.TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            told.append((str(func), types, kwargs))
            return func(*args, **(kwargs or {}))

    x, one = torch.ones(3).as_subclass(Told), torch.ones(3)
    yield "kinds", [type(r).__name__ for r in (aten.add.Tensor(x, one), aten.add(x, x, alpha=2), aten.cat.default([x, one]), aten.add.Tensor(one, one))]
    yield "others", aten.mul.Tensor(Other(), one), aten.mul(one, Other()), aten.relu(Other())
    with Mode():
        aten.mul.Tensor(one, one)
        aten.sum(one)
    yield "told", told
