"""What programs replace or call of optimizers and schedulers, by PyTorch's private names; groups that come later; averages; numbers that are none."""

import contextlib
import weakref

from compat_matrix.case import attempt, case

ALL = {"SGD": {"momentum": 0.9}, "Adam": {}, "AdamW": {"amsgrad": True}, "Adagrad": {}, "Adadelta": {}, "Adamax": {}, "NAdam": {}, "RAdam": {},
       "RMSprop": {"momentum": 0.5, "centered": True}, "Rprop": {}, "ASGD": {}, "Adafactor": {}, "Muon": {}}


@case("parts_of_optimizers.init_group")
def _(torch):
    for name, options in ALL.items():
        seen = []

        class Derived(getattr(torch.optim, name)):
            def _init_group(self, group, params, grads, *lists):
                out = super()._init_group(group, params, grads, *lists)
                seen.append((len(params), out, [[None if x is None else list(x.shape) for x in some] for some in lists]))
                return out

        found = []
        for kind in (getattr(torch.optim, name), Derived):
            params = [torch.nn.Parameter(torch.arange(4.0).reshape(2, 2) + i) for i in range(2)]
            optimizer = kind(params, lr=0.1, **options)
            for i in range(3):
                params[0].grad = torch.ones(2, 2) * (i - 1.5)
                if i == 2:
                    params[1].grad = torch.ones(2, 2)
                optimizer.step()
            found.append([p.tolist() for p in params])
        yield name, seen, found[0] == found[1]


@case("parts_of_optimizers.called")
def _(torch):
    for name, options in ALL.items():
        calls = []

        def said(kind, method):
            def f(self, *args, **kwargs):
                calls.append(method)
                return getattr(super(kind, self), method)(*args, **kwargs)
            return f

        derived = type("Derived", (getattr(torch.optim, name),), {})
        for method in ("_init_group", "_accelerator_graph_capture_health_check", "_cuda_graph_capture_health_check", "_optimizer_step_code", "_patch_step_function",
                       "add_param_group"):
            setattr(derived, method, said(derived, method))
        p = torch.nn.Parameter(torch.ones(2, 2))
        optimizer = derived([p], lr=0.1, **options)
        p.grad = torch.ones(2, 2)
        optimizer.step()
        optimizer.load_state_dict(optimizer.state_dict())
        yield name, calls


SCHEDULES = {"LambdaLR": {"lr_lambda": lambda e: 0.9**e}, "MultiplicativeLR": {"lr_lambda": lambda e: 0.9}, "StepLR": {"step_size": 2},
             "MultiStepLR": {"milestones": [1, 3]}, "ConstantLR": {}, "LinearLR": {}, "ExponentialLR": {"gamma": 0.9}, "PolynomialLR": {},
             "CosineAnnealingLR": {"T_max": 4}, "CosineAnnealingWarmRestarts": {"T_0": 3}, "CyclicLR": {"base_lr": 0.1, "max_lr": 0.2},
             "OneCycleLR": {"max_lr": 0.2, "total_steps": 10}, "ReduceLROnPlateau": {"patience": 0}, "SWALR": {"swa_lr": 0.05}}


def optimizer_of(torch):
    params = [torch.nn.Parameter(torch.ones(2)) for _ in range(2)]
    return torch.optim.SGD([{"params": [params[0]]}, {"params": [params[1]], "lr": 0.5}], lr=0.1, momentum=0.9)


def schedule(torch, name, optimizer):
    swa_utils = torch.optim.swa_utils
    kind = swa_utils.SWALR if name == "SWALR" else getattr(torch.optim.lr_scheduler, name)
    return kind(optimizer, **SCHEDULES[name])


def stepped(s, *args):
    return s.step(1.0, *args) if type(s).__name__ == "ReduceLROnPlateau" else s.step(*args)


def rates(optimizer, s):
    return [round(g["lr"], 6) for g in optimizer.param_groups], [round(x, 6) for x in s.get_last_lr()], s.last_epoch


@case("parts_of_optimizers.later_groups")
def _(torch):
    for name in SCHEDULES:
        o = optimizer_of(torch)
        s = schedule(torch, name, o)
        o.step()
        o.add_param_group({"params": [torch.nn.Parameter(torch.ones(3))], "lr": 0.3})
        yield name, [(attempt(lambda s=s: stepped(s)), rates(o, s)) for _ in range(3)], attempt(lambda s=s: stepped(s, 2)), rates(o, s)
        o = optimizer_of(torch)
        s = schedule(torch, name, o)
        o.step()
        o.param_groups.pop()
        yield f"{name} fewer", attempt(lambda s=s: stepped(s)), rates(o, s)
        gone = weakref.ref(o)
        o = s = None
        yield f"{name} gone", gone() is None


