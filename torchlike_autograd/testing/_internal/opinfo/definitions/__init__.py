"""The list of operators (layer 8): recorded facts about PyTorch's own, and samples from `samples.py`, `samples_more.py` or the op table."""

from __future__ import annotations

import functools
import json
import operator
import unittest
from pathlib import Path

from ....._core import dtypes, publish
from ....._ops.registry import at, real
from ....._tensor import Tensor
from .....random import manual_seed
from ... import common_device_type as devices
from ...common_utils import freeze_rng_state
from .. import core, numpy_refs, samples_more
from ..samples import SAMPLES, Maker

FACTS = Path(__file__).parent.with_name("facts.json")
_LETTERS = {"b": "bool_", "B": "uint8", "1": "int8", "2": "int16", "4": "int32", "8": "int64", "e": "float16", "g": "bfloat16", "f": "float32", "d": "float64",
            "F": "complex64",
            "D": "complex128", "s": "uint16", "w": "uint32", "q": "uint64"}  # others have no arrays here
samples_more  # its samples are in SAMPLES now  # noqa: B018


def _kinds(letters):
    return tuple(getattr(dtypes, _LETTERS[c]) for c in letters if c in _LETTERS)


def op_db():
    """The OpInfo of every operator that PyTorch's list names."""
    facts = json.loads(FACTS.read_text())
    return [_info(row, facts["defaults"]) for row in facts["rows"]]


def _info(row, defaults):
    name, variant = row["name"], row.get("variant", "")
    more = {**defaults, **row.get("flags", {})}
    if "cuda" in row:
        more["dtypesIfCUDA"] = _kinds(row["cuda"])
    if "backward" in row:
        more["backward_dtypes"] = _kinds(row["backward"])
    more |= _of_kind(row)
    if row.get("method") == 0:
        more["method_variant"] = None
    if "inplace" not in row:
        more["inplace_variant"] = None
    return core.KINDS[row.get("kind", "OpInfo")](
        name, variant_test_name=variant, op=_CALLS.get(f"{name}/{variant}", _CALLS.get(name)) or _function(name), aten_name=row.get("aten", name),
        dtypes=_kinds(row["dtypes"]), aliases=tuple(row.get("aliases", ())), sample_inputs_func=_sampler(name, variant), **more)


def _of_kind(row):
    """What is recorded of some kinds of operators only: references, operators of Python, rules of tests."""
    key = f"{row['name']}/{row['variant']}" if row.get("variant") else row["name"]
    out = {"ref": numpy_refs.reference(row), "decorators": [_decorator(r) for r in row.get("rules", ())]}
    out |= {f"{k}_variant": getattr(operator, row[k]) for k in ("operator", "inplace_operator") if k in row}
    if "result" in row:
        out["result_dtype"] = _kinds(row["result"])[0]
    if "over" in row:
        out["ndimensional"] = core.SpectralFuncType[row["over"]]
    if (made := numpy_refs.keywords(key)) is not None:
        out["sample_kwargs"] = made
    if (away := numpy_refs.AWAY.get(row["name"])) is not None:
        out["reference_numerics_filter"] = core.NumericsFilter(*away)
    if (calls := numpy_refs.CALLS.get(key)) is not None:
        out["generate_args_kwargs"] = calls
    return out


def _decorator(rule):
    """Which tests of PyTorch are skipped, expected to fail or less exact."""
    if "skip" in rule:
        said = unittest.skip("Skipped!")
    elif "fails" in rule:
        said = unittest.expectedFailure
    elif "tol" in rule:
        said = devices.toleranceOverride({_kinds(k)[0]: devices.tol(*v) for k, v in rule["tol"].items()})
    else:
        said = devices.precisionOverride({_kinds(k)[0]: v for k, v in rule["precision"].items()})
    where = {"cls_name": rule.get("class"), "test_name": rule.get("test")}
    return core.DecorateInfo(said, **where, dtypes=_kinds(rule["dtypes"]) if "dtypes" in rule else None)


def _function(name):
    f = core.found(name)
    if f is None and callable(getattr(Tensor, name, None)):
        f = getattr(Tensor, name)
    return f or functools.partial(_absent, name)


def _absent(name, *args, **kwargs):
    raise NotImplementedError(f"{name} is not there")


def _sampler(name, variant):
    made = SAMPLES.get(f"{name}/{variant}" if variant else name)
    if made is not None:
        return lambda info, device, dtype, requires_grad, **more: made(Maker(dtype, device, requires_grad))
    f = publish.load_all().get(f"torch.{name}") or publish.load_all().get(f"Tensor.{name}")
    recipes = getattr(f, "recipes", None)
    entry = next((o for o in _entries(recipes) if o.samples), None)
    return None if entry is None or variant else functools.partial(_from_table, entry)


