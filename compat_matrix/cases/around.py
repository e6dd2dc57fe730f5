"""What programs touch besides: amp, compile and jit, testing, pytrees, queries of devices and switches."""

import collections

import numpy as np

from compat_matrix.case import case, raises, warned

Point = collections.namedtuple("Point", "x y")


@case("around.grad_scaler")
def _(torch):
    G = torch.amp.GradScaler
    p = torch.nn.Parameter(torch.tensor([1.0, 2.0]))
    o = torch.optim.SGD([p], lr=0.1)
    s = G("cpu", init_scale=4.0, growth_interval=2)
    yield "start", s.state_dict(), s.is_enabled(), s.get_scale()
    for i in range(5):
        o.zero_grad()
        loss = (p * p).sum() if i != 3 else (p * float("inf")).sum()
        s.scale(loss).backward()
        if i == 1:
            s.unscale_(o)
            yield "unscaled", p.grad
        s.step(o)
        s.update()
        yield f"step {i}", p.detach().clone(), s.get_scale(), s._get_growth_tracker()
    again = G("cpu")
    again.load_state_dict(s.state_dict())
    yield "loaded", again.state_dict()
    off = G("cpu", enabled=False)
    x = torch.ones(1)
    yield "disabled", off.scale(x) is x, off.state_dict(), off.get_scale(), off.update()
    yield "list", [t.detach() for t in G("cpu", init_scale=2.0).scale([x, x])]
    s = G("cpu")
    s.scale(x)
    s.update(3.0)
    yield "new scale", s.get_scale()


@case("around.grad_scaler_errors")
def _(torch):
    G = torch.amp.GradScaler
    p = torch.nn.Parameter(torch.tensor([1.0, 2.0]))
    o = torch.optim.SGD([p], lr=0.1)
    s = G("cpu")
    yield "early", raises(lambda: s.unscale_(o)), raises(lambda: s.step(o)), raises(lambda: s.update())
    s.scale((p * p).sum()).backward()
    s.unscale_(o)
    yield "twice", raises(lambda: s.unscale_(o))
    s.step(o)
    yield "stepped", raises(lambda: s.step(o)), raises(lambda: s.unscale_(o))
    yield "closure", raises(lambda: s.step(o, closure=lambda: 1))
    yield "factors", raises(lambda: G("cpu", growth_factor=1.0)), raises(lambda: G("cpu", backoff_factor=1.0))
    yield "empty", raises(lambda: G("cpu").load_state_dict({}))
    yield "no tensor", raises(lambda: G("cpu").scale(3))
    s = G("cpu")
    s.scale(p)
    yield "no gradients", raises(lambda: s.step(torch.optim.SGD([torch.nn.Parameter(torch.ones(1))])))


@case("around.amp_on_cuda")
def _(torch):
    yield "scaler", warned(lambda: torch.amp.GradScaler()), torch.amp.GradScaler().is_enabled()
    yield "old scaler", warned(lambda: torch.cuda.amp.GradScaler()), warned(lambda: torch.cpu.amp.GradScaler())
    yield "autocast", warned(lambda: torch.autocast("cuda")), warned(lambda: torch.autocast("cuda", enabled=False))
    yield "old autocast", warned(lambda: torch.cuda.amp.autocast()), warned(lambda: torch.cpu.amp.autocast(enabled=False))
    with torch.autocast("cuda", dtype=torch.float16):
        yield "inside", torch.is_autocast_enabled(), (torch.ones(2, 2) @ torch.ones(2, 2)).dtype
    with torch.autocast("cpu", enabled=False):
        yield "off", torch.is_autocast_enabled("cpu"), (torch.ones(2, 2) @ torch.ones(2, 2)).dtype
    yield "decorator", torch.autocast("cuda")(lambda x: x + 1)(torch.ones(1))
    yield "wrong", raises(lambda: torch.autocast("x")), raises(lambda: torch.autocast(3)), raises(lambda: torch.autocast())
    yield "dtype", warned(lambda: torch.autocast("cpu", dtype=torch.float32))
    yield "dtypes", torch.get_autocast_dtype("cpu"), torch.get_autocast_dtype("cuda"), torch.amp.is_autocast_available("cpu")


