"""What tells tuples with names from plain ones, for torch.utils._pytree (layer 8)."""

from __future__ import annotations


def is_namedtuple_class(cls):
    """Whether a class was made by `namedtuple`."""
    fields = getattr(cls, "_fields", None)
    return isinstance(cls, type) and issubclass(cls, tuple) and isinstance(fields, tuple) and all(type(f) is str for f in fields)


def is_namedtuple_instance(obj):
    """Whether something is an instance of such a class."""
    return is_namedtuple_class(type(obj))


def is_namedtuple(obj):
    """Whether something is such a class or an instance of one."""
    return is_namedtuple_class(obj if isinstance(obj, type) else type(obj))


def is_structseq_class(cls):
    """Whether a class is one of C's tuples with names, as that of `time.gmtime()`."""
    return isinstance(cls, type) and cls.__bases__ == (tuple,) and all(isinstance(getattr(cls, n, None), int) for n in (
        "n_fields", "n_sequence_fields", "n_unnamed_fields"))


def is_structseq_instance(obj):
    """Whether something is an instance of such a class."""
    return is_structseq_class(type(obj))


def is_structseq(obj):
    """Whether something is such a class or an instance of one."""
    return is_structseq_class(obj if isinstance(obj, type) else type(obj))
