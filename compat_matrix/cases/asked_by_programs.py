"""What whole programs ask that no suite of a library asked: modules scripted and saved, passes over graphs, solvers."""

import copy
import importlib
import io
import operator
import os
import pickle
import tempfile
import warnings
from typing import Optional

from compat_matrix.case import case


def _module(torch, name):
    return importlib.import_module(f"{torch.__name__}.{name}")


def _net(torch):
    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.p = torch.nn.Parameter(torch.linspace(0, 1, 4))
            self.l = torch.nn.Linear(4, 3)
            self.tail = torch.nn.Sequential(torch.nn.ReLU(), torch.nn.Linear(3, 2))
            self.k = 3
            with torch.no_grad():
                for p in self.parameters():
                    p.copy_(torch.linspace(-1, 1, p.numel()).view_as(p))

        def forward(self, x):
            return self.tail(self.l(x + self.p)).clamp(min=0.0) * self.k

    return Net()


def _refused(f):
    try:
        return f()
    except Exception as refused:
        return type(refused).__name__, str(refused).partition("\n")[0]


@case("asked_by_programs.shape_prop")
def _(torch):
    fx = _module(torch, "fx")
    prop, sizes = _module(torch, "fx.passes.shape_prop"), _module(torch, "fx.passes.graph_manipulation")
    gm = fx.symbolic_trace(_net(torch))
    yield "before", _refused(lambda: sizes.get_tensor_meta(next(iter(gm.graph.nodes))))
    sizes.get_size_of_all_nodes(gm, [torch.ones(2, 4)])
    for n in gm.graph.nodes:
        told = n.meta["tensor_meta"]
        yield n.name, tuple(told.shape), str(told.dtype), told.requires_grad, told.stride, str(told.memory_format), told.is_quantized, told.qparams
        yield f"{n.name} bytes", tuple(getattr(n, "size_bytes", ())), n.meta["type"].__name__
    yield "fields", prop.TensorMetadata._fields
    sizes.replace_target_nodes_with(gm, "call_function", operator.add, "call_function", operator.mul)
    gm.recompile()
    yield "replaced", gm.code


@case("asked_by_programs.split_module")
def _(torch):
    fx = _module(torch, "fx")
    split = _module(torch, "fx.passes.split_module").split_module
    net = _net(torch)

    def three(x, y):
        a, b = x.sin() + y, x * y
        c = torch.split(a, 2)
        return c[0] + b[:2], a.sum()

    for name, whole, args, key in (("module", net, (torch.ones(2, 4),), lambda n: n.name in ("clamp", "mul", "tail_1")),
                                   ("function", three, (torch.ones(4), torch.arange(4.)), lambda n: n.name in ("add_1", "sum_1", "getitem_1", "mul")),
                                   ("alone", three, (torch.ones(4), torch.arange(4.)), lambda n: n.name)):
        for more in ({}, {"keep_original_order": True}, {"partition_affix": "pp", "keep_original_input_name": False}, {"tuple_return": True}):
            gm, names = fx.symbolic_trace(whole), {}
            parts = split(gm, gm, lambda n: int(key(n)) if name != "alone" else n.name, names, **more)
            yield f"{name} {more}", parts.code, [(k, m.code) for k, m in parts.named_children() if hasattr(m, "code")], names, parts(*args)
    gm = fx.symbolic_trace(lambda x: (x + 1).sin() + 2)
    yield "cycle", _refused(lambda: split(gm, gm, lambda n: n.name == "sin"))


@case("asked_by_programs.pass_manager")
def _(torch):
    base, manager = _module(torch, "fx.passes.infra.pass_base"), _module(torch, "fx.passes.infra.pass_manager")
    fx = _module(torch, "fx")
    seen = []

    class Swap(base.PassBase):
        def requires(self, graph_module):
            seen.append("requires")

        def call(self, graph_module):
            found = [n for n in graph_module.graph.nodes if n.target is operator.add]
            for n in found:
                n.target = operator.mul
            return base.PassResult(graph_module, bool(found))

    def quiet(gm):
        seen.append("quiet")

    def bad(gm):
        raise ValueError("no")

    swap, quiet = Swap(), manager.pass_result_wrapper(quiet)
    run = manager.PassManager([quiet, swap], [manager.this_before_that_pass_constraint(swap, quiet)], steps=2)
    yield "violated", _refused(run.validate_constraints)[0]
    out = run(fx.symbolic_trace(lambda x: x + 2))
    yield "done", out.modified, out.graph_module(torch.ones(2)), seen, [getattr(p, "__name__", "Swap") for p in run.passes]
    yield "bad", _refused(lambda: manager.PassManager([bad])(fx.symbolic_trace(lambda x: x)))
    yield "unwrapped", _refused(lambda: manager.PassManager([lambda gm: None])(fx.symbolic_trace(lambda x: x)))
    yield "check", _refused(lambda: run.add_checks(lambda a, b: None))


