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


LinAlgError.__module__, LinAlgError.__name__, LinAlgError.__qualname__ = "torch._C", "_LinAlgError", "_LinAlgError"


def _whole_name(t):
    return f"numpy.{t.__name__}" if t.__module__ == "numpy" else t.__name__


def unbound(name, args):
    """Python's own for a method of Tensor called by its name with no tensor first."""
    if not args:
        return TypeError(f"unbound method TensorBase.{name}() needs an argument")
    return TypeError(f"descriptor '{name}' for 'torch._C.TensorBase' objects doesn't apply to a '{_whole_name(type(args[0]))}' object")


def no_memory():
    return RuntimeError("Cannot access data pointer of Tensor that doesn't have storage")


def numpy_type_unsupported(np_dtype):
    return TypeError(
        f"can't convert np.ndarray of type numpy.{np_dtype.type.__name__}. The only supported types are: float64, float32, float16, complex64, "
        "complex128, int64, int32, int16, int8, uint64, uint32, uint16, uint8, and bool.")


def leaf_inplace():
    return RuntimeError("a leaf Variable that requires grad is being used in an in-place operation.")


def leaf_view_inplace():
    return RuntimeError("a view of a leaf Variable that requires grad is being used in an in-place operation.")


_VIEW_REASONS = {
    "multi": " This view is the output of a function that returns multiple views. Such functions do not allow the output views to be modified inplace. You "
             "should replace the inplace operation by an out-of-place one.",
    "function": " This view was created inside a custom Function (or because an input was returned as-is) and the autograd logic to handle view+inplace "
                "would override the custom backward associated with the custom Function, leading to incorrect gradients. This behavior is forbidden. You can "
                "fix this by cloning the output of the custom Function."}
_VIEW_MODES = {"no_grad": ("no_grad mode", "with grad mode enabled", "no_grad"), "inference": ("inference mode", "in normal mode", "inference_mode")}


def view_written(creation, node, number, indirect):
    """A view that may not be written (or whose base may not), by how it was made; node: the short name of its node, None where it has none."""
    if creation == "beyond":
        return NotImplementedError("a write that is differentiated, to a detached view or to what as_strided shows of the memory beyond it")
    made, when, block = _VIEW_MODES["no_grad" if creation not in _VIEW_MODES else creation]
    what = "its base or another view of its base has been modified inplace" if indirect else "is being modified inplace"
    reason = _VIEW_REASONS.get(creation)
    if node is None:
        subject = f"A view was created in {made} and {what} {when}."
    elif reason is None:
        subject = f"Output {number} of {node} is a view of a view which was created in {made} and {what} {when}."
    else:
        subject = f"Output {number} of {node} is a view and {what}."
    return RuntimeError(subject + (reason or (
        " Given that this use case is ambiguous and error-prone, it is forbidden. You can clarify your code by moving both the view and the inplace either "
        f"both inside the {block} block (if you don't want the inplace to be tracked) or both outside (if you want the inplace to be tracked).")))


def inference_saved():
    return RuntimeError(
        "Inference tensors cannot be saved for backward. Please do not use Tensors created in inference mode in computation tracked by autograd. To work "
        "around this, you can make a clone to get a normal tensor and use it in autograd, or use `torch.no_grad()` instead of `torch.inference_mode()`.")


def inference_written():
    return RuntimeError(
        "Inplace update to inference tensor outside InferenceMode is not allowed.You can make a clone to get a normal tensor before doing inplace update.See "
        "https://github.com/pytorch/rfcs/pull/17 for more details.")


def second_time():
    return RuntimeError(
        "Trying to backward through the graph a second time (or directly access saved tensors after they have already been freed). "
        "Saved intermediate values of the graph are freed when you call .backward() or autograd.grad(). Specify retain_graph=True if you "
        "need to backward through the graph a second time or if you need to access saved tensors after calling backward.")


def detached_inplace():
    """A saved tensor has no history any more."""
    return RuntimeError("Trying to use a saved tensor that has been detached in-place, i.e. with .detach_()."
                        "This is not supported, please use out-of-place `.detach()` instead")


