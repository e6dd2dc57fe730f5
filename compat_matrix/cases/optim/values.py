"""What every optimizer makes of the same problem over 100 steps, in two dtypes; the states that it keeps."""

from compat_matrix.case import case

W = [[0.3, -0.8, 1.1], [0.0, 0.5, -0.2]]
B = [0.1, -0.4, 0.7]
AIM = [[1.0, 0.2, -0.3], [0.4, -1.5, 0.6]]
SHOWN = (1, 2, 10, 100)

VARIANTS = {
    "SGD": [{"lr": 0.05}, {"lr": 0.05, "momentum": 0.9}, {"lr": 0.02, "momentum": 0.9, "dampening": 0.3, "weight_decay": 0.1},
            {"lr": 0.02, "momentum": 0.9, "nesterov": True}, {"lr": 0.001, "maximize": True}, {"lr": 0.05, "foreach": True}, {"lr": 0.05, "momentum": 0.9, "fused": True}],
    "Adam": [{}, {"lr": 0.02, "weight_decay": 0.1, "amsgrad": True}, {"lr": 0.02, "betas": (0.5, 0.7), "eps": 1e-3}, {"maximize": True},
             {"lr": 0.02, "weight_decay": 0.1, "decoupled_weight_decay": True}, {"foreach": True}, {"fused": True}],
    "AdamW": [{"lr": 0.02}, {"lr": 0.02, "weight_decay": 0.2, "amsgrad": True}],
    "Adamax": [{"lr": 0.02}, {"lr": 0.02, "weight_decay": 0.1, "maximize": True}],
    "NAdam": [{"lr": 0.02}, {"lr": 0.02, "weight_decay": 0.1}, {"lr": 0.02, "weight_decay": 0.1, "decoupled_weight_decay": True, "momentum_decay": 0.1}],
    "RAdam": [{"lr": 0.02}, {"lr": 0.02, "weight_decay": 0.1}, {"lr": 0.02, "weight_decay": 0.1, "decoupled_weight_decay": True}],
    "Adagrad": [{"lr": 0.1}, {"lr": 0.1, "lr_decay": 0.1, "weight_decay": 0.1, "initial_accumulator_value": 0.5}],
    "Adadelta": [{}, {"lr": 0.5, "rho": 0.8, "weight_decay": 0.1}],
    "RMSprop": [{}, {"lr": 0.005, "momentum": 0.9, "centered": True, "weight_decay": 0.1}, {"centered": True}],
    "Rprop": [{}, {"lr": 0.1, "etas": (0.3, 1.5), "step_sizes": (1e-4, 1.0)}],
    "ASGD": [{}, {"lr": 0.05, "weight_decay": 0.1, "t0": 3}],
    "Adafactor": [{"lr": 0.01}, {"lr": 0.005, "weight_decay": 0.1, "maximize": True, "eps": (1e-6, 1e-3), "d": 2.0}],
    "LBFGS": [{"lr": 0.3, "max_iter": 5}, {"line_search_fn": "strong_wolfe", "max_iter": 6, "history_size": 3}],
}


def problem(torch, dtype):
    w = torch.nn.Parameter(torch.tensor(W, dtype=dtype))
    b = torch.nn.Parameter(torch.tensor(B, dtype=dtype))
    aim = torch.tensor(AIM, dtype=dtype)

    def loss():
        return ((torch.tanh(w * 1.3) + b - aim) ** 2).sum() + 0.1 * (b ** 4).sum()

    return [w, b], loss


def shown_state(state):
    return [[k, len(v) if isinstance(v, list) else v] for k, v in sorted(state.items()) if k not in ("t", "H_diag", "prev_loss", "al")]


def run(torch, name, options, dtype):
    dtype = getattr(torch, dtype)
    params, loss = problem(torch, dtype)
    optimizer = getattr(torch.optim, name)(params, **options)

    def closure():
        optimizer.zero_grad()
        now = loss()
        now.backward()
        return now

    last = {"LBFGS": 4, "Rprop": 12}.get(name, 100)  # at its end Rprop goes by the signs of rounding errors
    for i in range(1, last + 1):
        if name == "LBFGS":
            optimizer.step(closure)
        else:
            closure()
            optimizer.step()
        if i in SHOWN:
            yield f"after {i}", [p.detach().clone() for p in params]
    for i, p in enumerate(params):
        if p in optimizer.state:
            yield f"state {i}", shown_state(optimizer.state[p])
    if name != "LBFGS":
        yield "order of states", [list(s) for s in optimizer.state.values()]
    if not options.get("fused"):  # torch 2.13: fused kernels do not count
        yield "versions count", params[0]._version > 0
    yield "leaf", params[0].is_leaf, params[0].requires_grad, params[0].grad_fn is None


for name, variants in VARIANTS.items():
    for i, options in enumerate(variants):
        for dtype in ("float64", "float32"):
            if dtype == "float32" and (i > 1 or name == "LBFGS"):
                continue

            @case(f"optim.values.{name}.{i}.{dtype}", kind=name, options=options, dtype=dtype)
            def _(torch, kind, options, dtype):
                yield from run(torch, kind, options, dtype)


