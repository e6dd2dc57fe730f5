"""torch.distributed.tensor (layer 9): tensors spread over a mesh of devices.

A DTensor here is any Tensor whose values are spread (`isinstance(t, DTensor)` asks for that), and every operator takes it.  How results are spread is XLA's
choice, except for gradients and the next values of leaves, which are spread as the leaf is; `placements` looks at it, so it runs what is pending.  Differs from
torch: sums over devices are complete, so that a tensor placed as `Partial` is one that every device has all of, and `d.sum().placements` says
Replicate(); a dim that the devices do not divide lies on all of them whole (with a warning; `placements` says how it lies), and one process sees all devices:
`to_local()` is what the first device of this process holds, and `from_local` of a part needs one device a process.  torch.save writes all values of a DTensor
and how it lies; load places it so again where those devices are there, otherwise it is a plain tensor of all values (a warning says so), as it is for
PyTorch.  load_state_dict spreads plain tensors as the parameter is.  The class itself is Tensor (`type(t) is DTensor` is False), shapes that depend on
data (`nonzero`) are plain, and `numpy()` and `tolist()` give all values.  Tensors that `interop.shard` spreads count as instances too, but plain tensors may
meet them; so do the outputs of parallel styles with `use_local_output`.
"""

from __future__ import annotations

import math

import jax
import numpy as np
from jax.sharding import NamedSharding, PartitionSpec

from ... import interop
from ..._core import devices
from ..._core import publish as _publish
from ..._core.placed import target as on_all
from ..._core.printing import on_spread
from ..._core.record import data, record_op, thread
from ..._core.saying import warn
from ..._core.spread import spread_value
from ..._ops.registry import OPS
from ..._ops.spec import spec_of
from ..._tensor import Tensor, TensorMeta, wrap
from ...nn.parameter import Parameter
from ..device_mesh import DeviceMesh

__all__ = ["DTensor", "Partial", "Placement", "Replicate", "Shard", "distribute_module", "distribute_tensor", "empty", "full", "ones", "rand", "randn", "zeros"]


class Placement:
    """How a tensor lies along one dim of a mesh."""

    def is_shard(self, dim=None):
        """Whether it is split (along `dim` of the tensor)."""
        return False

    def is_replicate(self):
        """Whether every device has all of it."""
        return False

    def is_partial(self, reduce_op=None):
        """Whether devices hold terms of a sum."""
        return False


class Shard(Placement):
    """Split along a dim of the tensor."""

    def __init__(self, dim):
        self.dim = dim

    def is_shard(self, dim=None):
        return dim is None or dim == self.dim

    def __eq__(self, other):
        return isinstance(other, Shard) and self.dim == other.dim

    def __hash__(self):
        return hash(("shard", self.dim))

    def __repr__(self):
        return f"Shard(dim={self.dim})"

    def __str__(self):
        return f"S({self.dim})"


class Replicate(Placement):
    """All of it on every device."""

    def is_replicate(self):
        return True

    def __eq__(self, other):
        return isinstance(other, Replicate)

    def __hash__(self):
        return hash("replicate")

    def __repr__(self):
        return "Replicate()"

    def __str__(self):
        return "R"


class Partial(Placement):
    """Terms of a sum.  Here sums are complete at once: what is placed so is on every device, and results never are."""

    def __init__(self, reduce_op="sum"):
        self.reduce_op = reduce_op

    def is_partial(self, reduce_op=None):
        return reduce_op is None or reduce_op == self.reduce_op

    def __eq__(self, other):
        return isinstance(other, Partial) and self.reduce_op == other.reduce_op

    def __hash__(self):
        return hash(("partial", self.reduce_op))

    def __repr__(self):
        return f"Partial({self.reduce_op})"

    def __str__(self):
        return f"P({self.reduce_op})"


class _DTensorMeta(TensorMeta):
    def __instancecheck__(cls, instance):
        return isinstance(instance, Tensor) and "@" in instance._tl_v.aval.device


