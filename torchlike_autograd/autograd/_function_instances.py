"""What an instance of `Function` is (layer 7): torch still makes them, with a warning, and calls nothing of them."""

from __future__ import annotations

from .._core.nodes import RemovableHandle
from .._core.saying import warn

__all__ = ["Instance", "Nested"]


def _idle_hook(self, name, args):
    if len(args) != 1:
        raise TypeError(f"_FunctionBase.{name}() takes exactly one argument ({len(args)} given)")
    hooks = self.__dict__.setdefault("_hooks", {})
    handle = RemovableHandle(hooks)
    hooks[handle.id] = args[0]
    return handle


def _unreadable(self):
    raise AttributeError("attribute 'materialize_grads' of 'torch._C._FunctionBase' objects is not readable")


def _materialized(self, value):
    if type(value) is not bool:
        raise TypeError("set_materialize_grads received an invalid combination of arguments - got (), but expected (bool)")


class Instance:
    """The members of an instance: notes and hooks that no backward pass sees."""

    def __init__(self, *args, **kwargs):
        warn(
            f"{type(self)} should not be instantiated. Methods on autograd functions are all static, so you should invoke them on the class itself. "
            "Instantiating an autograd function will raise an error in a future version of PyTorch.", DeprecationWarning)

    requires_grad = property(lambda self: True)
    materialize_grads = property(_unreadable, _materialized)
    dirty_tensors = needs_input_grad = non_differentiable = saved_for_forward = to_save = None  # what is noted stays noted
    next_functions = saved_tensors = _raw_saved_tensors = _input_metadata = property(lambda self: ())

    @property
    def metadata(self):
        """The user's notes."""
        return self.__dict__.setdefault("_notes", {})

    @property
    def saved_variables(self):
        """`saved_tensors` by its old name."""
        warn("'saved_variables' is deprecated; use 'saved_tensors'", DeprecationWarning)
        return self.saved_tensors

    def register_hook(self, *args):
        """A hook of an instance, which no backward pass runs; a node's `register_hook` is another."""
        return _idle_hook(self, "register_hook", args)

    def register_prehook(self, *args):
        """The same before it."""
        return _idle_hook(self, "register_prehook", args)

    def _register_hook_dict(self, tensor):
        """Nothing: an instance has no place in a graph."""

    def _sequence_nr(self):
        return self.__dict__.get("_number", 0)

    def _set_sequence_nr(self, number):
        self.__dict__["_number"] = number

    def name(self):
        """The name of the class."""
        return type(self).__name__

    def maybe_clear_saved_tensors(self):
        """Nothing: an instance has no saved tensors."""

    def __call__(self, *args, **kwargs):
        raise RuntimeError(
            "Legacy autograd function with non-static forward method is deprecated. Please use new-style autograd function with static forward method. "
            "(Example: https://pytorch.org/docs/stable/autograd.html#torch.autograd.Function)")


class Nested:
    """The methods of NestedIOFunction: without the nested inputs that nobody sets, the two that compute raise AttributeError."""

    dirty_tensors = non_differentiable = to_save = None

    def forward(self, *args):
        """`forward_extended` of the nested inputs, which nobody sets."""
        nested = self._nested_input
        return self.forward_extended(*nested)

    def backward(self, *gradients):
        """`backward_extended` of gradients nested as the outputs, which nobody sets."""
        nested = self._nested_output
        return self.backward_extended(*nested)

    def _do_forward(self, *input):
        self._nested_input = input
        return super()._do_forward(*input)

    def _do_backward(self, gradients, retain_variables):
        self.retain_variables = retain_variables
        return super()._do_backward(gradients, retain_variables)

    def __call__(self, *input):
        """What calling an instance once did."""
        return self._do_forward(*input)

    def save_for_backward(self, *args):
        """Keep tensors, flat in `to_save`."""
        self.to_save = args
        self._to_save_nested = args

    @property
    def saved_tensors(self):
        """What was kept, of which an instance that did not run has nothing: AttributeError or IndexError."""
        return tuple(super(Nested, self).saved_tensors[i] for i in range(len(self._to_save_nested)))

    def mark_dirty(self, *args, **kwargs):
        """Note which inputs were modified in place."""
        self.dirty_tensors = args

    def mark_non_differentiable(self, *args, **kwargs):
        """Note which outputs have no gradient."""
        self.non_differentiable = args

    def forward_extended(self, *input):
        """For subclasses."""
        raise NotImplementedError

    def backward_extended(self, *grad_output):
        """For subclasses."""
        raise NotImplementedError
