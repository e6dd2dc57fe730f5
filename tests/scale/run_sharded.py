"""Run in a process of its own with eight host devices: training spread over them is training on one; prints one JSON object."""

import copy
import io
import json
import pickle
import sys
import warnings

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

jax.config.update("jax_numpy_dtype_promotion", "strict")
jax.config.update("jax_numpy_rank_promotion", "raise")

import torchlike_autograd as torch  # noqa: E402
from torchlike_autograd import interop, visualize  # noqa: E402
from torchlike_autograd.distributed.device_mesh import init_device_mesh  # noqa: E402
from torchlike_autograd.distributed.tensor import DTensor, Partial, Replicate, Shard, distribute_module, distribute_tensor, parallel  # noqa: E402
from torchlike_autograd.distributed.tensor.experimental import implicit_replication  # noqa: E402

STEPS = 5


def data():
    """Two weights, inputs, targets."""
    rng = np.random.default_rng(0)
    return [rng.normal(size=s).astype(np.float32) for s in ((16, 32), (32, 4), (8, 16), (8, 4))]


def train(put, algorithm=torch.optim.Adam, look_first=False):
    """Losses, last weights and gradients as Tensors; the compiled text of the last step."""
    w1, w2, x, y = data()
    w1, w2 = put(w1, None, "model").requires_grad_(), put(w2, "model", None).requires_grad_()
    x, y = put(x, "data", None), put(y, "data", None)
    optimizer, losses = algorithm([w1, w2], lr=1e-2), []
    for step in range(STEPS):
        if step == STEPS - 1:
            before = dict(torch.stats())
        optimizer.zero_grad()
        loss = ((torch.relu(x @ w1) @ w2 - y) ** 2).mean()
        if look_first:
            losses.append(loss.item())
        loss.backward()
        optimizer.step()
        if not look_first:
            losses.append(loss.item())
    after = dict(torch.stats())
    return losses, w1, w2, {k: after[k] - before[k] for k in ("flushes", "compiles", "op_by_op")}


def plain(a, *spec):
    """On one device."""
    return torch.tensor(a)


def texts():
    """The compiled programs that run on several devices."""
    from torchlike_autograd._core import execute

    return [c.as_text() for p in execute._programs.values() if p.placed for piece in p.placed.pieces if "@" in piece.key for _, c in piece.variants.values()]


def largest(a, b):
    """The largest difference of two tensors."""
    return float(np.abs(a.detach().numpy() - b.detach().numpy()).max())


def jax_mesh():
    """By interop.shard over a jax Mesh."""
    mesh = Mesh(np.array(jax.devices()).reshape(4, 2), ("data", "model"))
    whole = train(plain)
    out = {}
    for name, options in {"adam": {}, "looked": {"algorithm": torch.optim.SGD, "look_first": True}}.items():
        reference = whole if name == "adam" else train(plain, **options)
        losses, w1, w2, last = train(lambda a, *spec: interop.shard(torch.tensor(a), mesh, spec), **options)
        out[name] = {"losses": [losses, reference[0]], "difference": max(largest(w1, reference[1]), largest(w2, reference[2])), "last": last,
                     "specs": [str(interop.sharding_of(t).spec) for t in (w1, w1.grad, w2, w2.grad)]}
    out["collectives"] = sorted({name for text in texts() for name in ("all-gather", "all-reduce", "all-to-all", "collective-permute") if f" {name}(" in text})
    x = interop.shard(torch.arange(16.0).reshape(8, 2), mesh, ("data",))
    out["looks"] = [x.sum().item(), x[3, 1].item(), x.tolist()[7], str(x.device), x.is_cpu]
    p = torch.nn.Parameter(torch.ones(4, 2))
    q = interop.shard(p, mesh, ("data",))
    moved = interop.shard(p * 2, mesh, ("data",))
    (moved * moved).sum().backward()
    out["leaf"] = [type(q).__name__, q.is_leaf, moved.grad_fn.name(), p.grad.tolist()]
    pieces = visualize.program(interop.shard(torch.ones(8, 2), mesh, ("data",)) * 3).pieces
    out["pieces"] = [[piece.place.partition("@")[0], "num_partitions=8" in piece.hlo] for piece in pieces]
    return out


