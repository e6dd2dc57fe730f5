"""Averaged models (layer 8): what of `swa_utils` needs modules."""

from __future__ import annotations

import itertools
from copy import deepcopy

from .._functions.data import tensor
from ..autograd.grad_mode import no_grad
from ..nn import Module
from ..nn.modules.batchnorm import _BatchNorm
from ..utils._foreach_utils import _group_tensors_by_device_and_dtype
from .swa_utils import get_swa_avg_fn

__all__ = ["AveragedModel", "update_bn"]


class AveragedModel(Module):
    """A copy of a model that averages its parameters (and buffers, where asked for) over calls of `update_parameters`."""

    def __init__(self, model, device=None, avg_fn=None, multi_avg_fn=None, use_buffers=False):
        super().__init__()
        if avg_fn is not None and multi_avg_fn is not None:
            raise AssertionError("Only one of avg_fn and multi_avg_fn should be provided")
        self.module = deepcopy(model)
        if device is not None:
            self.module = self.module.to(device)
        self.register_buffer("n_averaged", tensor(0, device=device))
        self.avg_fn, self.multi_avg_fn, self.use_buffers = avg_fn, multi_avg_fn, use_buffers

    def forward(self, *args, **kwargs):
        """The averaged model's result."""
        return self.module(*args, **kwargs)

    @no_grad()
    def update_parameters(self, model):
        """Take a model's parameters into the average."""
        mine, theirs = _contents(self.module, self.use_buffers), _contents(model, self.use_buffers)
        pairs = [(a.detach(), b.detach().to(a.device)) for a, b in zip(mine, theirs)]
        if self.n_averaged == 0:
            for a, b in pairs:
                a.copy_(b)
        elif self.multi_avg_fn is not None:
            for (averages, now), _ in _group_tensors_by_device_and_dtype([list(x) for x in zip(*pairs)]).values():
                self.multi_avg_fn(averages, now, self.n_averaged.to(averages[0].device))
        else:
            average = self.avg_fn or get_swa_avg_fn()
            for a, b in pairs:
                a.copy_(average(a, b, self.n_averaged.to(a.device)))
        if not self.use_buffers:
            for a, b in zip(self.module.buffers(), model.buffers()):
                a.detach().copy_(b.detach().to(a.device))
        self.n_averaged += 1


def _contents(model, buffers):
    return list(itertools.chain(model.parameters(), model.buffers())) if buffers else list(model.parameters())


@no_grad()
def update_bn(loader, model, device=None):
    """Compute the running statistics of batch normalisation anew from the batches of `loader`."""
    momenta = {}
    for m in model.modules():
        if isinstance(m, _BatchNorm):
            m.reset_running_stats()
            momenta[m] = m.momentum
    if not momenta:
        return
    training = model.training
    model.train()
    for m in momenta:
        m.momentum = None
    for batch in loader:
        x = batch[0] if isinstance(batch, (list, tuple)) else batch
        model(x if device is None else x.to(device))
    for m, momentum in momenta.items():
        m.momentum = momentum
    model.train(training)
