"""`torch.device` and JAX's devices (layer 1)."""

from __future__ import annotations

import re

from .shown import Shown

_TYPES = ("cpu", "cuda", "ipu", "xpu", "mkldnn", "opengl", "opencl", "ideep", "hip", "ve", "fpga", "maia", "xla", "lazy", "vulkan", "mps",
          "meta", "hpu", "mtia", "privateuseone", "tpu", "gpu")


class device(metaclass=Shown):
    """A device: `type` ("cpu", "cuda", "tpu", "meta") and `index` (None means the default one)."""

    __slots__ = ("index", "type")

    def __new__(cls, type="cpu", index=None):
        if isinstance(type, device):
            return type
        self = object.__new__(cls)
        if isinstance(type, int):
            type, index = "cuda", type
        if not isinstance(type, str):
            raise TypeError(f"device(): argument 'type' must be str, not {type.__class__.__name__}")
        m = re.fullmatch(r"([a-z]+)(?::(\d+))?", type)
        if not m:
            raise RuntimeError(f"Invalid device string: '{type}'")
        if m[1] not in _TYPES:
            raise RuntimeError(f"Expected one of {', '.join(_TYPES[:-2])} device type at start of device string: {m[1]}")
        self.type = m[1]
        self.index = int(m[2]) if m[2] is not None else index
        return self

    def __repr__(self):
        return f"device(type='{self.type}')" if self.index is None else f"device(type='{self.type}', index={self.index})"

    def __str__(self):
        return self.type if self.index is None else f"{self.type}:{self.index}"

    def __eq__(self, other):
        return isinstance(other, device) and (self.type, self.index) == (other.type, other.index)

    def __hash__(self):
        return hash((self.type, self.index))

    def __reduce__(self):
        return device, (str(self),)

    def __deepcopy__(self, memo):
        return self

    def __enter__(self):
        from . import config

        _stack.append(config.get("default_device"))
        config.set("default_device", self)
        return self

    def __exit__(self, *exc):
        from . import config

        config.set("default_device", _stack.pop())


_stack: list = []
CPU = device("cpu")


def key_of(d) -> str:
    """The string that types carry: "cpu", "cuda:0", ...; raises torch's error when the device is not there."""
    if d is None:
        from . import config

        d = config.get("default_device")
        return "cpu" if d is None else key_of(d)
    d = device(d)
    if d.type == "cpu":
        return "cpu"
    jax_device(str(d) if d.index is not None else f"{d.type}:0")
    return str(d) if d.index is not None else f"{d.type}:0"


def of_key(key) -> device:
    """The device object of a type's key."""
    return CPU if key in ("cpu", "number") else device(key)


def jax_device(key):
    """The jax.Device of a key."""
    import jax

    kind, _, index = key.partition(":")
    if kind == "cpu":
        return jax.devices("cpu")[0]
    try:
        found = jax.devices({"cuda": "cuda", "gpu": "gpu", "tpu": "tpu"}.get(kind, kind))
    except RuntimeError:
        found = []
    i = int(index or 0)
    if i >= len(found):
        if kind == "cuda":
            raise AssertionError("Torch not compiled with CUDA enabled")
        raise RuntimeError(f"no {kind} device is there for JAX: {key}")
    return found[i]
