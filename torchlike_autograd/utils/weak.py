"""torch.utils.weak (layer 8): dictionaries that hold their keys weakly and tell them apart by identity, as tensors need it."""

from __future__ import annotations

import collections.abc
import weakref
from weakref import ref

from .._core import publish as _publish

WeakRef = ref
__all__ = ["TensorWeakRef", "WeakIdKeyDictionary", "WeakIdRef", "WeakRef", "WeakTensorKeyDictionary"]


class WeakIdRef(weakref.ref):
    """A weak reference that compares by identity of its object, and after its end by its own."""

    __slots__ = ("_id",)

    def __init__(self, key, callback=None):
        self._id = id(key)
        super().__init__(key, callback)

    def __hash__(self):
        return self._id

    def __eq__(self, other):
        a, b = self(), other()
        return a is b if a is not None and b is not None else self is other


class _WeakHashRef(weakref.ref):
    """A weak reference that compares by equality of its object, and after its end by its own identity."""

    __slots__ = ("_id",)

    def __init__(self, key, callback=None):
        self._id = hash(key)
        super().__init__(key, callback)

    def __hash__(self):
        return self._id

    def __eq__(self, other):
        a, b = self(), other()
        return a == b if a is not None and b is not None else self is other


class WeakIdKeyDictionary(collections.abc.MutableMapping):
    """{key, held weakly and by identity: value}."""

    def __init__(self, dict=None, ref_type=WeakIdRef):
        self.data, self.ref_type = {}, ref_type
        mine = weakref.ref(self)

        def gone(key):
            owner = mine()
            if owner is not None:
                owner.data.pop(key, None)

        self._gone = gone
        self.update(dict or {})

    def __getitem__(self, key):
        return self.data[self.ref_type(key)]

    def __setitem__(self, key, value):
        self.data[self.ref_type(key, self._gone)] = value

    def __delitem__(self, key):
        del self.data[self.ref_type(key)]

    def __contains__(self, key):
        try:
            return self.ref_type(key) in self.data
        except TypeError:
            return False

    def __iter__(self):
        for r in list(self.data):
            key = r()
            if key is not None:
                yield key

    def __len__(self):
        return sum(1 for _ in self)

    def __repr__(self):
        return f"<{type(self).__name__} at {id(self):#x}>"

    def keyrefs(self):
        """The weak references."""
        return list(self.data)

    def copy(self):
        """Another one of the same keys and values."""
        new = type(self)(ref_type=self.ref_type)
        new.update(self.items())
        return new

    __copy__ = copy

    def __deepcopy__(self, memo):
        from copy import deepcopy

        new = type(self)(ref_type=self.ref_type)
        for key, value in self.items():
            new[key] = deepcopy(value, memo)
        return new

    def __ior__(self, other):
        self.update(other)
        return self

    def __or__(self, other):
        new = self.copy()
        new.update(other)
        return new

    def __ror__(self, other):
        new = type(self)(ref_type=self.ref_type)
        new.update(other)
        new.update(self.items())
        return new

    def __eq__(self, other):
        if not isinstance(other, collections.abc.Mapping):
            return NotImplemented
        return {id(k): v for k, v in self.items()} == {id(k): v for k, v in other.items()}

    __hash__ = None


WeakTensorKeyDictionary = WeakIdKeyDictionary


class TensorWeakRef:
    """A weak reference to a tensor, called to get it or None."""

    def __init__(self, tensor):
        self.ref = weakref.ref(tensor)

    def __call__(self):
        return self.ref()


__getattr__ = _publish.missing("torch.utils.weak")