def memory():
    """Weights and states large enough to give their memory away: sharded, on one other device; with somebody who holds copies."""
    from torchlike_autograd._core import execute

    mesh = Mesh(np.array(jax.devices()).reshape(4, 2), ("data", "model"))

    def train(put, look=lambda w: None):
        rng = np.random.default_rng(0)
        w = put(torch.tensor(rng.normal(size=(256, 512)).astype(np.float32)), None, "model").requires_grad_()
        x = put(torch.tensor(rng.normal(size=(16, 256)).astype(np.float32)), "data", None)
        optimizer, losses, seen = torch.optim.Adam([w], lr=1e-2), [], []
        for _ in range(STEPS):
            optimizer.zero_grad()
            loss = (torch.tanh(x @ w) ** 2).mean()
            loss.backward()
            optimizer.step()
            seen.append(look(w))
            losses.append(loss.item())
        return losses, w, [t if t is None else float(t.sum()) for t in seen]

    alone, out = train(lambda t, *spec: t, lambda w: w.detach().clone()), {}
    for name, put in (("sharded", lambda t, *spec: interop.shard(t, mesh, spec)), ("one", lambda t, *spec: interop.place(t, jax.devices()[3]))):
        execute.clear_caches()
        found = train(put)
        steps = [p for p in execute._programs.values() if p.placed and p.donates]
        lent = max((c.memory_analysis().alias_size_in_bytes for p in steps for piece in p.placed.pieces for _, c in piece.variants.values()), default=0)
        out[name] = {"losses": [found[0], alone[0]], "difference": largest(found[1], alone[1]), "lent": lent}
    held, shared = train(put, lambda w: w.detach().clone()), train(put, lambda w: w.detach())
    return out | {"held": [held[2], alone[2]], "shared": shared[2], "same": held[0] == found[0] == shared[0]}


def dtensor():
    """By torch.distributed.tensor."""
    mesh = init_device_mesh("cpu", (4, 2), mesh_dim_names=("data", "model"))

    def put(a, *spec):
        return distribute_tensor(torch.tensor(a), mesh, [Shard(spec.index(n)) if n in spec else Replicate() for n in ("data", "model")])

    losses, w1, _, _ = train(put)
    x = put(np.arange(16, dtype=np.float32).reshape(8, 2), "data", None).requires_grad_()
    full = x.redistribute(placements=[Replicate(), Replicate()]).full_tensor()
    (full * full).sum().backward()
    return {"losses": [losses, train(plain)[0]], "placements": [repr(w1.placements), repr(w1.grad.placements), repr(x.grad.placements)],
            "mesh": [repr(mesh), repr(mesh["model"])], "local": list(w1.detach().to_local().shape), "grad": x.grad.sum().item(),
            "instances": [isinstance(w1, DTensor), isinstance(torch.ones(2), DTensor)], "text": repr(x.detach()), "like": fresh_ones(x)}


def fresh_ones(x):
    """Tensors made like a spread one."""
    torch.manual_seed(0)
    made = [torch.zeros_like(x), torch.full_like(x, 2.0, requires_grad=True), torch.rand_like(x), torch.ones_like(x, dtype=torch.int64)]
    torch.manual_seed(0)
    made += [t.clone() for t in made[:1] * 4]
    for t, write in zip(made[4:], (lambda t: t.copy_(torch.ones_like(t)), lambda t: t.fill_(3.0), lambda t: t.fill_(torch.tensor(3.0)), torch.zero_)):
        assert t.placements and write(t) is t
    return [[repr(t.placements) for t in made], [t.requires_grad and t.is_leaf for t in made], torch.equal(made[2].full_tensor(), torch.rand(8, 2)),
            isinstance(torch.zeros_like(x, device="cpu"), DTensor)]


