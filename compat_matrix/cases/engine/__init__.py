"""Backward passes: roots, accumulation, freeing, order, nesting."""