@case("parts_of_optimizers.schedule_parts")
def _(torch):
    schedules, swa_utils = torch.optim.lr_scheduler, torch.optim.swa_utils
    o = optimizer_of(torch)
    s = schedules.StepLR(o, 2)
    with schedules._enable_get_lr_call(s) as x:
        yield "asked", type(x).__name__, s._get_lr_called_within_step
    with schedules._initial_mode(s):
        yield "initial", s._is_initial
    yield "after", s._get_lr_called_within_step, s._is_initial
    yield "format", schedules._format_param("a", o, (1, 2)), schedules._format_param("a", o, 3), attempt(lambda: schedules._format_param("a", o, [1]))
    group = {"lr": torch.tensor(1.0)}
    schedules._update_param_group_val(group, "lr", 0.5)
    yield "values", group["lr"], schedules._param_groups_val_list(o, "lr")
    c = schedules.CyclicLR(o, 0.1, 0.2, mode="exp_range", gamma=0.5, cycle_momentum=False)
    yield "cyclic", c._scale_fn_ref(3), c._triangular_scale_fn(3), c._triangular2_scale_fn(3), c._exp_range_scale_fn(0.5, 3), sorted(c.state_dict())
    w = swa_utils.SWALR(o, 0.05, anneal_epochs=4)
    yield "swa", w._cosine_anneal(0.3), w._linear_anneal(0.3), w._get_initial_lr(0.3, 0.1, 0.5), w._get_initial_lr(0.3, 0.1, 1), sorted(w.state_dict())
    w._set_anneal_func("linear")
    yield "set", w.anneal_func(0.3), w._anneal_strategy
    q = schedules.OneCycleLR(o, 0.1, total_steps=5, cycle_momentum=False)
    yield "one cycle", q._annealing_cos(1, 2, 0.3), q._annealing_linear(1, 2, 0.3), q._anneal_func(1, 2, 0.3)
    calls = []

    class Derived(schedules.CyclicLR):
        def scale_fn(self, x):
            calls.append(x)
            return super().scale_fn(x)

    Derived(optimizer_of(torch), 0.1, 0.2)
    yield "scale_fn", calls
    yield "mistake", attempt(lambda: schedules.MultiplicativeLR(3, 3))
    yield "functional", sorted(n for n in vars(torch.optim._functional) if not n.startswith("__") and n not in ("annotations", "math", "Tensor"))


@case("parts_of_optimizers.no_numbers")
def _(torch):
    nan, inf = float("nan"), float("inf")
    for options in ({}, {"maximize": True}):
        p = torch.nn.Parameter(torch.tensor([1.0, 2.0, 3.0, 4.0]))
        o = torch.optim.Rprop([p], **options)
        for i, g in enumerate(([1.0, nan, -1.0, inf], [1.0, 1.0, nan, inf], [nan, 1.0, 1.0, -1.0], [1.0, -1.0, 1.0, 1.0])):
            p.grad = torch.tensor(g)
            o.step()
            yield f"{sorted(options)} {i}", p.detach().clone(), o.state[p]["prev"].clone(), o.state[p]["step_size"].clone()
    p = torch.nn.Parameter(torch.tensor([1.0, 2.0, 3.0]))
    o = torch.optim.Adafactor([p], lr=0.1)
    for g in ([1.0, nan, inf], [1.0, 1.0, 1.0]):
        p.grad = torch.tensor(g)
        o.step()
    yield "adafactor", p.isnan().tolist(), round(p[0].item(), 4)


@case("parts_of_optimizers.averages")
def _(torch):
    AveragedModel = torch.optim.swa_utils.AveragedModel
    model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.BatchNorm1d(2), torch.nn.Linear(2, 1).double())
    calls = []

    def one(a, b, n):
        calls.append((list(a.shape), str(a.dtype), int(n)))
        return a

    def several(a, b, n):
        calls.append(([list(x.shape) for x in a], [str(x.dtype) for x in a], int(n)))

    for name, options in (("one", {"avg_fn": one}), ("several", {"multi_avg_fn": several}), ("buffers", {"multi_avg_fn": several, "use_buffers": True})):
        average = AveragedModel(model, **options)
        calls.clear()
        average.update_parameters(model)
        first = list(calls)
        average.update_parameters(model)
        yield name, first, list(calls)


