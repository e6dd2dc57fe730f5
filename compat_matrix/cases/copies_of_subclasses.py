"""Deep copies of subclasses of Tensor: torch makes them by `new_empty`, and refuses where that gives another class; Parameters of what detaches to another."""

import copy
import io
import sys

from compat_matrix.case import attempt, case


def _classes(torch):
    class Plain(torch.Tensor):
        pass

    class Asked(torch.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return super().__torch_function__(func, types, args, kwargs or {})

    class Silent(torch.Tensor):
        __torch_function__ = torch._C._disabled_torch_function_impl

    class Made(torch.Tensor):
        def new_empty(self, shape):
            return torch.empty(shape).as_subclass(Made)

    return Plain, Asked, Silent, Made


@case("copies_of_subclasses.deepcopy")
def _(torch):
    for cls in _classes(torch):
        made = {"view": lambda cls=cls: torch.ones(2).as_subclass(cls), "leaf": lambda cls=cls: torch.Tensor._make_subclass(cls, torch.ones(2), True),
                "no leaf": lambda cls=cls: torch.ones(2, requires_grad=True).as_subclass(cls)}
        for name, make in made.items():
            t = make()
            t.note = 3
            yield f"{cls.__name__} {name}", attempt(lambda t=t: [(type(c).__name__, c.requires_grad, c.note) for c in [copy.deepcopy(t)]])
            yield f"{cls.__name__} {name} shallow", attempt(lambda t=t: type(copy.copy(t)).__name__)


@case("copies_of_subclasses.parameters")
def _(torch):
    for cls in _classes(torch):
        def told(cls=cls):
            p = torch.nn.Parameter(torch.ones(2).as_subclass(cls))
            return type(p).__name__, isinstance(p, torch.nn.Parameter), p.requires_grad

        yield f"made {cls.__name__}", attempt(told)
        yield f"copied {cls.__name__}", attempt(lambda cls=cls: type(copy.deepcopy(torch.nn.Parameter(torch.ones(2).as_subclass(cls)))).__name__)


@case("copies_of_subclasses.turns")
def _(torch):
    seen = []

    class Told(torch.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            seen.append(func.__name__)
            return super().__torch_function__(func, types, args, kwargs or {})

    iter(torch.ones(2, 3).as_subclass(Told))
    yield "asked", seen


def _tagged(cls, plain, tag):
    out = plain.as_subclass(cls)
    out.tag = tag
    return out


@case("copies_of_subclasses.in_files")
def _(torch):
    """What a class says of its pickles counts in files too; what it asks of Tensor and Parameter is what files hold."""
    class Alone(torch.Tensor):
        def __reduce_ex__(self, protocol):
            return _tagged, (Alone, self.as_subclass(torch.Tensor), "own")

    class Beside(torch.Tensor):
        def __reduce_ex__(self, protocol):
            f, args = super().__reduce_ex__(protocol)[:2]
            asked.append(f.__name__)
            return f, args

    class Trained(torch.nn.Parameter):
        def __reduce_ex__(self, protocol):
            f, args = super().__reduce_ex__(protocol)[:2]
            asked.append(f.__name__)
            return f, args

    class Older(torch.Tensor):
        def __reduce__(self):
            return _tagged, (Older, self.as_subclass(torch.Tensor), "never")

    class Never(torch.Tensor):
        def __reduce_ex__(self, protocol):
            raise KeyError("refused")

    module = sys.modules[__name__]
    for cls in (Alone, Beside, Trained, Older, Never):
        cls.__qualname__, asked = cls.__name__, []
        setattr(module, cls.__name__, cls)
        x = torch.arange(6.0)
        t = cls(x[2:]) if cls is Trained else x[2:].as_subclass(cls)
        t.kept = 3
        file = io.BytesIO()
        try:
            torch.save([t, x], file)
        except KeyError as error:
            yield cls.__name__, str(error)
            torch.save(x, io.BytesIO())
            continue
        file.seek(0)
        r, whole = torch.load(file, weights_only=False)
        delattr(module, cls.__name__)
        yield cls.__name__, type(r).__name__, getattr(r, "tag", None), getattr(r, "kept", None), r.requires_grad, r.tolist(), asked, \
            r.untyped_storage().data_ptr() == whole.untyped_storage().data_ptr()
