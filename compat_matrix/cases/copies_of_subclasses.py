"""Deep copies of subclasses of Tensor: torch makes them by `new_empty`, and refuses where that gives another class; Parameters of what detaches to another."""

import copy

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
