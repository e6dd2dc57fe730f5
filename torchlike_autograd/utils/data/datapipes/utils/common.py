"""torch.utils.data.datapipes.utils.common (layer 8): functions that pipes take, files that they open, lengths that they know."""

from __future__ import annotations

import contextlib
import fnmatch
import functools
import inspect
import os
from collections.abc import Iterable, Sized
from io import IOBase

from ....._core import publish as _publish
from ....._core.saying import warn
from ...._import_utils import dill_available

__all__ = ["StreamWrapper", "get_file_binaries_from_pathnames", "get_file_pathnames_from_root", "match_masks", "validate_input_col",
           "validate_pathname_binary_tuple"]

DILL_AVAILABLE = dill_available()


def lengths(pipe, *sources):
    """The lengths of what a pipe is made of; TypeError where one has none."""
    if not all(isinstance(s, Sized) for s in sources):
        raise TypeError(f"{type(pipe).__name__} instance doesn't have valid length")
    return [len(s) for s in sources]


def columns(data, input_col):
    """The arguments that a column, or a list of columns, of an item gives; the item itself for None."""
    if input_col is None:
        return (data,)
    return tuple(data[i] for i in input_col) if isinstance(input_col, (list, tuple)) else (data[input_col],)


def validate_input_col(fn, input_col):
    """ValueError where a function cannot take as many arguments as there are columns, or needs more."""
    try:
        parameters = list(inspect.signature(fn).parameters.values())
    except ValueError:  # one that cannot tell
        return
    n = len(input_col) if isinstance(input_col, (list, tuple)) else 1
    places = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    any_number = any(p.kind is p.VAR_POSITIONAL for p in parameters)
    must = [p for p in parameters if p.kind is p.KEYWORD_ONLY and p.default is p.empty]
    inner = fn.func if isinstance(fn, functools.partial) else fn
    name = getattr(inner, "__name__", repr(inner))
    if must:
        raise ValueError(f"The function {name} takes {len(must)} non-default keyword-only parameters, which is not allowed.")
    if len(parameters) < n and not any_number:
        raise ValueError(f"The function {name} takes {len(parameters)} parameters, but {n} are required.")
    if (len(parameters) >= n) and (any(p.default is p.empty for p in places[n:]) or (len(places) < n and not any_number)):
        raise ValueError(f"The function {name} takes {len(places)} positional parameters, but {n} are required.")


def _is_local_fn(fn):
    if hasattr(fn, "__code__"):
        return bool(fn.__code__.co_flags & inspect.CO_NESTED)
    return "<locals>" in getattr(fn, "__qualname__", type(fn).__qualname__)


def _check_unpickable_fn(fn):
    """TypeError for what cannot be called; a warning for functions that other processes could not be given."""
    if not callable(fn):
        raise TypeError(f"A callable function is expected, but {type(fn)} is provided.")
    fn = fn.func if isinstance(fn, functools.partial) else fn
    kind = "Local" if _is_local_fn(fn) else "Lambda" if getattr(fn, "__name__", None) == "<lambda>" else None
    if kind is not None and not dill_available():
        warn(f"{kind} function is not supported by pickle, please use regular python function or functools.partial instead.")


def match_masks(name, masks):
    """Whether a name is like one of the masks; any is where there are none."""
    return not masks or any(fnmatch.fnmatch(name, m) for m in ([masks] if isinstance(masks, str) else masks))


def get_file_pathnames_from_root(root, masks, recursive=False, abspath=False, non_deterministic=False):
    """The files in a folder (also in those in it), or the file itself, that are like the masks; sorted unless `non_deterministic`."""
    def fails(err):
        warn(f"{err.filename} : {err.strerror}")
        raise err

    if os.path.isfile(root):
        if match_masks(os.path.basename(root), masks):
            yield os.path.abspath(root) if abspath else root
        return
    for folder, inner, files in os.walk(root, onerror=fails):
        folder = os.path.abspath(folder) if abspath else folder
        yield from (os.path.join(folder, f) for f in (files if non_deterministic else sorted(files)) if match_masks(f, masks))
        if not recursive:
            return
        if not non_deterministic:
            inner.sort()  # `walk` goes into them in this order


