"""The switch for checks of what sparse tensors are made of, and what torch says of layouts (layer 8).

Coordinates are always checked here, whatever the switch says: it answers and is restored as torch's, and silences the warning that torch gives once in a
process where nobody has set it.
"""

from __future__ import annotations

import functools

from .._core.numeric import say_once

_BUILT = "(Triggered internally at /__w/pytorch/pytorch/"
_UNSET = ("Sparse invariant checks are implicitly disabled. Memory errors (e.g. SEGFAULT) will occur when operating on a sparse tensor which violates the "
          "invariants, but checks incur performance overhead. To silence this warning, explicitly opt in or out. See "
          f"`torch.sparse.check_sparse_tensor_invariants.__doc__` for guidance.  {_BUILT}aten/src/ATen/Context.cpp:816.)")
_YOUNG = ("Sparse CSR tensor support is in beta state. If you miss a functionality in the sparse tensor support, please submit a feature request to "
          f"https://github.com/pytorch/pytorch/issues. {_BUILT}aten/src/ATen/SparseCsrTensorImpl.cpp:49.)")
_switch = {"on": False, "set": False}


def says_unset(check_invariants=None):
    """The warning of a call that makes a sparse tensor where neither it nor the process says whether to check."""
    if check_invariants is None and not _switch["set"]:
        say_once(_UNSET)


def says_young():
    """The warning of whatever makes a tensor in layout CSR."""
    say_once(_YOUNG)


def says_old(given, instead, line):
    """The warning of `torch.sparse.FloatTensor(...)` and its like: what was given, and the call that takes its place."""
    say_once(f"torch.sparse.SparseTensor({given}) is deprecated.  Please use torch.sparse_coo_tensor({instead}). "
             f"{_BUILT}torch/csrc/utils/tensor_new.cpp:{line}.)")


class check_sparse_tensor_invariants:
    """The switch as a context, as a decorator, or set for good; RuntimeError for a context that is entered while it is open."""

    def __init__(self, enable=True):
        self.state = enable
        self.saved_state = None

    @staticmethod
    def is_enabled():
        """What the switch says (False at first)."""
        return _switch["on"]

    @staticmethod
    def enable():
        """Set the switch."""
        _switch.update(on=True, set=True)

    @staticmethod
    def disable():
        """Take the switch back; makers of sparse tensors no longer warn."""
        _switch.update(on=False, set=True)

    def __enter__(self):
        if self.saved_state is not None:
            raise RuntimeError("This context manager instance is already activated. Use a different context manager instance for context nesting.")
        self.saved_state = _switch["on"]
        _switch.update(on=self.state, set=True)

    def __exit__(self, *exc):
        if self.saved_state is not None:
            _switch.update(on=self.saved_state)
        self.saved_state = None

    def __call__(self, function):
        @functools.wraps(function)
        def switched(*args, **kwargs):
            with type(self)(self.state):
                return function(*args, **kwargs)

        return switched
