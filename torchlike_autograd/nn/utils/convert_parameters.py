"""torch.nn.utils.convert_parameters (layer 8): parameters as one vector."""

from __future__ import annotations

from ..._tensor import Tensor


def parameters_to_vector(parameters):
    """All parameters, one after the other."""
    from ... import cat

    return cat([p.view(-1) for p in parameters])


def vector_to_parameters(vec, parameters):
    """Let parameters show the parts of a vector."""
    if not isinstance(vec, Tensor):
        from ..modules._names import typename  # cycle: modules need utils.rnn

        raise TypeError(f"expected torch.Tensor, but got: {typename(vec)}")
    start = 0
    for p in parameters:
        n = p.numel()
        p.data = vec[start:start + n].view_as(p).data
        start += n
