"""torch.testing._internal.autograd_function_db (layer 8): custom Functions that tests of transformations go over, by the names that PyTorch's have."""

from __future__ import annotations

import importlib
from functools import partial

import numpy as np

from ...autograd.function import Function
from .._creation import make_tensor
from .common_dtype import all_types_and, floating_types
from .opinfo.core import OpInfo, SampleInput

_torch = importlib.import_module(__package__.split(".")[0])


def to_numpy(tensor):
    """The array of a tensor."""
    return tensor.detach().cpu().numpy()


def _back(array, like):
    return _torch.tensor(np.ascontiguousarray(array), device=like.device)


def _front(x, dim, size):
    """The dim that is mapped in front, and one for a tensor that has none."""
    return x.movedim(dim, 0) if dim is not None else x.unsqueeze(0).expand(size, *x.shape)


class NumpyCube(Function):
    """(x**3, 3 x**2), both computed by NumPy."""

    @staticmethod
    def forward(input):
        """x**3 and its slope."""
        a = to_numpy(input)
        return _back(a**3, input), _back(3 * a**2, input)

    @staticmethod
    def setup_context(ctx, inputs, output):
        """Keep x and the slope."""
        ctx.save_for_backward(inputs[0], output[1])
        ctx.save_for_forward(inputs[0], output[1])

    @staticmethod
    def backward(ctx, grad, grad_slope):
        """grad * 3 x**2 + grad_slope * 6 x."""
        x, slope = ctx.saved_tensors
        return NumpyMul.apply(grad, slope) + 6 * NumpyMul.apply(grad_slope, x)

    @staticmethod
    def vmap(info, in_dims, input):
        """Element by element: the mapped dim stays where it is."""
        return NumpyCube.apply(input), (in_dims[0], in_dims[0])

    @staticmethod
    def jvp(ctx, tangent):
        """Tangents of both."""
        x, slope = ctx.saved_tensors
        return NumpyMul.apply(tangent, slope), 6 * NumpyMul.apply(tangent, x)


class NumpyCubeNotComposable(Function):
    """x**3 by NumPy, whose gradient has none."""

    @staticmethod
    def forward(input):
        """x**3 and the array of x."""
        a = to_numpy(input)
        return _back(a**3, input), a

    @staticmethod
    def setup_context(ctx, inputs, output):
        """Keep the array."""
        ctx.array, ctx.like = output[1], inputs[0].detach()

    @staticmethod
    def backward(ctx, grad, _):
        """By NumPy again."""
        return _back(3 * ctx.array**2 * to_numpy(grad), ctx.like)


class CubeGenVmap(Function):
    """(x**3, 3 x**2), mapped as it is."""

    generate_vmap_rule = True

    @staticmethod
    def forward(x):
        """x**3 and its slope."""
        return x**3, 3 * x**2

    @staticmethod
    def setup_context(ctx, inputs, outputs):
        """Keep x and the slope."""
        ctx.save_for_backward(inputs[0], outputs[1])
        ctx.save_for_forward(inputs[0], outputs[1])

    @staticmethod
    def backward(ctx, grad, grad_slope):
        """As of `NumpyCube`."""
        x, slope = ctx.saved_tensors
        return grad * slope + 6 * grad_slope * x

    @staticmethod
    def jvp(ctx, tangent):
        """Tangents of both."""
        x, slope = ctx.saved_tensors
        return tangent * slope, 6 * tangent * x


class NumpyMul(Function):
    """x * y by NumPy."""

    @staticmethod
    def forward(x, y):
        """The product."""
        return _back(to_numpy(x) * to_numpy(y), x)

    @staticmethod
    def setup_context(ctx, inputs, output):
        """Keep both."""
        ctx.save_for_backward(*inputs)
        ctx.save_for_forward(*inputs)

    @staticmethod
    def backward(ctx, grad):
        """Each by the other one, summed to its shape."""
        x, y = ctx.saved_tensors
        return (NumpyMul.apply(grad, y).sum_to_size(x.shape) if ctx.needs_input_grad[0] else None,
                NumpyMul.apply(grad, x).sum_to_size(y.shape) if ctx.needs_input_grad[1] else None)

    @staticmethod
    def vmap(info, in_dims, x, y):
        """Both with the mapped dim in front, and ones after it where one has fewer dims."""
        ranks = [t.dim() - (d is not None) for t, d in zip((x, y), in_dims)]
        x, y = (_spread(t, d, max(ranks)) for t, d in zip((x, y), in_dims))
        return NumpyMul.apply(x, y), 0

    @staticmethod
    def jvp(ctx, x_tangent, y_tangent):
        """Of a product."""
        x, y = ctx.saved_tensors
        return x_tangent * y + y_tangent * x


