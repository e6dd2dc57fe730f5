"""torch.distributed.tensor.parallel (layer 9): plans that spread a module's parameters over a mesh, with what goes into it and comes out of it.

What differs from torch: one process sees all devices, so that a tensor is always the whole one.  What comes in as a plain tensor is placed as `input_layouts`
says, where torch takes it for the part of this rank; with `use_local_output` the result is still the whole one, spread as `output_layouts` says, where torch
gives this rank's part.  Modules that ask each other in columns and rows compute the same.
"""

from __future__ import annotations

import contextlib
from abc import ABC, abstractmethod
from fnmatch import fnmatch

from ..._core import publish as _publish
from ..._core.saying import warn
from ..._tensor import Tensor
from ...nn.modules.linear import Linear
from ...nn.modules.sparse import Embedding
from ...nn.parameter import Parameter
from . import DTensor, Placement, Replicate, Shard, distribute_module, distribute_tensor, placed, spec_of_placements

__all__ = ["ColwiseParallel", "ParallelStyle", "PrepareModuleInput", "PrepareModuleInputOutput", "PrepareModuleOutput", "RowwiseParallel", "SequenceParallel",
           "loss_parallel", "parallelize_module"]


class ParallelStyle(ABC):
    """How a module is spread."""

    src_data_rank = 0

    @abstractmethod
    def _apply(self, module, device_mesh):
        """Spread the module; returns it."""


def _moved(t, mesh, given, wanted, own=True):
    """A tensor placed as it is wanted; how a plain one is said to come is checked.  own: as a DTensor, not as one that plain tensors may meet.

    How a spread one lies is not looked at, which would run what is pending: XLA drops what changes nothing.
    """
    if not isinstance(t, DTensor) and tuple(given) != tuple(wanted):
        spec_of_placements(t, mesh, given)
    return placed(t, mesh, wanted, own)


class _OneInput(ParallelStyle):
    """A style of modules with one input and one output."""

    def _shown(self, names):
        return f"{type(self).__name__}({', '.join(f'{n}={getattr(self, n)}' for n in names)})"

    def _hooked(self, module, mesh, partition, wanted):
        return distribute_module(module, mesh, partition, lambda _, inputs, mesh: (_moved(inputs[0], mesh, self.input_layouts, wanted), *inputs[1:]),
                                 lambda _, output, mesh: _moved(output, mesh, self.output_layouts, self.output_layouts, not self.use_local_output))

    def __repr__(self):
        return self._shown(("input_layouts", "output_layouts", "use_local_output"))


def _spread(dims):
    """A partition function: the parameters of the named kinds along these dims (None: on every device)."""

    def partition(name, module, mesh):
        for key, p in list(module._parameters.items()):
            if p is not None:
                dim = dims.get(key)
                where = Replicate() if dim is None else Shard(dim)
                module.register_parameter(key, Parameter(distribute_tensor(p.data, mesh, [where]), p.requires_grad))

    return partition


class ColwiseParallel(_OneInput):
    """The outputs of a Linear, or the columns of an Embedding, in parts."""

    def __init__(self, *, input_layouts=None, output_layouts=None, use_local_output=True):
        self.input_layouts, self.output_layouts = (input_layouts or Replicate(),), (output_layouts or Shard(-1),)
        self.desired_input_layouts, self.use_local_output = (Replicate(),), use_local_output

    def _apply(self, module, device_mesh):
        if isinstance(module, Linear):
            partition = _spread({"weight": 0, "bias": 0})
        elif isinstance(module, Embedding):
            partition = _spread({"weight": 1})
        else:
            raise NotImplementedError("ColwiseParallel currently only support nn.Linear and nn.Embedding!")
        return self._hooked(module, device_mesh, partition, self.desired_input_layouts)


