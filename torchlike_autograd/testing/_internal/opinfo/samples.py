"""Samples of operators that have none in the op table (layer 8): {name of the description: function of a maker to a list of SampleInput}.

A maker `t` gives tensors of the type, device and requires_grad of a test: `t(2, 3)`, in bounds `t(2, 3, low=0.1, high=1)`, `t.i(0, 1)` of indices,
`t.mask(2, 3)`, `t.spd(3)` (a Hermitian matrix of positive eigenvalues), `t.real(2)` (real also where the type is complex).
"""

from __future__ import annotations

from ...._core import publish as _publish
from ..._creation import make_tensor
from .core import SampleInput as C

SAMPLES: dict = {}


class Maker:
    """Tensors for the samples of one test."""

    def __init__(self, dtype, device, requires_grad):
        self.dtype, self.device, self.requires_grad = dtype, device, requires_grad
        self.float = dtype.is_floating_point or dtype.is_complex

    def __call__(self, *shape, low=None, high=None, dtype=None, grad=True):
        dtype = dtype or self.dtype
        wants = self.requires_grad and grad and (dtype.is_floating_point or dtype.is_complex)
        if low is not None and not (dtype.is_floating_point or dtype.is_complex):
            low, high = (0, 2) if dtype.itemsize == 1 and str(dtype) == "torch.bool" else (int(low) + 1, max(int(high or low + 4), int(low) + 3))
        return make_tensor(shape, dtype=dtype, device=self.device, low=low, high=high, requires_grad=wants)

    def real(self, *shape, **bounds):
        """Of the real type."""
        return self(*shape, dtype=self.dtype.to_real() if self.dtype.is_complex else self.dtype, **bounds)

    def tensor(self, values, **how):
        """Of given values."""
        return _publish.load_all()["torch.tensor"](values, device=self.device, **how)

    def i(self, *values):
        """A vector (or, of lists, a matrix) of indices."""
        return self.tensor(list(values))

    def mask(self, *shape):
        """A mask with both values in it."""
        flat = [k % 3 != 1 for k in range(_product(shape))]
        return self.tensor(flat).reshape(shape)

    def spd(self, n):
        """A Hermitian matrix of positive eigenvalues."""
        a = self(n, n, low=-1, high=1).detach()
        out = a @ a.mH + n * _publish.load_all()["torch.eye"](n, dtype=self.dtype, device=self.device)
        return out.requires_grad_(self.requires_grad)

    def regular(self, *shape):
        """Matrices that are well conditioned."""
        a = self(*shape, low=-1, high=1).detach()
        out = a + shape[-1] * _publish.load_all()["torch.eye"](shape[-1], dtype=self.dtype, device=self.device)
        return out.requires_grad_(self.requires_grad)


def _product(shape):
    n = 1
    for k in shape:
        n *= k
    return n


def of(names, samples):
    """The same samples for several operators."""
    for name in names.split():
        SAMPLES[name] = samples


of("nn.functional.relu nn.functional.relu6 nn.functional.hardswish nn.functional.silu nn.functional.silu/complex nn.functional.hardsigmoid nn.functional.mish "
   "nn.functional.softsign nn.functional.tanhshrink nn.functional.leaky_relu nn.functional.elu nn.functional.celu nn.functional.selu "
   "nn.functional.hardtanh positive conj conj_physical resolve_conj resolve_neg real clone contiguous ravel square isreal "
   "atleast_1d atleast_2d atleast_3d zero_ unique empty_like zeros_like ones_like randn_like rand_like bfloat16 bool byte char double float half int "
   "long short cdouble cfloat nonzero argwhere", lambda t: [C(t(2, 3)), C(t(3))])
of("abs neg exp expm1 exp2 sin cos tanh sigmoid erf erfc sinh cosh asinh atan rad2deg deg2rad sgn angle sinc sign nn.functional.logsigmoid nn.functional.gelu "
   "nn.functional.softplus tan ceil floor trunc frac isnan isinf isfinite isposinf isneginf signbit i0 special.i0e special.i1 special.i1e special.ndtr "
   "special.log_ndtr special.erfcx nan_to_num logical_not bitwise_not special.bessel_j0 special.bessel_j1 special.airy_ai special.modified_bessel_i0 "
   "special.modified_bessel_i1 special.spherical_bessel_j0 round", lambda t: [C(t(2, 3, low=-2, high=2)), C(t()), C(t(3, low=-2, high=2))])
of("log log2 log10 log1p sqrt rsqrt reciprocal digamma lgamma special.entr special.bessel_y0 special.bessel_y1 special.modified_bessel_k0 "
   "special.modified_bessel_k1 special.scaled_modified_bessel_k0 special.scaled_modified_bessel_k1", lambda t: [C(t(2, 3, low=0.2, high=3)), C(t(3, low=1, high=4))])