def get_file_binaries_from_pathnames(pathnames, mode, encoding=None):
    """Each path with its opened file."""
    for path in pathnames if isinstance(pathnames, Iterable) else [pathnames]:
        if not isinstance(path, str):
            raise TypeError(f"Expected string type for pathname, but got {type(path)}")
        yield path, StreamWrapper(open(path, f"r{mode}" if mode in ("b", "t") else mode, encoding=encoding))  # noqa: SIM115  its reader closes it


def validate_pathname_binary_tuple(data):
    """TypeError for what is not a pair of a path and a stream."""
    if not isinstance(data, tuple):
        raise TypeError(f"pathname binary data should be tuple type, but it is type {type(data)}")
    if len(data) != 2:
        raise TypeError(f"pathname binary stream tuple length should be 2, but got {len(data)}")
    if not isinstance(data[0], str):
        raise TypeError(f"pathname within the tuple should have string type pathname, but it is type {type(data[0])}")
    if not isinstance(data[1], (IOBase, StreamWrapper)):
        raise TypeError(f"binary stream within the tuple should have IOBase orits subclasses as type, but it is type {type(data[1])}")


class StreamWrapper:
    """A file that is closed when nobody holds it any more; one made of another (an archive) may close that one after its last part."""

    session_streams: dict = {}
    debug_unclosed_streams = False

    def __init__(self, file_obj, parent_stream=None, name=None):
        self.file_obj, self.parent_stream, self.name = file_obj, parent_stream, name
        self.child_counter, self.close_on_last_child, self.closed = 0, False, False
        if parent_stream is not None:
            if not isinstance(parent_stream, StreamWrapper):
                raise RuntimeError(f"Parent stream should be StreamWrapper, {type(parent_stream)} was given")
            parent_stream.child_counter += 1
        if StreamWrapper.debug_unclosed_streams:
            StreamWrapper.session_streams[self] = 1

    @classmethod
    def close_streams(cls, v, depth=0):
        """Close those in an item: in it, and in the dicts, lists and tuples in it."""
        if depth > 10:
            return
        if isinstance(v, StreamWrapper):
            v.close()
        elif isinstance(v, (dict, list, tuple)):
            for x in v.values() if isinstance(v, dict) else v:
                cls.close_streams(x, depth + 1)

    def __getattr__(self, name):
        return getattr(self.__dict__["file_obj"], name)

    def close(self, *args, **kwargs):
        """Close it, and that which it is a part of after its last part."""
        if self.closed:
            return
        if StreamWrapper.debug_unclosed_streams:
            del StreamWrapper.session_streams[self]
        parent = self.parent_stream
        if parent is not None:
            parent.child_counter -= 1
            if not parent.child_counter and parent.close_on_last_child:
                parent.close()
        with contextlib.suppress(AttributeError):
            self.file_obj.close(*args, **kwargs)
        self.closed = True

    def autoclose(self):
        """Close it as soon as its last part is closed: now where it has none."""
        self.close_on_last_child = True
        if self.child_counter == 0:
            self.close()

    def __dir__(self):
        return list({*vars(self), *vars(StreamWrapper), *dir(self.file_obj)})

    def __del__(self):
        if not self.__dict__.get("closed", True):
            self.close()

    def __iter__(self):
        yield from self.file_obj

    def __next__(self):
        return next(self.file_obj)

    def __repr__(self):
        return f"StreamWrapper<{self.file_obj!r}>" if self.name is None else f"StreamWrapper<{self.name},{self.file_obj!r}>"

    def __getstate__(self):
        return self.file_obj

    def __setstate__(self, obj):
        self.__init__(obj)


__getattr__ = _publish.missing("torch.utils.data.datapipes.utils.common")
