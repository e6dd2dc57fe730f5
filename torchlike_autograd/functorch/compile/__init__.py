"""functorch.compile (layer 8): compilers of recorded forward and backward graphs.  Python is not traced ahead of time here; what marks a function is there."""

from ..._core import publish as _publish

_HERE = "functorch.compile"
_WHY = "nothing is traced ahead of time here; torch.compile runs what it is given"


def make_boxed_func(f):
    """A function of one list, which calls f with its elements."""
    def g(args):
        return f(*args)

    g._boxed_call = True
    return g


def make_boxed_compiler(compiler):
    """A compiler whose results are called with one list."""
    def f(fx_g, inps):
        return make_boxed_func(compiler(fx_g, inps))

    return f


globals().update(_publish.refused(
    _HERE, "aot_function", "aot_module", "aot_module_simplified", "compiled_function", "compiled_module", "default_partition", "draw_graph",
    "memory_efficient_fusion", "min_cut_rematerialization_partition", "nop", "print_compile", "ts_compile", why=_WHY))
__getattr__ = _publish.missing(_HERE)