def tensor_parallel():
    """By torch.distributed.tensor.parallel."""
    mesh, nn = init_device_mesh("cpu", (8,), mesh_dim_names=("tp",)), torch.nn
    plan = {"0": parallel.RowwiseParallel(output_layouts=Shard(1)), "1": parallel.SequenceParallel(), "2": parallel.ColwiseParallel(input_layouts=Shard(1)),
            "4": parallel.RowwiseParallel(), "5": parallel.ColwiseParallel(output_layouts=Replicate())}

    def train(spread):
        torch.manual_seed(0)
        net = nn.Sequential(nn.Embedding(16, 8), nn.LayerNorm(8), nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 8), nn.Linear(8, 16))
        if spread:
            parallel.parallelize_module(net, mesh, plan)
        optimizer, losses, i = torch.optim.Adam(net.parameters(), lr=1e-2), [], torch.arange(32).reshape(2, 16) % 16
        for _ in range(4):
            flushes = torch.stats()["flushes"]
            optimizer.zero_grad()
            with parallel.loss_parallel():
                loss = nn.functional.cross_entropy(net(i).flatten(0, 1), i.flatten())
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses, net, torch.stats()["flushes"] - flushes

    (losses, net, flushes), (alone, *_) = train(True), train(False)
    x = distribute_tensor(torch.ones(8, 2), mesh, [Replicate()]).requires_grad_()
    (x.to_local() * 3).sum().backward()
    return {"losses": [losses, alone], "flushes": flushes, "placements": {k: [repr(p.placements), repr(p.grad.placements)] for k, p in net.named_parameters()},
            "local": [x.grad.tolist(), repr(x.grad.placements)], "given": repr(DTensor.from_local(torch.ones(2), mesh, [Replicate()]).placements),
            "errors": [refusal(lambda: DTensor.from_local(torch.ones(2), mesh, [Shard(0)])), refusal(lambda: x.redistribute(placements=[Partial()])),
                       refusal(lambda: parallel.parallelize_module(nn.ReLU(), mesh, parallel.ColwiseParallel())),
                       refusal(lambda: parallel.parallelize_module(net, mesh, 3)), refusal(lambda: parallel.PrepareModuleInput(input_layouts=Shard(0)))],
            "texts": [repr(s) for s in (parallel.ColwiseParallel(), parallel.RowwiseParallel(), parallel.SequenceParallel())]}


def refusal(f):
    """The words of an error."""
    try:
        return f()
    except Exception as e:
        return str(e)


def equal_shapes():
    """Weights of one shape that are spread in different ways stay so, under every algorithm; clipping and averages go over all of them."""
    mesh, nn = init_device_mesh("cpu", (8,)), torch.nn
    plan = {"0": parallel.ColwiseParallel(), "1": parallel.RowwiseParallel(), "2": parallel.ColwiseParallel(), "3": parallel.RowwiseParallel()}

    def train(algorithm, spread, **options):
        torch.manual_seed(0)
        net = nn.Sequential(*[nn.Linear(16, 16) for _ in range(4)])
        if spread:
            parallel.parallelize_module(net, mesh, plan)
        x, optimizer = torch.randn(8, 16), getattr(torch.optim, algorithm)(net.parameters(), lr=1e-2, **options)
        mean = torch.optim.swa_utils.AveragedModel(net, multi_avg_fn=torch.optim.swa_utils.get_ema_multi_avg_fn(0.5))
        for _ in range(3):
            optimizer.zero_grad()
            (net(x) ** 2).sum().backward()
            nn.utils.clip_grad_norm_(net.parameters(), 0.5)
            optimizer.step()
            mean.update_parameters(net)
        return net, optimizer, mean.module

    out, eps, file = {}, {"eps": 1e-2}, io.BytesIO()
    for algorithm, options in {"SGD": {"momentum": 0.9}, "AdamW": {"amsgrad": True, **eps}, "RMSprop": {"momentum": 0.9, **eps}, "Adagrad": {}}.items():
        (net, optimizer, mean), (alone, _, alone_mean) = train(algorithm, True, **options), train(algorithm, False, **options)
        lie = [[p, p.grad, q, *[s for s in optimizer.state[p].values() if s.ndim]] for p, q in zip(net.parameters(), mean.parameters())]
        out[algorithm] = {"placements": [sorted({repr(t.placements) for t in ts}) for ts in lie],
                          "difference": max(largest(p.detach().full_tensor(), q) for one, other in ((net, alone), (mean, alone_mean))
                                            for p, q in zip(one.parameters(), other.parameters()))}
    torch.save([net.state_dict(), optimizer.state_dict()], file)
    file.seek(0)
    net.load_state_dict((saved := torch.load(file))[0])
    optimizer.load_state_dict(saved[1])
    out["loaded"] = [[repr(p.placements), repr(optimizer.state[p]["sum"].placements)] for p in net.parameters()]
    return out


def checkpointed():
    """A part computed again, of weights on one device and spread ones; the inputs need gradients or not."""
    from torchlike_autograd.utils.checkpoint import checkpoint

    def gradients(spread, again, needs):
        rng = np.random.default_rng(0)
        a, w = (torch.tensor(rng.normal(size=s).astype(np.float32)) for s in ((4, 4), (4, 8)))
        w = interop.shard(w, Mesh(np.array(jax.devices()), ("d",)), (None, "d")) if spread else w
        leaves = [a.requires_grad_(), w.requires_grad_(), torch.ones(2, 4).requires_grad_(needs)]

        def part(x):
            return x + torch.tanh((x @ a) @ w) @ w.T
        out = part(leaves[2]) if again is None else checkpoint(part, leaves[2], use_reentrant=again)
        (out * out).sum().backward()
        return [t.grad.tolist() for t in leaves if t.requires_grad]

    ways = [(None, True), (None, False), (False, True), (False, False), (True, True)]
    return [[gradients(spread, *way) for spread in (True, False)] for way in ways]


