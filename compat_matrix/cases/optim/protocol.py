"""The protocol of optimizers: construction, groups, names, state dicts, hooks, closures, copies, what they say."""

import copy
import pickle

from compat_matrix.case import case, raises, warned, words


def two(torch):
    return torch.nn.Parameter(torch.tensor([1.0, 2.0])), torch.nn.Parameter(torch.tensor([[3.0, -1.0]]))


def step_once(torch, optimizer, params):
    for p in params:
        p.grad = torch.ones_like(p) * 0.5
    optimizer.step()


BAD = {
    "SGD": [{"lr": -1}, {"momentum": -1}, {"weight_decay": -1}, {"nesterov": True}, {"nesterov": True, "momentum": 0.9, "dampening": 0.1},
            {"fused": True, "foreach": True}, {"fused": True, "differentiable": True}],
    "Adam": [{"lr": -1}, {"eps": -1}, {"betas": (1.0, 0.9)}, {"betas": (0.9, 1.0)}, {"weight_decay": -1}, {"fused": True, "foreach": True},
             {"fused": True, "differentiable": True}],
    "AdamW": [{"lr": -1}, {"betas": (1.0, 0.9)}, {"eps": -1.0}],
    "Adamax": [{"lr": -1}, {"eps": -1}, {"betas": (1.0, 0.9)}, {"weight_decay": -1}],
    "NAdam": [{"lr": -1}, {"eps": -1}, {"betas": (0.9, 1.0)}, {"weight_decay": -1}, {"momentum_decay": -1}],
    "RAdam": [{"lr": -1}, {"eps": -1}, {"betas": (0.9, 1.0)}, {"weight_decay": -1}],
    "Adagrad": [{"lr": -1}, {"lr_decay": -1}, {"weight_decay": -1}, {"initial_accumulator_value": -1}, {"eps": -1}, {"fused": True, "foreach": True}],
    "Adadelta": [{"lr": -1}, {"rho": -1}, {"eps": -1}, {"weight_decay": -1}],
    "RMSprop": [{"lr": -1}, {"alpha": -1}, {"eps": -1}, {"weight_decay": -1}, {"momentum": -1}],
    "Rprop": [{"lr": -1}, {"etas": (1.0, 1.2)}, {"etas": (0.5, 0.9)}],
    "ASGD": [{"lr": -1}, {"weight_decay": -1}],
    "LBFGS": [{"lr": -1}],
    "Adafactor": [{"lr": -1}, {"beta2_decay": 1}, {"eps": (-1, 0.1)}, {"eps": (0.1, -1)}, {"d": 0.5}, {"weight_decay": -1}],
    "SparseAdam": [{"lr": -1}, {"lr": 0}, {"eps": 0}, {"betas": (1.0, 0.9)}],
}


for name, options in BAD.items():
    @case(f"optim.protocol.bad_options.{name}", kind=name, options=options)
    def _(torch, kind, options):
        for i, kw in enumerate(options):
            yield str(i), raises(lambda kw=kw: getattr(torch.optim, kind)([torch.nn.Parameter(torch.ones(2, 2))], **kw))
        yield "two rates", raises(lambda: getattr(torch.optim, kind)([torch.nn.Parameter(torch.ones(2, 2))], lr=torch.ones(2)))

    @case(f"optim.protocol.look.{name}", kind=name)
    def _(torch, kind):
        a, b = two(torch)
        optimizer = getattr(torch.optim, kind)([a, b])
        yield "text", repr(optimizer)
        yield "defaults", list(optimizer.defaults.items())
        yield "group", [k for k in optimizer.param_groups[0]]
        yield "state dict", [[k for k in g] for g in optimizer.state_dict()["param_groups"]]
        yield "class", isinstance(optimizer, torch.optim.Optimizer), type(optimizer).__mro__[1:2] == (torch.optim.Optimizer,) or kind in (
            "AdamW",) or len(type(optimizer).__mro__) > 3
        yield "step", type(optimizer).step.__name__, type(optimizer).step.__qualname__, type(optimizer).step.hooked


