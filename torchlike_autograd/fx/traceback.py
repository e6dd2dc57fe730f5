"""What is known of the node that runs (layer 8)."""

from __future__ import annotations

import contextlib

current_meta: dict = {}
_preserve = [False]
current_stack: list = []


@contextlib.contextmanager
def preserve_node_meta(enable=True):
    """Within, `current_meta` follows the node that an interpreter runs."""
    before, held = _preserve[0], dict(current_meta)
    _preserve[0] = enable
    try:
        yield
    finally:
        _preserve[0] = before
        current_meta.clear()
        current_meta.update(held)


def has_preserved_node_meta():
    """Whether `preserve_node_meta` is in force."""
    return _preserve[0]


@contextlib.contextmanager
def set_current_meta(node, pass_name=""):
    """An interpreter runs `node` within."""
    if not _preserve[0] or not node.meta:
        yield
        return
    held = dict(current_meta)
    current_meta.clear()
    current_meta.update(node.meta)
    try:
        yield
    finally:
        current_meta.clear()
        current_meta.update(held)


def get_current_meta():
    """The `meta` of the node that runs."""
    return current_meta


@contextlib.contextmanager
def set_stack_trace(stack):
    """Code within is said to stand at these places."""
    held = list(current_stack)
    current_stack[:] = stack if _preserve[0] and stack else held
    try:
        yield
    finally:
        current_stack[:] = held


def format_stack():
    """The places that are known, as text."""
    return list(current_stack) if _preserve[0] else []


__all__ = ["current_meta", "format_stack", "get_current_meta", "has_preserved_node_meta", "preserve_node_meta", "set_current_meta", "set_stack_trace"]
