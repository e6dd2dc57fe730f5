"""torch.nn.attention (layer 8): which of torch's two ways on CPU attention is computed; what else programs ask for is remembered and changes nothing."""

from __future__ import annotations

import contextlib

from ..._core import publish as _publish
from ...backends import cuda as _switches
from ...backends.cuda import SDPBackend

__all__ = ["WARN_FOR_UNFUSED_KERNELS", "SDPBackend", "activate_flash_attention_impl", "current_flash_attention_impl", "list_flash_attention_impls",
           "restore_flash_attention_impl", "sdpa_kernel"]

_KINDS = {"MATH": "math", "FLASH_ATTENTION": "flash", "EFFICIENT_ATTENTION": "mem_efficient", "CUDNN_ATTENTION": "cudnn"}


@contextlib.contextmanager
def sdpa_kernel(backends, set_priority=False):
    """A context in which only some kernels may be used: MATH is a composition that has second derivatives, FLASH_ATTENTION one operator that has none."""
    if not isinstance(backends, (list, SDPBackend)):
        raise AssertionError(f"Backend must be an instance of SDPBackend or a list of SDPBackend instances, got {type(backends).__name__}")
    with _switches._only([_KINDS.get(b.name) for b in (backends if isinstance(backends, list) else [backends])]):
        yield {}


WARN_FOR_UNFUSED_KERNELS = False


def list_flash_attention_impls() -> list:
    """The implementations that PyTorch knows the names of; none of them is here."""
    return ["FA3", "FA4"]


def current_flash_attention_impl():
    """None: XLA chooses."""


def activate_flash_attention_impl(impl) -> None:
    """ModuleNotFoundError: the packages that hold them are made for PyTorch."""
    if impl not in list_flash_attention_impls():
        raise ValueError(f"Unknown flash attention impl '{impl}'. Available implementations: {list_flash_attention_impls()}")
    raise ModuleNotFoundError("No module named 'flash_attn'")


def restore_flash_attention_impl(_raise_warn=True) -> None:
    """Nothing to restore."""


__getattr__ = _publish.missing("torch.nn.attention")
