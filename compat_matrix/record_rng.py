"""Record what PyTorch's CPU generator draws, for ``tests/core/test_rng.py``.

Run under the torch to be recorded (it needs torch and numpy, nothing of this package)::

    python compat_matrix/record_rng.py tests/data/rng_oracle.json

The file holds *programs*. A program seeds a generator, then makes one draw after the other in the
same stream:

    {"seed": 0, "draws": [[name, arguments, value], ...], "after": state}

A value is ``[shape, dtype, hex]`` of its little-endian bytes; of a long one only the first and
last eight elements and a SHA-256 of all. The state after the last draw shows that the stream was
left at the same place: a hash of its bytes without the waiting normal, and that normal.
``states`` are whole states, to be loaded, and ``errors`` are calls that must fail with the same
words.
"""

from __future__ import annotations

import base64
import hashlib
import json
import random
import sys
import zlib

import numpy as np
import torch

SHORT = 160  # bytes of a value that is kept whole
HAS_NORMAL, NORMAL = slice(5040, 5044), slice(5024, 5032)  # where a state keeps the waiting normal


def empty(shape, dtype):
    return torch.empty(shape, dtype=getattr(torch, dtype))


def array(spec):
    """An argument array: ``[values, dtype]``."""
    values, dtype = spec
    return torch.tensor(values, dtype=getattr(torch, dtype))


def maybe_array(spec):
    return array(spec) if isinstance(spec, list) else spec


def full(spec):
    """An argument array of one value: ``[value, shape, dtype]``."""
    value, shape, dtype = spec
    return torch.full(shape, value, dtype=getattr(torch, dtype))


DRAWS = {
    "uniform": lambda g, shape, dtype, low=0.0, high=1.0: empty(shape, dtype).uniform_(low, high, generator=g),
    "normal": lambda g, shape, dtype, mean=0.0, std=1.0: empty(shape, dtype).normal_(mean, std, generator=g),
    "scattered_normal": lambda g, shape, dtype, mean=0.0, std=1.0: empty([*shape, 2], dtype)[..., 0].normal_(mean, std, generator=g).contiguous(),
    "randint": lambda g, low, high, shape, dtype: empty(shape, dtype).random_(low, high, generator=g),
    "random_full": lambda g, shape, dtype: empty(shape, dtype).random_(generator=g),
    "randperm": lambda g, n, dtype: torch.randperm(n, dtype=getattr(torch, dtype), generator=g),
    "bernoulli": lambda g, p, shape, dtype: empty(shape, dtype).bernoulli_(p, generator=g),
    "bernoulli_array": lambda g, p, shape, dtype: empty(shape, dtype).bernoulli_(array(p), generator=g),
    "exponential": lambda g, shape, dtype, lambd=1.0: empty(shape, dtype).exponential_(lambd, generator=g),
    "geometric": lambda g, shape, dtype, p: empty(shape, dtype).geometric_(p, generator=g),
    "cauchy": lambda g, shape, dtype, median=0.0, sigma=1.0: empty(shape, dtype).cauchy_(median, sigma, generator=g),
    "log_normal": lambda g, shape, dtype, mean=1.0, std=2.0: empty(shape, dtype).log_normal_(mean, std, generator=g),
    "multinomial": lambda g, probs, num_samples, replacement: torch.multinomial(array(probs), num_samples, replacement, generator=g),
    "poisson": lambda g, rates: torch.poisson(full(rates), generator=g),
    "binomial": lambda g, count, prob: torch.binomial(full(count), full(prob), generator=g),
    "standard_gamma": lambda g, alpha: torch._standard_gamma(full(alpha), generator=g),
    "normal_tensor": lambda g, mean, std: torch.normal(maybe_array(mean), maybe_array(std), generator=g),
}

REAL = ("float16", "bfloat16", "float32", "float64")
COMPLEX = ("complex64", "complex128")
WHOLE = ("uint8", "int8", "int16", "int32", "int64")
UNSIGNED = ("uint16", "uint32", "uint64")
SHAPES = ([], [0], [1], [2], [3], [3, 5], [15], [16], [17], [31], [32], [33], [4, 5, 7], [1000])


def draw(name, **arguments):
    return name, arguments