@case("parts_of_optimizers.layouts")
def _(torch):
    for name, options in ALL.items():
        p = torch.nn.Parameter(torch.arange(6.0).reshape(2, 3).t())
        o = getattr(torch.optim, name)([p], lr=0.1, **options)
        p.grad = torch.ones(2, 3).t()
        o.step()
        yield name, {k: v.stride() for k, v in o.state[p].items() if v is not None and v.dim() == 2}


FUSED = (("SGD", {"momentum": 0.9}), ("SGD", {}), ("Adam", {}), ("AdamW", {"amsgrad": True}), ("Adagrad", {}))


@case("parts_of_optimizers.fused")
def _(torch):
    for name, options in FUSED:
        def made(*params, **more):
            return getattr(torch.optim, name)(params, lr=0.1, **{"fused": True, **options, **more})

        label = f"{name} {sorted(options)}"
        for kind, p in (("complex", torch.ones(2, dtype=torch.cfloat)), ("meta", torch.ones(2, device="meta"))):
            p = torch.nn.Parameter(p)
            o = made(p)
            p.grad = torch.ones_like(p)
            yield f"{label} {kind}", attempt(o.step), getattr(o, "_need_device_dtype_check_for_fused", None), sorted(o.state[p])
        p, q = torch.nn.Parameter(torch.ones(2)), torch.nn.Parameter(torch.ones(2, dtype=torch.cfloat))
        o = made(p, q)
        p.grad, q.grad = torch.ones(2), torch.ones_like(q)
        yield f"{label} mixed", attempt(o.step), p.tolist()
        p = torch.nn.Parameter(torch.ones(3, 2))
        o = made(p)
        p.grad = torch.ones(3, 2).to_sparse(1)
        yield f"{label} sparse", attempt(o.step)
        p = torch.nn.Parameter(torch.arange(12.0).reshape(2, 6)[:, ::2])
        o = made(p)
        p.grad = torch.ones(2, 3)
        o.step()
        yield f"{label} sliced", [round(x, 4) for x in p.flatten().tolist()]
        p = torch.nn.Parameter(torch.arange(6.0).reshape(2, 3))
        o = made(p)
        p.grad = torch.arange(6.0).reshape(3, 2).t()
        o.step()
        yield f"{label} another order", [round(x, 4) for x in p.flatten().tolist()]
        p = torch.nn.Parameter(torch.ones(2, dtype=torch.bfloat16))
        o = made(p)
        for _ in range(2):
            p.grad = torch.ones(2, dtype=torch.bfloat16)
            o.step()
        yield f"{label} half", p.tolist(), {k: v.tolist() for k, v in o.state[p].items() if v is not None}
        p = torch.nn.Parameter(torch.ones(2))
        for fused in (True, False):
            o = made(p, fused=fused)
            o.grad_scale, o.found_inf = torch.tensor(2.0), torch.tensor(float(fused))
            p.grad = torch.ones(2)
            yield f"{label} told {fused}", attempt(o.step), p.tolist(), p.grad.tolist()


@case("parts_of_optimizers.scaler_protocol")
def _(torch):
    for name, options in (*FUSED, ("SGD", {"fused": False})):
        scaler = torch.amp.GradScaler("cpu", init_scale=8.0)
        params = [torch.nn.Parameter(torch.tensor([1.0, 2.0])) for _ in range(2)]
        o = getattr(torch.optim, name)(params, lr=0.125, **{"fused": True, **options})
        label = f"{name} {sorted(options)}"
        yield label, getattr(o, "_step_supports_amp_scaling", None)
        for i in range(4):
            o.zero_grad()
            scaler.scale((params[0] * 3 + params[1] * params[0]).sum()).backward()
            if i == 1:
                params[0].grad[0] = float("inf")
            if i == 2:
                scaler.unscale_(o)
            scaler.step(o)
            state = scaler._per_optimizer_states[id(o)]
            yield f"{label} {i}", [[round(x, 3) for x in p.tolist()] for p in params], [[round(x, 3) for x in p.grad.tolist()] for p in params], (
                state["stage"].name, [(str(k), v.tolist()) for k, v in state["found_inf_per_device"].items()], hasattr(o, "grad_scale"), hasattr(o, "found_inf"))
            scaler.update()
            yield f"{label} scale {i}", scaler.get_scale(), scaler._growth_tracker.tolist()