class DTensor(Tensor, metaclass=_DTensorMeta):
    """The class that spread tensors count as instances of; `distribute_tensor` makes them."""

    def __new__(cls, *args, **kwargs):
        raise NotImplementedError("DTensor(...): use distribute_tensor")

    @staticmethod
    def from_local(local_tensor, device_mesh=None, placements=None, *, run_check=False, shape=None, stride=None, grad_placements=None):
        """The tensor of which this process has a part; differentiable where every device has all of it.

        NotImplementedError where this process has several devices of the mesh and the tensor would be the part of one of them.
        """
        if device_mesh is None:
            raise NotImplementedError("DTensor.from_local without a device_mesh")
        placements = [Replicate() for _ in range(device_mesh.ndim)] if placements is None else list(placements)
        if grad_placements is not None or shape is not None or stride is not None:
            raise NotImplementedError("DTensor.from_local(grad_placements=..., shape=..., stride=...)")
        if all(p.is_replicate() for p in placements):
            return placed(local_tensor, device_mesh, placements)
        return _of_parts(local_tensor, device_mesh, placements)


def _spec(mesh, placements, shape):
    """The jax PartitionSpec of placements of this shape.

    JAX splits in equal parts only: along a dim whose size the devices do not divide, every device has all of it, and a warning says so.
    """
    ndim = len(shape)
    if len(placements) != mesh.ndim:
        raise ValueError(f"`placements` must have the same length as `device_mesh.ndim`! Found placements length: {len(placements)}, "
                         f"and device_mesh.ndim: {mesh.ndim}.")
    axes = [[] for _ in range(ndim)]
    for name, p in zip(mesh.jax_mesh.axis_names, placements):
        if p.is_shard():
            if not -ndim <= p.dim < ndim:
                raise IndexError(f"Dimension out of range (expected to be in range of [{-ndim}, {ndim - 1}], but got {p.dim})")
            axes[p.dim].append(name)
    return PartitionSpec(*(_dividing(mesh, names, n) or None for names, n in zip(axes, shape)))


def _dividing(mesh, names, size):
    """Those of the mesh axes along a dim that together divide its size."""
    kept, parts = [], 1
    for name in names:
        wanted = parts * mesh.jax_mesh.shape[name]
        if size % wanted == 0:
            parts = wanted
            kept.append(name)
        else:
            warn(f"a dim of {size} elements does not split in {wanted} equal parts, and JAX splits in equal parts only: along the mesh's {name} every device "
                 "has all of it")
    return tuple(kept)


def _lying(mesh, spec):
    """The placements that a PartitionSpec makes."""
    where = {name: i for i, names in enumerate(spec) for name in _names(names)}
    return tuple(Shard(where[n]) if n in where else Replicate() for n in mesh.jax_mesh.axis_names)


def _of_parts(local, mesh, placements):
    """The whole of which each process has the part of its one device; along dims that are `Partial` the sum of all."""
    devices_here = [d for d in mesh.jax_mesh.devices.flat if d.process_index == jax.process_index()]
    if len(devices_here) != 1:
        raise NotImplementedError(f"DTensor.from_local: this process sees {len(devices_here)} devices of the mesh, and the tensor would be the part of one; "
                                  "give the whole tensor to distribute_tensor")
    if local.requires_grad and thread.state.grad:
        raise NotImplementedError("DTensor.from_local of a part that requires grad: detach() it")
    if any(p.is_partial() and p.reduce_op not in ("sum", "avg") for p in placements):
        raise NotImplementedError(f"DTensor.from_local with {placements}")
    partial = [i for i, p in enumerate(placements) if p.is_partial()]
    own = [Shard(p.dim % local.ndim) if p.is_shard() else p for p in placements]
    lined = [Shard(i) if (i := partial.index(k) if k in partial else None) is not None else Shard(p.dim + len(partial)) if p.is_shard() else p
             for k, p in enumerate(own)]
    part = local.detach().reshape(*[1] * len(partial), *local.shape)
    counts = [math.prod(n for n, p in zip(mesh.shape, lined) if p.is_shard(d)) for d in range(part.ndim)]
    spec = _spec(mesh, lined, [n * k for n, k in zip(part.shape, counts)])
    sharding = interop.trimmed(NamedSharding(mesh.jax_mesh, spec))
    with jax.enable_x64(True):
        here = jax.device_put(interop.to_jax(part), devices_here[0])
        whole = jax.make_array_from_single_device_arrays(tuple(n * k for n, k in zip(part.shape, counts)), sharding, [here])
    out = wrap(data(whole, local.dtype, device=devices.spread_key(mesh.jax_mesh.devices.flat, True)))
    for k in reversed(partial):
        out = out.sum(0) if placements[k].reduce_op == "sum" else out.mean(0)
    return out