def programs():
    """(seed, draws) of every program."""
    for seed in (0, 1, 42, 5489, -1, -(2**63), 2**32 + 42, 2**63, 2**64 - 1):
        yield (
            seed,
            [
                draw("uniform", shape=[3], dtype="float32"),
                draw("normal", shape=[3], dtype="float32"),
            ],
        )
    for dtype in REAL + COMPLEX:
        yield 7, [draw("uniform", shape=s, dtype=dtype) for s in SHAPES]
        yield 8, [draw("uniform", shape=s, dtype=dtype, low=-1.7, high=0.31) for s in SHAPES]
        yield 9, [draw("normal", shape=s, dtype=dtype) for s in SHAPES]
        yield 10, [draw("normal", shape=s, dtype=dtype, mean=1.7, std=0.3) for s in SHAPES]
        yield (
            11,
            [draw("scattered_normal", shape=s, dtype=dtype, std=0.7) for s in ([5], [16], [33], [500])],
        )
        yield 12, [draw("uniform", shape=[5000], dtype=dtype, high=h) for h in (0.0, 1e-30, 3.0)]
    yield (
        13,
        [
            draw("uniform", shape=[1_000_000], dtype="float32"),
            draw("normal", shape=[1_000_003], dtype="float32"),
        ],
    )
    yield (
        14,
        [
            draw("uniform", shape=[200_000], dtype="float64"),
            draw("normal", shape=[200_003], dtype="float64"),
        ],
    )
    yield 15, [draw("normal", shape=[200_003], dtype="bfloat16", mean=-1.0, std=3.0)]
    yield 16, [draw("normal", shape=[1_000_000], dtype="float32", mean=-1.0, std=1e-3)]
    yield from whole_number_programs()
    yield from other_programs()
    yield from mixed_programs()


def whole_number_programs():
    ranges = ((0, 2), (0, 10), (0, 100), (-5, 5))
    for dtype in WHOLE + UNSIGNED + REAL + ("bool",):
        low = -5 if dtype in ("int8", "int16", "int32", "int64", *REAL) else 0
        yield (
            20,
            [
                draw(
                    "randint",
                    low=max(a, low),
                    high=b if dtype != "bool" else min(b, 2),
                    shape=s,
                    dtype=dtype,
                )
                for a, b in ranges
                for s in ([], [7], [50])
            ],
        )
    wide = ((0, 2**28 - 1), (0, 2**28), (-(2**20), 2**30), (0, 2**31 - 1))
    yield 21, [draw("randint", low=a, high=b, shape=[20], dtype="int32") for a, b in wide]
    wide += ((0, 2**32), (-(2**40), 2**40), (0, 2**63 - 1), (-(2**63), 2**63 - 1), (-(2**63), -1))
    for dtype in ("int64", "float64", "float32"):
        yield 22, [draw("randint", low=a, high=b, shape=[9], dtype=dtype) for a, b in wide]
    yield 23, [draw("randint", low=0, high=2**63 - 1, shape=[9], dtype="uint64")]
    yield 23, [draw("randint", low=0, high=2**32, shape=[9], dtype="uint32")]
    for dtype in ("int64", "float64", "float32", "bfloat16"):
        yield 24, [draw("randint", low=-(2**63), high=None, shape=[9], dtype=dtype)]
    for dtype in (*WHOLE, *REAL):
        yield 25, [draw("randint", low=5, high=None, shape=[9], dtype=dtype)]
        yield 26, [draw("random_full", shape=s, dtype=dtype) for s in ([], [0], [9], [300])]
    yield 26, [draw("random_full", shape=[40], dtype="bool")]
    odd = (
        (2**24 + 1, 2**24 + 5),
        (-(2**30) - 3, 5),
        (2**24 - 5, 2**24 + 300),
        (2**63 - 6000, 2**63 - 1),
    )
    yield 27, [draw("randint", low=a, high=b, shape=[9], dtype="float32") for a, b in odd[:3]]
    yield 27, [draw("randint", low=a, high=b, shape=[9], dtype="float64") for a, b in odd]
    yield 27, [draw("randint", low=a, high=b, shape=[9], dtype="bfloat16") for a, b in odd[1:3]]
    yield (
        27,
        [draw("randint", low=0, high=b, shape=[9], dtype="float16") for b in (65504, 5000, 2049)],
    )
    for dtype in (*WHOLE, *REAL):
        yield 28, [draw("randperm", n=n, dtype=dtype) for n in (0, 1, 2, 5, 100)]
    yield 29, [draw("randperm", n=n, dtype="int64") for n in (1000, 100_000)]
    yield 29, [draw("randperm", n=2049, dtype="float16"), draw("randperm", n=300, dtype="bfloat16")]