def detached_view():
    return RuntimeError(
        "Can't detach views in-place. Use detach() instead. If you are using DistributedDataParallel (DDP) for training, and gradient_as_bucket_view is set as "
        "True, gradients are views of DDP buckets, and hence detach_() cannot be called on these gradients. To fix this error, please refer to the "
        "Optimizer.zero_grad() function in torch/optim/optimizer.py as the solution.")


def tensor_type(dtype):
    """How C++ calls the type of a tensor: by its legacy class where there is one."""
    name = dtype.char_name
    return f"CPU{name}Type" if dtype.is_complex or name in ("BFloat16", "Bool") else f"torch.{name}Tensor"


def modified_inplace(type_name, shape, producer, now, expected):
    of = f", which is {producer}," if producer else ""
    return RuntimeError(
        "one of the variables needed for gradient computation has been modified by an inplace operation: "
        f"[{type_name} {list(shape)}]{of} is at version {now}; expected version {expected} instead. Hint: "
        "enable anomaly detection to find the operation that failed to compute its gradient, with torch.autograd.set_detect_anomaly(True, check_nan=False).")


def does_not_require_grad(i):
    return RuntimeError(f"element {i} of tensors does not require grad and does not have a grad_fn")


_WRITING = {
    "_log_softmax": "aten::log_softmax", "_softmax": "aten::softmax",
    "cross": "linalg_cross", "kron": "mul", "linalg_cholesky": "linalg_cholesky_ex", "linalg_det": "_linalg_det", "linalg_eigh": "_linalg_eigh",
    "linalg_eigvalsh": "_linalg_eigh", "linalg_inv": "linalg_inv_ex", "linalg_multi_dot": "mm", "linalg_slogdet": "_linalg_slogdet",
    "linalg_solve": "_linalg_solve_ex", "linalg_svd": "_linalg_svd", "linalg_svdvals": "_linalg_svd", "log_sigmoid": "log_sigmoid_forward",
    "lu_solve": "linalg_lu_solve", "max.other": "maximum", "min.other": "minimum", "msort": "sort", "nanmean": "nansum", "norm": "linalg_vector_norm",
    "outer": "mul", "qr": "linalg_qr"}
_FALLBACK = frozenset((
    "_chunk_cat", "alias_copy", "as_strided_copy", "conj_physical", "diagonal_copy", "expand_copy", "histogram", "linalg_eigvals", "permute_copy",
    "slice_scatter", "squeeze_copy", "t_copy", "transpose_copy", "unfold_copy", "unsqueeze_copy", "view_copy"))


def out_requires_grad(name):
    """`out` where a history would be needed; torch speaks of the operator that writes to it."""
    said = f"aten::{name}" if name in _FALLBACK else _WRITING.get(name, name)
    return RuntimeError(
        f"{said}(): functions with out=... arguments don't support automatic differentiation, but one of the arguments requires grad.")


def expected_options(want, got):
    from .._ops.conventions import cxx_of

    def text(d):
        return (f"TensorOptions(dtype={cxx_of(d)}, device=cpu, layout=Strided, requires_grad=false (default), pinned_memory=false (default), "
                "memory_format=(nullopt))")

    return TypeError(f"expected {text(want)} (got {text(got)})")


def not_castable(have, want):
    """A result of one dtype that is to be written into a tensor of another one of a lower category."""
    return RuntimeError(f"result type {have.char_name} can't be cast to the desired output type {want.char_name}")


def only_float_requires_grad():
    return RuntimeError("Only Tensors of floating point and complex dtype can require gradients")


def too_big(x):
    """OverflowError of a Python integer that has no 64 bits."""
    return OverflowError("int too big to convert" if x > 0 else "can't convert negative int to unsigned")


def no_requires_grad_in_transforms():
    """Asking for gradients inside of a transformed function."""
    return RuntimeError(
        "You are attempting to call Tensor.requires_grad_() (or perhaps using torch.autograd.functional.* APIs) inside of a function being transformed by a "
        "functorch transform. This is unsupported, please attempt to use the functorch transforms (e.g. grad, vjp, jacrev, jacfwd, hessian) or call "
        "requires_grad_() outside of a function being transformed instead.")


def not_unpacked(name, parameter, i, why):
    """The i-th element of a list of ints that is no int of 64 bits."""
    return TypeError(f"{name}(): argument '{parameter}' failed to unpack the object at pos {i + 1} with error \"{why}")