class RowwiseParallel(_OneInput):
    """The inputs of a Linear, or the rows of an Embedding, in parts."""

    def __init__(self, *, input_layouts=None, output_layouts=None, use_local_output=True):
        self.input_layouts, self.output_layouts = (input_layouts or Shard(-1),), (output_layouts or Replicate(),)
        self.use_local_output = use_local_output

    def _apply(self, module, device_mesh):
        if isinstance(module, Linear):
            partition, self.desired_input_layouts = _spread({"weight": 1}), (Shard(-1),)
        elif isinstance(module, Embedding):
            partition, self.desired_input_layouts = _spread({"weight": 0}), (Replicate(),)
        else:
            raise NotImplementedError("RowwiseParallel currently only support nn.Linear and nn.Embedding!")
        return self._hooked(module, device_mesh, partition, self.desired_input_layouts)


class SequenceParallel(_OneInput):
    """A module of which every device has all parameters, over parts of the sequence."""

    def __init__(self, *, sequence_dim=1, use_local_output=False):
        self.sequence_sharding, self.use_local_output = (Shard(sequence_dim),), use_local_output

    def _apply(self, module, device_mesh):
        where = self.sequence_sharding
        after = (lambda _, output, mesh: placed(output, mesh, where, False)) if self.use_local_output else None
        return distribute_module(module, device_mesh, _spread({}), lambda _, inputs, mesh: (_moved(inputs[0], mesh, where, where), *inputs[1:]), after)

    def __repr__(self):
        return f"SequenceParallel(sequence_dim={self.sequence_sharding[0].dim}, use_local_output={self.use_local_output})"


def _several(layouts):
    return (layouts,) if isinstance(layouts, Placement) else layouts


def _each(values, mesh, given, wanted, own):
    """Each of several values placed, those whose layout is None as they are."""
    return tuple(x if a is None or not isinstance(x, Tensor) else _moved(x, mesh, (a,), (b,), own) for x, a, b in zip(values, given, wanted))


class PrepareModuleInput(ParallelStyle):
    """What goes into a module, placed before it is called."""

    def __init__(self, *, input_layouts=None, desired_input_layouts=None, input_kwarg_layouts=None, desired_input_kwarg_layouts=None, use_local_output=False):
        self.input_layouts, self.desired_input_layouts = _several(input_layouts), _several(desired_input_layouts)
        self.use_local_output, self.with_kwargs = use_local_output, input_kwarg_layouts is not None
        self.input_kwarg_layouts, self.desired_input_kwarg_layouts = input_kwarg_layouts or {}, desired_input_kwarg_layouts or {}
        if self.with_kwargs and len(self.input_kwarg_layouts) != len(self.desired_input_kwarg_layouts):
            raise AssertionError("input_kwarg_layouts and desired_input_kwarg_layouts should have same length!")
        if self.input_layouts is not None:
            if self.desired_input_layouts is None:
                raise AssertionError("desired module inputs should not be None!")
            if len(self.input_layouts) != len(self.desired_input_layouts):
                raise AssertionError("input_layouts and desired_input_layouts should have same length!")

    def _apply(self, module, device_mesh):
        def before(_, args, kwargs):
            own = not self.use_local_output
            if self.input_layouts is not None:
                if len(args) != len(self.input_layouts):
                    raise ValueError("module inputs and input_layouts should have same length!")
                args = _each(args, device_mesh, self.input_layouts, self.desired_input_layouts, own)
            given = self.input_kwarg_layouts
            return args, {k: _each((x,), device_mesh, (given.get(k),), (self.desired_input_kwarg_layouts.get(k),), own)[0] for k, x in kwargs.items()}

        module.register_forward_pre_hook(before, with_kwargs=True)
        return module

    def __repr__(self):
        return (f"PrepareModuleInput(input_layouts={self.input_layouts}, desired_input_layouts={self.desired_input_layouts}, "
                f"input_kwarg_layouts={self.input_kwarg_layouts}, desired_input_kwarg_layouts={self.desired_input_kwarg_layouts}, "
                f"use_local_output={self.use_local_output})")


