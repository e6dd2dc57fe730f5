"""torch.backends.opt_einsum: orders of contraction are JAX's business; the switches keep what is written to them."""

enabled, strategy = True, None


def is_available() -> bool:
    """Whether the library is there."""
    return False


def get_opt_einsum():
    """The library: none."""
    return None