@case("optim.protocol.parameters")
def _(torch):
    p, q = two(torch)
    S = torch.optim.SGD
    yield "none", raises(lambda: S([]))
    yield "a tensor", raises(lambda: S(p))
    yield "a number", raises(lambda: S([3]))
    yield "None", raises(lambda: S(None))
    yield "dict", raises(lambda: S({"a": p}))
    yield "set", raises(lambda: S([{"params": {p}}]))
    yield "non-leaf", raises(lambda: S([p * 2]))
    yield "without params", raises(lambda: S([{"lr": 1}]))
    yield "twice", warned(lambda: S([p, p]))
    yield "in two groups", raises(lambda: S([{"params": [p]}, {"params": [p]}]))
    yield "group no dict", raises(lambda: S([p]).add_param_group(3))
    yield "group set", raises(lambda: S([p]).add_param_group({"params": {q}}))
    yield "generator", len(S(x for x in (p, q)).param_groups[0]["params"])
    yield "one tensor in a group", len(S([{"params": p}]).param_groups[0]["params"])
    y = p * 2
    y.retain_grad()
    yield "retains", len(S([y]).param_groups)


@case("optim.protocol.names")
def _(torch):
    p, q = two(torch)
    optimizer = torch.optim.SGD([("a", p), ("b", q)], lr=0.5)
    yield "keys", list(optimizer.param_groups[0])
    yield "names", optimizer.param_groups[0]["param_names"]
    yield "text", repr(optimizer)
    yield "state dict", list(optimizer.state_dict()["param_groups"][0].items())
    yield "mixed", raises(lambda: torch.optim.SGD([("a", p), q]))
    yield "mixed other way", raises(lambda: torch.optim.SGD([p, ("a", q)]))
    yield "groups", raises(lambda: torch.optim.SGD([{"params": [("a", p)]}, {"params": [q]}]))
    yield "groups other way", raises(lambda: torch.optim.SGD([{"params": [p]}, {"params": [("a", q)]}]))
    other = torch.optim.SGD([p, q])
    other.load_state_dict(optimizer.state_dict())
    yield "loaded into nameless", list(other.param_groups[0])
    optimizer.load_state_dict(torch.optim.SGD([p, q]).state_dict())
    yield "loaded nameless", list(optimizer.param_groups[0])


@case("optim.protocol.required")
def _(torch):
    import importlib
    required = importlib.import_module(torch.optim.Optimizer.__module__).required

    class Mine(torch.optim.Optimizer):
        def __init__(self, params, lr=required):
            super().__init__(params, {"lr": lr})

    p, _ = two(torch)
    yield "text", repr(required)
    yield "missing", raises(lambda: Mine([p]))
    yield "given in the group", Mine([{"params": [p], "lr": 3}]).param_groups[0]["lr"]
    yield "step", raises(lambda: Mine([p], lr=1).step())


@case("optim.protocol.subclass")
def _(torch):
    class Mine(torch.optim.Optimizer):
        def __init__(self, params, lr=0.1):
            super().__init__(params, {"lr": lr})

        @torch.no_grad()
        def step(self, closure=None):
            loss = None
            if closure is not None:
                with torch.enable_grad():
                    loss = closure()
            for group in self.param_groups:
                for p in group["params"]:
                    if p.grad is None:
                        continue
                    state = self.state[p]
                    if len(state) == 0:
                        state["n"] = 0
                        state["m"] = torch.zeros_like(p, memory_format=torch.preserve_format)
                    state["n"] += 1
                    state["m"].mul_(0.5).add_(p.grad, alpha=0.5)
                    p.add_(state["m"], alpha=-group["lr"])
            return loss

    p, q = two(torch)
    optimizer = Mine([p, q])
    for i in range(3):
        optimizer.zero_grad()
        out = optimizer.step(lambda: (((p ** 2).sum() + q.sum()).backward(), p.sum())[1])
        yield f"loss {i}", out
    yield "params", p.detach(), q.detach()
    yield "text", repr(optimizer)
    yield "state dict", sorted(optimizer.state_dict()["state"][0].items())


@case("optim.protocol.state_dict")
def _(torch):
    p, q = two(torch)
    optimizer = torch.optim.Adam([{"params": [p]}, {"params": [q], "lr": 0.5}], lr=0.1)
    yield "before", optimizer.state_dict()
    step_once(torch, optimizer, (p, q))
    saved = optimizer.state_dict()
    yield "after", saved
    yield "the same tensors", saved["state"][0]["exp_avg"] is optimizer.state[p]["exp_avg"]
    a, b = two(torch)
    other = torch.optim.Adam([{"params": [a.requires_grad_()]}, {"params": [b]}])
    other.load_state_dict(copy.deepcopy(saved))
    yield "loaded", other.state_dict()
    step_once(torch, optimizer, (p, q))
    a.data.copy_(torch.tensor([0.9, 1.9]))
    step_once(torch, other, (a, b))
    yield "goes on", other.state_dict()["state"]
    d = torch.nn.Parameter(torch.ones(2, dtype=torch.float64))
    e = torch.nn.Parameter(torch.ones(1, 2, dtype=torch.float64))
    double = torch.optim.Adam([{"params": [d]}, {"params": [e]}])
    double.load_state_dict(saved)
    yield "cast", double.state_dict()["state"]


