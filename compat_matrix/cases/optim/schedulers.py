"""Learning rate schedulers: rates epoch by epoch, states, warnings, errors."""

from compat_matrix.case import case, raises, warned


def optimizer(torch, **options):
    a, b = [torch.nn.Parameter(torch.ones(2)) for _ in range(2)]
    return torch.optim.SGD([{"params": [a]}, {"params": [b], "lr": 0.5}], lr=0.1, **options)


def S(torch):
    return torch.optim.lr_scheduler


MAKE = {
    "LambdaLR": lambda L, o: L.LambdaLR(o, lambda e: 0.9 ** e),
    "LambdaLR_two": lambda L, o: L.LambdaLR(o, [lambda e: 0.9 ** e, lambda e: 1 / (e + 1)]),
    "MultiplicativeLR": lambda L, o: L.MultiplicativeLR(o, lambda e: 0.9),
    "StepLR": lambda L, o: L.StepLR(o, 3, gamma=0.5),
    "MultiStepLR": lambda L, o: L.MultiStepLR(o, [2, 5, 5, 8]),
    "ConstantLR": lambda L, o: L.ConstantLR(o),
    "LinearLR": lambda L, o: L.LinearLR(o),
    "LinearLR_down": lambda L, o: L.LinearLR(o, 1.0, 0.2, 7),
    "ExponentialLR": lambda L, o: L.ExponentialLR(o, 0.9),
    "PolynomialLR": lambda L, o: L.PolynomialLR(o, 6, 2.0),
    "CosineAnnealingLR": lambda L, o: L.CosineAnnealingLR(o, 5, 0.01),
    "SequentialLR": lambda L, o: L.SequentialLR(o, [L.ConstantLR(o, 0.1, 2), L.ExponentialLR(o, 0.9), L.StepLR(o, 2)], [3, 7]),
    "ChainedScheduler": lambda L, o: L.ChainedScheduler([L.ConstantLR(o), L.ExponentialLR(o, 0.9)]),
    "CyclicLR": lambda L, o: L.CyclicLR(o, 0.1, 0.5, step_size_up=3, step_size_down=2),
    "CyclicLR_two": lambda L, o: L.CyclicLR(o, [0.1, 0.2], [0.5, 1.0], step_size_up=2, mode="triangular2"),
    "CyclicLR_exp": lambda L, o: L.CyclicLR(o, 0.1, 0.5, step_size_up=2, mode="exp_range", gamma=0.9),
    "CyclicLR_own": lambda L, o: L.CyclicLR(o, 0.1, 0.5, step_size_up=2, scale_fn=lambda x: 0.5 ** x, cycle_momentum=False),
    "CosineAnnealingWarmRestarts": lambda L, o: L.CosineAnnealingWarmRestarts(o, 2, 2, 0.01),
    "OneCycleLR": lambda L, o: L.OneCycleLR(o, 1.0, total_steps=15),
    "OneCycleLR_linear": lambda L, o: L.OneCycleLR(o, [1.0, 2.0], epochs=5, steps_per_epoch=3, anneal_strategy="linear", three_phase=True),
}


def rates(o):
    return [(g["lr"], g["momentum"]) for g in o.param_groups]


for name, make in MAKE.items():
    @case(f"optim.schedulers.rates.{name}", make=make)
    def _(torch, make):
        o = optimizer(torch, momentum=0.9)
        scheduler = make(S(torch), o)
        seen = [rates(o)]
        for _i in range(12):
            o.step()
            scheduler.step()
            seen.append(rates(o))
        yield "rates", seen
        yield "last", scheduler.get_last_lr()
        yield "state", sorted((k, v) for k, v in scheduler.state_dict().items() if k not in ("milestones",))
        yield "group", sorted(k for k in o.param_groups[0])
        again = make(S(torch), optimizer(torch, momentum=0.9))
        again.load_state_dict(scheduler.state_dict())
        yield "loaded", getattr(again, "last_epoch", None), again.get_last_lr()

    @case(f"optim.schedulers.warnings.{name}", make=make, members=name.startswith(("Sequential", "Chained")))
    def _(torch, make, members):
        o = optimizer(torch, momentum=0.9)
        scheduler = make(S(torch), o)
        yield "too early", warned(scheduler.step)
        if not members:
            yield "get_lr", warned(scheduler.get_lr)