def other_programs():
    for dtype in (*WHOLE, *REAL, "bool"):
        p = [0.0, 0.1, 0.5, 0.9, 1.0]
        yield (
            40,
            [draw("bernoulli", p=q, shape=s, dtype=dtype) for q in p for s in ([], [33], [500])],
        )
        yield 41, [draw("bernoulli_array", p=[p, t], shape=[20, 5], dtype=dtype) for t in REAL]
    for dtype in REAL:
        for name, arguments in (
            ("exponential", {"lambd": 1.3}),
            ("exponential", {}),
            ("cauchy", {"median": 0.7, "sigma": 1.3}),
            ("log_normal", {"mean": 0.7, "std": 0.25}),
        ):
            yield (
                42,
                [draw(name, shape=s, dtype=dtype, **arguments) for s in ([], [0], [1], [3], [16], [1001])],
            )
    for dtype in (*WHOLE, *REAL):
        yield (
            43,
            [draw("geometric", shape=s, dtype=dtype, p=p) for s in ([], [5], [400]) for p in (0.2, 0.7)],
        )
    for dtype in REAL:
        weights = [0.1, 2.0, 0.0, 3.5, 1.25, 0.7]
        rows = [weights, weights[::-1]]
        yield (
            44,
            [draw("multinomial", probs=[w, dtype], num_samples=k, replacement=True) for w in (weights, rows) for k in (1, 2, 50)],
        )
        yield (
            45,
            [draw("poisson", rates=[r, s, dtype]) for r in (0.0, 0.3, 5.0, 9.9) for s in ([], [40])],
        )
        yield 46, [draw("poisson", rates=[r, [300], dtype]) for r in (10.0, 12.5, 200.0)]
    for dtype in ("float32", "float64"):
        weights = [((37 * i) % 101 + 1) / 64 for i in range(200)]
        yield (
            47,
            [
                draw("multinomial", probs=[w, dtype], num_samples=k, replacement=False)
                for w in (weights[:5], [weights[:50], weights[50:100]], weights)
                for k in (1, 2, 5)
            ],
        )
        yield (
            48,
            [draw("multinomial", probs=[weights, dtype], num_samples=k, replacement=False) for k in (150, 200)],
        )
        yield (
            49,
            [
                draw("binomial", count=[n, [100], dtype], prob=[p, [100], dtype])
                for n in (0.0, 1.0, 12.0, 40.0, 1000.0)
                for p in (0.0, 0.05, 0.3, 0.5, 0.8, 1.0)
            ],
        )
        yield (
            50,
            [draw("standard_gamma", alpha=[a, s, dtype]) for a in (0.0, 0.1, 0.9, 1.0, 2.5, 70.0) for s in ([], [99])],
        )
    mean, std = [0.5, -1.0, 2.0], [0.1, 0.0, 3.0]
    for a in REAL:
        yield (
            51,
            [
                draw("normal_tensor", mean=[mean, a], std=1.5),
                draw("normal_tensor", mean=0.3, std=[std, a]),
            ],
        )
        yield 52, [draw("normal_tensor", mean=[mean, a], std=[std, b]) for b in REAL]
        yield 53, [draw("normal_tensor", mean=[mean, a], std=[2.3, b]) for b in REAL]
        yield 54, [draw("normal_tensor", mean=[[[m] for m in mean], a], std=[std * 7, a])]
    yield 55, [draw("normal_tensor", mean=[mean, "complex64"], std=0.7)]