def _spread(t, dim, rank):
    if dim is None:
        return t
    t = t.movedim(dim, 0)
    return t.reshape(t.shape[0], *[1] * (rank + 1 - t.dim()), *t.shape[1:])


class MulGenVmap(Function):
    """x * y, mapped as it is."""

    generate_vmap_rule = True

    @staticmethod
    def forward(x, y):
        """The product."""
        return x * y

    @staticmethod
    def setup_context(ctx, inputs, outputs):
        """Keep both."""
        ctx.save_for_backward(*inputs)
        ctx.save_for_forward(*inputs)

    @staticmethod
    def backward(ctx, grad):
        """Each by the other one, summed to its shape."""
        x, y = ctx.saved_tensors
        return ((grad * y).sum_to_size(x.shape) if ctx.needs_input_grad[0] else None, (grad * x).sum_to_size(y.shape) if ctx.needs_input_grad[1] else None)

    @staticmethod
    def jvp(ctx, x_tangent, y_tangent):
        """Of a product."""
        x, y = ctx.saved_tensors
        return x_tangent * y + y_tangent * x


class NumpyExp_(Function):
    """exp by NumPy, written to its input."""

    @staticmethod
    def forward(x):
        """The input, changed."""
        x.copy_(_back(np.exp(to_numpy(x)), x))
        return x

    @staticmethod
    def setup_context(ctx, inputs, output):
        """Keep the result."""
        ctx.mark_dirty(inputs[0])
        ctx.save_for_backward(output)
        ctx.save_for_forward(output)

    @staticmethod
    def backward(ctx, grad):
        """By the result."""
        return NumpyMul.apply(grad, ctx.saved_tensors[0])

    @staticmethod
    def vmap(info, in_dims, x):
        """Element by element."""
        return NumpyExp_.apply(x), in_dims[0]

    @staticmethod
    def jvp(ctx, tangent):
        """Written to the tangent."""
        return tangent.mul_(ctx.saved_tensors[0])


class NumpySort(Function):
    """(sorted, the order, its inverse) along a dim, by NumPy."""

    @staticmethod
    def forward(x, dim):
        """Sort."""
        a = to_numpy(x)
        order = np.argsort(a, axis=dim)
        return _back(np.take_along_axis(a, order, axis=dim), x), _back(order, x), _back(np.argsort(order, axis=dim), x)

    @staticmethod
    def setup_context(ctx, inputs, output):
        """Keep the orders."""
        ctx.mark_non_differentiable(*output[1:])
        ctx.save_for_backward(*output[1:])
        ctx.save_for_forward(*output[1:])
        ctx.dim = inputs[1]

    @staticmethod
    def backward(ctx, grad, _0, _1):
        """Put back."""
        order, inverse = ctx.saved_tensors
        return NumpyTake.apply(grad, inverse, order, ctx.dim), None

    @staticmethod
    def vmap(info, in_dims, x, dim):
        """With the mapped dim in front."""
        return NumpySort.apply(x.movedim(in_dims[0], 0), dim if dim < 0 else dim + 1), (0, 0, 0)

    @staticmethod
    def jvp(ctx, tangent, _):
        """The same order."""
        order, inverse = ctx.saved_tensors
        return NumpyTake.apply(tangent, order, inverse, ctx.dim), None, None


class SortGenVmap(Function):
    """As `NumpySort`, mapped as it is."""

    generate_vmap_rule = True

    @staticmethod
    def forward(x, dim):
        """Sort."""
        order = x.argsort(dim)
        return x.gather(dim, order), order, order.argsort(dim)

    @staticmethod
    def setup_context(ctx, inputs, outputs):
        """Keep the orders."""
        ctx.mark_non_differentiable(*outputs[1:])
        ctx.save_for_backward(*outputs[1:])
        ctx.save_for_forward(*outputs[1:])
        ctx.dim = inputs[1]

    @staticmethod
    def backward(ctx, grad, _0, _1):
        """Put back."""
        return grad.gather(ctx.dim, ctx.saved_tensors[1]), None

    @staticmethod
    def jvp(ctx, tangent, _):
        """The same order."""
        return tangent.gather(ctx.dim, ctx.saved_tensors[0]), None, None