of("asin acos atanh erfinv", lambda t: [C(t(2, 3, low=-0.9, high=0.9)), C(t(3, low=-0.9, high=0.9))])
of("acosh", lambda t: [C(t(2, 3, low=1.1, high=4)), C(t(3, low=1.1, high=4))])
of("logit special.ndtri", lambda t: [C(t(2, 3, low=0.1, high=0.9))])
SAMPLES["imag"] = SAMPLES["view_as_real"] = lambda t: [C(t(2, 3)), C(t(3))]
SAMPLES["item"] = lambda t: [C(t()), C(t(1, 1))]
of("add sub mul atan2 hypot copysign fmax fmin maximum minimum max/binary min/binary logaddexp logaddexp2 eq ne lt le gt ge isclose allclose "
   "logical_and logical_or logical_xor __radd__ __rsub__ __rmul__ heaviside nextafter rsub",
   lambda t: [C(t(2, 3), t(2, 3)), C(t(2, 3), t(3)), C(t(), t(2))])
of("equal", lambda t: [C(t(2, 3), t(2, 3))])
of("bitwise_and bitwise_or bitwise_xor __rand__ __ror__ __rxor__ gcd lcm bitwise_left_shift bitwise_right_shift",
   lambda t: [C(t(2, 3, low=0, high=4), t(2, 3, low=0, high=4)), C(t(2, 3, low=0, high=4), t(3, low=0, high=4))])
of("div/no_rounding_mode true_divide __rdiv__ remainder fmod __rmod__ floor_divide",
   lambda t: [C(t(2, 3, low=0.5, high=3), t(2, 3, low=0.5, high=2)), C(t(2, 3, low=0.5, high=3), t(3, low=0.5, high=2))])
SAMPLES["div/trunc_rounding"] = lambda t: [C(t(2, 3, low=0.5, high=3), t(2, 3, low=0.5, high=2), rounding_mode="trunc")]
SAMPLES["div/floor_rounding"] = lambda t: [C(t(2, 3, low=0.5, high=3), t(2, 3, low=0.5, high=2), rounding_mode="floor")]
of("pow float_power __rpow__", lambda t: [C(t(2, 3, low=0.5, high=2), t(2, 3, low=0.5, high=2)), C(t(3, low=0.5, high=2), 2)])
of("xlogy special.xlog1py special.zeta igamma igammac", lambda t: [C(t(2, 3, low=1.1, high=3), t(2, 3, low=0.5, high=2)), C(t(3, low=1.1, high=3), t(3, low=0.5, high=2))])
SAMPLES["ldexp"] = lambda t: [C(t(2, 3), t(2, 3, low=0, high=2))]
SAMPLES["polar"] = SAMPLES["complex"] = lambda t: [C(t(2, 3), t(2, 3))]
of("clamp", lambda t: [C(t(2, 3), -1, 1), C(t(2, 3), t(2, 3), None), C(t(2, 3), min=0)])
of("clamp_min clamp_max", lambda t: [C(t(2, 3), t(2, 3)), C(t(2, 3), t(3))])
of("addcmul addcdiv", lambda t: [C(t(2, 3), t(2, 3), t(2, 3, low=0.5, high=2)), C(t(2, 3), t(3), t(2, 1, low=0.5, high=2), value=2)])
SAMPLES["lerp"] = lambda t: [C(t(2, 3), t(2, 3), 0.4), C(t(2, 3), t(2, 3), t(2, 3))]
for _n in range(5):
    SAMPLES[f"polygamma/polygamma_n_{_n}"] = lambda t, n=_n: [C(t(3, low=1, high=4), n)]
SAMPLES["special.polygamma/special_polygamma_n_0"] = SAMPLES["polygamma/polygamma_n_0"]
for _p in (1, 3, 5):
    SAMPLES[f"mvlgamma/mvlgamma_p_{_p}"] = lambda t, p=_p: [C(t(3, low=p, high=p + 4), p)]
for _d, _v in (("decimals_0", 0), ("decimals_3", 3), ("decimals_neg_3", -3)):
    SAMPLES[f"round/{_d}"] = lambda t, d=_v: [C(t(2, 3), decimals=d)]

# Shapes