@case("around.compile")
def _(torch):
    def f(x):
        return (x * 2).sum()

    g = torch.jit.ignore(torch.jit.unused(torch.jit.export(f)))
    yield "the same", g is f
    yield "false", torch.jit.is_scripting(), torch.jit.is_tracing(), torch.compiler.is_compiling()
    yield "annotate", torch.jit.annotate(int, 3), torch.jit.isinstance(3, int)
    yield "disable", torch.compiler.disable(f)(torch.ones(2))
    yield "script", torch.jit.script(torch.nn.functional.relu)(torch.tensor([-1.0, 2.0]))


@case("around.script_module")
def _(torch):
    class Cell(torch.jit.ScriptModule):
        __constants__ = ["turns"]

        def __init__(self):
            super().__init__()
            self.turns = 2
            self.w = torch.nn.Parameter(torch.arange(4.0).reshape(2, 2) / 4)

        @torch.jit.script_method
        def forward(self, x):
            for _ in range(self.turns):
                x = torch.tanh(x @ self.w)
            return x

    cell = Cell()
    x = torch.ones(1, 2, requires_grad=True)
    out = cell(x)
    out.sum().backward()
    yield "used", out, x.grad, cell.w.grad
    yield "module", isinstance(cell, torch.nn.Module), isinstance(cell, torch.jit.ScriptModule), [*cell.state_dict()], cell.turns


@case("around.assert_close")
def _(torch):
    A, t = torch.testing.assert_close, torch.tensor
    nan, inf = float("nan"), float("inf")
    for i, (a, b) in enumerate((
        (t([1.0, 2.0]), t([1.0, 2.5])), (t(1.0), t(2.0)), (t([1, 2]), t([1, 3])), (t([1.0]), t([1.0, 2.0])), (t([1.0]), t([1.0], dtype=torch.float64)),
        ([1.0, 2.0], [1.0, 2.1]), ({"a": t([1.0])}, {"a": t([2.0])}), ({"a": 1}, {"b": 1}), ([1], [1, 2]), (1, 1.5), (1, 2), (True, False), (None, None),
        (None, 1), (t([nan]), t([nan])), (t([1.0]), [1.0]), (np.ones(2), np.zeros(2)), (t([[1.0, 2.0], [3.0, 4.0]]), t([[1.0, 2.0], [3.0, 5.0]])),
        (t([True]), t([False])), (t([1 + 1j]), t([1 + 2j])), (1.0, nan), (t([inf]), t([1.0])), (t([]), t([])), (t([0.0]), t([1e-3])),
        ([t([1.0]), t([2.0])], [t([1.0]), t([3.0])]), (t([1.0]), 1.0), ({1: [t([2.0])]}, {1: [t([3.0])]}), (t([1.0]), t([1.0 + 1e-6])),
        (t([1.0], dtype=torch.bfloat16), t([1.01], dtype=torch.bfloat16)), (1.0, 1.0 + 1e-9), (torch.nn.Parameter(t([1.0])), t([1.0])),
    )):
        yield str(i), raises(lambda a=a, b=b: A(a, b))
    yield "one tolerance", raises(lambda: A(t(1.0), t(1.0), rtol=1))
    yield "message", raises(lambda: A(t(1.0), t(2.0), msg="boo")), raises(lambda: A(t(1.0), t(2.0), msg=lambda m: f"<{m}>"))
    yield "nan", raises(lambda: A(t(nan), t(nan), equal_nan=True))
    yield "given", raises(lambda: A(t(1.0), t(1.1), rtol=0, atol=0.2)), raises(lambda: A(t([1.0]), t([2.0]), rtol=0.1, atol=0.1))
    yield "exact", raises(lambda: A(t([1.0]), t([2.0]), rtol=0, atol=0))
    yield "dtype", raises(lambda: A(t([1.0]), t([1.0], dtype=torch.float64), check_dtype=False))
    yield "stride", raises(lambda: A(torch.ones(2, 2).t(), torch.ones(2, 2), check_stride=True))


