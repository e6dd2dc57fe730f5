"""torch.utils.weak (layer 7): references and dictionaries that know objects by identity and do not keep them alive."""

from __future__ import annotations

import weakref
from collections.abc import Mapping, MutableMapping

from .._core import publish as _publish
from .._tensor import Tensor

__all__ = ["TensorWeakRef", "WeakIdKeyDictionary", "WeakIdRef", "WeakTensorKeyDictionary"]

WeakRef = weakref.ref


class WeakIdRef(weakref.ref):
    """A weak reference that equals another one of the same object, and hashes as the object's identity."""

    __slots__ = ("_id",)

    def __init__(self, key, callback=None):
        super().__init__(key, callback)
        self._id = id(key)

    def __hash__(self):
        return self._id

    def __eq__(self, other):
        mine, theirs = self(), other()
        return self is other if mine is None or theirs is None else mine is theirs


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


class WeakIdKeyDictionary(MutableMapping):
    """A dictionary whose keys are compared by identity; an entry goes with its key."""

    def __init__(self, dict=None, ref_type=WeakIdRef):  # the field's word
        self.data, self.ref_type = {}, ref_type
        known = weakref.ref(self)

        def remove(reference):
            here = known()
            if here is not None:
                here.data.pop(reference, None)

        self._remove = remove
        if dict is not None:
            self.update(dict)

    def __getitem__(self, key):
        return self.data[self.ref_type(key)]

    def __setitem__(self, key, value):
        self.data[self.ref_type(key, self._remove)] = value

    def __delitem__(self, key):
        del self.data[self.ref_type(key)]

    def __contains__(self, key):
        try:
            return self.ref_type(key) in self.data
        except TypeError:  # what cannot be referred to weakly
            return False

    def __len__(self):
        return len(self.keyrefs())

    def __iter__(self):
        for reference in self.data.copy():  # in one step: entries may go while a list is made
            key = reference()
            if key is not None:
                yield key

    keys = __iter__

    def values(self):
        """The values of the keys that are alive."""
        return (value for _, value in self.items())

    def items(self):
        """Pairs of the keys that are alive and their values."""
        for reference, value in self.data.copy().items():
            key = reference()
            if key is not None:
                yield key, value

    def popitem(self):
        """Take out the last pair whose key is alive; KeyError where there is none."""
        while True:
            reference, value = self.data.popitem()
            key = reference()
            if key is not None:
                return key, value

    def keyrefs(self):
        """The references to the keys that are alive."""
        return [r for r in self.data.copy() if r() is not None]

    def update(self, dict=None, **kwargs):  # the field's word
        """Take over what another one has; a mapping without `items` is read as a whole before."""
        if dict is not None:
            for key, value in (dict if hasattr(dict, "items") else type({})(dict)).items():
                self[key] = value
        for key, value in kwargs.items():
            self[key] = value

    def copy(self):
        """A dictionary with the same keys and values."""
        return type(self)(self.items(), self.ref_type)

    __copy__ = copy

    def __deepcopy__(self, memo):
        import copy

        return type(self)([(k, copy.deepcopy(v, memo)) for k, v in self.items()], self.ref_type)

    def __or__(self, other):
        if not isinstance(other, Mapping):
            return NotImplemented
        made = self.copy()
        made.update(other)
        return made

    def __ror__(self, other):
        if not isinstance(other, Mapping):
            return NotImplemented
        made = type(self)(other, self.ref_type)
        made.update(self)
        return made

    def __ior__(self, other):
        self.update(other)
        return self

    def __eq__(self, other):
        if not isinstance(other, type(self)):
            return NotImplemented
        return {id(k): v for k, v in self.items()} == {id(k): v for k, v in other.items()}

    def __repr__(self):
        return f"<{type(self).__name__} at {id(self):#x}>"


WeakTensorKeyDictionary = WeakIdKeyDictionary


class TensorWeakRef:
    """A weak reference to a tensor."""

    def __init__(self, tensor):
        assert isinstance(tensor, Tensor), f"expected torch.Tensor, got {type(tensor)}."
        self.ref = weakref.ref(tensor)

    def __call__(self):
        return self.ref()


__getattr__ = _publish.missing("torch.utils.weak")
