"""Parameters whose class keeps the tensor elsewhere are made without asking the class; what torch.compile refuses."""

from compat_matrix.case import case


@case("kept_elsewhere.made_without_asking")
def _(torch):
    asked = []

    class Kept(torch.nn.Parameter):
        def __new__(cls, kept, needs):
            out = torch.Tensor._make_subclass(cls, torch.zeros(2), needs)
            out.kept = kept
            return out

        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            asked.append(getattr(func, "__name__", str(func)))
            return func(*[a.kept if isinstance(a, cls) else a for a in args], **(kwargs or {}))

    x = torch.ones(2, requires_grad=True)
    p, q = Kept(x, True), Kept(torch.ones(3), False)
    yield "asked", list(asked)
    yield "kept", (p + 1).detach(), q.mul(2), asked


@case("kept_elsewhere.compile_dynamic")
def _(torch):
    for options in ({"dynamic": 3}, {"dynamic": "x", "backend": "eager"}, {"dynamic": 3, "disable": True}, {"dynamic": True, "disable": True}):
        try:
            yield str(options), callable(torch.compile(abs, **options))
        except Exception as e:
            yield str(options), type(e).__name__, str(e)