@case("around.pytree")
def _(torch):
    import importlib
    P = importlib.import_module(torch.__name__ + ".utils._pytree")
    tree = {"a": 1, "b": [2, (3, None)], "c": Point(4, {"d": 5}), "o": collections.OrderedDict(z=6), "q": collections.deque([7])}
    leaves, spec = P.tree_flatten(tree)
    yield "leaves", leaves, spec.num_leaves
    back = P.tree_unflatten([x and x * 10 for x in leaves], spec)
    yield "back", repr(back)
    yield "map", repr(P.tree_map(lambda x: (x, 1), [1, {"a": 2}]))
    yield "two trees", repr(P.tree_map(lambda x, y: x + y, [1, {"a": 2}], [10, {"a": 20}]))
    yield "only", repr(P.tree_map_only(int, lambda x: -x, [1, "a", (2,)]))
    yield "all", P.tree_all(lambda x: x > 0, [1, 2]), P.tree_any(lambda x: x > 1, [1, 2]), P.tree_leaves((1, [2]))
    yield "is_leaf", P.tree_leaves([[1, 2], [3]], is_leaf=lambda x: isinstance(x, list) and len(x) == 1)
    yield "count", raises(lambda: P.tree_unflatten([1], P.tree_flatten([1, 2])[1]))["error"]["class"]


@case("around.queries")
def _(torch):
    c = torch.cuda
    yield "cuda", c.is_available(), c.device_count(), c.is_initialized(), c.memory_allocated(), c.max_memory_reserved(), c.get_arch_list()
    yield "cuda nothing", c.empty_cache(), c.manual_seed(1), c.manual_seed_all(1), list(c.memory_stats())
    for name in ("current_device", "get_device_name", "synchronize", "get_device_capability", "mem_get_info", "init", "current_stream", "ipc_collect"):
        yield f"cuda {name}", raises(getattr(c, name))
    yield "cuda states", c.get_rng_state_all()
    yield "mps", torch.mps.is_available(), torch.mps.device_count(), raises(torch.mps.synchronize), raises(torch.mps.empty_cache)
    yield "cpu", torch.cpu.is_available(), torch.cpu.device_count(), torch.cpu.current_device(), torch.cpu.synchronize()
    yield "backends", torch.backends.mps.is_available(), torch.backends.mps.is_built(), torch.backends.cuda.is_built()
    yield "version", torch.__version__.split("+")[0], torch.version.__version__.split("+")[0], torch.version.cuda, torch.version.debug
    yield "threads", torch.get_num_threads() > 0, torch.set_num_threads(1)
    torch.backends.cudnn.benchmark = True
    torch.backends.cudnn.deterministic = True
    yield "switches", torch.backends.cudnn.benchmark, torch.backends.cudnn.deterministic


@case("around.overrides")
def _(torch):
    import importlib
    O = importlib.import_module(torch.__name__ + ".overrides")

    class Like:
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return func.__name__, [t.__name__ for t in types], args[1:], kwargs

    class Below(Like):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return NotImplemented

    def mine(x, y=1):
        if O.has_torch_function((x,)):
            return O.handle_torch_function(mine, (x,), x, y=y)
        return x

    yield "own", mine(Like(), y=3)
    yield "plain", mine(2)
    yield "has", O.has_torch_function((1, Like())), O.has_torch_function((1, torch.ones(1))), O.has_torch_function_unary(Like())
    yield "order", O.handle_torch_function(mine, (Like(), Below()), 0, 5)
    yield "like", O.is_tensor_like(Like()), O.is_tensor_like(torch.ones(1)), O.is_tensor_like(3)
    yield "none", raises(lambda: O.handle_torch_function(mine, (Below(),)))["error"]["class"]


@case("around.path_switches")
def _(torch):
    """What is assigned is asked no questions: libraries name strategies of opt_einsum that set_flags would refuse."""
    switches = torch.backends.opt_einsum
    for name, values in {"strategy": ("auto-hq", "greedy", None, 3), "enabled": (False, 0, "no")}.items():
        for value in values:
            setattr(switches, name, value)
            yield f"{name} {value}", getattr(switches, name)
        delattr(switches, name)
    yield "flags", raises(lambda: switches.set_flags(None, "auto-hq"))["error"]["class"]
