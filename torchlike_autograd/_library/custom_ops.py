"""torch._library.custom_ops (layer 8): operators made by `custom_op`."""

from __future__ import annotations

import contextlib
import inspect
import logging

from .._settings import Tag
from .infer_schema import infer_schema
from .operators import Operator, put
from .schemas import parse

__all__ = ["CustomOpDef", "custom_op"]
_log = logging.getLogger("torch._library.custom_ops")


class CustomOpDef:
    """An operator made by `custom_op`, callable."""

    def __init__(self, namespace, name, schema, fn, tags=None):
        self._namespace, self._name, self._init_fn = namespace, name, fn
        parsed, tags = parse(name + schema, namespace), tags or ()
        if Tag.out not in (tags if isinstance(tags, (list, tuple)) else [tags]):
            parsed.refuse_keyword_tensors("custom_op", f"Please make your tensors not kwarg-only. Got: {name}{schema}")
        self._operator = put(Operator(parsed, self, tags))
        self.__name__, self.__doc__ = name, fn.__doc__
        self.__signature__ = inspect.signature(fn)

    @property
    def _qualname(self):
        return f"{self._namespace}::{self._name}"

    @property
    def _opoverload(self):
        from .. import ops  # cycle: torch.ops finds these

        return getattr(getattr(getattr(ops, self._namespace), self._name.partition(".")[0]), self._operator.schema.overload_name or "default")

    def __repr__(self):
        return f"<CustomOpDef({self._qualname})>"

    def __call__(self, /, *args, **kwargs):
        return self._operator(*args, **kwargs)

    def register_autograd(self, backward, /, *, setup_context=None):
        """`backward(ctx, *grads)` gives the gradients of all arguments; `setup_context(ctx, inputs, output)` keeps what it needs."""
        schema = self._operator.schema
        if schema.is_mutable or any(r.alias_info for r in schema.returns):
            raise RuntimeError(f"Cannot register autograd formula for non-functional operator {self} with schema {schema}. Please create a functional operator "
                               "and register an autograd formula for that.")
        self._operator.backward, self._operator.setup = backward, setup_context

    def register_fake(self, fn, /):
        """What gives shapes without data, for tensors of device "meta"."""
        self._operator.fake = fn
        return fn

    def register_vmap(self, func=None):
        """``func(info, in_dims, *args)`` gives (results, their mapped dims) under torch.vmap."""
        if func is None:
            return self.register_vmap
        self._operator.vmap = func
        return func

    def register_kernel(self, device_types, fn=None, /):
        """What computes it on some kinds of devices; None: on all."""
        if device_types is not None and not self._operator.schema.takes("Tensor"):
            if not any(a.kind == "Device" and a.name == "device" and not a.suffix for a in self._operator.schema.arguments):
                raise ValueError("Functions without tensor inputs are required to have a `device: torch.device` argument")
            self._operator.by_device = True

        def keep(f):
            for kind in [device_types] if device_types is None or isinstance(device_types, str) else device_types:
                self._operator.kernels["" if kind is None else kind.upper()] = f
            return f

        return keep if fn is None else keep(fn)

    def register_autocast(self, device_type, cast_inputs):
        """Cast floating-point arguments to a dtype where autocast is in force on a kind of device."""
        if device_type not in ("cpu", "cuda"):
            raise ValueError(f"Unknown device type: {device_type}")
        self._operator.casts[device_type] = cast_inputs

    def register_torch_dispatch(self, torch_dispatch_class, fn=None, /):
        """NotImplementedError: classes are not dispatched to here."""
        raise NotImplementedError("torch.library.CustomOpDef.register_torch_dispatch")

    @contextlib.contextmanager
    def set_kernel_enabled(self, device_type, enabled=True):
        """A region in which the kernel of one kind of device is off, and the one for all is taken."""
        off, kernels, act = self._operator.disabled, self._operator.kernels, "enable" if enabled else "disable"
        was_off = device_type in off
        if device_type.upper() not in kernels:
            _log.warning("Attempted to %s kernel for %s but no kernel was registered for this device type.", act, device_type)
        if was_off is not enabled:
            _log.warning("Attempted to %s kernel for %s%s but it was already %sd.", act, " " if enabled else "", device_type, act)  # as torch spells it
        off.discard(device_type) if enabled else off.add(device_type)
        try:
            yield
        finally:
            off.add(device_type) if was_off else off.discard(device_type)


def custom_op(name, fn=None, /, *, mutates_args, device_types=None, schema=None, tags=None):
    """A decorator (or a function of `fn`) that makes an operator ``torch.ops.namespace.name``."""
    def make(f):
        text = schema if schema is not None else infer_schema(f, mutates_args=mutates_args)
        namespace, opname = name.split("::")  # whose words are torch's for another form
        out = CustomOpDef(namespace, opname, text, f, tags)
        if schema is not None:
            _same_writes(out._operator.schema, mutates_args)
        out.register_kernel(device_types, f)
        return out

    return make if fn is None else make(fn)


def _same_writes(schema, mutates_args):
    expected = set(schema.written)
    if mutates_args != "unknown" and expected != set(mutates_args):
        raise ValueError(f"Attempted to create a custom op with `mutates_args={mutates_args}` and `schema={schema}. The schema suggests that the op mutates "
                         f"{expected}which is different from what was provided to us in `mutates_args`. Please make these consistent.")