@case("parts_of_optimizers.scaler_parts")
def _(torch):
    import pickle

    scaler = torch.amp.GradScaler("cpu", init_scale=8.0, growth_interval=2)
    p = torch.nn.Parameter(torch.tensor([1.0, 2.0]))
    o = torch.optim.SGD([p], lr=0.1)
    yield "vars", sorted(vars(scaler)), scaler._scale, scaler._growth_tracker
    for n, f in enumerate((lambda: scaler.unscale_(o), lambda: scaler.step(o), lambda: scaler.update(), lambda: scaler._check_inf_per_device(o))):
        yield f"early {n}", attempt(f)
    x = torch.ones(2)
    yield "scale", scaler.scale([x, (x,)]), attempt(lambda: scaler.scale(3))
    yield "again", attempt(lambda: scaler._lazy_init_scale_growth_tracker(torch.device("cpu")))
    scaler.scale((p * 3).sum()).backward()
    yield "nothing", attempt(scaler.update)
    scaler.unscale_(o)
    yield "twice", attempt(lambda: scaler.unscale_(o)), {str(k): v.tolist() for k, v in scaler._found_inf_per_device(o).items()}
    yield "pickled early", attempt(lambda: pickle.dumps(scaler))
    scaler.step(o)
    yield "after", attempt(lambda: scaler.step(o)), attempt(lambda: scaler.unscale_(o))
    scaler.update()
    other = pickle.loads(pickle.dumps(scaler))
    yield "pickled", other.get_scale(), other._get_growth_tracker(), other._scale
    for n, new in enumerate((4.0, torch.tensor(2.0), torch.ones(2), torch.tensor(2.0, requires_grad=True), "a", 3)):
        yield f"update {n}", attempt(lambda: scaler.update(new)), scaler.get_scale()
    half = torch.nn.Parameter(torch.ones(2, dtype=torch.float16))
    half.grad = torch.ones(2, dtype=torch.float16)
    of_half = torch.optim.SGD([half], lr=0.1)
    yield "half", attempt(lambda: scaler.unscale_(of_half))
    calls = []

    class Told(torch.optim.SGD):
        _step_supports_amp_scaling = True

        def step(self, closure=None):
            calls.append((self.grad_scale.tolist(), self.found_inf.tolist()))
            return 6

    class Derived(torch.amp.GradScaler):
        def _unscale_grads_(self, *args):
            calls.append(args[3])
            return super()._unscale_grads_(*args)

        def _maybe_opt_step(self, *args, **kwargs):
            calls.append("maybe")
            return super()._maybe_opt_step(*args, **kwargs)

    for kind in (Told, torch.optim.SGD):
        scaler, p = Derived("cpu", init_scale=8.0), torch.nn.Parameter(torch.ones(1))
        o = kind([p], lr=0.1)
        scaler.scale(p.sum()).backward()
        yield f"step of {kind.__name__}", scaler.step(o)
    yield "calls", calls


@case("parts_of_optimizers.loaders")
def _(torch):
    dataloader = torch.utils.data.dataloader
    DataLoader = dataloader.DataLoader
    class Numbers(torch.utils.data.Dataset):
        def __len__(self):
            return 7

        def __getitem__(self, i):
            return torch.tensor(i)

    calls = []

    class Iterator(dataloader._SingleProcessDataLoaderIter):
        def _next_data(self):
            calls.append("data")
            return super()._next_data()

        def _next_index(self):
            out = super()._next_index()
            calls.append(out)
            return out

    class Own(dataloader._BaseDataLoaderIter):
        def _next_data(self):
            return self._next_index()

    class Loader(DataLoader):
        kind = Iterator

        def _get_iterator(self):
            return self.kind(self)

    loader = Loader(Numbers(), batch_size=3)
    yield "batches", [x.tolist() for x in loader], calls
    Loader.kind = Own
    yield "own", list(Loader(Numbers(), batch_size=3))
    it = iter(DataLoader(Numbers(), batch_size=3))
    yield "parts", it._next_index(), it._next_data(), it._num_yielded, len(it), type(it._index_sampler).__name__, it._dataset_kind
    yield "refused", attempt(lambda: next(dataloader._BaseDataLoaderIter(loader))), attempt(it.__getstate__)
    several = DataLoader(Numbers(), batch_size=3, num_workers=1, persistent_workers=True)
    with contextlib.closing(_Ended(iter(several))) as ended:
        yield "workers", type(ended.it).__name__, [x.tolist() for x in ended.it], ended.it is iter(several), several._iterator is ended.it


class _Ended:
    """An iterator whose processes are ended."""

    def __init__(self, it):
        self.it = it

    def close(self):
        if hasattr(self.it, "_shutdown_workers"):
            self.it._shutdown_workers()
