"""torch's messages in one place, and our own error tree (layer 0).

Functions return exceptions; the caller raises them.  Words are those of torch 2.13.

    Exception
    └── RuntimeError
        ├── LinAlgError        a singular or failing decomposition (torch.linalg.LinAlgError)
        └── OutOfMemoryError
"""

from __future__ import annotations


class LinAlgError(RuntimeError):
    """A linear algebra routine failed (torch.linalg.LinAlgError)."""


def numpy_type_unsupported(np_dtype):
    return TypeError(
        f"can't convert np.ndarray of type numpy.{np_dtype.type.__name__}. The only supported types are: float64, float32, float16, complex64, "
        "complex128, int64, int32, int16, int8, uint64, uint32, uint16, uint8, and bool.")


def leaf_inplace():
    return RuntimeError("a leaf Variable that requires grad is being used in an in-place operation.")


def leaf_view_inplace():
    return RuntimeError("a view of a leaf Variable that requires grad is being used in an in-place operation.")


def second_time():
    return RuntimeError(
        "Trying to backward through the graph a second time (or directly access saved tensors after they have already been freed). "
        "Saved intermediate values of the graph are freed when you call .backward() or autograd.grad(). Specify retain_graph=True if you "
        "need to backward through the graph a second time or if you need to access saved tensors after calling backward.")


def modified_inplace(type_name, shape, producer, now, expected):
    of = f", which is {producer}," if producer else ""
    return RuntimeError(
        "one of the variables needed for gradient computation has been modified by an inplace operation: "
        f"[{type_name} {list(shape)}]{of} is at version {now}; expected version {expected} instead. Hint: "
        "enable anomaly detection to find the operation that failed to compute its gradient, with torch.autograd.set_detect_anomaly(True, check_nan=False).")


def does_not_require_grad(i):
    return RuntimeError(f"element {i} of tensors does not require grad and does not have a grad_fn")


def out_requires_grad(name):
    return RuntimeError(
        f"{name}(): functions with out=... arguments don't support automatic differentiation, but one of the arguments requires grad.")


def expected_options(want, got):
    from .._ops.spec import _cxx

    def text(d):
        return (f"TensorOptions(dtype={_cxx(d)}, device=cpu, layout=Strided, requires_grad=false (default), pinned_memory=false (default), "
                "memory_format=(nullopt))")

    return TypeError(f"expected {text(want)} (got {text(got)})")


def only_float_requires_grad():
    return RuntimeError("Only Tensors of floating point and complex dtype can require gradients")