@case("optim.schedulers.plateau")
def _(torch):
    L = S(torch)
    for options in ({"patience": 1}, {"patience": 0, "cooldown": 2, "factor": 0.5}, {"mode": "max", "patience": 1, "threshold": 0.1, "threshold_mode": "abs"},
                    {"patience": 0, "min_lr": [0.05, 0.2]}, {"mode": "max", "patience": 0}):
        o = optimizer(torch)
        scheduler = L.ReduceLROnPlateau(o, **options)
        seen = []
        for metric in (1.0, 0.9, 0.95, 0.95, torch.tensor(0.95), 0.5, 0.6, 0.7, 0.8, 0.9, float("nan")):
            scheduler.step(metric)
            seen.append([[g["lr"] for g in o.param_groups], scheduler.num_bad_epochs, scheduler.cooldown_counter])
        yield str(sorted(options.items())), seen
        yield f"{sorted(options.items())} state", sorted(scheduler.state_dict().items())
    yield "start", scheduler.get_last_lr()
    o = optimizer(torch)
    yield "factor", raises(lambda: L.ReduceLROnPlateau(o, factor=1.0))
    yield "mode", raises(lambda: L.ReduceLROnPlateau(o, mode="x"))
    yield "threshold mode", raises(lambda: L.ReduceLROnPlateau(o, threshold_mode="x"))
    yield "min_lr", raises(lambda: L.ReduceLROnPlateau(o, min_lr=[1.0]))
    yield "optimizer", raises(lambda: L.ReduceLROnPlateau(3))
    yield "no metric", raises(lambda: L.ReduceLROnPlateau(o).step())
    yield "epoch", warned(lambda: L.ReduceLROnPlateau(o).step(1.0, epoch=3))


