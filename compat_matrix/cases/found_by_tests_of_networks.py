"""What PyTorch's own tests of networks, schedules and loaders found."""

import datetime
import importlib
import pickle
import time

from compat_matrix.case import case, raises


def _made(f):
    """"made", or the class and words of a refusal."""
    try:
        f()
    except (RuntimeError, TypeError, ValueError) as refused:
        return type(refused).__name__, str(refused)
    return "made"


@case("found_by_tests_of_networks.recurrent_layers_with_given_weights")
def _(torch):
    """`functional_call` computes with the weights that it is given, and the layer has its own again afterwards."""
    for kind in (torch.nn.LSTM, torch.nn.GRU, torch.nn.RNN):
        torch.manual_seed(0)
        layer, x = kind(3, 4), torch.linspace(-1, 1, 12).view(4, 1, 3)
        given = {k: (p * 2).detach().requires_grad_() for k, p in layer.named_parameters()}
        out = torch.func.functional_call(layer, given, (x,))[0]
        out.sum().backward()
        yield kind.__name__, out, [p.grad for p in given.values()], [p.grad for p in layer.parameters()], layer(x)[0]
        layer.weight_hh_l0 = torch.nn.Parameter(layer.weight_hh_l0 * 3)
        yield f"{kind.__name__} copies", layer(x)[0], pickle.loads(pickle.dumps(layer))(x)[0]


@case("found_by_tests_of_networks.expanded_weights")
def _(torch):
    """Layers with expanded weights keep a gradient for each sample; other functions refuse them."""
    call = importlib.import_module(torch.__name__ + ".nn.utils._per_sample_grad").call_for_per_sample_grads
    torch.manual_seed(0)
    conv = torch.nn.Sequential(torch.nn.Conv2d(2, 2, 3, padding=1), torch.nn.GroupNorm(2, 2), torch.nn.InstanceNorm2d(2, affine=True, track_running_stats=True))
    for name, layer, x in (("conv", conv, torch.linspace(-1, 2, 48).view(2, 2, 3, 4) ** 2),
                           ("embedding", torch.nn.Embedding(5, 3, max_norm=1.0), torch.tensor([[0, 1], [2, 2]])),
                           ("lstm", torch.nn.LSTM(3, 4, bidirectional=True, batch_first=True), torch.linspace(-1, 1, 30).view(2, 5, 3))):
        layer, x = layer.double(), x.double().requires_grad_() if x.is_floating_point() else x
        out = call(layer, loss_reduction="mean")(x)
        (out[0] if isinstance(out, tuple) else out).pow(2).flatten(1).mean(1).mean().backward()
        yield name, x.grad, [(p.grad, p.grad_sample) for p in layer.parameters()], list(layer.buffers())
    layer = torch.nn.LSTM(3, 4).double()
    packed = torch.nn.utils.rnn.pack_padded_sequence(torch.linspace(-1, 1, 30, dtype=torch.float64).view(5, 2, 3), [5, 3])
    call(layer, batch_size=2)(packed)[0].data.pow(2).sum().backward()
    yield "packed", [p.grad_sample for p in layer.parameters()]
    for layer, x in ((torch.nn.BatchNorm1d(3), torch.ones(2, 3)), (torch.nn.PReLU(), torch.ones(2, 3)), (torch.nn.Linear(3, 3), torch.ones(3))):
        try:
            call(layer)(x)
        except RuntimeError as refused:
            yield type(layer).__name__, str(refused)


class _Slow:
    """Keys, of which one takes its time."""

    def __len__(self):
        return 8

    def __getitem__(self, i):
        if i == 0:
            time.sleep(0.7)
        return i


@case("found_by_tests_of_networks.batches_as_they_are_ready")
def _(torch):
    """Without an order, the other worker's batches come before those that wait for a slow one."""
    for in_order in (True, False):
        loader = torch.utils.data.DataLoader(_Slow(), num_workers=2, prefetch_factor=2, in_order=in_order)
        yield in_order, [int(x) for x in loader]


