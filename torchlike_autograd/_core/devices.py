"""`torch.device` and JAX's devices (layer 1).

A type carries the key of where its values live: "cpu"; "cuda:0", "tpu:3", "cpu:1" for one device; "cpu@0" for values spread over several devices (the
number stands for their list, see `spread_key`), "cpu@0!" where they came there as a DTensor; "traced" for values that JAX is tracing; "meta" for values that
nobody asks for.  "cpu" values and spread or traced ones may meet in one operator, others may not; beside a DTensor's, numbers may (see mixed.py).
"""

from __future__ import annotations

import re

from .nothing import not_expected
from .numeric import say_once
from .shown import Shown

_TYPES = ("cpu", "cuda", "ipu", "xpu", "mkldnn", "opengl", "opencl", "ideep", "hip", "ve", "fpga", "maia", "xla", "lazy", "vulkan", "mps",
          "meta", "hpu", "mtia", "privateuseone", "tpu", "gpu")


_NOTHING = object()


def _given(type, index, given):
    """The one argument by the name `device`; torch's errors for others."""
    unknown = next((name for name in given if name != "device" or type is not _NOTHING), None)
    if unknown is not None:
        raise TypeError(f"device() got an unexpected keyword argument '{unknown}'")
    if index is not None:
        raise TypeError('device() missing 1 required positional arguments: "type"')
    return given["device"]


class device(metaclass=Shown):
    """A device: `type` ("cpu", "cuda", "meta", and JAX's "tpu" and "gpu", which PyTorch has not) and `index` (None means the default one)."""

    __slots__ = ("_key", "index", "type")  # _key: of a tensor's device that no string names, see key_of

    def __new__(cls, type=_NOTHING, index=None, **given):
        if given:
            type = _given(type, index, given)
        if isinstance(type, device) and index is None:
            return type
        self = object.__new__(cls)
        if isinstance(type, int) and not isinstance(type, bool):
            type, index = _of_number(type), type
        _check(type, index)
        self.type, self.index = _parsed(type)
        self._key = None
        if index is not None:
            if self.index is not None:
                raise RuntimeError(f"type (string) must not include an index because index was passed explicitly: {type}")
            if index < 0:
                raise RuntimeError("Device index must not be negative")
            self.index = index
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
        return device, (self.type,) if self.index is None else (self.type, self.index)

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


def _of_number(index):
    """The type of a device given by its number alone: that of the accelerator."""
    if index < 0:
        raise RuntimeError("Device index must not be negative")
    return needed_accelerator()


def _check(type, index):
    if not isinstance(type, str):
        if index is not None:
            raise TypeError(f"device(): argument 'type' (position 1) must be str, not {_name(type)}")
        if type is _NOTHING:
            raise TypeError("device() received an invalid combination of arguments - got (), but expected one of:\n * (torch.device device)\n"
                            " * (str type, int index = -1)\n")
        raise TypeError(f"device() received an invalid combination of arguments - got ({_name(type)}), but expected one of:\n * (torch.device device)\n"
                        f"      didn't match because some of the arguments have invalid types: (!{_name(type)}!)\n * (str type, int index = -1)\n")
    if index is not None and (not isinstance(index, int) or isinstance(index, bool)):
        raise TypeError(f"device(): argument 'index' (position 2) must be int, not {_name(index)}")


def _name(x):
    kind = type(x)
    return "torch.device" if kind is device else kind.__name__


def _parsed(text):
    """(type, index or None) of a device string."""
    if not text:
        raise RuntimeError("Device string must not be empty")
    m = re.fullmatch(r"([A-Za-z_]+)(?::(0|[1-9]\d*))?", text)
    if not m:
        raise RuntimeError(f"Invalid device string: '{text}'")
    if m[1] not in _TYPES:
        raise RuntimeError(f"Expected one of {', '.join(_TYPES[:-2])} device type at start of device string: {m[1]}")
    if m[1] == "mkldnn":
        say_once("'mkldnn' is no longer used as device type. So torch.device('mkldnn') will be deprecated and removed in the future. Please use other valid "
                 "device types instead. (Triggered internally at /__w/pytorch/pytorch/c10/core/Device.cpp:40.)")
    return m[1], int(m[2]) if m[2] is not None else None


_stack: list = []
CPU = device("cpu")


def key_of(d) -> str:
    """The key of a device argument (None: the default device); raises torch's error when the device is not there.

    "cpu:1" is "cpu", as in torch; another host device of JAX's is reached by `interop.place`.
    """
    if d is None:
        from . import config

        d = config.get("default_device")
        return "cpu" if d is None else key_of(d)
    if type(d) is str and ("@" in d or d == "traced" or d in _host_keys):
        return d
    d = device(d)
    if d.type == "cpu":
        return d._key or "cpu"
    if d.type == "meta":
        return "meta"
    if d.index is None:
        d = device(d.type, 0 if d.type != "cuda" else current_index[0])
    jax_device(str(d))
    return str(d)


current_index = [0]  # torch.cuda.set_device


def of_key(key) -> device:
    """The device object of a type's key."""
    if key in ("cpu", "number", "traced"):
        return CPU
    if "@" in key:
        return device(key.partition("@")[0])
    out = device(key)
    if out.type == "cpu":
        out._key = key
    return out


