"""Profiles: which events there are and how they nest, averages and tables of given events, schedules.  Times themselves are no answers."""

from importlib import import_module

from compat_matrix.case import attempt, case


def events(torch):
    """Three events inside one another and one of another thread."""
    util = import_module(f"{torch.__name__}.autograd.profiler_util")
    made = [util.FunctionEvent(id=i, name=n, thread=t, start_us=a, end_us=b) for i, n, t, a, b in
            ((0, "outer", 0, 0, 101), (1, "middle", 0, 1, 15), (2, "inner", 0, 2, 3), (3, "inner", 0, 5, 9), (4, "other", 1, 2, 50))]
    for e in made:
        e.stack = []
    return util, made


@case("profiler.names")
def _(torch):
    p = torch.autograd.profiler
    x = torch.ones(3, requires_grad=True)
    with p.profile(record_shapes=True) as prof:
        y = x * 2 + 4
        with p.record_function("mine"):
            z = (y - 1).exp()
            with p.record_function("inside"):
                z.sin()
    wanted = ("aten::mul", "aten::add", "aten::sub", "aten::exp", "aten::sin", "mine", "inside")
    yield "order", [e.name for e in prof.function_events if e.name in wanted]
    yield "shapes", [e.input_shapes for e in prof.function_events if e.name in ("aten::exp", "aten::sin")]
    yield "nested", [[c.name for c in e.cpu_children if c.name in wanted] for e in prof.function_events if e.name in ("mine", "inside")]
    yield "counts", {e.key: e.count for e in prof.key_averages() if e.key in wanted}
    yield "times", all(e.cpu_time_total > 0 for e in prof.function_events if e.name in wanted), prof.self_cpu_time_total > 0
    yield "head", prof.key_averages().table(sort_by="cpu_time_total").splitlines()[1].split()


@case("profiler.backward")
def _(torch):
    p = torch.autograd.profiler
    x = torch.ones(3, requires_grad=True)
    y = (x * 2).exp().sum()
    with p.profile() as prof:
        y.backward()
    wanted = ("MulBackward0", "ExpBackward0", "SumBackward0")
    yield "nodes", [e.name for e in prof.function_events if e.name in wanted]
    yield "grad", x.grad


@case("profiler.ranges")
def _(torch):
    p = torch.autograd.profiler

    @p.record_function("decorated")
    def f(n):
        return torch.ones(n) * 2

    with p.record_function("off"):
        f(1)
    with p.profile() as prof:
        f(2)
        f(3)
    yield "calls", [e.name for e in prof.function_events if e.name in ("decorated", "off", "aten::mul")]


@case("profiler.tree")
def _(torch):
    util, made = events(torch)
    found = util.EventList(made)
    found._build_tree()
    yield "children", [[c.id for c in e.cpu_children] for e in found]
    yield "own", [e.self_cpu_time_total for e in found], found.self_cpu_time_total
    yield "table", found.table(), found.table(sort_by="cpu_time_total", row_limit=2, header="some")
    yield "averages", found.key_averages().table(sort_by="count")


@case("profiler.averages")
def _(torch):
    util, made = events(torch)
    a = util.FunctionEventAvg()
    a.add(made[2])
    a.add(made[3])
    yield "two", a.count, a.cpu_time, a.cpu_time_total, a.self_cpu_time_total, a.cpu_time_str, a.key
    a.add(a)
    yield "doubled", a.count, a.cpu_time_total
    yield "another", attempt(lambda: a.add(made[0]))
    yield "words", util._format_time(1500), util._format_time(2.5), util._format_time(3e6), util._format_time_share(1, 3), util._format_memory(3072)


@case("profiler.misuse")
def _(torch):
    prof = torch.autograd.profiler.profile()

    def twice():
        with prof, prof:
            pass

    yield "twice", attempt(twice)
    with torch.autograd.profiler.profile(enabled=False) as nothing:
        torch.ones(2)
    yield "off", nothing


