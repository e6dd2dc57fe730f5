"""How arguments of transformations lie in memory, what they show of it at strides of one's own, and what gradients come to a place that is shown several times."""

from compat_matrix.case import attempt, case

_MADE = {"transposed": lambda torch: torch.arange(6.0).reshape(2, 3).t(), "rows": lambda torch: torch.arange(12.0).reshape(4, 3)[::2],
         "columns": lambda torch: torch.arange(12.0).reshape(4, 3)[:, 1:], "permuted": lambda torch: torch.arange(24.0).reshape(2, 3, 4).permute(2, 0, 1),
         "dense": lambda torch: torch.arange(6.0).reshape(2, 3).t().clone(), "expanded": lambda torch: torch.arange(3.0).expand(2, 3)}


def _transforms(torch, x):
    """Transformations at `x`, each as a function of what is to be transformed."""
    func, ones = torch.func, torch.ones(x.shape)
    return {"jvp": lambda f: func.jvp(f, (x,), (ones,)), "jvp along itself": lambda f: func.jvp(f, (x,), (x,)), "grad": lambda f: func.grad(lambda y: f(y).sum())(x),
            "vjp": lambda f: func.vjp(f, x)[0], "jacfwd": lambda f: func.jacfwd(f)(x), "grad of jvp": lambda f: func.grad(lambda y: func.jvp(f, (y,), (ones,))[1].sum())(x)}


@case("layouts_in_transforms.strides")
def _(torch):
    for made, make in _MADE.items():
        x = make(torch)
        for name, transform in _transforms(torch, x).items():
            seen = []

            def f(y, seen=seen):
                seen.append((y.stride(), y.storage_offset(), y.is_contiguous(), (y * 2).stride(), y.clone().stride()))
                return y * y

            yield f"{made}, {name}", attempt(lambda transform=transform, f=f: transform(f)), seen


@case("layouts_in_transforms.at strides of one's own")
def _(torch):
    for made in ("transposed", "permuted", "dense"):
        x = _MADE[made](torch)
        for name, transform in _transforms(torch, x).items():
            for strides in ((1,), (2,)):
                yield f"{made}, {name}, {strides}", transform(lambda y, strides=strides: y.as_strided((3,), strides, 0) ** 2)


@case("layouts_in_transforms.views that the layout refuses")
def _(torch):
    x = torch.arange(6.0).reshape(2, 3).t()
    for name, transform in _transforms(torch, x).items():
        yield name, attempt(lambda transform=transform: transform(lambda y: y.view(-1) * 2))


_REPEATING = {"expanded": lambda torch: torch.arange(3.0).expand(2, 3), "column expanded": lambda torch: torch.arange(2.0)[:, None].expand(2, 3),
              "windows": lambda torch: torch.arange(4.0).as_strided((3, 2), (1, 1)), "turned": lambda torch: torch.arange(3.0).expand(2, 3).t()}


@case("layouts_in_transforms.places shown several times")
def _(torch):
    for made, make in _REPEATING.items():
        for size, stride in (((3,), (1,)), ((2, 2), (1, 0)), ((2,), (1,))):
            def weighed(x, size=size, stride=stride):
                y = x.as_strided(size, stride)
                return (y * (torch.arange(float(y.numel())).reshape(size) + 1)).sum()

            x = make(torch).requires_grad_()
            yield f"{made}, {size}, {stride}", attempt(lambda x=x, f=weighed: torch.autograd.grad(f(x), x)[0])
            yield f"{made}, {size}, {stride}, func", attempt(lambda make=make, f=weighed: torch.func.grad(f)(make(torch)))


@case("layouts_in_transforms.tangents in a memory as large as the primal's")
def _(torch):
    forward = torch.autograd.forward_ad
    made = {"first": lambda: torch.zeros(5)[:3], "middle": lambda: torch.zeros(5)[1:4], "every other": lambda: torch.zeros(10)[::2], "whole": lambda: torch.zeros(3),
            "turned": lambda: torch.zeros(2, 3).t(), "columns": lambda: torch.zeros(4, 3)[:, 1:]}
    with forward.dual_level():
        for name, make in made.items():
            x = make()
            t = forward.unpack_dual(forward.make_dual(x, torch.ones(x.shape))).tangent
            yield name, t, t.stride(), t.storage_offset(), t.untyped_storage().nbytes(), t._is_view()


@case("layouts_in_transforms.written after forward mode")
def _(torch):
    func = torch.func
    transforms = {"jvp": lambda x: func.jvp(lambda u: u**3, (x,), (torch.ones(3),))[0], "tangent": lambda x: func.jvp(lambda u: u**3, (x,), (torch.ones(3),))[1],
                  "jacfwd": lambda x: func.jacfwd(lambda u: u**3)(x)}
    for name, transform in transforms.items():
        for looked in (False, True):
            for written in (False, True):
                a = torch.arange(3.0, requires_grad=True)
                x = a * 1
                y = transform(x)
                if looked:
                    y.tolist()
                if written:
                    with torch.no_grad():
                        x.mul_(2)
                try:
                    yield f"{name}, {looked}, {written}", torch.autograd.grad(y.sum(), a)[0]
                except RuntimeError as e:
                    yield f"{name}, {looked}, {written}", str(e)[:str(e).index(", which is output")]     # not which node it was