@case("asked_by_programs.scripted_modules")
def _(torch):
    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.l, self.k = torch.nn.Linear(2, 2), 3
            self.seq = torch.nn.Sequential(torch.nn.ReLU())
            self.register_buffer("b", torch.ones(1))
            torch.nn.init.constant_(self.l.weight, 0.5)

        def forward(self, x):
            return self.seq(self.l(x)) * self.k + self.b

    jit, net = torch.jit, Net().eval()
    kinds = (jit.ScriptModule, jit.RecursiveScriptModule, torch.nn.Module)
    for name, m in (("scripted", jit.script(net)), ("traced", jit.trace(net, torch.ones(1, 2)))):
        yield name, repr(m), type(m).__name__, type(m.l).__name__, [isinstance(m, k) for k in kinds], m.original_name
        yield f"{name} shared", m.l.weight is net.l.weight, m.training, list(m.state_dict()), [k for k, _ in m.named_modules()]
        yield f"{name} again", jit.script(m) is m, type(copy.deepcopy(m)).__name__, type(copy.copy(m)).__name__
        yield f"{name} pickled", _refused(lambda m=m: pickle.dumps(m))[0], _refused(lambda m=m: torch.save(m, io.BytesIO()))[0]
        m.train()
        yield f"{name} modes", m.l.training, net.training, net.l.training
        m(torch.ones(1, 2)).sum().backward()
        yield f"{name} gradient", net.l.weight.grad
        net.l.weight.grad = None
    yield "kinds", isinstance(net, kinds[0]), isinstance(jit.trace(net, torch.ones(1, 2)), jit.TopLevelTracedModule)
    yield "frozen", _refused(lambda: jit.freeze(net)), _refused(lambda: jit.freeze(jit.script(net.train())))[0]


@case("asked_by_programs.scripted_functions")
def _(torch):
    traced = torch.jit.trace(lambda x: x + 1, torch.ones(1))
    yield "function", isinstance(traced, torch.jit.ScriptFunction), traced(torch.ones(2)), torch.jit.script(traced) is traced, callable(traced)


@case("asked_by_programs.scripted_numbers")
def _(torch):
    """Numbers arrive as the types that are annotated."""
    scripted = torch.jit.script(_scaled)
    x = torch.tensor([1, 2])
    for args, more in (((x, 2), {}), ((x, torch.tensor(2)), {}), ((x, 1.0), {"n": torch.tensor(3)}), ((x, True), {"c": 1}), ((), {"x": x, "a": 3})):
        yield f"{args[1:]} {[*more]}", scripted(*args, **more)

    class Scale(torch.nn.Module):
        def forward(self, x: torch.Tensor, a: float = 2):
            return x * a

    yield "module", torch.jit.script(Scale())(x), torch.jit.script(Scale())(x, 3), torch.jit.trace(Scale(), x)(x)


def _scaled(x, a: float, b: float = 1, n: int = 2, c: Optional[float] = None):
    return x * a, b, n, c


@case("asked_by_programs.scripted_saved")
def _(torch):
    net = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.BatchNorm1d(2), torch.nn.ReLU())
    torch.nn.init.constant_(net[0].weight, 0.5)
    traced, held = torch.jit.trace(net.eval(), torch.ones(2, 2)), io.BytesIO()
    torch.jit.save(traced, held, _extra_files={"note.txt": "a note"})
    held.seek(0)
    extra = {"note.txt": ""}
    back = torch.jit.load(held, _extra_files=extra)
    x = torch.tensor([[1.0, 2.0], [3.0, -4.0]])
    yield "back", torch.equal(back(x), net(x)), type(back).__name__, isinstance(back, torch.jit.ScriptModule), back.training, list(back.state_dict()), extra["note.txt"].decode()
    again = torch.jit.load(io.BytesIO(traced.save_to_buffer()))
    yield "buffer", torch.equal(again(x), net(x)), [p.requires_grad for p in again.parameters()]