def host_devices():
    """Tensors on another host device, and on two at once."""
    second = jax.devices()[1]
    x = torch.arange(3.0, requires_grad=True)
    y = interop.place(x * 1, second)
    z = (y * torch.tensor(2.0)).sum()
    z.backward()
    try:
        x + y
        error = None
    except RuntimeError as e:
        error = str(e)
    with torch.no_grad():
        both = (x + 1, y + 1)
    return {"devices": [str(y.device), str(z.device), str(x.grad.device)], "grad": x.grad.tolist(), "node": y.grad_fn.name(), "error": error,
            "both": [both[0].tolist(), both[1].tolist()], "there": interop.to_jax(y).devices() == {second}}


def functions():
    """shard_map over a function written for Tensors."""
    mesh = Mesh(np.array(jax.devices()), ("d",))
    f = interop.as_jax_function(lambda x, w: torch.tanh(x @ w).sum())
    g = jax.shard_map(lambda x, w: jax.lax.psum(f(x, w), "d"), mesh=mesh, in_specs=(PartitionSpec("d"), PartitionSpec()), out_specs=PartitionSpec())
    x, w = jax.numpy.ones((16, 3)), jax.numpy.full((3, 4), 0.25)
    spread = jax.jit(f)(jax.device_put(x, NamedSharding(mesh, PartitionSpec("d"))), w)
    cut, where = interop.as_jax_function(lambda x, w: ((x @ w).detach() * (x @ w)).sum()), (PartitionSpec("d"), PartitionSpec())
    total = jax.shard_map(lambda x, w: jax.lax.psum(cut(x, w), "d"), mesh=mesh, in_specs=where, out_specs=PartitionSpec())
    own = jax.shard_map(interop.as_jax_function(lambda x, w: torch.autograd.grad((x @ w.requires_grad_()).sum(), w)[0]), mesh=mesh, in_specs=where,
                        out_specs=PartitionSpec("d"))  # each device's gradient, found inside
    return {"value": [float(g(x, w)), float(f(x, w)), float(spread)], "grad": [jax.grad(g, 1)(x, w).tolist(), jax.grad(f, 1)(x, w).tolist()],
            "cut": [jax.grad(total, 1)(x, w).tolist(), jax.grad(cut, 1)(x, w).tolist()], "inside": own(x, w).tolist()}


def uneven():
    """Dims that eight devices do not divide, by hand and by a plan of parallel styles, against one device; the warnings said."""
    mesh, nn = init_device_mesh("cpu", (4, 2), mesh_dim_names=("data", "model")), torch.nn
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        x = distribute_tensor(torch.arange(30.0).reshape(6, 5) / 10, mesh, [Shard(0), Shard(0)]).requires_grad_()
        again = distribute_tensor(x.detach(), mesh, [Shard(0), Shard(0)])
        y = x.redistribute(placements=[Shard(1), Replicate()])
    alone = (torch.arange(30.0).reshape(6, 5) / 10).requires_grad_()
    for t in (y, alone):
        (t.t() @ torch.tanh(t)).sum().backward()
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(6, 5), nn.ReLU(), nn.Linear(5, 8))
    other, data = copy.deepcopy(net), torch.randn(4, 6)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        parallel.parallelize_module(net, mesh["model"], {"0": parallel.ColwiseParallel(), "2": parallel.RowwiseParallel()})
        for m in (net, other):
            m(data).pow(2).sum().backward()
    return {"placements": [repr(t.placements) for t in (x, again, y, x.grad, net[2].weight, net[2].weight.grad)],
            "said": sorted({str(w.message) for w in said}), "difference": (x.grad.full_tensor() - alone.grad).abs().max().item(),
            "module": max((p.grad.full_tensor() - q.grad).abs().max().item() for p, q in zip(net.parameters(), other.parameters()))}