@case("profiler.schedules")
def _(torch):
    p = import_module(f"{torch.__name__}.profiler")
    for given in ({"wait": 1, "warmup": 1, "active": 2}, {"wait": 0, "warmup": 1, "active": 1, "repeat": 2, "skip_first": 2}):
        action = p.schedule(**given)
        yield str(given), [action(i).name for i in range(10)]
    yield "refused", attempt(lambda: p.schedule(wait=1, warmup=1, active=0)), attempt(lambda: p.schedule(wait=1, warmup=1, active=1)(-1))
    turns = []
    with p.profile(activities=[p.ProfilerActivity.CPU], schedule=p.schedule(wait=1, warmup=1, active=2),
                   on_trace_ready=lambda f: turns.append((f.step_num, sum(e.name == "aten::mul" for e in f.events())))) as f:
        for _i in range(9):
            torch.ones(2) * 2
            f.step()
    yield "turns", turns


@case("profiler.steps_and_loaders")
def _(torch):
    """Steps of optimizers, their zero_grad, and what a loader gives are ranges of their own."""
    data, m = torch.utils.data, torch.nn.Linear(4, 2)

    class Own(torch.optim.SGD):
        def __init__(self, *args, **kwargs):
            super().__init__(*args, **kwargs)

    for name, kind, workers in (("sgd", torch.optim.SGD, 0), ("own", Own, 0), ("adam", torch.optim.Adam, 2)):
        optimizer, heard = kind(m.parameters(), lr=0.1), {}
        loader = data.DataLoader(data.TensorDataset(torch.ones(4, 4)), num_workers=workers)
        with torch.autograd.profiler.profile() as prof:
            for (x,) in loader:
                optimizer.zero_grad()
                m(x).sum().backward()
                optimizer.step()
        for e in prof.function_events:
            if "#" in e.name:
                heard[e.name] = heard.get(e.name, 0) + 1
        yield name, heard


@case("profiler.memory and operations")
def _(torch):
    """What calls' results take, with what lies inside of ranges, and the floating point operations that are counted."""
    util, _ = events(torch)
    made = [util.FunctionEvent(id=i, name=n, thread=0, start_us=a, end_us=b, cpu_memory_usage=m, flops=f) for i, n, a, b, m, f in
            ((0, "outer", 0, 101, 5000, 0), (1, "middle", 1, 15, 3000, 72_000), (2, "inner", 2, 3, 1000, 4), (3, "inner", 5, 9, 12, 1_500_000))]
    for e in made:
        e.stack = []
    found = util.EventList(made, profile_memory=True, with_flops=True)
    found._build_tree()
    yield "own", [e.self_cpu_memory_usage for e in found]
    yield "table", found.table(), found.key_averages().table(sort_by="self_cpu_memory_usage")
    yield "added up", {e.key: (e.cpu_memory_usage, e.self_cpu_memory_usage, e.flops) for e in found.key_averages()}
    x, w = torch.ones(4, 6), torch.ones(6, 5)
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], profile_memory=True, with_flops=True) as prof:
        a = x @ w
        b = torch.addmm(torch.ones(5), x, w)
        c = torch.bmm(torch.ones(2, 3, 4), torch.ones(2, 4, 5))
        d = (x * 2) + x
        e = a.t()
    del a, b, c, d, e
    wanted = ("aten::mm", "aten::addmm", "aten::bmm", "aten::mul", "aten::add", "aten::t")
    yield "counted", {e.key: e.flops for e in prof.key_averages() if e.key in wanted}
    yield "made", {e.key: e.cpu_memory_usage for e in prof.key_averages() if e.key in wanted}


@case("profiler.steps_as_one")
def _(torch):
    """Averages take the steps as one, a trace numbers them."""
    got = []

    def ready(p):
        got.append(sorted((e.name, e.key, e.trace_name) for e in p.events() if "ProfilerStep" in e.name))
        got.append({e.key: e.count for e in p.key_averages() if "ProfilerStep" in e.key})

    schedule = torch.profiler.schedule(wait=1, warmup=0, active=2, repeat=2)
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], schedule=schedule, on_trace_ready=ready) as p:
        for _ in range(7):
            torch.ones(2) * 2
            p.step()
    yield "steps", got


@case("profiler.what_fails_is_told")
def _(torch):
    x = torch.ones(2, 3)
    with torch.autograd.profiler.profile() as p:
        yield "refused", attempt(lambda: torch.nn.functional.linear(x, torch.ones(2, 2)))
    yield "events", [e.name for e in p.function_events if e.name == "aten::linear"]