@case("asked_by_programs.lobpcg")
def _(torch):
    base = torch.linspace(-1, 1, 144, dtype=torch.float64).view(12, 12).sin()
    A = base @ base.T + torch.diag(torch.arange(1.0, 13, dtype=torch.float64))
    B = torch.diag(torch.linspace(1, 2, 12, dtype=torch.float64))
    for name, more in (("largest", {"k": 2}), ("smallest", {"k": 3, "largest": False}), ("generalized", {"k": 2, "B": B}), ("basic", {"method": "basic", "k": 2}),
                       ("more", {"k": 1, "n": 3}), ("preconditioned", {"k": 2, "largest": False, "iK": torch.linalg.inv(A)}),
                       ("dropping", {"k": 2, "ortho_bparams": {"ortho_use_drop": True}})):
        torch.manual_seed(3)
        e, v = torch.lobpcg(A, niter=300, tol=1e-9, **more)
        yield name, e, (A @ v - more.get("B", torch.eye(12, dtype=A.dtype)) @ v * e).abs().max() < 1e-5, v.abs()
    torch.manual_seed(3)
    yield "few steps", [t.abs() for t in torch.lobpcg(A, k=2, niter=2)]
    torch.manual_seed(3)
    yield "batch", torch.lobpcg(torch.stack((A, 2 * A)), k=2, niter=300)[0]
    leaf = A.clone().requires_grad_()
    torch.manual_seed(3)
    e, v = torch.lobpcg(leaf, k=2, niter=500, tol=1e-12)
    yield "node", e.grad_fn.name()
    (e.sum() + (v[:4] ** 2).sum()).backward()
    yield "gradient", leaf.grad
    yield "small", _refused(lambda: torch.lobpcg(A[:4, :4], k=2)), _refused(lambda: torch.lobpcg(A[:4]))
    yield "B's gradient", _refused(lambda: torch.lobpcg(leaf, k=1, B=B)[0].sum().backward())


@case("asked_by_programs.per_sample_gradients")
def _(torch):
    call = _module(torch, "nn.utils._per_sample_grad").call_for_per_sample_grads
    x, y = torch.linspace(-1, 1, 80, dtype=torch.float64).view(5, 1, 4, 4), torch.tensor([0, 2, 1, 1, 0])
    for reduction in ("sum", "mean"):
        net = torch.nn.Sequential(torch.nn.Conv2d(1, 2, 3), torch.nn.Tanh(), torch.nn.Flatten(), torch.nn.Linear(8, 3), torch.nn.LayerNorm(3)).double()
        for p in net.parameters():
            torch.nn.init.constant_(p, 0.1)
        with torch.no_grad():
            net[3].weight.copy_(torch.linspace(-1, 1, 24).view(3, 8))
        net[3].bias.requires_grad_(False)
        torch.nn.functional.cross_entropy(call(net, loss_reduction=reduction)(x), y, reduction=reduction).backward()
        yield reduction, [(p.grad is None, getattr(p, "grad_sample", None)) for p in net.parameters()]
    yield "again", _refused(lambda: call(net))[0], _refused(lambda: call(net, loss_reduction="max")), _refused(lambda: call(3))
    fresh = torch.nn.Linear(2, 2)
    yield "sizes", _refused(lambda: call(fresh, batch_size=0)), _refused(lambda: call(fresh, batch_size=1.0)), _refused(lambda: call(fresh)(3))


@case("asked_by_programs.profiler_module")
def _(torch):
    inner = _module(torch, "profiler.profiler")
    yield "same", all(getattr(inner, n) is getattr(torch.profiler, n) for n in ("ProfilerAction", "profile", "schedule", "tensorboard_trace_handler"))


@case("asked_by_programs.fake_quantize")
def _(torch):
    q = _module(torch, "ao.quantization")
    x = torch.tensor([[-1.5, 0.25, 2.0], [0.75, 3.0, -0.5]], requires_grad=True)
    for name in ("default_fake_quant", "default_weight_fake_quant", "default_dynamic_fake_quant", "default_per_channel_weight_fake_quant",
                 "default_embedding_fake_quant"):
        m = getattr(q, name)()
        for scale in (1.0, 3.0):
            out = m(x * scale)
        grad, = torch.autograd.grad(out.sum(), x)
        fresh = getattr(q, name)()
        yield name, out, grad, repr(m), out.grad_fn.name(), list(m.state_dict()), repr(fresh.load_state_dict(m.state_dict())), fresh.scale
        m.apply(q.disable_observer)
        m(x * 100)
        kept = m.scale.clone()
        m.apply(q.disable_fake_quant)
        yield f"{name} off", kept, torch.equal(m(x), x), repr(getattr(q, name))
    for name in ("default_observer", "default_weight_observer", "default_per_channel_weight_observer", "default_float_qparams_observer",
                 "weight_observer_range_neg_127_to_127"):
        m = getattr(q, name)()
        before = m.calculate_qparams()
        yield name, before, m(x) is x, repr(m(2 * x) is x), repr(m), m.calculate_qparams(), m.quant_min, m.quant_max
        m.reset_min_max_vals()
        yield f"{name} reset", repr(m)
    wrong = {"scheme": lambda: q.MinMaxObserver(qscheme=torch.per_channel_affine), "range": lambda: q.MinMaxObserver(quant_min=1, quant_max=5),
             "dtype": lambda: q.MinMaxObserver(dtype=torch.float32), "low": lambda: q.FakeQuantize(quant_min=-5, quant_max=5),
             "high": lambda: q.FakeQuantize(quant_min=0, quant_max=300), "dynamic": lambda: q.MovingAverageMinMaxObserver(is_dynamic=True),
             "channels": lambda: q.PerChannelMinMaxObserver(is_dynamic=True), "wide": lambda: q.MinMaxObserver(dtype=torch.qint8, quant_min=-500, quant_max=500),
             "moving": lambda: q.MovingAveragePerChannelMinMaxObserver(qscheme=torch.per_tensor_affine),
             "halved": lambda: q.MinMaxObserver(qscheme=torch.per_tensor_symmetric, reduce_range=True)}
    yield "wrong", [(name, _refused(f)) for name, f in wrong.items()]
    yield "schemes", isinstance(torch.per_tensor_affine, torch.qscheme), repr(torch.per_tensor_affine), type(torch.per_tensor_affine).__name__, pickle.loads(pickle.dumps(torch.qint8)) is torch.qint8
    yield "limits", [(torch.iinfo(d).min, torch.iinfo(d).max, torch.iinfo(d).bits) for d in (torch.qint8, torch.quint8, torch.qint32)]


