"""Ranges that a profile hears (layer 3): functions that PyTorch shows as one event around those of the calls they record."""

RANGES: list = []  # while a profile listens anywhere: f(name, arguments) -> a context manager

__all__ = ["RANGES"]