def _names(entry):
    """The mesh axes of one entry of a PartitionSpec."""
    return entry if isinstance(entry, tuple) else () if entry is None else (entry,)


def _placements(sharding):
    """(mesh, placements) of a sharding."""
    if not isinstance(sharding, NamedSharding):
        sharding = (NamedSharding(jax.sharding.Mesh(sorted(sharding.device_set, key=lambda d: d.id), ("dim0",)), PartitionSpec())
                    if sharding.is_fully_replicated else _refuse(sharding))
    mesh = DeviceMesh.from_jax(sharding.mesh)
    return mesh, _lying(mesh, sharding.spec)


def _refuse(sharding):
    raise NotImplementedError(f"placements of {sharding}")


def distribute_tensor(tensor, device_mesh=None, placements=None, *, src_data_rank=0):
    """A leaf tensor spread over a mesh; without placements all of it on every device."""
    if device_mesh is None:
        raise NotImplementedError("distribute_tensor without a device_mesh")
    placements = [Replicate() for _ in range(device_mesh.ndim)] if placements is None else list(placements)
    if not tensor.is_leaf:
        raise RuntimeError("`distribute_tensor` should be used to distribute leaf tensors! but found non-leaf tensor!")
    placements = [Shard(p.dim + tensor.ndim) if p.is_shard() and -tensor.ndim <= p.dim < 0 else Replicate() if p.is_partial() else p for p in placements]
    spec = _spec(device_mesh, placements, tensor.shape)
    if isinstance(tensor, DTensor):
        placements = _lying(device_mesh, spec)
        mesh, own = tensor.device_mesh, tensor.placements
        if mesh != device_mesh:
            raise ValueError(f"Cannot distribute a DTensor with device mesh {mesh} to a different device mesh {device_mesh}.")
        if own != tuple(placements):
            raise ValueError(f"Cannot distribute a DTensor with placements {own} to a different placements {placements}. do you want to call "
                             "`redistribute` instead?")
        return tensor
    there = interop.to_jax(interop.shard(tensor.detach(), NamedSharding(device_mesh.jax_mesh, spec)))
    return wrap(data(there, tensor.dtype, device=devices.spread_key(device_mesh.jax_mesh.devices.flat, True))).requires_grad_(tensor.requires_grad)


def placed_again(tensor, kind, grid, names, dims):
    """A tensor that was read from a file, as it lay when it was written; where those devices are not there, as it is, with a warning."""
    if np.asarray(grid).size > len(devices.devices_of(kind, True)):
        warn(f"a tensor was saved over {np.asarray(grid).size} devices of type {kind}, and {len(devices.devices_of(kind, True))} are here: it is loaded as a "
             "plain tensor of all its values")
        return tensor
    mesh = DeviceMesh(kind, np.asarray(grid, np.int32), mesh_dim_names=names)
    return distribute_tensor(tensor, mesh, [Replicate() if dim is None else Shard(dim) for dim in dims])


def distribute_module(module, device_mesh=None, partition_fn=None, input_fn=None, output_fn=None):
    """Spread the parameters and buffers of a module: those that `partition_fn(name, submodule, mesh)` leaves alone go to every device; returns the module."""
    for name, part in module.named_modules():
        if partition_fn is not None:
            partition_fn(name, part, device_mesh)
        for key, p in part._parameters.items():
            if p is not None and not isinstance(p, DTensor):
                setattr(part, key, Parameter(distribute_tensor(p.data, device_mesh), p.requires_grad))  # which recurrent layers hear of
        for key, b in part._buffers.items():
            if b is not None and not isinstance(b, DTensor):
                part._buffers[key] = distribute_tensor(b, device_mesh)
    if input_fn is not None:
        module.register_forward_pre_hook(lambda m, inputs: input_fn(m, inputs, device_mesh))
    if output_fn is not None:
        module.register_forward_hook(lambda m, inputs, outputs: output_fn(m, outputs, device_mesh))
    return module


# What a spread tensor has more than others

