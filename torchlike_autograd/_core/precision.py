"""How float32 products and convolutions may be rounded on accelerators (layer 0): PyTorch's table of backends and operators, and what it means to XLA.

    torch.set_float32_matmul_precision, torch.backends.{fp32_precision, cuda.matmul, cudnn.conv, ...} -> the table -> of("matmul"), an operator's `precision`

"high" and TF32 are XLA's "high" (TF32 on GPUs, three passes of bfloat16 on TPUs), "medium" is its "default" (TF32, and one pass of bfloat16 on TPUs); a CPU
computes in float32 whatever is allowed.  PyTorch lets convolutions and recurrent layers round to TF32 from the start; here they do where a program says so.
Operators read the precision when they are traced; what was traced is laid aside (defaults.py) before it becomes another one.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import NamedTuple

_MIXED = "We suggest only using the new API {which}. See also: https://pytorch.org/docs/main/notes/cuda.html#tensorfloat-32-tf32-on-ampere-and-later-devices"
_BACKENDS = {"generic": ("ieee", "tf32", "bf16", "none"), "mkldnn": ("ieee", "tf32", "bf16", "none"), "cuda": ("ieee", "tf32", "none")}
_OPERATORS = ("matmul", "conv", "rnn")
_FROM_THE_START = {("cuda", "conv"): "tf32", ("cuda", "rnn"): "tf32"}


class _Said(NamedTuple):
    """What programs said: the table, and the two settings that are older than it."""

    table: MappingProxyType
    matmul: str
    cudnn: bool


_said = _Said(MappingProxyType({}), "highest", True)
_before: list = []


def before_change(f):
    """Call `f(meaning)` before operators are traced in another precision."""
    _before.append(f)


def _asked(said, backend, op):
    """The precision that a program named for an operator, for its backend or for everything; "none" where it named none or one that the backend lacks."""
    for key in ((backend, op), (backend, "all"), ("generic", "all")):
        name = said.table.get(key, "none")
        if name != "none":
            return name if name in _BACKENDS[backend] else "none"
    return "none"


def named(backend, op):
    """The name that torch.backends shows: "ieee", "tf32", "bf16" or "none"."""
    if (backend, op) in _FROM_THE_START and (backend, op) not in _said.table and all(
            _said.table.get(key, "none") == "none" for key in ((backend, "all"), ("generic", "all"))):
        return _FROM_THE_START[backend, op]
    return _asked(_said, backend, op)


def _meaning(said):
    matmul, conv, rnn = ("high" if _asked(said, "cuda", op) == "tf32" else "highest" for op in _OPERATORS)
    return "default" if matmul == "high" and said.matmul == "medium" else matmul, conv, rnn


_means = _meaning(_said)


def meaning():
    """XLA's precision of every operator, as something to compare."""
    return _means


def of(op):
    """XLA's precision of "matmul", "conv" or "rnn"."""
    return _means[_OPERATORS.index(op)]


def _say(names, **older):
    _adopt(_said._replace(table=MappingProxyType({**_said.table, **names}), **older))


def _adopt(said):
    global _said, _means
    means = _meaning(said)
    if means != _means:
        for f in _before:
            f(means)
    _said, _means = said, means


def name(backend, op, precision):
    """Set one entry of the table; RuntimeError for a precision that there is not or that the backend does not have, TypeError for what is no text."""
    if not isinstance(precision, str):
        raise TypeError("_set_fp32_precision_setter(): incompatible function arguments. The following argument types are supported:\n"
                        f"    1. (arg0: str, arg1: str, arg2: str) -> str\n\nInvoked with: {backend!r}, {op!r}, {precision!r}")
    if precision not in _BACKENDS["generic"]:
        raise RuntimeError(f"Unknown precision: {precision}")
    if precision not in _BACKENDS[backend]:
        raise RuntimeError(f"backend '{backend}' does not support precision '{precision}'")
    _say({(backend, op): precision})


def set_matmul(precision):
    """torch.set_float32_matmul_precision of "highest", "high" or "medium"."""
    of_cuda, of_cpu = {"highest": ("ieee", "ieee"), "high": ("tf32", "tf32"), "medium": ("tf32", "bf16")}[precision]
    _say({("cuda", "matmul"): of_cuda, ("mkldnn", "matmul"): of_cpu}, matmul=precision)


def matmul():
    """torch.get_float32_matmul_precision; RuntimeError where the table says something else."""
    cuda, cpu = _asked(_said, "cuda", "matmul"), _asked(_said, "mkldnn", "matmul")
    if (cuda, _said.matmul) == ("tf32", "highest") or (cpu in ("bf16", "tf32") and _said.matmul != {"bf16": "medium", "tf32": "high"}[cpu]):
        raise RuntimeError("PyTorch is checking the matmul precision without a specific backend name,Current status indicate that you have used mix of the "
                           "legacy and new APIs to set the matmul precision. " + _MIXED.format(which="for matmul precision"))
    return _said.matmul


def allow_matmul(on):
    """torch.backends.cuda.matmul.allow_tf32 = on."""
    _say({("cuda", "matmul"): "tf32" if on else "ieee"}, matmul="high" if on else "highest")


def matmul_allowed():
    """torch.backends.cuda.matmul.allow_tf32; RuntimeError where the table says something else."""
    allowed = _said.matmul != "highest"
    if allowed != (_asked(_said, "cuda", "matmul") == "tf32"):
        raise RuntimeError("PyTorch is checking whether allow_tf32_new is enabled for cuBlas matmul,Current status indicate that you have used mix of the "
                           "legacy and new APIs to set the TF32 status for cublas matmul. " + _MIXED.format(which="to set the TF32 flag"))
    return allowed


def allow_cudnn(on):
    """torch.backends.cudnn.allow_tf32 = on."""
    word = "tf32" if on else "none"
    _say({("cuda", "conv"): word, ("cuda", "rnn"): word}, cudnn=on)


def cudnn_allowed():
    """torch.backends.cudnn.allow_tf32; RuntimeError where the table says something else."""
    if {named("cuda", op) == "tf32" for op in ("conv", "rnn")} != {_said.cudnn}:
        raise RuntimeError("PyTorch is checking whether allow_tf32 is enabled for cuDNN without a specific operator name,but the current flag(s) indicate that "
                           "cuDNN conv and cuDNN RNN have different TF32 flags.This combination indicates that you have used a mix of the legacy and new APIs "
                           "to set the TF32 flags. " + _MIXED.format(which="to set the TF32 flag(s)"))
    return _said.cudnn
