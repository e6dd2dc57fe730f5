"""Files of PyTorch with what few files hold, whole modules in files, return rules of module hooks, parameters of classes of their own, workers that stay."""

import base64
import io
import pickle
import zlib

from compat_matrix.case import case, raises, warned

CONJ = """
eNptj81KAzEQx3ezW6vRildvHuulSK3FnhQqvSx+1UsusqzZ0KbEZCfJFhUKeylUn8EH8C18Hh9B8OC0xZtDZiAz/5n5TUXeqPp5H3wfTD5u9lsVufyKMM4gaLK9IAgKa7zhRqVTYZ00
GkIUsAZWlPReiVToXGYayIJRTPrnQqROvggH0QziJqth0o2N9VBLCIvwJ7WHjSRm8XKG0SOoJ3FZ4k7ujeXjVlp6qRxNrXgopcpTL7QzNp22KTI1WX05EJXZSEC4bqF981go8TRQJvN3
6xoFwnZR2js+7bY7nV7v6KTd7UC0QuBFCXFCrhDqNgkSMkegcA71V46XKsE9Hurotc2FFfmF5J7C5uEQtmZAV9jc6AlsL5yHnSE0EP0egv+2hVmLBH9WnWE4x4deff4CfLBqJg==
"""
NEG = """
eNptT8tKQzEQva9ajVbcunNZN0VqLXalC+nm4qtuspFwzQ1tJCSdZG6hQuFuhOo3+AH+hd/jJwgunLZbQ3JgTs7MOVMn78z8fgx/jp4/7w47dXL9nRIuIGrzgyiKpt6hk86ImfJBOwsx
CXiLfoxGNEooW+rCQrLkjEicT5UI+kUFSBeQtXmDyDBxHqGRJzylSluErTzj2WqGs2No5llVkadE5+WkIyrUJjDh1VOlTSlQ2eC8mHUZZWrz5mogKYuxgnjTwobGFfiwIRkkfJ80g9Pz
frfXGwxOzrr9HqRrbzmtIMuzG0pzn8d58kpJCJpvklY0SiJtGNitL5VX5ZWWyGD7eAQ7C2DrfqvGsLsMCHsjaFHkR4j+M4uLzmq7zakvCC7p0qu//gBlgWbj
"""
UINT = """
eNqllT9v00AYxs9O4qQG8qf8KS3QlSBBGsep40ChyEIGyQMhUKmqhFw3ORoLN8k5l0CZkFCpKr4DH4AvwMiAxF4GxIBYYGFiY2Eod7Gb2heaUnqSZVm653l+9r3v64oRiQKQSIChlQbj
wHJrDbsHZ+oWtnLtx46uJcFSaD3nHyKQreEW2Zkzu9h2OqLpwpWu7dRNDJudlmv2ZBFx2exinLh2yE5rFSLel/jP4kITr7dh/b7/iCKLHNmdR9HFCLnX2l0UM6IYCfcMYPAbKG5wGyix
Vau1HAfWsN1qdsS7bh26sH7LrmERjV2qItHLELt2E0uKiI5hdLyKTjQIS4NveAkSSjZiRgKjlO+cps6ZrQY1GA8YyAURncToVBWdDhkU0BlikMZowjc4Sw0mPYOpgIFSFNE5jM5X0QWY
qxjxxPuuy5WIBb0q+x7DBIgOjiH3qOWuWdjsQbdDXlnXCD91evvzywvKQq/9naZAac/J/+6m5dirzTXYxLomM0f7T0spUoD5J+gHTyL4kQAZMD8AWFnHsEUPTNeu/U/u7nJsjB1IGTau
f5sUSIowkiEJboSqeiava1ePAMCBnR2a/vLN14skEkQPSL8ZTpd0be4or79Ej7yd4QBlWNu884GGJg5gmAszFHRNBUfJBz4D6OfGE69Sve/p/gQZxZEC8oBjUNAzhwWRRZq4/Xp14eD6
mwaFvQbov3oHujbpgGcWnSCmXde13CEB8mqxXFRVtVgqK7P5olqSZ/N5SVbKsiTny0VFUWVJVZRZSrn8G/zKEo5sn5KjsAPO4DBID5Gzc5hVBwfAREi5yYH9xgdrEmziqZDJdtBkaHKw
PsFGzIR8qjwYHgCsPNhJyZD8Ew+Y3mW1wQ4Iax9EGK3EaoNVG9Z+ZrUFVhusv1RIuxwFbJWz4mBZTIfEHwPivxdsxRCEy7vlHbkyUI4x99u8d38aA36bCvRvDN7FvWfvzxETPM1Yf7+3
9w9yrMNX
"""