class NumpyTake(Function):
    """Elements along a dim by NumPy; `ind_inv` undoes `ind`."""

    @staticmethod
    def forward(x, ind, ind_inv, dim):
        """Take."""
        return _back(np.take_along_axis(to_numpy(x), to_numpy(ind), dim), x)

    @staticmethod
    def setup_context(ctx, inputs, output):
        """Keep the indices."""
        ctx.save_for_backward(*inputs[1:3])
        ctx.save_for_forward(*inputs[1:3])
        ctx.dim = inputs[3]

    @staticmethod
    def backward(ctx, grad):
        """Take by the inverse."""
        ind, ind_inv = ctx.saved_tensors
        return NumpyTake.apply(grad, ind_inv, ind, ctx.dim), None, None, None

    @staticmethod
    def vmap(info, in_dims, x, ind, ind_inv, dim):
        """With the mapped dim in front, of the ranks that they have without it."""
        rank = x.dim() - (in_dims[0] is not None)
        x, ind, ind_inv = (_front(t, d, info.batch_size) for t, d in zip((x, ind, ind_inv), in_dims))
        return NumpyTake.apply(x, ind, ind_inv, (dim if dim >= 0 else dim + rank) + 1), 0

    @staticmethod
    def jvp(ctx, tangent, *_):
        """The same elements."""
        ind, ind_inv = ctx.saved_tensors
        return NumpyTake.apply(tangent, ind, ind_inv, ctx.dim)


class Select(Function):
    """x[idx]."""

    @staticmethod
    def forward(x, idx):
        """One row."""
        return x[idx]

    @staticmethod
    def setup_context(ctx, inputs, output):
        """Keep the shape."""
        ctx.x_shape, ctx.idx = inputs[0].shape, inputs[1]

    @staticmethod
    def backward(ctx, grad):
        """Zeros, and the gradient in the row."""
        return _row(grad, ctx.x_shape, ctx.idx), None

    @staticmethod
    def vmap(info, in_dims, x, idx):
        """With the mapped dim after the one that is selected from."""
        return Select.apply(x.movedim(in_dims[0], 1), idx), 0

    @staticmethod
    def jvp(ctx, tangent, _):
        """The same row."""
        return Select.apply(tangent, ctx.idx)


def _row(grad, shape, idx):
    out = grad.new_zeros(shape)
    return _torch.select_scatter(out, grad, 0, idx)


class SelectGenVmap(Function):
    """x[idx], mapped as it is."""

    generate_vmap_rule = True

    @staticmethod
    def forward(x, idx):
        """One row."""
        return x[idx]

    @staticmethod
    def setup_context(ctx, inputs, outputs):
        """Keep the shape."""
        ctx.x_shape, ctx.idx = inputs[0].shape, inputs[1]

    @staticmethod
    def backward(ctx, grad):
        """Zeros, and the gradient in the row."""
        return _row(grad, ctx.x_shape, ctx.idx), None

    @staticmethod
    def jvp(ctx, tangent, _):
        """The same row."""
        return SelectGenVmap.apply(tangent, ctx.idx)


class ScaleGradGenVmap(Function):
    """x, with a gradient that is scaled."""

    generate_vmap_rule = True
    scale = 3.14

    @staticmethod
    def forward(x):
        """A copy."""
        return x.clone()

    @staticmethod
    def setup_context(ctx, inputs, outputs):
        """Nothing to keep."""

    @staticmethod
    def backward(ctx, grad):
        """Scaled."""
        return grad * ScaleGradGenVmap.scale

    @staticmethod
    def jvp(ctx, tangent):
        """Scaled."""
        return tangent * ScaleGradGenVmap.scale


class ZeroGradientsGenVmap(Function):
    """(x, y), with gradients of 0."""

    generate_vmap_rule = True

    @staticmethod
    def forward(x, y):
        """Copies."""
        return x.clone(), y.clone()

    @staticmethod
    def setup_context(ctx, inputs, outputs):
        """Nothing to keep."""

    @staticmethod
    def backward(ctx, gx, gy):
        """0, of the shapes that came."""
        return _torch.zeros(gx.shape, dtype=gx.dtype, device=gx.device), _torch.zeros(gy.shape, dtype=gy.dtype, device=gy.device)

    @staticmethod
    def jvp(ctx, gx, gy):
        """0."""
        return _torch.zeros(gx.shape, dtype=gx.dtype, device=gx.device), _torch.zeros(gy.shape, dtype=gy.dtype, device=gy.device)