def mixed_programs(count=40, length=14):
    """Draws of all kinds in one stream: who takes the waiting normal, and where it stands."""
    pick = random.Random(20)

    def size():
        return pick.choice([0, 1, 2, 3, 5, 15, 16, 17, 31, 48])

    kinds = (
        lambda: draw("normal", shape=[size()], dtype=pick.choice(REAL + COMPLEX)),
        lambda: draw("normal", shape=[size()], dtype="float32", mean=0.5, std=2.0),
        lambda: draw("uniform", shape=[size()], dtype=pick.choice(REAL)),
        lambda: draw("randint", low=0, high=pick.choice([10, 2**28, 2**40]), shape=[size()], dtype="int64"),
        lambda: draw("randperm", n=size(), dtype="int64"),
        lambda: draw("bernoulli", p=0.4, shape=[size()], dtype="float32"),
        lambda: draw("log_normal", shape=[size()], dtype="float32"),
        lambda: draw("exponential", shape=[size()], dtype="float32"),
        lambda: draw("poisson", rates=[pick.choice([2.0, 30.0]), [size()], "float32"]),
        lambda: draw("standard_gamma", alpha=[pick.choice([0.5, 3.0]), [size()], "float32"]),
        lambda: draw(
            "multinomial",
            probs=[[1.0, 2.0, 3.0], "float32"],
            num_samples=2,
            replacement=pick.random() < 0.5,
        ),
    )
    for _ in range(count):
        yield pick.randrange(2**40), [pick.choice(kinds)() for _ in range(length)]


ERRORS = (
    draw("uniform", shape=[3], dtype="float32", low=2.0, high=1.0),
    draw("uniform", shape=[0], dtype="float32", low=2.0, high=1.0),
    draw("uniform", shape=[3], dtype="float16", high=1e6),
    draw("uniform", shape=[3], dtype="float32", low=-3e38, high=3e38),
    draw("uniform", shape=[3], dtype="int64"),
    draw("normal", shape=[3], dtype="float32", std=-1.0),
    draw("normal", shape=[3], dtype="int64"),
    draw("normal_tensor", mean=[[0.0, 0.0], "float32"], std=[[1.0, -1.0], "float32"]),
    draw("normal_tensor", mean=[[0, 0], "int64"], std=1.0),
    draw("exponential", shape=[3], dtype="float32", lambd=0.0),
    draw("exponential", shape=[3], dtype="int32"),
    draw("cauchy", shape=[3], dtype="float32", sigma=0.0),
    draw("cauchy", shape=[3], dtype="uint8"),
    draw("log_normal", shape=[3], dtype="float32", std=0.0),
    draw("log_normal", shape=[3], dtype="bool"),
    draw("geometric", shape=[3], dtype="float32", p=1.0),
    draw("geometric", shape=[3], dtype="bool", p=0.5),
    draw("bernoulli", shape=[3], dtype="float32", p=1.5),
    draw("bernoulli", shape=[3], dtype="uint32", p=0.5),
    draw("bernoulli_array", p=[[2.0], "float32"], shape=[3], dtype="float32"),
    draw("bernoulli_array", p=[[1], "int64"], shape=[3], dtype="float32"),
    draw("randint", low=3, high=3, shape=[2], dtype="int64"),
    draw("randint", low=3, high=3, shape=[0], dtype="int64"),
    draw("randint", low=0, high=300, shape=[2], dtype="uint8"),
    draw("randint", low=-1, high=3, shape=[2], dtype="uint8"),
    draw("randint", low=-1, high=3, shape=[2], dtype="uint64"),
    draw("randint", low=0, high=3, shape=[2], dtype="bool"),
    draw("randint", low=0, high=70000, shape=[2], dtype="float16"),
    draw("randint", low=-100000, high=5, shape=[2], dtype="float16"),
    draw("randint", low=2**30 + 1, high=2**30 + 2, shape=[2], dtype="float32"),
    draw("randint", low=2**24, high=None, shape=[2], dtype="float32"),
    draw("randint", low=5, high=None, shape=[2], dtype="uint64"),
    draw("randint", low=5, high=None, shape=[2], dtype="bool"),
    draw("randint", low=0, high=2, shape=[2], dtype="complex64"),
    draw("randint", low=0, high=None, shape=[2], dtype="complex64"),
    draw("randint", low=-(2**63), high=None, shape=[2], dtype="int32"),
    draw("randint", low=-(2**63), high=None, shape=[2], dtype="float16"),
    draw("random_full", shape=[2], dtype="uint16"),
    draw("random_full", shape=[2], dtype="complex64"),
    draw("randperm", n=-1, dtype="int64"),
    draw("randperm", n=300, dtype="uint8"),
    draw("randperm", n=129, dtype="int8"),
    draw("randperm", n=2050, dtype="float16"),
    draw("randperm", n=5, dtype="bool"),
    draw("randperm", n=5, dtype="uint32"),
    draw("poisson", rates=[-1.0, [2], "float32"]),
    draw("poisson", rates=[1, [2], "int64"]),
    draw("multinomial", probs=[[1.0, 1.0], "float32"], num_samples=3, replacement=False),
    draw("multinomial", probs=[[1.0, 1.0], "float32"], num_samples=0, replacement=False),
    draw("multinomial", probs=[[0.0, 0.0], "float32"], num_samples=1, replacement=False),
    draw("multinomial", probs=[[0.0, 0.0], "float32"], num_samples=2, replacement=True),
    draw("multinomial", probs=[[1.0, -1.0], "float32"], num_samples=1, replacement=False),
    draw("multinomial", probs=[[1.0, -1.0], "float32"], num_samples=2, replacement=True),
    draw("multinomial", probs=[[[[1.0]]], "float32"], num_samples=1, replacement=True),
    draw("multinomial", probs=[1.0, "float32"], num_samples=1, replacement=True),
    draw("multinomial", probs=[[1, 1], "int64"], num_samples=1, replacement=True),
)