def file_of(text):
    return io.BytesIO(zlib.decompress(base64.b64decode(text)))


def saved(torch, x, **options):
    out = io.BytesIO()
    torch.save(x, out, **options)
    out.seek(0)
    return out


def told(t):
    return t, t.dtype, t.stride(), t.storage_offset(), t.is_conj(), t.is_neg(), t._version, t.requires_grad


@case("nn.rare_files.bits")
def _(torch):
    yield "conjugated", told(torch.load(file_of(CONJ)))
    yield "negated", told(torch.load(file_of(NEG)))
    z = torch.load(file_of(CONJ))
    z.mul_(2)
    yield "written", told(z), z.resolve_conj(), z.is_leaf, z.grad_fn
    z = torch.load(file_of(CONJ)).requires_grad_()
    (z * z).real.sum().backward()
    yield "grad", z.grad
    for zipped in (True, False):
        z = torch.tensor([1 + 2j, 3 - 1j]).conj()
        yield f"round trip {zipped}", torch.load(saved(torch, z, _use_new_zipfile_serialization=zipped)), torch.load(
            saved(torch, z.imag, _use_new_zipfile_serialization=zipped))


@case("nn.rare_files.unsigned")
def _(torch):
    yield "read", [told(t) for t in torch.load(file_of(UINT))]
    made = [torch.tensor([1, 200], dtype=d) for d in (torch.uint16, torch.uint32, torch.uint64)]
    yield "round trip", [told(t) for t in torch.load(saved(torch, made))]
    x = torch.arange(6, dtype=torch.int32).to(torch.uint16).reshape(2, 3)
    a, b = torch.load(saved(torch, [x, x[1]]))
    a[1, 0] = 77
    yield "shared", a, b, b.storage_offset()


@case("nn.rare_files.storages")
def _(torch):
    x = torch.arange(4.)
    s = torch.load(saved(torch, x.storage()))
    yield "typed", len(s), list(s), s.dtype, isinstance(s, torch.storage.TypedStorage)
    s = torch.load(saved(torch, x.untyped_storage()))
    yield "untyped", len(s), list(s), s.dtype, isinstance(s, torch.storage.TypedStorage)
    t, s = torch.load(saved(torch, [x, x.storage()]))
    t[0] = 9.
    yield "with the tensor", list(s)


@case("nn.rare_files.generators")
def _(torch):
    g = torch.Generator().manual_seed(3)
    torch.randn(3, generator=g)
    for where, h in (("file", torch.load(saved(torch, g), weights_only=False)), ("pickle", pickle.loads(pickle.dumps(g)))):
        yield where, type(h) is torch.Generator, h.initial_seed(), torch.randn(5, generator=h), h.get_state().dtype, h.device


class Named:
    """A class of modules with its source, as files before zip files name it."""

    def __init__(self, kind):
        self.kind = kind


class Old(pickle._Pickler):
    """Writes these as such files have them."""

    def persistent_id(self, obj):
        return ("module", obj.kind, "", "") if type(obj) is Named else None


@case("nn.rare_files.modules")
def _(torch):
    out = io.BytesIO()
    for part in (0x1950A86A20F9469CFC6C, 1001, {"protocol_version": 1001, "little_endian": True, "type_sizes": {"short": 2, "int": 4, "long": 4}}):
        pickle.dump(part, out, protocol=2)
    Old(out, 2).dump([torch.nn.Tanh(), Named(torch.nn.Linear)])
    pickle.dump([], out, protocol=2)
    out.seek(0)
    m, kind = torch.load(out, weights_only=False)
    yield "old", repr(m), m(torch.ones(1)), kind is torch.nn.Linear
    out.seek(0)
    for made in (torch.nn.LSTM(2, 3), torch.nn.MultiheadAttention(2, 1), torch.nn.utils.spectral_norm(torch.nn.Linear(2, 2))):
        again = torch.load(saved(torch, made), weights_only=False)
        yield type(made).__name__, sorted(k for k in again.__dict__ if k.startswith("_flat_weights")), type(again).__module__.partition(".")[2], [
            type(h).__module__.partition(".")[2] for h in again._load_state_dict_pre_hooks.values()]
        again.double()
        yield f"dtypes of {type(made).__name__}", {p.dtype for p in again.parameters()}
    r = torch.load(saved(torch, torch.nn.GRU(2, 3)), weights_only=False)
    yield "same weights", r._flat_weights[0] is r.weight_ih_l0