@case("found_by_tests_of_networks.restarts_and_packed_sequences")
def _(torch):
    """A place beyond several cycles is brought back into one; empty sequences are refused."""
    schedule = torch.optim.lr_scheduler.CosineAnnealingWarmRestarts(torch.optim.SGD([torch.zeros(1)], lr=1.0), T_0=4)
    for place in (7, 8, 9):
        schedule.T_cur = place
        schedule.step()
        yield place, schedule.T_cur, schedule.get_last_lr()
    packed, rnn = torch.nn.utils.rnn.PackedSequence, torch.nn.utils.rnn
    for name, f in {"empty": lambda: rnn.pad_packed_sequence(packed(torch.zeros(0, 3), torch.zeros(0, dtype=torch.int64))),
                    "sizes": lambda: rnn.pad_packed_sequence(packed(torch.zeros(0), torch.zeros((2, 2), dtype=torch.int64))),
                    "packed": lambda: rnn.pack_padded_sequence(torch.zeros(0, 1, 10), torch.zeros(11, 14))}.items():
        yield name, _made(f)


@case("found_by_tests_of_networks.monitor_and_file_check")
def _(torch):
    """Statistics make an event a window; texts are checked part by part."""
    monitor, told = importlib.import_module(torch.__name__ + ".monitor"), []
    handle = monitor.register_event_handler(told.append)
    stat = monitor.Stat("s", list(monitor.Aggregation.__members__.values()), datetime.timedelta(hours=100), 3)
    named = lambda: sorted((a.name, x) for a, x in stat.get().items())  # noqa: E731
    yield "before", named()
    for i in (3, -1.5, 7, 8):
        stat.add(i)
        yield str(i), stat.count, named()
    monitor.unregister_event_handler(handle)
    monitor.log_event(monitor.Event("e", datetime.datetime(2020, 1, 1), {"a": True}))
    yield "events", [(e.name, sorted(e.data.items())) for e in told]
    check, text = torch.FileCheck, "alpha beta\ngamma beta\n\ndelta"
    yield "the same", torch.testing.FileCheck is check
    for name, made in {"order": check().check("delta").check("alpha"), "not": check().check("alpha").check_not("gamma").check("delta"),
                       "same": check().check("alpha").check_same("beta"), "same line": check().check("alpha").check_same("gamma"),
                       "next": check().check("alpha").check_next("gamma"), "next line": check().check("alpha").check_next("delta"),
                       "count": check().check_count("beta", 2, exactly=True), "too many": check().check_count("beta", 1, exactly=True),
                       "any order": check().check_dag("gamma").check_dag("alpha").check("delta"), "regex": check().check_regex("g.mma b")}.items():
        try:
            made.run(text)
            yield name, "found"
        except RuntimeError as missing:
            yield name, str(missing).split("\n")[0]


@case("found_by_tests_of_networks.refusals")
def _(torch):
    """Weights of cells that fit no hidden size, factors whose square overflows, buffers that only act as tensors."""
    x, h = torch.zeros(4, 8), torch.zeros(4, 16)
    for name, gates, state in (("rnn_tanh", 1, h), ("rnn_relu", 1, h[:2]), ("gru", 3, h), ("lstm", 4, (h, h))):
        cell = getattr(torch, f"{name}_cell")
        for rows, more in (((1, 0), 0), ((0, 1), 0), ((0, 0), 1), ((1, 1), 0)):
            weights = [torch.zeros(gates * 16 + n, width) for n, width in zip(rows, (8, 16 + more))]
            yield f"{name} {rows} {more}", raises(lambda cell=cell, state=state, weights=weights: cell(x, state, *weights))
    picture = torch.zeros(1, 4, 2, 2)
    for factor in (1 << 33, 545460846592):
        yield f"factor {factor}", raises(lambda factor=factor: torch.pixel_shuffle(picture, factor))

    class Acts:
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            raise NotImplementedError(str(func))

    module, first, second = torch.nn.Module(), Acts(), Acts()
    module.register_buffer("b", first)
    yield "registered", module.b is first
    module.b = second
    yield "assigned", module.b is second, raises(lambda: setattr(module, "b", 3))