def made_from():
    """What is made from a spread tensor: of its shape as it lies, of another shape whole on every device; numbers are those of one device."""
    mesh = init_device_mesh("cpu", (8,))
    plain = torch.arange(16.0).reshape(8, 2) / 16
    x, seeded = distribute_tensor(plain, mesh, [Shard(0)]), lambda f, t: (torch.manual_seed(0), f(t))[1]
    made = {"zeros": lambda t: t.new_zeros(8, 2), "empty": lambda t: t.new_empty((8, 2)).fill_(1), "full": lambda t: t.new_full((8, 2), 3.0),
            "ones": lambda t: t.new_ones(3, dtype=torch.int64), "bernoulli": torch.bernoulli, "poisson": torch.poisson}
    return {k: [repr(seeded(f, x).placements), torch.equal(seeded(f, x).full_tensor(), seeded(f, plain))] for k, f in made.items()}


def cotangents():
    """Gradients of operators that read no values lie as their leaves, whatever gradients their roots are given, and after their values were looked at."""
    mesh, found = init_device_mesh("cpu", (8,)), {}
    for name, f in {"view": lambda x: x.t(), "sum": torch.sum, "mean": lambda x: x.mean(0)}.items():
        for looked in (False, True):
            x = distribute_tensor(torch.arange(16.0).reshape(8, 2), mesh, [Shard(0)]).requires_grad_()
            out = f(x)
            if looked:
                out.detach().tolist()
            g = torch.autograd.grad(out, x, torch.ones(out.shape), retain_graph=True)[0]
            out.backward(torch.full(out.shape, 2.0))
            found[f"{name} {looked}"] = [repr(g.placements), repr(x.grad.placements), torch.equal(2 * g.full_tensor(), x.grad.full_tensor())]
            if not out.ndim:
                x.grad, out = None, f(x)
                out.item()
                out.backward()
                found[f"{name} {looked} alone"] = [repr(x.grad.placements)] * 2 + [x.grad.sum().item() == 16.0]
    return found


def beside_plain():
    """What plain tensors meet beside DTensors: torch's words; numbers and what the package makes itself may; files keep placements."""
    mesh = init_device_mesh("cpu", (8,))
    d, p, nn = distribute_tensor(torch.arange(128.0).reshape(16, 8), mesh, [Shard(0)]), torch.ones(16, 8), torch.nn
    calls = {"add": lambda: d + p, "mm": lambda: d @ p.t(), "in place": lambda: p.clone().add_(d), "out": lambda: torch.add(d, d, out=p.clone()),
             "copy": lambda: d.clone().copy_(p), "set": lambda: d.clone().__setitem__(0, p[0]), "index": lambda: d[torch.tensor([0, 1])],
             "equal": lambda: torch.equal(d, p), "linear": lambda: nn.functional.linear(d, p),
             "recurrent": lambda: distribute_module(nn.LSTM(8, 5), mesh)(p)}
    fine = {"number": d + torch.tensor(2.0), "given gradient": None, "dropout": nn.functional.dropout(d), "like": d + torch.ones_like(d),
            "gumbel": nn.functional.gumbel_softmax(d), "drawn": (d + 1).multinomial(2), "plain": interop.shard(p, mesh.jax_mesh, ("dim0",)) + p}
    with implicit_replication():
        fine["implicit"] = d - p
    x = d.detach().requires_grad_()
    (x * x).backward(p)
    file = io.BytesIO()
    torch.save({"d": d, "p": nn.Parameter(d)}, file)
    file.seek(0)
    loaded = torch.load(file)
    return {"said": {k: refusal(f) for k, f in calls.items()}, "fine": {k: t is None or isinstance(t, DTensor) for k, t in fine.items()},
            "given": torch.equal(x.grad, 2 * d), "loaded": [repr(t.placements) for t in (*loaded.values(), pickle.loads(pickle.dumps(d)))],
            "same": torch.equal(loaded["d"], d), "kinds": [type(t).__name__ for t in loaded.values()]}


def divided():
    """Which of the multiples of 41 are off when they are divided by it, on another device and spread over a mesh."""
    x = np.arange(1, 65, dtype=np.float32).reshape(8, 8) * 41
    mesh = Mesh(np.array(jax.devices()).reshape(8), ("data",))
    there = [interop.place(torch.tensor(x), jax.devices()[1]), interop.from_jax(jax.device_put(x, NamedSharding(mesh, PartitionSpec("data"))))]
    return [int((np.asarray((t / 41.0).floor().tolist()) != x / 41).sum()) for t in there]


if __name__ == "__main__":
    print(json.dumps({f.__name__: f() for f in (
        jax_mesh, memory, dtensor, tensor_parallel, equal_shapes, checkpointed, host_devices, functions, uneven, cotangents, made_from, beside_plain,
        divided)}))
    sys.exit(0)