def no_retain_grad_in_transforms():
    """`retain_grad` inside of a transformed function."""
    return RuntimeError(
        "You are attempting to call Tensor.retain_grad() inside of a function being transformed by a functorch transform. This is unsupported, please "
        "attempt to use the functorch transforms (e.g. grad, vjp, jacrev, jacfwd, hessian) or call retain_grad() outside of a function being transformed "
        "instead.")


def mapped_unsupported(name):
    """A function that a map has no rule for, as a user asks for it."""
    return RuntimeError(f"vmap over {name} isn't supported yet. Please file an issue at https://github.com/pytorch/pytorch/issues if you need this feature.")


def mapped_without_rule(name, why):
    """An operator that a map has no rule for."""
    return RuntimeError(f"Batching rule not implemented for aten::{name}{why}")


_LOOKED = ("vmap: It looks like you're either (1) calling .item() on a Tensor or (2) attempting to use a Tensor in some data-dependent control flow or (3) "
           "encountering this error in PyTorch internals. For (1): we don't support vmap over calling .item() on a Tensor, please try to rewrite what you're "
           "doing with other operations. For (2): we don't support data-dependent control flow in vmap yet, please file an issue at "
           "https://github.com/pytorch/pytorch/issues . For (3): please file an issue.")


def mapped_item(derived=False):
    """`item` of a tensor that is mapped over; derived: inside of a derivative, where torch does not know who asks."""
    return RuntimeError(
        _LOOKED if derived else
        "vmap: It looks like you're calling .item() on a Tensor. We don't support vmap over calling .item() on a Tensor, please try to rewrite what you're "
        "doing with other operations. If error is occurring somewhere inside PyTorch internals, please file a bug report.")


def mapped_truth(derived=False):
    """The truth of a tensor that is mapped over."""
    return RuntimeError(
        _LOOKED if derived else
        "vmap: It looks like you're attempting to use a Tensor in some data-dependent control flow. We don't support that yet, please file an issue at "
        "https://github.com/pytorch/pytorch/issues .")


def mapped_shape(name):
    """An operator whose result's shape depends on data that are mapped over."""
    return RuntimeError(
        f"vmap: We do not support batching operators that can output dynamic shape. Attempted to vmap over aten::{name}. Please file an issue at "
        "https://github.com/pytorch/pytorch/issues if you need this feature.")


def mapped_mask():
    """A mask as an index that is mapped over."""
    return RuntimeError("vmap: We do not support batching operators that can support dynamic shape. Attempting to batch over indexing with a boolean mask.")


def mapped_random(old=False):
    """A draw inside a map that does not say what draws mean; old: of the kind that gradients are batched by."""
    if old:
        return RuntimeError("vmap: We do not yet support calling random operations inside of vmap. Please perform random operations outside of vmap as a "
                            "workaround")
    return RuntimeError(
        "vmap: called random operation while in randomness error mode. Please either use the 'same' or 'different' randomness flags on vmap or perform the "
        "randomness operation out of vmap")


def mapped_statistics():
    """batch_norm's running statistics, of a batch that is mapped over."""
    return RuntimeError(
        "Batch norm got a batched tensor as input while the running_mean or running_var, which will be updated in place, were not batched.\nIf you are using "
        "a module and do not need eval mode, please set `track_running_stats` to be False.If you are using a prebuilt module and do not need eval mode, please "
        "see the functorch website for resources on how to patch your module to work with vmap")


def mapped_inplace(name, where):
    """A mapped value written to a tensor that is not."""
    return RuntimeError(
        f"vmap: {name}(self, *extra_args) is not possible because there exists a Tensor `other` in extra_args that has more elements than `self`. This "
        f"happened due to `other` being vmapped over but `self` not being vmapped over {where}. Please try to use out-of-place operators instead of {name}. If "
        "said operator is being called inside the PyTorch framework, please file a bug report instead.")


def captured_written(name):
    """A function that is transformed writes to a tensor from around it."""
    return RuntimeError(f"During a grad (vjp, jvp, grad, etc) transform, the function provided attempted to call in-place operation (aten::{name}) that would "
                        "mutate a captured Tensor. This is not supported; please rewrite the function being transformed to explicitly accept the mutated "
                        "Tensor(s) as inputs.")
