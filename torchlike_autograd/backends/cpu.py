"""torch.backends.cpu: what the processor can do."""

from __future__ import annotations

__all__ = ["get_cpu_capability"]


def get_cpu_capability() -> str:
    """The widest instructions that PyTorch's kernels would use: "AVX512", "AVX2" or "DEFAULT", from the flags of the processor; XLA asks by itself."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as f:
            flags = next((set(line.split()) for line in f if line.startswith("flags")), set())
    except OSError:
        return "DEFAULT"
    if {"avx512vl", "avx512bw", "avx512dq", "fma"} <= flags:
        return "AVX512"
    return "AVX2" if {"avx2", "fma"} <= flags else "DEFAULT"