def redistribute(self, device_mesh=None, placements=None, *, async_op=False, forward_dtype=None, backward_dtype=None):
    """The same values placed otherwise; differentiable."""
    if placements is None:
        raise RuntimeError("placements is needed for redistribute!")
    mesh = self.device_mesh if device_mesh is None else device_mesh
    for i, new in enumerate(placements):
        if new.is_partial():
            old = self.placements[i]
            raise RuntimeError(f"Can not redistribute from {old} to {new}, redistributing to Partial is for internal use only!")
    return placed(self, mesh, placements)


def spec_of_placements(t, mesh, placements):
    """The PartitionSpec of a tensor's placements."""
    return _spec(mesh, [Shard(p.dim + t.ndim) if p.is_shard() and p.dim < 0 else p for p in placements], t.shape)


def placed(t, mesh, placements, own=True):
    """A tensor's values spread over a mesh; differentiable.  own: as a DTensor, not as a tensor that plain ones may meet."""
    spec = spec_of_placements(t, mesh, placements)
    return wrap(spread_value(t._tl_value(), interop.trimmed(NamedSharding(mesh.jax_mesh, spec)), own=own))


def full_tensor(self, *, grad_placements=None):
    """All of the values, on the first device of this process; differentiable."""
    if grad_placements is not None:
        raise NotImplementedError("full_tensor(grad_placements=...)")
    v = self._tl_value()
    whole = spread_value(v, on_all(v.aval.device))
    here = next(d for d in devices.members_of(v.aval.device) if d.process_index == jax.process_index())
    return wrap(record_op(spec_of(OPS["_to_device"], (("device", devices.key_of_device(here)),), ("T",)), [whole])[0])


def to_local(self, *, grad_placements=None):
    """What the first device of this process holds; differentiable where that is everything (torch differentiates through parts too)."""
    if self.requires_grad and thread.state.grad:
        if all(p.is_replicate() for p in self.placements):
            return full_tensor(self)
        raise NotImplementedError("to_local() of a tensor that requires grad: detach() it, or ask for full_tensor()")
    return interop.from_jax(interop.to_jax(self).addressable_data(0))


class _OnlySpread:
    """An attribute of tensors that are spread; others may have one of their own of that name."""

    def __init__(self, name, f):
        self.name, self.f = name, f

    def __get__(self, t, owner=None):
        if t is None:
            return self
        if "@" not in t._tl_v.aval.device:
            raise AttributeError(f"'{type(t).__name__}' object has no attribute '{self.name}'")
        return self.f(t)


for _name, _f in {"redistribute": redistribute, "full_tensor": full_tensor, "to_local": to_local}.items():
    setattr(Tensor, _name, _OnlySpread(_name, _f.__get__))
Tensor.placements = _OnlySpread("placements", lambda self: _placements(interop.sharding_of(self))[1])
Tensor.device_mesh = _OnlySpread("device_mesh", lambda self: _placements(interop.sharding_of(self))[0])


_SPREAD_ONLY = frozenset(["redistribute", "full_tensor", "to_local", "placements", "device_mesh"])


def _listed(self):
    """The attributes that `dir` shows: of a tensor that is spread, these too."""
    return [n for n in _all_listed(self) if n not in _SPREAD_ONLY or "@" in self._tl_v.aval.device]


_all_listed, Tensor.__dir__ = Tensor.__dir__, _listed


@on_spread
def _text(t):
    """torch's text of a DTensor."""
    local = to_local(t.detach())
    if t.requires_grad and t.is_leaf and not isinstance(t, Parameter):
        local.requires_grad_()
    shown = repr(local) if local.ndim or local.requires_grad else local.item()
    return f"DTensor(local_tensor={shown}, device_mesh={t.device_mesh}, placements={t.placements})"


def _factory(name, first=()):
    def make(*args, requires_grad=False, dtype=None, layout=None, device_mesh=None, placements=None):
        import torchlike_autograd as torch

        t = distribute_tensor(getattr(torch, name)(*args, dtype=dtype), device_mesh, placements)
        return t.requires_grad_() if requires_grad else t

    make.__name__ = name
    make.__doc__ = f"torch.{name} spread over a mesh."
    return make


zeros, ones, empty, full, rand, randn = map(_factory, ("zeros", "ones", "empty", "full", "rand", "randn"))
__getattr__ = _publish.missing("torch.distributed.tensor")