@case("optim.schedulers.errors")
def _(torch):
    L = S(torch)
    o = optimizer(torch, momentum=0.9)
    p = [torch.nn.Parameter(torch.ones(2))]
    for label, f in {
        "lambda": lambda: L.LambdaLR(o, [lambda e: 1]), "multiplicative": lambda: L.MultiplicativeLR(o, 3),
        "multiplicative count": lambda: L.MultiplicativeLR(o, [lambda e: 1]), "constant": lambda: L.ConstantLR(o, factor=2),
        "linear start": lambda: L.LinearLR(o, start_factor=0), "linear end": lambda: L.LinearLR(o, end_factor=3),
        "sequential none": lambda: L.SequentialLR(o, [], [2]), "sequential count": lambda: L.SequentialLR(o, [L.ConstantLR(o)], [2]),
        "sequential plateau": lambda: L.SequentialLR(o, [L.ConstantLR(o), L.ReduceLROnPlateau(o)], [2]),
        "sequential other": lambda: L.SequentialLR(o, [L.ConstantLR(optimizer(torch)), L.ConstantLR(o)], [2]),
        "sequential type": lambda: L.SequentialLR(o, [L.ConstantLR(o), 3], [2]), "chained none": lambda: L.ChainedScheduler([]),
        "chained plateau": lambda: L.ChainedScheduler([L.ReduceLROnPlateau(o)]), "chained type": lambda: L.ChainedScheduler([3]),
        "chained other": lambda: L.ChainedScheduler([L.ConstantLR(optimizer(torch)), L.ConstantLR(optimizer(torch))]),
        "cyclic mode": lambda: L.CyclicLR(o, 0.1, 0.5, mode="x"), "cyclic base": lambda: L.CyclicLR(o, [0.1], 0.5),
        "cyclic max": lambda: L.CyclicLR(o, 0.1, [0.5]), "cyclic momentum": lambda: L.CyclicLR(torch.optim.Adagrad(p), 0.1, 0.5),
        "cyclic optimizer": lambda: L.CyclicLR(3, 0.1, 0.5), "warm T_0": lambda: L.CosineAnnealingWarmRestarts(o, 0),
        "warm float": lambda: L.CosineAnnealingWarmRestarts(o, 2.5), "warm T_mult": lambda: L.CosineAnnealingWarmRestarts(o, 2, 0),
        "warm eta": lambda: L.CosineAnnealingWarmRestarts(o, 2, 1, "a"), "one nothing": lambda: L.OneCycleLR(o, 1.0),
        "one total": lambda: L.OneCycleLR(o, 1.0, total_steps=0), "one float": lambda: L.OneCycleLR(o, 1.0, total_steps=1.5),
        "one epochs": lambda: L.OneCycleLR(o, 1.0, epochs=0, steps_per_epoch=3), "one steps": lambda: L.OneCycleLR(o, 1.0, epochs=3, steps_per_epoch=0),
        "one pct": lambda: L.OneCycleLR(o, 1.0, total_steps=3, pct_start=2), "one strategy": lambda: L.OneCycleLR(o, 1.0, total_steps=3, anneal_strategy="x"),
        "one momentum": lambda: L.OneCycleLR(torch.optim.Adagrad(p), 1.0, total_steps=3), "one max": lambda: L.OneCycleLR(o, [1.0], total_steps=3),
        "step optimizer": lambda: L.StepLR(3, 2), "resume": lambda: L.StepLR(optimizer(torch), 2, last_epoch=3),
        "verbose": lambda: L.StepLR(o, 2, verbose=True), "abstract": lambda: type("Mine", (L.LRScheduler,), {})(o),
    }.items():
        yield label, raises(f)
    one = L.OneCycleLR(o, 1.0, total_steps=2)
    yield "too many", raises(lambda: [one.step() for _ in range(4)] and None)


@case("optim.schedulers.epochs")
def _(torch):
    L = S(torch)
    for name in ("StepLR", "MultiplicativeLR", "ExponentialLR", "PolynomialLR", "CosineAnnealingLR", "LinearLR", "ConstantLR", "MultiStepLR", "LambdaLR",
                 "CosineAnnealingWarmRestarts"):
        o = optimizer(torch, momentum=0.9)
        scheduler = MAKE[name](L, o)
        o.step()
        yield name, warned(lambda scheduler=scheduler: scheduler.step(4)), rates(o)
    yield "warm fraction", [(scheduler.step(e), rates(o))[1] for e in (0.5, 1.7, 2.5, 11.0)]
    yield "warm negative", raises(lambda: scheduler.step(-1.5))


@case("optim.schedulers.order_of_calls")
def _(torch):
    L = S(torch)
    o = optimizer(torch)
    scheduler = L.StepLR(o, 2)
    o.step = lambda: None
    yield "overridden", warned(scheduler.step)
    o = optimizer(torch)
    a, b = L.StepLR(o, 1), L.StepLR(o, 1)
    o.step()
    yield "two", warned(lambda: (a.step(), b.step())), rates_only(o)
    o = optimizer(torch)
    o.param_groups[0]["initial_lr"] = o.param_groups[1]["initial_lr"] = 0.3
    for name, make in {
        "step": lambda: L.StepLR(o, 2, last_epoch=3), "cosine": lambda: L.CosineAnnealingLR(o, 7, last_epoch=3), "linear": lambda: L.LinearLR(o, last_epoch=1),
        "constant": lambda: L.ConstantLR(o, total_iters=3, last_epoch=2), "exponential": lambda: L.ExponentialLR(o, 0.9, last_epoch=1),
        "polynomial": lambda: L.PolynomialLR(o, last_epoch=1), "multi": lambda: L.MultiStepLR(o, [2], last_epoch=1),
        "multiplicative": lambda: L.MultiplicativeLR(o, lambda e: 0.5, last_epoch=1), "lambda": lambda: L.LambdaLR(o, lambda e: 0.5, last_epoch=1),
        "warm": lambda: L.CosineAnnealingWarmRestarts(o, 3, last_epoch=1), "cyclic": lambda: L.CyclicLR(o, 0.1, 0.5, 2, cycle_momentum=False, last_epoch=1),
    }.items():
        yield f"resumed {name}", make().get_last_lr()


