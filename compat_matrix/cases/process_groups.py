"""Scripts for many processes, started with one: groups, collectives, DistributedDataParallel, samplers."""

import contextlib
import importlib
import os
import warnings

from compat_matrix.case import attempt, case


@contextlib.contextmanager
def _group(torch):
    dist = torch.distributed
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    try:
        yield dist
    finally:
        if dist.is_initialized():
            dist.destroy_process_group()


@contextlib.contextmanager
def _environ(**values):
    names = ("MASTER_ADDR", "MASTER_PORT", "RANK", "WORLD_SIZE")
    before = {n: os.environ.pop(n, None) for n in names}
    os.environ.update(values)
    try:
        yield
    finally:
        for n in names:
            os.environ.pop(n, None)
            if before[n] is not None:
                os.environ[n] = before[n]


@case("process_groups.before there is one")
def _(torch):
    dist = torch.distributed
    yield "there", dist.is_available(), dist.is_initialized(), dist.is_gloo_available(), dist.is_nccl_available(), dist.is_backend_available("gloo")
    for name in ("get_rank", "get_world_size", "get_backend", "barrier"):
        yield name, attempt(getattr(dist, name))
    yield "all_reduce", attempt(lambda: dist.all_reduce(torch.ones(2)))
    yield "module", attempt(lambda: torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(1, 1)))
    yield "sampler", attempt(lambda: torch.utils.data.DistributedSampler(range(3)))
    yield "none to end", attempt(dist.destroy_process_group)


@case("process_groups.begun")
def _(torch):
    dist = torch.distributed

    def begin(*args, **kwargs):
        try:
            dist.init_process_group(*args, **kwargs)
            return dist.get_rank(), dist.get_world_size(), dist.get_backend(), dist.is_initialized(), type(dist.group.WORLD).__name__
        finally:
            if dist.is_initialized():
                dist.destroy_process_group()

    with _environ():
        yield "nothing", attempt(lambda: begin("gloo"))
        yield "no address", attempt(lambda: begin("gloo", rank=0, world_size=1))
        yield "address", attempt(lambda: begin("gloo", init_method="tcp://127.0.0.1:29641", rank=0, world_size=1))
        yield "store", attempt(lambda: begin("gloo", store=dist.HashStore(), rank=0, world_size=1))
        yield "store, no size", attempt(lambda: begin("gloo", store=dist.HashStore(), rank=0))
        yield "nccl", attempt(lambda: begin("nccl", store=dist.HashStore(), rank=0, world_size=1))
    with _environ(MASTER_ADDR="127.0.0.1", MASTER_PORT="29642", RANK="0", WORLD_SIZE="1"):
        yield "environment", attempt(lambda: begin("gloo"))
        yield "no backend", attempt(begin)


@case("process_groups.twice")
def _(torch):
    with _group(torch) as dist:
        yield "twice", attempt(lambda: dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1))
        yield "said", dist.get_backend(), dist.get_backend_config(), dist.get_process_group_ranks(dist.group.WORLD)
    yield "after", dist.is_initialized(), dist.group.WORLD


@case("process_groups.collectives")
def _(torch):
    with _group(torch) as dist:
        x = torch.tensor([1.0, 2.0])
        for op in ("SUM", "AVG", "MAX", "MIN", "PRODUCT", "BAND"):
            yield f"all_reduce {op}", attempt(lambda: dist.all_reduce(x, op=getattr(dist.ReduceOp, op))), x, x._version  # noqa: B023
        work = dist.all_reduce(x, async_op=True)
        yield "work", work.wait(), work.is_completed()
        yield "broadcast", attempt(lambda: dist.broadcast(x, 0)), attempt(lambda: dist.broadcast(x, src=1)), x._version
        yield "barrier", attempt(dist.barrier), attempt(dist.monitored_barrier)
        yield "reduce", attempt(lambda: dist.reduce(x, 0)), x
        yield "integers", attempt(lambda: dist.all_reduce(torch.tensor(3))), attempt(lambda: dist.all_reduce(torch.tensor(3), op=dist.ReduceOp.AVG))
        yield "no tensor", attempt(lambda: dist.all_reduce([1]))


@case("process_groups.lists")
def _(torch):
    with _group(torch) as dist:
        x, o = torch.tensor([1.0, 2.0]), torch.zeros(2)
        for name, call in (("all_gather", lambda: dist.all_gather([o], x)), ("all_gather_into_tensor", lambda: dist.all_gather_into_tensor(o, x * 2)),
                           ("reduce_scatter", lambda: dist.reduce_scatter(o, [x * 3])), ("reduce_scatter_tensor", lambda: dist.reduce_scatter_tensor(o, x * 4)),
                           ("gather", lambda: dist.gather(x * 5, [o], dst=0)), ("scatter", lambda: dist.scatter(o, [x * 6], src=0)),
                           ("all_to_all_single", lambda: dist.all_to_all_single(o, x * 7)), ("all_to_all", lambda: dist.all_to_all([o], [x * 8])),
                           ("too many", lambda: dist.all_gather([o, o], x)), ("no list", lambda: dist.gather(x)), ("to itself", lambda: dist.send(x, 0))):
            yield name, attempt(call), o, o._version


@case("process_groups.objects")
def _(torch):
    with _group(torch) as dist:
        out = [None]
        dist.all_gather_object(out, {"a": [1, torch.ones(2)]})
        yield "all_gather", out[0]["a"]
        dist.gather_object("z", out, dst=0)
        yield "gather", out
        dist.scatter_object_list(out, [5], src=0)
        yield "scatter", out
        dist.broadcast_object_list(out, src=0)
        yield "broadcast", out