@case("optim.values.complex")
def _(torch):
    for name, options in (("SGD", {"lr": 0.1, "momentum": 0.9}), ("Adam", {"lr": 0.1}), ("Adagrad", {"lr": 0.1, "initial_accumulator_value": 0.3}),
                          ("RMSprop", {}), ("Rprop", {"lr": 0.05}), ("Adadelta", {}), ("ASGD", {}), ("NAdam", {}), ("RAdam", {"lr": 0.1})):
        z = torch.nn.Parameter(torch.tensor([1 + 2j, -0.5 + 0.3j, 2 - 1j], dtype=torch.complex128))
        optimizer = getattr(torch.optim, name)([z], **options)
        for _i in range(8):
            optimizer.zero_grad()
            (z * z * (1 - 0.5j) + z).abs().sum().backward()
            optimizer.step()
        yield name, z.detach()
        yield f"{name} states", [[k, v] for k, v in sorted(optimizer.state[z].items())]


@case("optim.values.tensor_rate")
def _(torch):
    for name in ("SGD", "Adam", "AdamW", "NAdam", "Adamax", "Adagrad", "RMSprop", "Adadelta", "ASGD", "RAdam"):
        params, loss = problem(torch, torch.float64)
        lr = torch.tensor(0.05, dtype=torch.float64)
        optimizer = getattr(torch.optim, name)(params, lr=lr)
        for i in range(3):
            optimizer.zero_grad()
            loss().backward()
            optimizer.step()
            lr.mul_(0.5)
        yield name, [p.detach() for p in params]
        yield f"{name} rate", optimizer.param_groups[0]["lr"]


@case("optim.values.group_options")
def _(torch):
    params, loss = problem(torch, torch.float64)
    optimizer = torch.optim.SGD([{"params": params[:1], "lr": 0.2}, {"params": params[1:], "momentum": 0.5}], lr=0.01)
    for i in range(4):
        optimizer.zero_grad()
        loss().backward()
        optimizer.step()
        optimizer.param_groups[1]["lr"] *= 2
    yield "params", [p.detach() for p in params]
    yield "state", [list(optimizer.state.get(p, {})) for p in params]


@case("optim.values.sits_out")
def _(torch):
    params, loss = problem(torch, torch.float64)
    optimizer = torch.optim.Adam(params, lr=0.1)
    for i in range(4):
        optimizer.zero_grad()
        loss().backward()
        if i % 2:
            params[1].grad = None
        optimizer.step()
    yield "params", [p.detach() for p in params]
    yield "steps", [optimizer.state[p]["step"] for p in params]


@case("optim.values.gradient_without_requires_grad")
def _(torch):
    x = torch.tensor([1.0, 2.0])
    y = torch.nn.Parameter(torch.tensor([3.0]))
    x.grad, y.grad = torch.tensor([0.5, -0.5]), torch.tensor([1.0])
    optimizer = torch.optim.Adam([x, y], lr=0.1)
    optimizer.step()
    optimizer.step()
    yield "values", x, y
    yield "steps", [optimizer.state[p]["step"] for p in (x, y)]


@case("optim.values.views_and_data")
def _(torch):
    p = torch.nn.Parameter(torch.tensor([1.0, 2.0, 3.0, 4.0]))
    view, alias, flat = p[1:3], p.data, p.detach()
    optimizer = torch.optim.SGD([p], lr=0.5, momentum=0.9)
    (p * p).sum().backward()
    optimizer.step()
    yield "seen by views", view.detach(), alias, flat
    yield "version", p._version
    kept = optimizer.state[p]["momentum_buffer"]
    optimizer.step()
    yield "same buffer object", kept is optimizer.state[p]["momentum_buffer"], kept


@case("optim.values.saved_before_step")
def _(torch):
    p = torch.nn.Parameter(torch.tensor([1.0, 2.0]))
    optimizer = torch.optim.SGD([p], lr=0.5)
    y = (p * p).sum()
    p.grad = torch.ones(2)
    optimizer.step()
    try:
        y.backward()
        yield "error", "none"
    except RuntimeError as e:
        yield "error", "modified by an inplace operation" in str(e)


@case("optim.values.twice_in_a_group")
def _(torch):
    for name in ("SGD", "Adam"):
        p, q = torch.nn.Parameter(torch.tensor([1.0, 2.0])), torch.nn.Parameter(torch.tensor([3.0]))
        optimizer = getattr(torch.optim, name)([p, q, p], lr=0.1)
        for _i in range(2):
            p.grad, q.grad = p.detach() * 2, q.detach() * 2
            optimizer.step()
        yield name, p.detach(), q.detach(), [[k, v] for s in optimizer.state.values() for k, v in sorted(s.items())]


@case("optim.values.in_backward")
def _(torch):
    params = [torch.nn.Parameter(torch.tensor([1.0, 2.0])), torch.nn.Parameter(torch.tensor([0.5]))]
    optimizers = {p: torch.optim.Adam([p], lr=0.1) for p in params}

    def hook(p):
        optimizers[p].step()
        optimizers[p].zero_grad()

    for p in params:
        p.register_post_accumulate_grad_hook(hook)
    for _i in range(3):
        (params[0] ** 2 * params[1]).sum().backward()
    yield "params", [p.detach() for p in params], [p.grad for p in params]


@case("optim.values.half")
def _(torch):
    for dtype in (torch.bfloat16, torch.float16):
        p = torch.nn.Parameter(torch.tensor([1.0, -2.0, 0.5], dtype=dtype))
        optimizer = torch.optim.SGD([p], lr=0.1, momentum=0.9)
        for i in range(3):
            p.grad = (p.detach() * 2).to(dtype)
            optimizer.step()
        yield str(dtype), p.detach()