@case("asked_by_programs.deprecations_of_jit")
def _(torch):
    jit, held = torch.jit, io.BytesIO()

    def said(f):
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            f()
        return [*dict.fromkeys((w.category.__name__, str(w.message)) for w in found)]

    net = torch.nn.Linear(2, 2).eval()
    calls = {"script": lambda: jit.script(net), "trace": lambda: jit.trace(net, torch.ones(1, 2)), "save": lambda: jit.save(jit.script(net), held),
             "freeze": lambda: jit.freeze(jit.script(net)),
             "fork": lambda: jit.wait(jit.fork(torch.sin, torch.ones(1))), "buffer": lambda: jit.script(net).save_to_buffer(),
             "strategy": lambda: jit.set_fusion_strategy([("STATIC", 2), ("DYNAMIC", 10)]), "load": lambda: (held.seek(0), jit.load(held))}
    for name, f in calls.items():
        yield name, said(f)


@case("asked_by_programs.class_of_a_function's_node")
def _(torch):
    class Pack(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g

    node = Pack.apply(torch.ones(1, requires_grad=True)).grad_fn
    yield "class", type(node).__name__, type(node).__module__.partition(".")[2], type(node) is Pack._backward_cls


@case("asked_by_programs.distributed_checkpoint")
def _(torch):
    """A nested state saved to a folder and read back, by one process."""
    dcp = _module(torch, "distributed.checkpoint")

    class App(dcp.stateful.Stateful):
        def __init__(self, fill):
            self.weight, self.handed = torch.full((2,), fill), []

        def state_dict(self):
            return {"inner": {"weight": self.weight}, "count": 4}

        def load_state_dict(self, state_dict):
            self.handed.append((sorted(state_dict), state_dict["count"]))

    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        net = torch.nn.Linear(2, 2)
        optimizer = torch.optim.Adam(net.parameters())
        net(torch.ones(1, 2)).sum().backward()
        optimizer.step()
        saved = {"model": net.state_dict(), "optimizer": optimizer.state_dict(), "step": 3, "list": [1, torch.ones(2)], "app": App(5.0)}
        dcp.save(saved, checkpoint_id=folder)
        yield "files", sorted(os.listdir(folder)), [(w.category.__name__, str(w.message)) for w in told]
        target = torch.zeros(2, 2)
        app = App(0.0)
        state = {"model": {"weight": target}, "step": 0, "list": [0, torch.zeros(2)], "app": app}
        yield "loaded", dcp.load(state, checkpoint_id=folder), torch.equal(target, net.weight), state["model"]["weight"] is target, state["step"], state["list"]
        yield "stateful", app.weight, app.handed
        reader = dcp.FileSystemReader(folder)
        other = {"optimizer": {"state": {0: {"exp_avg": torch.zeros(2, 2)}}}}
        dcp.load(other, storage_reader=reader)
        yield "by a reader", torch.equal(other["optimizer"]["state"][0]["exp_avg"], optimizer.state[net.weight]["exp_avg"])
        for name, bad in (("missing", {"zz": torch.ones(1)}), ("size", {"model": {"weight": torch.ones(3)}}), ("missing number", {"zz": 1})):
            try:
                dcp.load(bad, checkpoint_id=folder)
            except BaseException as refused:
                (rank, (inner, _)), = refused.failures.items()
                yield name, type(refused).__name__, isinstance(refused, Exception), rank, type(inner).__name__, str(inner)
        yield "nowhere", _refused(lambda: dcp.save({"a": 1}))