class ForwardHasDefaultArgs(Function):
    """x[idx], where idx has a default."""

    @staticmethod
    def forward(x, idx=(2,)):
        """Rows."""
        return x[idx]

    @staticmethod
    def setup_context(ctx, inputs, output):
        """Keep the shape; the default arrives too."""
        x, idx = inputs
        ctx.x_shape, ctx.idx = x.shape, idx

    @staticmethod
    def backward(ctx, grad):
        """Zeros, and the gradient in the rows."""
        return _row(grad, ctx.x_shape, ctx.idx[0]), None

    @staticmethod
    def vmap(info, in_dims, x, idx):
        """With the mapped dim after the one that is selected from."""
        return ForwardHasDefaultArgs.apply(x.movedim(in_dims[0], 1), idx), 0

    @staticmethod
    def jvp(ctx, tangent, _):
        """The same rows."""
        return ForwardHasDefaultArgs.apply(tangent, ctx.idx)


def _makers(device, dtype, requires_grad):
    return partial(make_tensor, device=device, dtype=dtype, requires_grad=requires_grad, low=0.8, high=2)


def sample_inputs_numpy_cube(opinfo, device, dtype, requires_grad, **kwargs):
    """One element."""
    yield SampleInput(_makers(device, dtype, requires_grad)(1), args=())


def sample_inputs_numpy_mul(opinfo, device, dtype, requires_grad, **kwargs):
    """Two that broadcast."""
    make = _makers(device, dtype, requires_grad)
    yield SampleInput(make(4), args=(make(3, 4),))


def sample_inputs_numpy_sort(opinfo, device, dtype, requires_grad, **kwargs):
    """A matrix and a dim."""
    yield SampleInput(_makers(device, dtype, requires_grad)(3, 5), args=(1,))


def sample_inputs_numpy_take(opinfo, device, dtype, requires_grad, **kwargs):
    """A matrix, an order of it and the inverse."""
    x = _makers(device, dtype, requires_grad)(3, 5)
    order = x.detach().argsort(1)
    yield SampleInput(x, args=(order, order.argsort(1), 1))


def sample_inputs_select(opinfo, device, dtype, requires_grad, **kwargs):
    """A matrix and a row."""
    yield SampleInput(_makers(device, dtype, requires_grad)(3, 5), args=(2,))


def sample_inputs_forward_default_args(opinfo, device, dtype, requires_grad, **kwargs):
    """A matrix."""
    yield SampleInput(_makers(device, dtype, requires_grad)(3, 5))


def _info(name, op, samples, forward=True, gradgrad=True):
    kinds = all_types_and(*_HALF)
    return OpInfo(name, op=op, dtypes=kinds, sample_inputs_func=samples, supports_out=False, supports_forward_ad=forward, supports_fwgrad_bwgrad=forward,
                  supports_gradgrad=gradgrad, backward_dtypes=(*floating_types(), *_HALF[1:]), method_variant=None, inplace_variant=None)


_HALF = (_torch.bool, _torch.half, _torch.bfloat16)
autograd_function_db = [
    _info("NumpyCubeAutogradFunction", NumpyCube.apply, sample_inputs_numpy_cube),
    _info("NumpyExpMarkDirtyAutogradFunction", lambda x: NumpyExp_.apply(x.clone()), sample_inputs_numpy_cube),
    _info("NumpyMulAutogradFunction", NumpyMul.apply, sample_inputs_numpy_mul),
    _info("NumpyCubeNotComposableAutogradFunction", lambda x: NumpyCubeNotComposable.apply(x)[0], sample_inputs_numpy_cube, False, False),
    _info("NumpySortAutogradFunction", NumpySort.apply, sample_inputs_numpy_sort, False),
    _info("NumpyTakeAutogradFunction", NumpyTake.apply, sample_inputs_numpy_take, False),
    _info("SelectAutogradFunction", Select.apply, sample_inputs_select),
    _info("CubeGenVmapAutogradFunction", CubeGenVmap.apply, sample_inputs_numpy_cube),
    _info("MulGenVmapAutogradFunction", MulGenVmap.apply, sample_inputs_numpy_mul),
    _info("SortGenVmapAutogradFunction", SortGenVmap.apply, sample_inputs_numpy_sort),
    _info("SelectGenVmapAutogradFunction", SelectGenVmap.apply, sample_inputs_select),
    _info("ScaleGradGenVmapAutogradFunction", ScaleGradGenVmap.apply, sample_inputs_numpy_cube),
    _info("ZeroGradientsGenVmapAutogradFunction", ZeroGradientsGenVmap.apply, sample_inputs_numpy_mul),
    _info("ForwardHasDefaultArgsAutogradFunction", ForwardHasDefaultArgs.apply, sample_inputs_forward_default_args)]