@case("found_by_tests_of_networks.windows_beyond_counting")
def _(torch):
    """Windows, steps and pads beyond 32 bits are refused; functions may be marked with what users are promised."""
    F, x, big = torch.nn.functional, torch.ones(1, 1, 4, 4), 2**40
    for name, f in {"largest": lambda: F.max_pool2d(x, big), "step": lambda: F.max_pool2d(x, 2, big), "pad": lambda: F.avg_pool2d(x, 2, 2, big),
                    "average": lambda: F.avg_pool1d(x[0], big, ceil_mode=True), "power": lambda: F.lp_pool1d(x[0], 2.0, big, ceil_mode=True),
                    "dilation": lambda: F.max_pool2d(x, 2, dilation=big), "less": lambda: F.avg_pool2d(x, -big), "cube": lambda: F.avg_pool3d(x, big)}.items():
        yield name, _made(f)
    mark = importlib.import_module(torch.__name__ + ".fx._compatibility").compatibility
    for kept in (True, False):
        @mark(is_backward_compatible=kept)
        def f():
            """What it does."""
        yield str(kept), f.__doc__


@case("found_by_tests_of_networks.sizes_that_are_none")
def _(torch):
    """Sizes that are not whole numbers are refused, also those that are multiplied beyond counting."""
    F, x = torch.nn.functional, torch.ones(1, 1, 4, 4)
    for s in (2.0, torch.tensor(2.0), torch.tensor(2), True):
        for name, f in {"parts": lambda s: F.adaptive_avg_pool2d(x, (s, s)), "second": lambda s: F.adaptive_avg_pool2d(x, (None, s)),
                        "largest": lambda s: F.adaptive_max_pool2d(x, (s, 1)), "cube": lambda s: F.adaptive_avg_pool3d(x, (s, s, s)),
                        "area": lambda s: F.interpolate(x, (s, s), mode="area")}.items():
            yield f"{name} {s!r}", _made(lambda f=f, s=s: f(s))
    yield "list", _made(lambda: F.interpolate(x, (2.0, 2)).shape)
    for factor in (1e20, -1e20, float("inf"), float("nan")):
        yield str(factor), _made(lambda factor=factor: F.interpolate(x, scale_factor=factor, mode="bilinear"))


@case("found_by_tests_of_networks.parameters_of_several_tensors")
def _(torch):
    """A parameter becomes what conversion and `right_inverse` make: tensors of subclasses that are made of several, and all where `torch.__future__` says so."""
    Two = importlib.import_module(torch.__name__ + ".testing._internal.two_tensor").TwoTensor
    parametrize = importlib.import_module(torch.__name__ + ".nn.utils.parametrize")

    class Parts(torch.nn.Module):
        def forward(self, x):
            return x.a if isinstance(x, Two) else x

        def right_inverse(self, x):
            return x if isinstance(x, Two) else Two(x.detach(), 2 * x.detach())

    for swap, convert in ((False, True), (True, False), (True, True)):
        torch.__future__.set_swap_module_params_on_conversion(swap)
        try:
            for leave in (False, True):
                layer = torch.nn.Linear(2, 2)
                own = id(layer.weight)
                if convert:
                    layer._apply(lambda t: Two(t.detach(), 3 * t.detach()))
                yield f"{swap} {convert} {leave} made", type(layer.weight).__name__, isinstance(layer.weight, torch.nn.Parameter), id(layer.weight) == own
                parametrize.register_parametrization(layer, "weight", Parts())
                kept = layer.parametrizations.weight.original
                yield f"{swap} {convert} {leave} kept", type(kept).__name__, isinstance(kept, torch.nn.Parameter), type(layer.weight).__name__
                parametrize.remove_parametrizations(layer, "weight", leave_parametrized=leave)
                yield f"{swap} {convert} {leave}", type(layer.weight).__name__, isinstance(layer.weight, torch.nn.Parameter), id(layer.weight) == own
        finally:
            torch.__future__.set_swap_module_params_on_conversion(False)