def changed(torch, change):
    p, _ = two(torch)
    optimizer = torch.optim.Adam([p])
    saved = copy.deepcopy(optimizer.state_dict())
    change(saved)
    optimizer.load_state_dict(saved)
    return optimizer.state_dict()


@case("optim.protocol.load_state_dict")
def _(torch):
    yield "groups", raises(lambda: changed(torch, lambda s: s["param_groups"].append(1)))
    yield "parameters", raises(lambda: changed(torch, lambda s: s["param_groups"][0]["params"].append(1)))
    yield "without lr", changed(torch, lambda s: s["param_groups"][0].pop("lr"))
    yield "strange states", changed(torch, lambda s: s["state"].update({0: {"step": 3, "exp_avg": torch.ones(2).double(), "x": [torch.ones(2), 4]}, 7: 5}))
    yield "old", changed(torch, lambda s: [s["param_groups"][0].pop(k) for k in ("amsgrad", "maximize", "foreach", "fused", "capturable", "differentiable")])


for name in ("SGD", "Adam", "AdamW", "NAdam", "RAdam", "Adamax", "ASGD", "Rprop", "RMSprop", "Adadelta", "Adagrad"):
    @case(f"optim.protocol.older.{name}", kind=name)
    def _(torch, kind):
        p, _ = two(torch)
        optimizer = getattr(torch.optim, kind)([p])
        step_once(torch, optimizer, (p,))
        saved = optimizer.state_dict()
        for state in saved["state"].values():
            state.update({k: 3 for k in ("step", "eta", "mu", "mu_product") if k in state})
        optimizer.load_state_dict(saved)
        yield "numbers", sorted(optimizer.state_dict()["state"].get(0, {}).items())
        optimizer.__setstate__({"state": optimizer.state, "param_groups": [{"params": [p]}]})
        yield "group", sorted((k, v) for k, v in optimizer.param_groups[0].items() if k != "params")


@case("optim.protocol.hooks")
def _(torch):
    p, q = two(torch)
    log = []
    optimizer = torch.optim.SGD([p, q], lr=0.1)
    first = optimizer.register_step_pre_hook(lambda o, args, kwargs: log.append(("pre", o is optimizer, len(args), sorted(kwargs))))
    optimizer.register_step_post_hook(lambda o, args, kwargs: log.append(("post", o is optimizer, len(args), sorted(kwargs))))
    import importlib
    names = importlib.import_module(torch.optim.Optimizer.__module__)
    g1 = names.register_optimizer_step_pre_hook(lambda o, args, kwargs: log.append(("global pre",)))
    g2 = names.register_optimizer_step_post_hook(lambda o, args, kwargs: log.append(("global post",)))
    optimizer.step()
    optimizer.step(closure=lambda: log.append(("closure", torch.is_grad_enabled())))
    yield "order", list(log)
    g1.remove(), g2.remove(), first.remove()
    log.clear()
    optimizer.step()
    yield "removed", list(log)
    optimizer.register_step_pre_hook(lambda o, args, kwargs: (args, {"closure": lambda: 7}))
    yield "replaced", optimizer.step()
    bad = torch.optim.SGD([p], lr=0.1)
    bad.register_step_pre_hook(lambda *a: 3)
    yield "bad", raises(bad.step)


@case("optim.protocol.state_dict_hooks")
def _(torch):
    p, _ = two(torch)
    log = []
    o = torch.optim.SGD([p], lr=0.1)
    o.register_state_dict_pre_hook(lambda x: log.append("pre"))
    o.register_state_dict_pre_hook(lambda x: log.append("pre first"), prepend=True)
    o.register_state_dict_post_hook(lambda x, s: log.append("post"))
    o.register_state_dict_post_hook(lambda x, s: {**s, "more": 1})
    saved = o.state_dict()
    yield "order", list(log)
    yield "more", saved["more"]
    o.register_load_state_dict_pre_hook(lambda x, s: log.append(("load", sorted(s))))
    o.register_load_state_dict_post_hook(lambda x: log.append("loaded"))
    log.clear()
    o.load_state_dict(saved)
    yield "load", list(log)


