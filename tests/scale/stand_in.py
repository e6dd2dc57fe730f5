"""A second host device in the place of a GPU: imported before the package, it makes JAX list one as "cuda", so that devices can be tested without one."""

import jax

_all, _local = jax.devices, jax.local_devices


def _of(kind, otherwise):
    return _all("cpu")[1:2] if kind in ("cuda", "gpu") else _all("cpu")[:1] if kind == "cpu" else otherwise()


def _devices(backend=None):
    return _of(backend, lambda: _all(backend))


def _local_devices(process_index=None, backend=None):
    return _of(backend, lambda: _local(process_index, backend))


jax.devices, jax.local_devices = _devices, _local_devices

from torchlike_autograd._core import devices, placed  # noqa: E402 (after JAX's lists)

devices.type_of = lambda d: "cuda" if d.id == 1 else "cpu"

_variant = placed.Piece._variant


def _checked(piece, words, n, args, count, program):
    """Nothing goes into a piece that lies elsewhere: a host device takes what is on another one where a GPU does not."""
    there = devices.jax_device(piece.key) if "@" not in piece.key else None
    astray = [a for a in args if there is not None and isinstance(a, jax.Array) and a.sharding.device_set != {there}]
    if astray:
        raise AssertionError(f"{astray[0].sharding} of {program} goes into a piece for {piece.key}")
    return _variant(piece, words, n, args, count, program)


placed.Piece._variant = _checked