class PrepareModuleOutput(ParallelStyle):
    """What comes out of a module, placed afterwards."""

    def __init__(self, *, output_layouts, desired_output_layouts, use_local_output=True):
        self.output_layouts, self.desired_output_layouts = _several(output_layouts), _several(desired_output_layouts)
        self.use_local_output = use_local_output
        if len(self.output_layouts) != len(self.desired_output_layouts):
            raise AssertionError("output_layouts and desired_output_layouts should have same length!")

    def _apply(self, module, device_mesh):
        def after(_, args, output):
            several = output if isinstance(output, tuple) else (output,)
            if len(several) != len(self.output_layouts):
                raise ValueError("module outputs and output_layouts should have same length!")
            out = _each(several, device_mesh, self.output_layouts, self.desired_output_layouts, not self.use_local_output)
            return out if isinstance(output, tuple) else out[0]

        module.register_forward_hook(after)
        return module

    def __repr__(self):
        return (f"PrepareModuleOutput(output_layouts={self.output_layouts}, desired_output_layouts={self.desired_output_layouts}, "
                f"use_local_output={self.use_local_output})")


class PrepareModuleInputOutput(ParallelStyle):
    """Both."""

    def __init__(self, *, input_layouts=None, desired_input_layouts=None, input_kwarg_layouts=None, desired_input_kwarg_layouts=None, use_local_input=False,
                 output_layouts, desired_output_layouts, use_local_output=True):
        self.prepare_module_input = PrepareModuleInput(
            input_layouts=input_layouts, desired_input_layouts=desired_input_layouts, input_kwarg_layouts=input_kwarg_layouts,
            desired_input_kwarg_layouts=desired_input_kwarg_layouts, use_local_output=use_local_input)
        self.prepare_module_output = PrepareModuleOutput(
            output_layouts=output_layouts, desired_output_layouts=desired_output_layouts, use_local_output=use_local_output)

    def _apply(self, module, device_mesh):
        self.prepare_module_input._apply(module, device_mesh)
        return self.prepare_module_output._apply(module, device_mesh)

    def __repr__(self):
        i, o = self.prepare_module_input, self.prepare_module_output
        return (f"PrepareModuleInputOutput(input_layouts={i.input_layouts}, desired_input_layouts={i.desired_input_layouts}, "
                f"input_kwarg_layouts={i.input_kwarg_layouts}, desired_input_kwarg_layouts={i.desired_input_kwarg_layouts}, "
                f"use_local_input={i.use_local_output}, output_layouts={o.output_layouts}, desired_output_layouts={o.desired_output_layouts}, "
                f"use_local_output={o.use_local_output})")


def parallelize_module(module, device_mesh=None, parallelize_plan=None, *, src_data_rank=0):
    """Spread a module as a style says, or its parts as a {pattern of names: style} says; returns the module."""
    if device_mesh is None:
        raise NotImplementedError("parallelize_module without a device_mesh")
    if parallelize_plan is None:
        warn("No parallelize_plan is provided and auto-parallel is not supported at the moment, so this parallelize_module call will do nothing.")
        return module
    if isinstance(parallelize_plan, ParallelStyle):
        parallelize_plan.src_data_rank = src_data_rank
        return parallelize_plan._apply(module, device_mesh)
    if not isinstance(parallelize_plan, dict):
        raise TypeError(f"Expect Union[ParallelStyle, Dict[str, ParallelStyle]] for parallelize_plan, {type(parallelize_plan)} found!")
    for path, style in parallelize_plan.items():
        parts = [module] if not path else _matching(module, path.split("."), path)
        for part in parts:
            parallelize_module(part, device_mesh, style, src_data_rank=src_data_rank)
    return module


def _matching(module, tokens, path):
    """The submodules whose names fit the tokens of a pattern, one after the other."""
    found = [m for name, m in module.named_children() if fnmatch(name, tokens[0])]
    if not found:
        warn(f"Parallelize plan key '{path}' could not be resolved: no submodule matching token '{tokens[0]}' in module {module}, skipping this plan entry.")
    return found if len(tokens) == 1 else [m for part in found for m in _matching(part, tokens[1:], path)]


@contextlib.contextmanager
def loss_parallel():
    """Losses of logits that are split over classes: they need no context here, XLA partitions them."""
    yield


__getattr__ = _publish.missing("torch.distributed.tensor.parallel")
