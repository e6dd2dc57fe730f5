"""torch.testing._internal.logging_tensor (layer 8): a subclass of Tensor that logs the functions called with it.

What differs: it listens where Python calls a function (``__torch_function__``): operators here go through no dispatcher that it could listen to, hence what a
function calls in turn, and what a backward pass computes, is not logged.
"""

from __future__ import annotations

import contextlib
import logging

from ..._core import publish as _publish
from ..._core.overriding import Off
from ..._tensor import Tensor
from ...utils._pytree import tree_map
from ...utils.weak import WeakIdKeyDictionary

_log = logging.getLogger("LoggingTensor")


class LoggingTensor(Tensor):
    """A tensor whose calls are logged; `elem` is the plain one that it was made of."""

    @staticmethod
    def __new__(cls, elem, *args, requires_grad=None, **kwargs):
        out = Tensor._make_subclass(cls, elem.detach(), elem.requires_grad if requires_grad is None else requires_grad)
        out._made_of = elem
        return out

    @property
    def elem(self):
        """The plain tensor that it was made of; of a result the contents."""
        made_of = self.__dict__.get("_made_of")
        return self.as_subclass(Tensor) if made_of is None else made_of

    def __repr__(self, *, tensor_contents=None):
        return f"LoggingTensor({self.elem})"

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        """Call, log, and give tensors of this class."""
        with Off(False):
            out = func(*args, **(kwargs or {}))
        name = getattr(func, "__name__", str(func))
        if name not in _SILENT:
            _log.info("%s", f"torch.{name}", extra={"call": (args, kwargs, out)})
        return tree_map(_kept(cls), out) if name not in ("__get__", "__set__", "__repr__", "register_hook") or isinstance(out, Tensor) else out


_SILENT = ("__get__", "__set__", "__repr__", "size", "dim", "numel", "stride", "is_floating_point", "is_complex", "requires_grad_", "register_hook",
           "backward", "item")


def _kept(cls):
    return lambda x: x.as_subclass(cls) if type(x) is Tensor else x


class LoggingTensorHandler(logging.Handler):
    """Writes calls to a list as ``$1 = torch.add($0, 1)``: each tensor has the number of its first mention."""

    next = 0

    def __init__(self, log_list, use_shortid_for_all_tensors=True, with_type=False, tracebacks_list=None):
        super().__init__()
        self.log_list, self.with_type = log_list, with_type
        self.numbers, self.tracebacks_list = WeakIdKeyDictionary(), tracebacks_list

    def _number(self, t):
        if t not in self.numbers:
            self.numbers[t] = self.next
            self.next += 1
        return self.numbers[t]

    def _shown(self, x):
        return f"${self._number(x)}" if isinstance(x, Tensor) else repr(x)

    def emit(self, record):
        """Write one."""
        args, kwargs, out = record.call
        shown = ", ".join([*(self._shown(a) for a in args), *(f"{k}={self._shown(v)}" for k, v in (kwargs or {}).items())])
        outs = ", ".join(self._shown(o) for o in (out if isinstance(out, (tuple, list)) else (out,)))
        self.log_list.append(f"{outs} = {record.getMessage()}({shown})")


def log_input(name, var):
    """Mention a tensor as an input."""
    _log.info("input", extra={"call": ((name,), {}, var)})


@contextlib.contextmanager
def capture_logs(is_mode=False, python_tb=False, script_tb=False, cpp_tb=False):
    """The list that calls inside are written to."""
    lines, level = [], _log.level
    handler = LoggingTensorHandler(lines)
    _log.addHandler(handler)
    _log.setLevel(logging.INFO)
    propagate, _log.propagate = _log.propagate, False
    try:
        yield lines
    finally:
        _log.removeHandler(handler)
        _log.setLevel(level)
        _log.propagate = propagate


__getattr__ = _publish.missing("torch.testing._internal.logging_tensor")