@case("nn.rare_files.functions")
def _(torch):
    for name, f in (("relu", torch.relu), ("F.relu", torch.nn.functional.relu), ("F.gelu", torch.nn.functional.gelu), ("tanh", torch.tanh)):
        g = torch.load(saved(torch, f), weights_only=False)
        yield name, g(torch.tensor([-1., 2.]))
    f = torch._C._VariableFunctionsClass
    yield "by class", f.relu(torch.tensor([-1., 2.]))


RETURNS = {
    "number": lambda a, b: 3, "list of a number": lambda a, b: [1], "two": lambda a, b: (b[0], b[0]), "text": lambda a, b: "ab", "tensor": lambda a, b: b[0],
    "list": lambda a, b: [b[0] * 2], "zero": lambda a, b: 0, "empty": lambda a, b: (), "generator": lambda a, b: (x for x in b), "tuple": lambda a, b: (b[0] * 3,)}


@case("nn.rare_hooks.returns")
def _(torch):
    def run(f, before):
        m = torch.nn.Linear(2, 2)
        with torch.no_grad():
            m.weight.copy_(torch.tensor([[1., 2.], [3., 4.]]))
        if before:
            m.register_full_backward_pre_hook(lambda m, b: f(b, b))
        else:
            m.register_full_backward_hook(lambda m, a, b: f(a, b))
        x = torch.ones(3, 2, requires_grad=True)
        m(x).sum().backward()
        return x.grad, m.weight.grad

    for name, f in RETURNS.items():
        for before in (True, False):
            yield f"{name} {before}", raises(lambda: run(f, before)) if name not in ("list", "tuple") else run(f, before)


@case("nn.rare_parameters.printed")
def _(torch):
    class Own(torch.nn.Parameter):
        pass

    class Sub(torch.Tensor):
        pass

    yield "class of parameters", repr(Own(torch.ones(2))), repr(Own(torch.zeros(2, 2), requires_grad=False)), str([Own(torch.zeros(20, 20))])
    q = torch.nn.Parameter(torch.ones(2).as_subclass(Sub))
    yield "wrapped", repr(q), type(q) is Sub, isinstance(q, torch.nn.Parameter), repr(torch.nn.ParameterList([Own(torch.ones(2))]))
    yield "buffer", repr(torch.nn.Buffer(torch.ones(2).as_subclass(Sub)))


@case("nn.rare_norms.weight")
def _(torch):
    for dim in (None, 0, 1, 2, -1):
        for make in (torch.nn.utils.weight_norm, torch.nn.utils.parametrizations.weight_norm):
            torch.manual_seed(0)
            m = make(torch.nn.Conv1d(3, 2, 4), dim=dim)
            m(torch.randn(2, 3, 6)).pow(2).sum().backward()
            yield f"{dim} {make.__module__.rpartition('.')[2]}", m.weight.grad_fn.name(), m.weight, [(n, p.grad) for n, p in m.named_parameters()], type(m).__module__.partition(".")[2]


class Rows:
    def __init__(self, torch):
        self.torch = torch

    def __len__(self):
        return 6

    def __getitem__(self, i):
        return i, self.torch.rand(1).item()


@case("nn.rare_loading.staying_workers")
def _(torch):
    torch.manual_seed(1)
    for staying in (True, False):
        loader = torch.utils.data.DataLoader(Rows(torch), 2, shuffle=True, num_workers=2, persistent_workers=staying)
        for epoch in range(3):
            yield f"{staying} {epoch}", [(a.tolist(), b) for a, b in loader], torch.rand(1)


@case("nn.rare_loading.old_scheduler")
def _(torch):
    L = torch.optim.lr_scheduler
    s = L.StepLR(torch.optim.SGD([torch.ones(1, requires_grad=True)], lr=1.), 1)
    yield "names", isinstance(s, L._LRScheduler), issubclass(L._LRScheduler, L.LRScheduler), isinstance(s, L.LRScheduler)
    yield "loss", warned(lambda: torch.nn.NLLLoss2d())