def rates_only(o):
    return [g["lr"] for g in o.param_groups]


@case("optim.schedulers.callables")
def _(torch):
    class Half:
        def __init__(self):
            self.k = 3

        def __call__(self, e):
            return 0.5 / self.k

    L = S(torch)
    scheduler = L.LambdaLR(optimizer(torch), [Half(), lambda e: 1.0])
    saved = scheduler.state_dict()
    yield "saved", saved["lr_lambdas"]
    saved["lr_lambdas"][0]["k"] = 5
    scheduler.load_state_dict(saved)
    yield "loaded", scheduler.lr_lambdas[0].k


@case("optim.schedulers.tensor_rate")
def _(torch):
    L = S(torch)
    for name in ("StepLR", "ExponentialLR", "CosineAnnealingLR", "LinearLR"):
        lr = torch.tensor(0.1, dtype=torch.float64)
        o = torch.optim.SGD([torch.nn.Parameter(torch.ones(2))], lr=lr, momentum=0.9)
        scheduler = MAKE[name](L, o)
        for _i in range(4):
            o.step()
            scheduler.step()
        yield name, o.param_groups[0]["lr"], o.param_groups[0]["lr"] is lr, scheduler.get_last_lr(), o.param_groups[0]["initial_lr"]


@case("optim.schedulers.adam_beta")
def _(torch):
    for make in (lambda o: S(torch).OneCycleLR(o, 1.0, total_steps=6), lambda o: S(torch).CyclicLR(o, 0.1, 0.5, step_size_up=2)):
        o = torch.optim.Adam([torch.nn.Parameter(torch.ones(2))], betas=(0.9, 0.99))
        scheduler = make(o)
        seen = []
        for _i in range(5):
            o.step()
            scheduler.step()
            seen.append((o.param_groups[0]["lr"], o.param_groups[0]["betas"]))
        yield type(scheduler).__name__, seen


@case("optim.schedulers.swa")
def _(torch):
    import importlib
    U = importlib.import_module(torch.__name__ + ".optim.swa_utils")
    for kw in ({}, {"anneal_epochs": 3}, {"anneal_strategy": "linear", "anneal_epochs": 3}, {"anneal_epochs": 0}):
        o = optimizer(torch)
        scheduler = U.SWALR(o, 0.05, **kw)
        seen = []
        for _i in range(5):
            o.step()
            scheduler.step()
            seen.append(rates_only(o))
        yield str(sorted(kw.items())), seen
    o = optimizer(torch)
    yield "count", raises(lambda: U.SWALR(o, [0.05]))
    yield "epochs", raises(lambda: U.SWALR(o, 0.05, -2))
    yield "epochs type", raises(lambda: U.SWALR(o, 0.05, 1.5))
    yield "strategy", raises(lambda: U.SWALR(o, 0.05, 2, "x"))
    yield "decay", raises(lambda: U.get_ema_multi_avg_fn(2.0))
    yield "decay below", raises(lambda: U.get_ema_avg_fn(-2.0))
    a, b = torch.tensor([1.0, 2.0]), torch.tensor([3.0, 6.0])
    yield "ema", U.get_ema_avg_fn(0.9)(a, b, 1)
    yield "swa", U.get_swa_avg_fn()(a, b, 3)
    U.get_ema_multi_avg_fn(0.75)([a], [b], 1)
    yield "ema list", a
    U.get_swa_multi_avg_fn()([a], [b], torch.tensor(3))
    yield "swa list", a