SAMPLES["arange"] = lambda t: [C(5, dtype=t.dtype, device=t.device), C(1, 9, 2, dtype=t.dtype, device=t.device)]
of("linspace", lambda t: [C(1, 5, 5, dtype=t.dtype, device=t.device)])
of("linspace/tensor_overload", lambda t: [C(t(low=0.5, high=1, grad=False), t(low=4, high=5, grad=False), 4, dtype=t.dtype, device=t.device)])
of("logspace", lambda t: [C(0, 2, 3, dtype=t.dtype, device=t.device)])
of("logspace/tensor_overload", lambda t: [C(t(low=0, high=1, grad=False), t(low=1, high=2, grad=False), 4, dtype=t.dtype, device=t.device)])
of("eye", lambda t: [C(3, dtype=t.dtype, device=t.device), C(2, 3, dtype=t.dtype, device=t.device)])
of("zeros ones empty randn", lambda t: [C(2, 3, dtype=t.dtype, device=t.device)])
SAMPLES["empty_permuted"] = lambda t: [C((2, 3), (1, 0), dtype=t.dtype, device=t.device)]
SAMPLES["full"] = lambda t: [C((2, 3), 2 if t.float else 1, dtype=t.dtype, device=t.device)]
SAMPLES["scalar_tensor"] = lambda t: [C(1, dtype=t.dtype, device=t.device)]
SAMPLES["randint"] = lambda t: [C(3, size=(2, 3), dtype=t.dtype, device=t.device)]
SAMPLES["randint_like"] = lambda t: [C(t(2, 3), 3)]
SAMPLES["full_like"] = lambda t: [C(t(2, 3), 1)]
of("new_zeros new_ones new_empty", lambda t: [C(t(2), (2, 3))])
SAMPLES["new_full"] = lambda t: [C(t(2), (2, 3), 1)]
SAMPLES["new_empty_strided"] = lambda t: [C(t(2), (2, 3), (3, 1))]
SAMPLES["empty_strided"] = lambda t: [C((2, 3), (3, 1), dtype=t.dtype, device=t.device)]
of("tril_indices triu_indices", lambda t: [C(3, 4, dtype=t.dtype, device=t.device)])
of("broadcast_to expand expand_copy", lambda t: [C(t(1, 3), (2, 3)), C(t(), (2,))])
SAMPLES["broadcast_shapes"] = lambda t: [C((2, 1), (3,))]
SAMPLES["broadcast_tensors"] = lambda t: [C(t(2, 1), t(3))]
of("block_diag", lambda t: [C(t(2, 3), t(1, 2)), C(t(2), t(2, 2))])
of("meshgrid/variadic_tensors cartesian_prod", lambda t: [C(t(2), t(3))])
SAMPLES["meshgrid/list_of_tensors"] = lambda t: [C([t(2), t(3)], indexing="ij")]
of("column_stack hstack vstack dstack stack cat", lambda t: [C([t(2, 3), t(2, 3)]), C((t(2, 2), t(2, 2), t(2, 2)))])
SAMPLES["_chunk_cat"] = lambda t: [C([t(2, 3), t(4, 3)], dim=0, num_chunks=2)]
SAMPLES["combinations"] = lambda t: [C(t(4)), C(t(3), 2, True)]
of("chunk unsafe_chunk tensor_split", lambda t: [C(t(5, 3), 2), C(t(3, 5), 3, 1)])
of("split unsafe_split", lambda t: [C(t(5, 3), 2), C(t(3, 5), 2, 1)])
of("split/list_args split_with_sizes split_with_sizes_copy", lambda t: [C(t(5, 3), (2, 3)), C(t(3, 5), [1, 4], 1)])
of("hsplit vsplit", lambda t: [C(t(4, 4), 2), C(t(4, 4), (1, 3))])
SAMPLES["dsplit"] = lambda t: [C(t(2, 2, 4), 2)]
of("unbind unbind_copy", lambda t: [C(t(2, 3)), C(t(2, 3), 1)])
SAMPLES["sum_to_size"] = lambda t: [C(t(2, 3), (1, 3)), C(t(2, 3), (3,))]
of("expand_as", lambda t: [C(t(1, 3), t(2, 3))])
of("view_as reshape_as", lambda t: [C(t(2, 3), t(3, 2))])
of("view reshape view_copy", lambda t: [C(t(2, 3), (3, 2)), C(t(2, 3), (-1,))])
SAMPLES["flatten"] = lambda t: [C(t(2, 3, 2)), C(t(2, 3, 2), 1)]
SAMPLES["unflatten"] = lambda t: [C(t(6, 2), 0, (2, 3))]
SAMPLES["view_as_complex"] = lambda t: [C(t(3, 2))]
of("diag diagflat", lambda t: [C(t(3)), C(t(3), 1)])
of("fliplr flipud", lambda t: [C(t(2, 3))])
SAMPLES["rot90"] = lambda t: [C(t(2, 3)), C(t(2, 3), 2, (0, 1))]
SAMPLES["movedim"] = lambda t: [C(t(2, 3, 4), 0, 2), C(t(2, 3), (0, 1), (1, 0))]
of("narrow narrow_copy", lambda t: [C(t(4, 3), 0, 1, 2), C(t(3, 4), 1, -3, 2)])
of("select", lambda t: [C(t(4, 3), 0, 1), C(t(3, 4), 1, -1)])
SAMPLES["select_scatter"] = lambda t: [C(t(4, 3), t(3), 0, 1)]
SAMPLES["slice_scatter"] = lambda t: [C(t(4, 3), t(2, 3), 0, 1, 3)]
of("T t H", lambda t: [C(t(2, 3))])
of("mT mH", lambda t: [C(t(2, 2, 3))])
SAMPLES["tile"] = SAMPLES["repeat"] = lambda t: [C(t(2, 3), (2, 1)), C(t(3), (2, 2))]
SAMPLES["repeat_interleave"] = lambda t: [C(t(2, 3), 2), C(t(2, 3), t.i(1, 2), dim=0)]
of("resize_", lambda t: [C(t(2, 3, grad=False), (3, 2))])
of("resize_as_", lambda t: [C(t(2, 3, grad=False), t(3, 2, grad=False))])
of("as_strided as_strided_copy as_strided/partial_views", lambda t: [C(t(6), (2, 2), (2, 1)), C(t(6), (2, 2), (1, 1), 1)])
SAMPLES["to"] = lambda t: [C(t(2, 3), t.dtype), C(t(2, 3), device=t.device)]

