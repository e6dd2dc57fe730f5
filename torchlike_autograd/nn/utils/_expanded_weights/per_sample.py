"""Functions of torch with expanded weights (layer 8): computed at once; the backward pass takes each sample by itself, by `torch.func.vmap`."""

from __future__ import annotations

import torchlike_autograd as torch

from .expanded_weights_impl import ExpandedWeight, implements_per_sample_grads
from .expanded_weights_utils import check_weights, forward_helper, is_batch_first, set_grad_sample_if_exists, standard_kwargs

F = torch.nn.functional
_CONVS = {F.conv1d: 3, F.conv2d: 4, F.conv3d: 5}
_RNNS = (torch.lstm, torch.gru, torch.rnn_tanh, torch.rnn_relu)


def _check(func, args):
    x = args[0]
    if func is F.linear and x.ndim < 2:
        raise RuntimeError(f"Input does not have a batch dimension. Expanded Weights expected input of at least rank 2, got of rank {x.ndim}")
    if func is F.embedding and x.ndim == 1:
        raise RuntimeError(f"Expanded Weights needs an input with a batch size, got a 1D tensor, {x}")
    if func is F.layer_norm and x.ndim <= len(args[1]):
        raise RuntimeError("Expanded Weights: Layer norm should not normalize over batch dimension for per sample gradient"
                           f"computations but got that normalized shape, {args[1]}, matched input shape.")
    if func in _CONVS and x.ndim != _CONVS[func]:
        raise RuntimeError(f"Expanded Weights only support convolution with batched input, got {func} with an"
                           f"unbatched input of dim {x.ndim}, expected input of dim {_CONVS[func]}")


def _again(kwargs):
    """Keywords for a second call: what the first one wrote, it does not write."""
    first = {**kwargs}
    if first.get("max_norm") is not None:
        first["max_norm"] = None
    if first.get("use_input_stats"):
        first["running_mean"] = first["running_var"] = None
    return first


@implements_per_sample_grads(F.linear)
@implements_per_sample_grads(F.conv1d)
@implements_per_sample_grads(F.conv2d)
@implements_per_sample_grads(F.conv3d)
@implements_per_sample_grads(F.embedding)
@implements_per_sample_grads(F.layer_norm)
@implements_per_sample_grads(F.group_norm)
@implements_per_sample_grads(F.instance_norm)
class PerSample(torch.autograd.Function):
    """Samples along dim 0 of the first argument and of the result."""

    @staticmethod
    def forward(ctx, names, func, *values):
        args, kwargs = standard_kwargs(names, values)
        _check(func, args)
        out = forward_helper(func, args, kwargs)
        ctx.names, ctx.func, ctx.values, ctx.dim = names, func, values, 0 if is_batch_first(values) else 1
        return out

    @staticmethod
    def backward(ctx, grad):
        x, dim = ctx.values[0], ctx.dim
        weights = [i for i, v in enumerate(ctx.values) if isinstance(v, ExpandedWeight)]
        whole, wants = tuple(ctx.values[i].orig_weight.detach() for i in weights), x.requires_grad

        def one(x, grad):
            def run(*given):
                values = [*ctx.values]
                values[0] = (given[-1] if wants else x).unsqueeze(dim)
                for i, w in zip(weights, given):
                    values[i] = w
                args, kwargs = standard_kwargs(ctx.names, values)
                return ctx.func(*args, **_again(kwargs)).squeeze(dim)

            return torch.func.vjp(run, *whole, *([x] if wants else []))[1](grad)

        found = torch.func.vmap(one, in_dims=dim)(x.detach(), grad)
        for i, g in zip(weights, found):
            set_grad_sample_if_exists(ctx.values[i], lambda _, g=g: g)
        grads = [None] * len(ctx.values)
        if wants:
            grads[0] = found[-1].movedim(0, dim)
        return None, None, *grads


class _Spread(torch.autograd.Function):
    """A weight once for each sample; its backward pass keeps what arrives for each, and gives nothing on."""

    @staticmethod
    def forward(ctx, weight, held, size):
        ctx.held = held
        return weight.expand(size, *weight.shape)

    @staticmethod
    def backward(ctx, grad):
        set_grad_sample_if_exists(ctx.held[0], lambda _: grad.clone())
        return None, None, None


class Recurrent:
    """Recurrent layers: each sample goes through them by itself, with weights of its own."""

    @staticmethod
    def apply(names, func, *values):
        """(output, last states), for (input, states, weights, ..., batch_first) or (packed input, batch sizes, states, weights, ...)."""
        args, kwargs = standard_kwargs(names, values)
        if isinstance(args[3], (list, tuple)):
            return _packed(func, *args, **kwargs)
        x, hx, weights, *settings, batch_first = args
        dim = 0 if batch_first else 1
        lstm = isinstance(hx, (list, tuple))

        def one(x, hx, weights):
            out = func(x.unsqueeze(dim), _each(hx, lambda h: h.unsqueeze(1)), list(weights), *settings, batch_first, **kwargs)
            return (out[0].squeeze(dim), *(h.squeeze(1) for h in out[1:]))

        own = _spread(weights, x.shape[dim])
        states = tuple(hx) if lstm else hx
        return torch.func.vmap(one, in_dims=(dim, 1, 0), out_dims=(dim, *(1,) * (2 if lstm else 1)), randomness="different")(x, states, own)


for _f in _RNNS:
    implements_per_sample_grads(_f)(Recurrent)


def _each(hx, f):
    return tuple(map(f, hx)) if isinstance(hx, (list, tuple)) else f(hx)


def _spread(weights, size, smaller=False):
    expanded = [w for w in weights if isinstance(w, ExpandedWeight)]
    for w in expanded:
        w.set_allow_smaller_batches(smaller)
    check_weights(expanded, lambda w: size)
    return tuple(_Spread.apply(w.orig_weight, (w,), size) if isinstance(w, ExpandedWeight) else w.expand(size, *w.shape) for w in weights)


def _packed(func, data, batch_sizes, hx, weights, *settings, **kwargs):
    """Sequences of several lengths, one after the other."""
    sizes = batch_sizes.tolist()
    own = _spread(weights, sizes[0], smaller=True)
    starts = [sum(sizes[:t]) for t in range(len(sizes))]
    rows = [[starts[t] + i for t, n in enumerate(sizes) if n > i] for i in range(sizes[0])]
    found = [func(data[part].unsqueeze(1), _each(hx, lambda h, i=i: h[:, i:i + 1]), [w[i] for w in own], *settings, False, **kwargs)
             for i, part in enumerate(rows)]
    back = torch.tensor([r for part in rows for r in part]).argsort()
    out, *last = ([part[k] for part in found] for k in range(len(found[0])))
    return (torch.cat([o.squeeze(1) for o in out])[back], *(torch.cat(h, 1) for h in last))
