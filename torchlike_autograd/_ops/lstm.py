"""The loop of an LSTM over time (layer 2), with the derivative that a person would write.

Differentiated by JAX as it stands, the loop would add up the gradient of the recurrent weights a step at a time, and keep a dozen arrays to read back in every
step.  Here all that does not pass from one time to the next is computed for all times at once, before the loop (the slopes of the gates) or after it (the
gradient of the weights, one product); what a step writes and reads lies in one array, so that XLA makes one kernel of it.
"""

from __future__ import annotations

from functools import partial

import jax
import jax.numpy as jnp

from .._core import precision
from .tracing import scan


def product(x, weight):
    """x times the transposed weight, over the last dim."""
    return jnp.einsum("...i,gi->...g", x, weight, precision=precision.of("rnn"))


def _kept(here, new, old):
    return new if here is None else jnp.where(here[:, None], new, old)


def _run(gates, h, c, w_hh, w_hr, present, reverse):
    """((last h, last c), (h, c and the four gates at all times))."""
    back = w_hh.T

    def step(state, at_time):
        own, here = at_time
        before, memory = state
        i, f, g, o = jnp.split(own + jnp.matmul(before, back, precision=precision.of("rnn")), 4, -1)
        i, f, g, o = jax.nn.sigmoid(i), jax.nn.sigmoid(f), jnp.tanh(g), jax.nn.sigmoid(o)
        cells = f * memory + i * g
        new = o * jnp.tanh(cells)
        new = _kept(here, new if w_hr is None else product(new, w_hr), before)
        kept = _kept(here, cells, memory)
        return (new, kept), jnp.concatenate([new, kept, cells, i, f, g, o] if here is not None else [new, cells, i, f, g, o], -1)

    return scan(step, (h, c), (gates, present), reverse=reverse)


def _parts(packed, h, c, present):
    """(h, c that goes on, c that was computed, and the gates) out of what the steps wrote."""
    widths = [h.shape[-1]] + [c.shape[-1]] * (5 if present is None else 6)
    parts = jnp.split(packed, [sum(widths[:k]) for k in range(1, len(widths))], -1)
    return (parts[0], parts[1], *parts[1:]) if present is None else parts


@partial(jax.custom_jvp, nondiff_argnums=(6,))
def steps(gates, h, c, w_hh, w_hr, present, reverse):
    """(h at all times, last h, last c) of what the input gives to the gates (T, N, 4 K), h (N, P) and c (N, K).

    Of a time and a sequence that is not `present` (T, N) the state goes on as it was.
    """
    (last, memory), packed = _run(gates, h, c, w_hh, w_hr, present, reverse)
    return jax.lax.slice_in_dim(packed, 0, h.shape[-1], axis=-1), last, memory


def _before(states, first, reverse):
    others = jax.lax.slice_in_dim(states, 1, None) if reverse else jax.lax.slice_in_dim(states, 0, -1)  # [1:] of a symbolic size would be a gather
    return jnp.concatenate([others, first[None]] if reverse else [first[None], others])


def _slopes(c, cells, i, f, g, o):
    """(how c depends on each gate's sum and on the c before, and h on its gate's sum and on c; h).

    Arrays of their own: a slice of one array in every step would be a loop of its own to JAX, which takes apart what depends on tangents and what does not.
    """
    tanh = jnp.tanh(cells)
    return (g * i * (1 - i), c * f * (1 - f), i * (1 - g * g), tanh * o * (1 - o), f, o * (1 - tanh * tanh)), o * tanh


@steps.defjvp
def _(reverse, primals, tangents):
    _, h, c, w_hh, w_hr, present = primals
    d_gates, d_h, d_c, d_w_hh, d_w_hr, _ = tangents
    (last, memory), packed = _run(*primals, reverse)
    states, kept, cells, *acts = _parts(packed, h, c, present)
    slopes, new = _slopes(_before(kept, c, reverse), cells, *acts)
    d_gates = d_gates + product(_before(states, h, reverse), d_w_hh)
    d_out = None if w_hr is None else product(new, d_w_hr)

    def step(state, at_time):
        d_h, d_c = state
        own, (by_i, by_f, by_g, by_o, by_c, out_by_c), d_out, here = at_time
        i, f, g, o = jnp.split(own + product(d_h, w_hh), 4, -1)
        d_cells = by_c * d_c + by_i * i + by_f * f + by_g * g
        d_new = by_o * o + out_by_c * d_cells
        d_new = d_new if w_hr is None else product(d_new, w_hr) + d_out
        d_new, d_cells = _kept(here, d_new, d_h), _kept(here, d_cells, d_c)
        return (d_new, d_cells), d_new

    (d_last, d_memory), d_states = scan(step, (d_h, d_c), (d_gates, slopes, d_out, present), reverse=reverse)
    return (states, last, memory), (d_states, d_last, d_memory)
