"""torch.nn.utils._expanded_weights.expanded_weights_impl (layer 8)."""

from __future__ import annotations

import torchlike_autograd as torch

from ...._core.overriding import activate

HANDLED_FUNCTIONS = {}  # a function of torch: what is called in its place, with the names of the keywords, the function, and all the values


def implements_per_sample_grads(torch_function):
    """A decorator: this autograd Function takes the calls of a function with expanded weights."""

    def keep(function):
        HANDLED_FUNCTIONS[torch_function] = function
        return function

    return keep


class ExpandedWeight(torch.Tensor):
    """A weight that counts as one for each sample: a backward pass gives the tensor it was made of `grad_sample` instead of `grad`."""

    handled_functions = HANDLED_FUNCTIONS

    def __new__(cls, orig_weight, batch_size, loss_reduction):
        if not isinstance(orig_weight, torch.Tensor):
            raise RuntimeError(f"Can only make Expanded Weights of Tensors, got {type(orig_weight).__name__}")
        if not orig_weight.requires_grad:
            raise RuntimeError("Can only build ExpandedWeights objects of tensors that requires_grad")
        activate()  # functions look at their arguments from now on
        return torch.Tensor._make_subclass(cls, orig_weight, True)

    def __init__(self, orig_weight, batch_size, loss_reduction):
        self.batch_size, self.batch_first, self.allow_smaller_batches = batch_size, True, False
        self.orig_weight, self.loss_reduction = orig_weight, loss_reduction

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        function = cls.handled_functions.get(func)
        if function is None:
            raise RuntimeError(f"Expanded Weights encountered but cannot handle function {func.__name__}")
        return function.apply(tuple(kwargs), func, *args, *kwargs.values())

    # what may be asked without a function being called
    dtype = property(lambda self: self.orig_weight.dtype)
    data = property(lambda self: self.orig_weight.data)
    shape = property(lambda self: self.orig_weight.shape)
    device = property(lambda self: self.orig_weight.device)
    is_cuda = property(lambda self: self.orig_weight.is_cuda)

    def data_ptr(self):
        """That of the weight."""
        return self.orig_weight.data_ptr()

    def get_device(self):
        """That of the weight."""
        return self.orig_weight.get_device()

    def set_allow_smaller_batches(self, is_allow_smaller_batches):
        """Whether inputs may have fewer samples than this weight."""
        self.allow_smaller_batches = is_allow_smaller_batches

    def set_batch_first(self, is_batch_first=True):
        """Whether the samples lie along dim 0 of inputs, or along dim 1."""
        self.batch_first = is_batch_first