@case("process_groups.graph")
def _(torch):
    with _group(torch) as dist:
        p = torch.ones(2, requires_grad=True)
        q = p * 2
        dist.all_reduce(p)
        dist.all_reduce(q)
        q.sum().backward()
        yield "in place", p, p._version, q._version, q.grad_fn.name(), p.grad


@case("process_groups.further groups")
def _(torch):
    with _group(torch) as dist:
        g = dist.new_group([0])
        yield "one", g.size(), g.rank(), dist.get_rank(g), dist.get_world_size(g), dist.get_group_rank(g, 0), dist.get_global_rank(g, 0)
        yield "all", dist.get_world_size(dist.new_group()), attempt(lambda: dist.new_group([0, 1]))
        with warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always")
            yield "older name", dist.distributed_c10d._get_global_rank(g, 0), [(str(w.message), w.category.__name__) for w in heard]


@case("process_groups.with gradients")
def _(torch):
    D = importlib.import_module(f"{torch.__name__}.distributed.nn.functional")

    with _group(torch), warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        for name, call in (("all_reduce", lambda y: D.all_reduce(y)), ("all_gather", lambda y: D.all_gather(y)[0]), ("broadcast", lambda y: D.broadcast(y, 0)),
                           ("gather", lambda y: D.gather(y)[0]), ("scatter", lambda y: D.scatter([y])), ("reduce", lambda y: D.reduce(y, 0)),
                           ("reduce_scatter", lambda y: D.reduce_scatter(torch.zeros(2), [y])),
                           ("all_to_all", lambda y: D.all_to_all([torch.zeros(2)], [y])[0]),
                           ("all_to_all_single", lambda y: D.all_to_all_single(torch.zeros(2), y))):
            z = torch.ones(2, requires_grad=True)
            r = call(z * 2)
            (r * torch.tensor([1.0, 3.0])).sum().backward()
            yield name, r, r.grad_fn.name(), z.grad
    yield "said", [str(w.message) for w in said if w.category is FutureWarning]


def _net(torch):
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.BatchNorm1d(3), torch.nn.Linear(3, 1))


@case("process_groups.parallel module")
def _(torch):
    with _group(torch):
        m = _net(torch)
        d = torch.nn.parallel.DistributedDataParallel(m)
        yield "told", str(d), list(d.state_dict()), d.module is m, d.device_ids, d.output_device, d.broadcast_buffers, d.find_unused_parameters, d.static_graph
        o = torch.optim.SGD(d.parameters(), 0.1)
        for i in range(3):
            o.zero_grad()
            out = d(torch.arange(8.0).reshape(4, 2).sin())
            loss = out.square().mean()
            loss.backward()
            o.step()
            yield f"step {i}", loss, m[2].weight.grad, m[0].weight, m[1].running_mean, out.grad_fn.name()
        d.zero_grad()
        with d.no_sync():
            d(torch.ones(4, 2)).mean().backward()
            yield "inside", d.require_backward_grad_sync
        d(torch.ones(4, 2)).mean().backward()
        yield "summed", m[2].bias.grad, d.require_backward_grad_sync
        d.eval()
        yield "eval", d(torch.ones(1, 2)), m.training


@case("process_groups.parallel module refused")
def _(torch):
    D = torch.nn.parallel.DistributedDataParallel
    with _group(torch):
        yield "nothing to train", attempt(lambda: D(torch.nn.ReLU()))
        yield "devices", attempt(lambda: D(torch.nn.Linear(1, 1), device_ids=[0]))
        d = D(torch.nn.Linear(2, 1), find_unused_parameters=True)
        yield "unused", d(torch.ones(1, 2)).grad_fn.name()
        yield "norm", attempt(lambda: torch.nn.SyncBatchNorm(2)(torch.ones(3, 2))), torch.nn.SyncBatchNorm(2).eval()(torch.ones(3, 2)).shape


@case("process_groups.sampler")
def _(torch):
    with _group(torch):
        s = torch.utils.data.DistributedSampler(range(5), shuffle=True, seed=3)
        first = list(s)
        s.set_epoch(1)
        yield "shuffled", first, list(s), len(s), s.num_replicas, s.rank
        loader = torch.utils.data.DataLoader(torch.arange(5), batch_size=2, sampler=torch.utils.data.DistributedSampler(range(5), shuffle=False))
        yield "loaded", list(loader)


@case("process_groups.unused parameters, asked for")
def _(torch):
    class Half(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.b = torch.nn.Linear(2, 2), torch.nn.Linear(2, 2)

        def forward(self, x):
            return self.a(x)

    with _group(torch):
        d = torch.nn.parallel.DistributedDataParallel(Half(), find_unused_parameters=True)
        for i in range(2):
            d(torch.ones(1, 2)).sum().backward()
            yield f"pass {i}", [p.grad is None for p in d.parameters()]


@case("process_groups.kinds of reductions")
def _(torch):
    kinds = torch.distributed.ReduceOp
    yield "shown", [str(kinds.SUM), repr(kinds.AVG), kinds.MAX.name, kinds.MAX.value, int(kinds.BXOR), list(kinds.RedOpType.__members__)]
    yield "same", [kinds.SUM == kinds.RedOpType.SUM, kinds(kinds.RedOpType.MAX) == kinds.MAX, isinstance(kinds.SUM, kinds), isinstance(3, kinds)]
    with _group(torch):
        x = torch.tensor([1, 2])
        torch.distributed.all_reduce(x, kinds(kinds.RedOpType.BAND))
        yield "object", x
    constants = importlib.import_module(f"{torch.__name__}.distributed.constants")
    yield "waiting", constants.default_pg_timeout.total_seconds()