def run(generator, name, arguments):
    return DRAWS[name](generator, **arguments)


def as_bytes(tensor) -> bytes:
    if tensor.dtype == torch.bfloat16:
        tensor = tensor.view(torch.int16)
    return tensor.numpy().tobytes()


def encoded(tensor) -> list:
    shape, dtype, data = (
        list(tensor.shape),
        str(tensor.dtype).removeprefix("torch."),
        as_bytes(tensor),
    )
    if len(data) <= SHORT:
        return [shape, dtype, data.hex()]
    ends = 8 * tensor.element_size()
    return [shape, dtype, data[:ends].hex(), data[-ends:].hex(), hashlib.sha256(data).hexdigest()]


def place(generator) -> list:
    """Where the stream stands: a hash of the state without the waiting normal, and that normal."""
    state = bytearray(generator.get_state().numpy().tobytes())
    waiting = state[NORMAL].hex() if any(state[HAS_NORMAL]) else None
    state[NORMAL] = bytes(8)
    return [hashlib.sha256(state).hexdigest()[:32], waiting]


def recorded_program(seed, draws) -> dict:
    generator = torch.Generator().manual_seed(seed)
    rows = [[name, arguments, encoded(run(generator, name, arguments))] for name, arguments in draws]
    return {
        "seed": seed,
        "initial": generator.initial_seed(),
        "draws": rows,
        "after": place(generator),
    }


def recorded_states() -> list:
    """States to be loaded: fresh, inside a block, with a waiting normal, at a refill."""
    out = []
    for seed, words, normals in (
        (3, 0, 0),
        (4, 100, 0),
        (5, 700, 1),
        (6, 624, 0),
        (2**40, 1247, 3),
    ):
        generator = torch.Generator().manual_seed(seed)
        torch.empty(words).uniform_(generator=generator)
        torch.empty(normals).normal_(generator=generator)
        state = base64.b64encode(zlib.compress(generator.get_state().numpy().tobytes(), 9)).decode()
        draws = [
            draw("normal", shape=[5], dtype="float32"),
            draw("uniform", shape=[3], dtype="float32"),
        ]
        rows = [[name, arguments, encoded(run(generator, name, arguments))] for name, arguments in draws]
        out.append({"seed": seed, "words": words, "normals": normals, "state": state, "draws": rows})
    return out


def recorded_errors() -> list:
    out = []
    for name, arguments in ERRORS:
        try:
            run(torch.Generator(), name, arguments)
        except Exception as error:  # which error it is, is what we record
            out.append(
                [
                    name,
                    arguments,
                    type(error).__name__,
                    str(error).split("\nException raised from")[0],
                ]
            )
        else:
            raise AssertionError(f"no error from {name} {arguments}")
    return out


def main(path: str) -> None:
    torch.set_num_threads(1)
    oracle = {
        "torch": torch.__version__,
        "cpu": torch.backends.cpu.get_cpu_capability(),
        "unseeded": torch.Generator().initial_seed(),
        "programs": [recorded_program(*program) for program in programs()],
        "states": recorded_states(),
        "errors": recorded_errors(),
    }
    lines = json.dumps(oracle, separators=(",", ":")).replace('{"seed"', '\n{"seed"')
    with open(path, "w") as file:
        file.write(lines + "\n")
    print(len(oracle["programs"]), "programs,", len(lines), "bytes, numpy", np.__version__)


if __name__ == "__main__":
    main(sys.argv[1])