@case("optim.protocol.zero_grad")
def _(torch):
    p, q = two(torch)
    o = torch.optim.SGD([p, q], lr=0.1)
    (p.sum() * 3).backward()
    held = p.grad
    o.zero_grad(set_to_none=False)
    yield "zeros", p.grad, p.grad is held, q.grad
    o.zero_grad()
    yield "none", p.grad, q.grad
    p.grad = torch.ones(2, requires_grad=True) * 2
    held = p.grad
    o.zero_grad(set_to_none=False)
    yield "history", p.grad.requires_grad, p.grad.grad_fn, p.grad, p.grad is held


@case("optim.protocol.closure")
def _(torch):
    p, _ = two(torch)
    o = torch.optim.Adam([p], lr=0.1)
    modes = []

    def closure():
        modes.append(torch.is_grad_enabled())
        o.zero_grad()
        loss = (p * p).sum()
        loss.backward()
        return loss

    with torch.no_grad():
        out = o.step(closure)
    yield "loss", out
    yield "modes", modes
    yield "without", o.step()
    yield "lbfgs", raises(lambda: torch.optim.LBFGS([p]).step())
    yield "lbfgs groups", raises(lambda: torch.optim.LBFGS([{"params": [p]}, {"params": [two(torch)[1]]}]))
    yield "lbfgs search", raises(lambda: torch.optim.LBFGS([p], line_search_fn="x").step(lambda: (p * p).sum()) and None)
    sparse = torch.optim.SparseAdam([p])
    yield "sparse", raises(sparse.step)


@case("optim.protocol.refusals")
def _(torch):
    for name in ("Adam", "NAdam", "RAdam", "Adamax", "ASGD", "Rprop", "RMSprop", "Adadelta"):
        for kw in ({"capturable": True}, {"differentiable": True}):
            p, _ = two(torch)
            o = getattr(torch.optim, name)([p], **kw)
            yield f"{name} {sorted(kw)}", raises(lambda p=p, o=o: step_once(torch, o, (p,)))
    p, _ = two(torch)
    yield "SGD", raises(lambda: step_once(torch, torch.optim.SGD([p], differentiable=True), (p,)))


@case("optim.protocol.differentiable")
def _(torch):
    for name, options in (("SGD", {"lr": 0.1}), ("SGD", {"lr": 0.1, "momentum": 0.9}), ("Adam", {"lr": 0.1}), ("RMSprop", {}), ("Adagrad", {}),
                          ("Adamax", {}), ("AdamW", {"lr": 0.1}), ("NAdam", {}), ("RAdam", {}), ("Adadelta", {}), ("ASGD", {})):
        x = torch.tensor([1.0, -2.0, 0.5], dtype=torch.float64, requires_grad=True)
        g = torch.tensor([0.3, 0.7, -1.1], dtype=torch.float64, requires_grad=True)
        p = x.clone()
        o = getattr(torch.optim, name)([p], differentiable=True, **options)
        p.grad = g
        o.step()
        yield f"{name} {len(options)}", torch.autograd.grad((p ** 3).sum(), (x, g), materialize_grads=True)


@case("optim.protocol.copies")
def _(torch):
    p, q = two(torch)
    o = torch.optim.Adam([p, q], lr=0.1)
    step_once(torch, o, (p, q))
    for label, other in (("deepcopy", copy.deepcopy(o)), ("pickle", pickle.loads(pickle.dumps(o)))):
        a = other.param_groups[0]["params"][0]
        yield label, a.detach(), a is p, sorted(other.state[a].items())
        yield f"{label} keys", sorted(other.__getstate__())
        a.grad = torch.ones(2)
        other.step()
        yield f"{label} step", a.detach(), other.state[a]["step"]
    yield "attributes", sorted(o.__dict__)


@case("optim.protocol.paths")
def _(torch):
    import importlib
    root = torch.__name__
    for path, name in (("optim.sgd", "SGD"), ("optim.adam", "Adam"), ("optim.adamw", "AdamW"), ("optim.rmsprop", "RMSprop"), ("optim.optimizer", "Optimizer"),
                       ("optim.lr_scheduler", "StepLR"), ("optim.lr_scheduler", "_LRScheduler"), ("optim.lbfgs", "LBFGS"), ("optim.swa_utils", "SWALR"),
                       ("optim.adagrad", "Adagrad"), ("optim.nadam", "NAdam"), ("optim.asgd", "ASGD"), ("optim.rprop", "Rprop")):
        module = importlib.import_module(f"{root}.{path}")
        yield f"{path}.{name}", words(getattr(module, name).__module__)
    yield "missing", raises(lambda: torch.optim.Nothing)
