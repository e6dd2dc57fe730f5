"""torch.testing._internal.custom_op_db (layer 8): operators of `torch.library.custom_op`, computed by NumPy, that tests go over."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...library import custom_op
from .._creation import make_tensor
from .autograd_function_db import (
    _back,
    _front,
    _torch,
    sample_inputs_numpy_cube,
    sample_inputs_numpy_mul,
    sample_inputs_numpy_sort,
    sample_inputs_numpy_take,
    to_numpy,
)
from .common_dtype import all_types_and
from .opinfo.core import OpInfo, SampleInput

Tensor = _torch.Tensor


@custom_op("_torch_testing::numpy_cube", mutates_args=())
def numpy_cube(x: Tensor) -> tuple[Tensor, Tensor]:
    """(x**3, 3 x**2)."""
    a = to_numpy(x)
    return _back(a**3, x), _back(3 * a**2, x)


numpy_cube.register_autograd(lambda ctx, g, h: numpy_mul(g, ctx.saved_tensors[1]) + 6 * numpy_mul(h, ctx.saved_tensors[0]),
                             setup_context=lambda ctx, inputs, output: ctx.save_for_backward(inputs[0], output[1]))
numpy_cube.register_vmap(lambda info, in_dims, x: (numpy_cube(x), (in_dims[0], in_dims[0])))


@custom_op("_torch_testing::numpy_mul", mutates_args=())
def numpy_mul(x: Tensor, y: Tensor) -> Tensor:
    """x * y."""
    return _back(to_numpy(x) * to_numpy(y), x)


def _mul_backward(ctx, g):
    x, y = ctx.saved_tensors
    return (g * y).sum_to_size(x.shape) if ctx.needs_input_grad[0] else None, (g * x).sum_to_size(y.shape) if ctx.needs_input_grad[1] else None


def _mul_vmap(info, in_dims, x, y):
    rank = max(t.dim() - (d is not None) for t, d in zip((x, y), in_dims))
    spread = lambda t, d: t if d is None else (lambda u: u.reshape(u.shape[0], *[1] * (rank + 1 - u.dim()), *u.shape[1:]))(t.movedim(d, 0))  # noqa: E731
    return numpy_mul(spread(x, in_dims[0]), spread(y, in_dims[1])), 0


numpy_mul.register_autograd(_mul_backward, setup_context=lambda ctx, inputs, output: ctx.save_for_backward(*inputs))
numpy_mul.register_vmap(_mul_vmap)


@custom_op("_torch_testing::numpy_mul_scalar", mutates_args=())
def numpy_mul_scalar(x: Tensor, *, scalar: float) -> Tensor:
    """x * scalar."""
    return _back(to_numpy(x) * scalar, x)


def _scalar_setup(ctx, inputs, keyword_only_inputs, output):
    ctx.scalar = keyword_only_inputs["scalar"]


numpy_mul_scalar.register_autograd(lambda ctx, g: g * ctx.scalar, setup_context=_scalar_setup)
numpy_mul_scalar.register_vmap(lambda info, in_dims, x, *, scalar: (numpy_mul_scalar(x, scalar=scalar), in_dims[0]))


@custom_op("_torch_testing::numpy_sort", mutates_args=())
def numpy_sort(x: Tensor, dim: int) -> tuple[Tensor, Tensor, Tensor]:
    """(sorted, the order, its inverse)."""
    a = to_numpy(x)
    order = np.argsort(a, axis=dim)
    return _back(np.take_along_axis(a, order, axis=dim), x), _back(order, x), _back(np.argsort(order, axis=dim), x)


def _sort_setup(ctx, inputs, output):
    ctx.mark_non_differentiable(*output[1:])
    ctx.save_for_backward(*output[1:])
    ctx.dim = inputs[1]


numpy_sort.register_autograd(lambda ctx, g, _0, _1: (numpy_take(g, ctx.saved_tensors[1], ctx.saved_tensors[0], ctx.dim), None), setup_context=_sort_setup)
numpy_sort.register_vmap(lambda info, in_dims, x, dim: (numpy_sort(x.movedim(in_dims[0], 0), dim if dim < 0 else dim + 1), (0, 0, 0)))


@custom_op("_torch_testing::numpy_take", mutates_args=())
def numpy_take(x: Tensor, ind: Tensor, ind_inv: Tensor, dim: int) -> Tensor:
    """Elements along a dim."""
    return _back(np.take_along_axis(to_numpy(x), to_numpy(ind), dim), x)


def _take_setup(ctx, inputs, output):
    ctx.save_for_backward(*inputs[1:3])
    ctx.dim = inputs[3]


def _take_vmap(info, in_dims, x, ind, ind_inv, dim):
    rank = x.dim() - (in_dims[0] is not None)
    x, ind, ind_inv = (_front(t, d, info.batch_size) for t, d in zip((x, ind, ind_inv), in_dims))
    return numpy_take(x, ind, ind_inv, (dim if dim >= 0 else dim + rank) + 1), 0


numpy_take.register_autograd(lambda ctx, g: (numpy_take(g, ctx.saved_tensors[1], ctx.saved_tensors[0], ctx.dim), None, None, None), setup_context=_take_setup)
numpy_take.register_vmap(_take_vmap)


@custom_op("_torch_testing::numpy_nonzero", mutates_args=())
def numpy_nonzero(x: Tensor) -> Tensor:
    """The places of what is not 0."""
    return _back(np.stack(np.nonzero(to_numpy(x)), axis=1), x)


@custom_op("_torch_testing::numpy_view_copy", mutates_args=())
def numpy_view_copy(x: Tensor, shape: Sequence[int]) -> Tensor:
    """In another shape."""
    return _back(np.reshape(to_numpy(x), tuple(shape)), x)


def _view_setup(ctx, inputs, output):
    ctx.shape = inputs[0].shape


numpy_view_copy.register_autograd(lambda ctx, g: (numpy_view_copy(g, tuple(ctx.shape)), None), setup_context=_view_setup)
numpy_view_copy.register_vmap(lambda info, in_dims, x, shape: (numpy_view_copy(x.movedim(in_dims[0], 0), (info.batch_size, *shape)), 0))


@custom_op("_torch_testing::numpy_nms", mutates_args=())
def numpy_nms(boxes: Tensor, scores: Tensor, iou_threshold: float) -> Tensor:
    """The boxes (x0, y0, x1, y1) that overlap none of a better score by more than the threshold, best first."""
    b, order, kept = to_numpy(boxes).astype(np.float64), list(np.argsort(-to_numpy(scores))), []
    area = (b[:, 2] - b[:, 0]) * (b[:, 3] - b[:, 1])
    while order:
        i = order.pop(0)
        kept.append(i)
        meets = lambda j, i=i: np.prod(np.maximum(0, np.minimum(b[i, 2:], b[j, 2:]) - np.maximum(b[i, :2], b[j, :2])))  # noqa: E731
        order = [j for j in order if meets(j) <= iou_threshold * (area[i] + area[j] - meets(j))]
    return _back(np.array(kept, dtype=np.int64), boxes)


@custom_op("_torch_testing::numpy_cat", mutates_args=())
def numpy_cat(xs: Sequence[Tensor], dim: int) -> Tensor:
    """Joined along a dim."""
    return _back(np.concatenate([to_numpy(x) for x in xs], axis=dim), xs[0])


def _cat_setup(ctx, inputs, output):
    xs, ctx.dim = inputs
    ctx.sizes = [x.shape[ctx.dim] for x in xs]


def _cat_vmap(info, in_dims, xs, dim):
    return numpy_cat([_front(x, d, info.batch_size) for x, d in zip(xs, in_dims[0])], dim if dim < 0 else dim + 1), 0


numpy_cat.register_autograd(lambda ctx, g: (numpy_split_copy(g, np.cumsum(ctx.sizes)[:-1].tolist(), ctx.dim), None), setup_context=_cat_setup)
numpy_cat.register_vmap(_cat_vmap)


@custom_op("_torch_testing::numpy_split_copy", mutates_args=())
def numpy_split_copy(x: Tensor, splits: Sequence[int], dim: int) -> list[Tensor]:
    """The parts between these places along a dim."""
    return [_back(a, x) for a in np.split(to_numpy(x), splits, axis=dim)]


def _split_setup(ctx, inputs, output):
    ctx.dim = inputs[2]


def _split_vmap(info, in_dims, x, splits, dim):
    parts = numpy_split_copy(x.movedim(in_dims[0], 0), splits, dim if dim < 0 else dim + 1)
    return parts, [0] * len(parts)


numpy_split_copy.register_autograd(lambda ctx, gs: (numpy_cat(gs, dim=ctx.dim), None, None), setup_context=_split_setup)
numpy_split_copy.register_vmap(_split_vmap)


@custom_op("_torch_testing::numpy_split_copy_with_int", mutates_args=())
def numpy_split_copy_with_int(x: Tensor, splits: Sequence[int], dim: int) -> tuple[list[Tensor], int]:
    """The parts, and at how many places it was cut."""
    return [_back(a, x) for a in np.split(to_numpy(x), splits, axis=dim)], len(splits)


def _split_with_int_vmap(info, in_dims, x, splits, dim):
    parts, count = numpy_split_copy_with_int(x.movedim(in_dims[0], 0), splits, dim if dim < 0 else dim + 1)
    return (parts, count), ([0] * len(parts), None)


numpy_split_copy_with_int.register_autograd(lambda ctx, gs, _: (numpy_cat(gs, dim=ctx.dim), None, None), setup_context=_split_setup)
numpy_split_copy_with_int.register_vmap(_split_with_int_vmap)


def sample_inputs_numpy_cat(opinfo, device, dtype, requires_grad, **kwargs):
    """Three tensors and a dim."""
    xs = [make_tensor(n, 3, 4, device=device, dtype=dtype, requires_grad=requires_grad, low=0.9, high=2) for n in (2, 4, 5)]
    yield SampleInput(xs, args=(0,))


def sample_inputs_numpy_split_copy(opinfo, device, dtype, requires_grad, **kwargs):
    """A matrix, places and a dim."""
    yield SampleInput(make_tensor(2, 9, device=device, dtype=dtype, requires_grad=requires_grad, low=0.9, high=2), args=([1, 3, 6], 1))


def sample_inputs_numpy_mul_scalar(opinfo, device, dtype, requires_grad, **kwargs):
    """A vector and a number."""
    yield SampleInput(make_tensor(4, device=device, dtype=dtype, requires_grad=requires_grad, low=0.9, high=2), args=(), kwargs={"scalar": 3.14})


def sample_inputs_numpy_nonzero(opinfo, device, dtype, requires_grad, **kwargs):
    """A vector with zeros in it."""
    x = make_tensor(10, device=device, dtype=dtype, low=0.9, high=2)
    yield SampleInput((x * _torch.tensor([1, 0] * 5, device=device).to(dtype)).requires_grad_(requires_grad), args=())


def sample_inputs_numpy_view_copy(opinfo, device, dtype, requires_grad, **kwargs):
    """A tensor and a shape."""
    yield SampleInput(make_tensor(2, 3, 4, device=device, dtype=dtype, requires_grad=requires_grad, low=0.9, high=2), args=([2, 12],))


def sample_inputs_numpy_nms(opinfo, device, dtype, requires_grad, **kwargs):
    """Boxes whose last corner is behind the first, and scores."""
    first = make_tensor(8, 2, device=device, dtype=dtype, low=0, high=5)
    size = make_tensor(8, 2, device=device, dtype=dtype, low=1, high=3)
    scores = _torch.arange(8, device=device).to(dtype)
    yield SampleInput(_torch.cat([first, first + size], 1).requires_grad_(requires_grad), args=(scores.requires_grad_(requires_grad), 0.5))


def _info(name, op, samples, grad=True):
    return OpInfo(name, op=op, dtypes=all_types_and(_torch.bool, _torch.half), sample_inputs_func=samples, supports_out=False, supports_autograd=grad,
                  method_variant=None, inplace_variant=None)


custom_op_db = [
    _info("NumpyCubeCustomOp", numpy_cube, sample_inputs_numpy_cube),
    _info("NumpyMulCustomOp", numpy_mul, sample_inputs_numpy_mul),
    _info("NumpyMulScalarCustomOp", numpy_mul_scalar, sample_inputs_numpy_mul_scalar),
    _info("NumpySortCustomOp", numpy_sort, sample_inputs_numpy_sort),
    _info("NumpyTakeCustomOp", numpy_take, sample_inputs_numpy_take),
    _info("NumpyNonzeroCustomOp", numpy_nonzero, sample_inputs_numpy_nonzero, False),
    _info("NumpyNMSCustomOp", numpy_nms, sample_inputs_numpy_nms, False),
    _info("NumpyViewCopyCustomOp", numpy_view_copy, sample_inputs_numpy_view_copy),
    _info("NumpyCatCustomOp", numpy_cat, sample_inputs_numpy_cat),
    _info("NumpySplitCopyCustomOp", numpy_split_copy, sample_inputs_numpy_split_copy),
    _info("NumpySplitCopyWithIntCustomOp", numpy_split_copy_with_int, sample_inputs_numpy_split_copy)]