def _entries(recipes):
    return getattr(recipes, "ops", ()) or ()


def _from_table(entry, info, device, dtype, requires_grad, **more):
    maker = Maker(dtype, device, requires_grad)
    found = []
    for c in entry.samples:
        args, kwargs = [_made(a, maker) for a in c.args], {k: _made(a, maker) for k, a in c.kwargs.items()}
        found.append(core.SampleInput(args[0], args=tuple(args[1:]), kwargs=kwargs))
    return found


def _made(x, maker):
    """A tensor of what the op table says about one: float64 there stands for the type asked for."""
    if isinstance(x, (list, tuple)):
        return type(x)(_made(a, maker) for a in x)
    if isinstance(x, real):
        kind = maker.dtype if x.dtype == "float64" else dtypes.DTYPES[x.dtype]
        shape = x.shape[0] if x.shape and isinstance(x.shape[0], tuple) else x.shape
        return maker(*shape, low=x.low, high=x.high, dtype=kind, grad=x.grad)
    if isinstance(x, at):
        kind = maker.dtype if x.dtype == "float64" else dtypes.DTYPES[x.dtype]
        return maker.tensor(x.values, dtype=kind).requires_grad_(maker.requires_grad and x.grad and (kind.is_floating_point or kind.is_complex))
    return x


def _by_method(name):
    return lambda x, *args, **kwargs: getattr(x, name)(*args, **kwargs)


def _seeded(call):
    """A call that draws the same numbers each time."""

    def drawn(*args, **kwargs):
        with freeze_rng_state():
            manual_seed(42)
            return call(*args, **kwargs)

    return drawn


def _on_clone(name):
    return lambda x, *args, **kwargs: getattr(x.clone(), name)(*args, **kwargs)


_METHODS = """item contiguous sum_to_size expand expand_as reshape_as view view_as bfloat16 bool byte char double float half int long short cdouble cfloat chalf
new_zeros new_ones new_empty new_empty_strided new_full unfold repeat to __getitem__ __radd__ __rsub__ __rmul__ __rdiv__ __rmatmul__ __rmod__ __rpow__ __rand__
__ror__ __rxor__"""
_CALLS = {name: _by_method(name) for name in _METHODS.split()}
_CALLS |= {name: (lambda x, n=name: getattr(x, n)) for name in ("T", "H", "mT", "mH")}
_CALLS |= {name: _on_clone(f"{name}_") for name in ("cauchy", "exponential", "geometric", "log_normal", "uniform", "normal/in_place")}
_CALLS["normal/in_place"] = _on_clone("normal_")
_CALLS |= {name: _on_clone(name) for name in ("resize_", "resize_as_", "zero_")}
_CALLS |= {
    "einsum": lambda operands, equation: _named("einsum")(equation, *operands),
    "where": lambda x, mask, other, **kwargs: _named("where")(mask, x, other, **kwargs),
    "polygamma": lambda x, n, **kwargs: _named("polygamma")(n, x, **kwargs),
    "special.polygamma": lambda x, n, **kwargs: _named("special.polygamma")(n, x, **kwargs),
    "nn.functional.embedding": lambda weight, idx, **kwargs: _named("nn.functional.embedding")(idx, weight, **kwargs),
    "nn.functional.embedding_bag": lambda weight, idx, **kwargs: _named("nn.functional.embedding_bag")(idx, weight, **kwargs),
    "linalg.lstsq/grad_oriented": lambda a, b, driver=None: _named("linalg.lstsq")(a, b, driver=driver)[:2],
    "linalg.pinv/singular": lambda a, b: _named("linalg.pinv")(a @ b.mT),
}


_CALLS |= {name: _seeded(_CALLS[name]) for name in ("cauchy", "exponential", "geometric", "log_normal", "uniform", "normal/in_place")}
_CALLS |= {name: _seeded(lambda *args, n=name, **kwargs: _named(n)(*args, **kwargs)) for name in (
    "bernoulli", "multinomial", "normal", "rand_like", "randn_like", "randn", "randint", "randint_like", "nn.functional.rrelu",
    *(f"nn.functional.{kind}" for kind in ("dropout", "dropout2d", "dropout3d", "alpha_dropout")))}
_CALLS["normal/number_mean"] = _seeded(lambda *args, **kwargs: _named("normal")(*args, **kwargs))


def _named(name):
    return core.found(name)