_PLATFORMS = {"cuda": "cuda", "gpu": "gpu", "tpu": "tpu", "cpu": "cpu"}
_MISSING = {"cuda": (AssertionError, "Torch not compiled with CUDA enabled"), "xpu": (AssertionError, "Torch not compiled with XPU enabled"),
            "mtia": (AssertionError, "Torch not compiled with MTIA enabled. Ensure you have `import mtia.host_runtime.torch_mtia.dynamic_library` in your "
                                     "python src file and include `//mtia/host_runtime/torch_mtia:torch_mtia` as your target dependency!"),
            "hpu": (ModuleNotFoundError, "No module named 'torch.hpu'"), "privateuseone": (ModuleNotFoundError, "No module named 'torch.privateuseone'")}
_UNLINKED = frozenset(("fpga", "ipu", "maia", "mps", "opengl", "vulkan", "xla"))


def devices_of(kind, everywhere=False) -> list:
    """This process's devices of a type (everywhere: those of all processes), [] where there are none."""
    import jax

    if kind not in _PLATFORMS:
        return []
    try:
        return jax.devices(_PLATFORMS[kind]) if everywhere else jax.local_devices(backend=_PLATFORMS[kind])
    except RuntimeError:
        return []


def cuda_version(name):
    """What JAX says of a CUDA library's version, by the function that does; None without a CUDA device, and where this JAX has no such function."""
    if not devices_of("cuda"):
        return None
    try:
        from jax._src.lib import cuda_versions

        return getattr(cuda_versions, name)()
    except (ImportError, AttributeError, RuntimeError):  # no such module (then it is None), no such function, a library that it cannot ask
        return None


ACCELERATORS = ("cuda", "tpu")  # their types, with which their keys begin


def accelerator():
    """"cuda" or "tpu" where JAX has such a device, None otherwise."""
    return next((kind for kind in ACCELERATORS if devices_of(kind)), None)


def needed_accelerator():
    """The same; torch's error where there is none."""
    kind = accelerator()
    if kind is None:
        raise RuntimeError("Cannot access accelerator device when none is available.")
    return kind


def is_single(key):
    """Whether a key is that of one device."""
    return "@" not in key and key not in ("traced", "meta")


def is_accelerator(key):
    """Whether a key is that of one accelerator."""
    return is_single(key) and key.startswith(ACCELERATORS)


def jax_device(key):
    """The jax.Device of the key of one device."""
    kind, _, index = key.partition(":")
    found = devices_of(kind)
    i = int(index or 0)
    if i < len(found):
        return found[i]
    if kind == "cuda" and found:
        raise RuntimeError(f"CUDA error: invalid device ordinal: there are {len(found)} devices")
    if not found and kind in _MISSING:
        error, words = _MISSING[kind]
        raise error(words)
    if kind in _UNLINKED:
        raise RuntimeError(f"PyTorch is not linked with support for {kind} devices")
    raise RuntimeError(f"no {kind} device is there for JAX: {key}")


_spread: dict = {}  # tuple of jax.Devices -> key
_members: dict = {}  # key -> tuple of jax.Devices
_host_keys: set = set()  # "cpu:1", ...: handed out by key_of_array


def spread_key(members, own=False) -> str:
    """The key of values spread over these devices, in this order; own: of a DTensor."""
    members = tuple(members)
    key = _spread.get(members)
    if key is None:
        key = _spread[members] = f"{type_of(members[0])}@{len(_spread)}"
        _members[key] = _members[key + OWN] = members
    return key + OWN if own else key


OWN = "!"  # the end of the keys of DTensors


def is_own(key):
    """Whether values of this key are a DTensor's, which no plain tensor may meet."""
    return key[-1] == OWN


def place(key):
    """A key without saying whose the values are."""
    return key.removesuffix(OWN)


def members_of(key):
    """The jax.Devices of a spread key."""
    return _members[key]


def type_of(d):
    return {"gpu": "cuda"}.get(d.platform, d.platform)


def key_of_device(d) -> str:
    """The key of one jax.Device."""
    kind = type_of(d)
    index = devices_of(kind).index(d)
    if kind == "cpu":
        if not index:
            return "cpu"
        _host_keys.add(f"cpu:{index}")
    return f"{kind}:{index}"


def key_of_array(array) -> str:
    """The key of where a jax.Array lives."""
    sharding = array.sharding
    if len(sharding.device_set) == 1:
        return key_of_device(next(iter(sharding.device_set)))
    mesh = getattr(sharding, "mesh", None)
    return spread_key(mesh.devices.flat if mesh is not None else sorted(sharding.device_set, key=lambda d: d.id))


def is_loose(key):
    """Whether values of this key may meet those of "cpu" in one operator."""
    return key == "traced" or "@" in key


def common(avals, what="cpu"):
    """The key of an operator's results; torch's error for operands on several devices (a 0-dim operand on the host goes with any)."""
    found = {a.device for a in avals} - {"number"}
    if len(found) < 2:
        return next(iter(found), what)
    if "traced" in found:
        return "traced"
    strict = {a.device for a in avals if a.ndim or a.device != "cpu"} - {"number"}
    if len(strict) > 1:
        loose = [k for k in strict if "@" in k]
        loose = [k for k in loose if k + OWN not in strict]
        strict = set(loose) if loose and {place(k) for k in strict} - {place(k) for k in loose} <= {"cpu"} else strict
    if len(strict) > 1 and "meta" in strict:
        expected = next(a.device for a in avals if a.device != "number")
        raise not_expected(next(a.device for a in avals if a.device not in ("number", expected)), expected)
    if len(strict) > 1:
        first, second = sorted(strict, key=lambda k: k == "cpu")[:2]
        raise RuntimeError(f"Expected all tensors to be on the same device, but found at least two devices, {first} and {second}!")
    return next(iter(strict), "cpu")