# Indexing

SAMPLES["__getitem__"] = lambda t: [C(t(4, 3), (slice(1, 3),)), C(t(4, 3), (t.i(0, 2),)), C(t(4, 3), (0, ...)), C(t(4, 3), (None, slice(None, None, 2)))]
SAMPLES["index_select"] = lambda t: [C(t(4, 3), 0, t.i(0, 2)), C(t(4, 3), 1, t.i(2, 2))]
of("index_add index_copy", lambda t: [C(t(4, 3), 0, t.i(0, 2), t(2, 3)), C(t(4, 3), 1, t.i(2, 0), t(4, 2))])
SAMPLES["index_fill"] = lambda t: [C(t(4, 3), 0, t.i(0, 2), 1)]
for _r in ("mean", "prod", "amin", "amax"):
    SAMPLES[f"index_reduce/{_r}"] = lambda t, r=_r: [C(t(4, 3), 0, t.i(0, 2), t(2, 3), reduce=r)]
    SAMPLES[f"scatter_reduce/{_r}"] = lambda t, r=_r: [C(t(4), 0, t.i(0, 2, 1), t(3), reduce=r)]
SAMPLES["scatter_reduce/sum"] = lambda t: [C(t(4), 0, t.i(0, 2, 2), t(3), reduce="sum")]
SAMPLES["index_put"] = lambda t: [C(t(4, 3), (t.i(0, 2),), t(2, 3)), C(t(4, 3), (t.i(0, 2),), t(2, 3), accumulate=True)]
of("gather", lambda t: [C(t(3, 3), 0, t.i([0, 1, 2], [2, 0, 1])), C(t(3, 3), 1, t.i([0, 0], [2, 1], [1, 1]))])
SAMPLES["take_along_dim"] = lambda t: [C(t(3, 3), t.i([0, 1, 2], [2, 0, 1]), 0)]
of("scatter scatter_add", lambda t: [C(t(3, 3), 0, t.i([0, 1, 2], [2, 0, 1]), t(2, 3))])
SAMPLES["put"] = lambda t: [C(t(4), t.i(0, 2), t(2)), C(t(4), t.i(1, 1), t(2), accumulate=True)]
SAMPLES["take"] = lambda t: [C(t(2, 3), t.i(0, 4))]
of("masked_fill", lambda t: [C(t(2, 3), t.mask(2, 3), 1), C(t(2, 3), t.mask(3), t())])
SAMPLES["masked_select"] = lambda t: [C(t(2, 3), t.mask(2, 3))]
SAMPLES["masked_scatter"] = lambda t: [C(t(2, 3), t.mask(2, 3), t(2, 3))]
SAMPLES["where"] = lambda t: [C(t(2, 3), t.mask(2, 3), t(2, 3)), C(t(2, 3), t.mask(3), t())]
SAMPLES["nonzero_static"] = lambda t: [C(t(2, 3), size=4)]
SAMPLES["unravel_index"] = lambda t: [C(t(3, low=0, high=3), (2, 3))]
SAMPLES["unique_consecutive"] = lambda t: [C(t(4, grad=False))]
SAMPLES["bincount"] = lambda t: [C(t(4, low=0, high=3).abs())]
SAMPLES["fill"] = lambda t: [C(t(2, 3), 1)]
