"""torch.utils.serialization.config (layer 8): what `torch.load` and `torch.save` do where they are not told."""

from __future__ import annotations

from ... import serialization as _serialization


class _Section:
    """Settings of one function: those that are live stand in `torch.serialization`, the others have one value here."""

    def __init__(self, name, live, fixed):
        vars(self).update(_name=name, _live=live, _fixed=fixed)

    def __getattr__(self, name):
        if name in self._live:
            return _serialization._options[self._live[name]]
        if name in self._fixed:
            return self._fixed[name]
        raise AttributeError(f"torch.utils.serialization.config.{self._name}.{name} does not exist")

    def __setattr__(self, name, value):
        now = getattr(self, name)
        if name in self._live:
            _serialization._options[self._live[name]] = value
        elif value != now:
            raise NotImplementedError(f"torch.utils.serialization.config.{self._name}.{name} = {value!r}")


load = _Section("load", {"endianness": "endianness", "mmap_flags": "mmap"}, {"mmap": False, "calculate_storage_offsets": False})
save = _Section("save", {"compute_crc32": "crc32"}, {"use_pinned_memory_for_d2h": False, "storage_alignment": 64})
