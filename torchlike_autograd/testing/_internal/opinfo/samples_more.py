"""Samples of reductions, linear algebra, transforms, layers and random numbers (layer 8); see `samples.py`."""

from __future__ import annotations

from ...._core import dtypes
from ...._core import publish as _publish
from .core import SampleInput as C
from .samples import SAMPLES, of

# Reductions and order

_reduced = lambda t: [C(t(2, 3)), C(t(2, 3), dim=0), C(t(2, 3), dim=1, keepdim=True)]  # noqa: E731
of("sum mean prod nansum nanmean amax amin all any argmax argmin", _reduced)
of("masked.sum masked.prod masked.amax masked.amin masked.mean", lambda t: [
    *_reduced(t), C(t(2, 3), mask=t.mask(2, 3)), C(t(2, 3), dim=1, mask=t.mask(2, 3)), C(t(3, 2, 2), dim=(0, 2), keepdim=True, mask=t.mask(3, 1, 2))])
SAMPLES["count_nonzero"] = lambda t: [C(t(2, 3)), C(t(2, 3), dim=0)]
of("masked.argmax masked.argmin masked.median", lambda t: [C(t(2, 3), dim=0), C(t(2, 3), dim=1, mask=t.mask(2, 3))])
_spread = lambda t: [C(t(2, 3)), C(t(2, 3), dim=1, unbiased=True)]  # noqa: E731
of("std var", _spread)
of("masked.std masked.var", lambda t: [*_spread(t), C(t(2, 4), dim=1, unbiased=True, mask=t.mask(2, 4)), C(t(3, 4), unbiased=False, mask=t.mask(3, 4))])
of("std/unbiased var/unbiased std_mean/unbiased var_mean/unbiased", lambda t: [C(t(2, 3), True), C(t(3), False)])
of("std_mean var_mean", lambda t: [C(t(2, 3)), C(t(2, 3), dim=1, correction=0)])
of("max/reduction_no_dim min/reduction_no_dim", lambda t: [C(t(2, 3)), C(t(3))])
of("max/reduction_with_dim min/reduction_with_dim median nanmedian mode", lambda t: [C(t(2, 3), 1), C(t(2, 3), 0, True)])
of("cumsum cumprod cummax cummin logcumsumexp masked.cumsum masked.cumprod", lambda t: [C(t(2, 3), 1), C(t(2, 3), 0)])
of("logsumexp masked.logsumexp", lambda t: [C(t(2, 3), 1), C(t(2, 3), (0, 1))])
of("softmax log_softmax nn.functional.softmin masked.softmax masked.log_softmax masked.softmin", lambda t: [C(t(2, 3), 1), C(t(2, 3), 0)])
of("softmax/with_dtype log_softmax/with_dtype nn.functional.softmin/with_dtype", lambda t: [C(t(2, 3), 1, dtype=_double(t))])
SAMPLES["masked.norm"] = lambda t: [C(t(2, 3), 2, 1), C(t(2, 3), 1, 0)]
SAMPLES["masked.normalize"] = lambda t: [C(t(2, 3), 2, 1)]
SAMPLES["masked.logaddexp"] = lambda t: [C(t(2, 3), t(2, 3))]
of("quantile nanquantile", lambda t: [C(t(2, 3), 0.5), C(t(2, 3), 0.25, 1)])
SAMPLES["aminmax"] = lambda t: [C(t(2, 3)), C(t(2, 3), dim=0)]
of("sort argsort", lambda t: [C(t(2, 3)), C(t(2, 3), 0, True)])
SAMPLES["msort"] = lambda t: [C(t(3, 2))]
SAMPLES["topk"] = lambda t: [C(t(2, 4), 2), C(t(4, 2), 2, 0, False)]
SAMPLES["kthvalue"] = lambda t: [C(t(2, 4), 2), C(t(4, 2), 1, 0, True)]
of("histc", lambda t: [C(t(5)), C(t(5), 3, -1, 1)])
SAMPLES["histogram"] = lambda t: [C(t(5, grad=False), 3, range=(-9.0, 9.0))]
SAMPLES["histogramdd"] = lambda t: [C(t(5, 2, grad=False), [2, 2], range=[-9.0, 9.0, -9.0, 9.0])]
of("bucketize", lambda t: [C(t(3), t.tensor([1, 2, 5], dtype=t.dtype))])
of("searchsorted", lambda t: [C(t.tensor([1, 2, 5], dtype=t.dtype), t(3))])
SAMPLES["isin"] = lambda t: [C(t(2, 3), t(3))]
SAMPLES["diff"] = lambda t: [C(t(4)), C(t(2, 4), 2, 1)]
SAMPLES["gradient"] = lambda t: [C(t(5)), C(t(4, 4), dim=0)]
of("trapz trapezoid cumulative_trapezoid", lambda t: [C(t(2, 4)), C(t(2, 4), t(4))])
SAMPLES["dist"] = lambda t: [C(t(2, 3), t(2, 3)), C(t(2, 3), t(3), 1)]
SAMPLES["renorm"] = lambda t: [C(t(2, 3), 2, 0, 1.5)]
SAMPLES["norm"] = lambda t: [C(t(2, 3)), C(t(2, 3), 2, 1)]
SAMPLES["norm/nuc"], SAMPLES["norm/fro"] = lambda t: [C(t(2, 3), "nuc")], lambda t: [C(t(2, 3), "fro")]
SAMPLES["norm/inf"] = lambda t: [C(t(2, 3), float("inf")), C(t(2, 3), -float("inf"), 1)]
of("corrcoef cov", lambda t: [C(t(3, 4))])
SAMPLES["cross"] = SAMPLES["linalg.cross"] = lambda t: [C(t(2, 3), t(2, 3), dim=1)]

# Products and linear algebra

SAMPLES["matmul"] = SAMPLES["__rmatmul__"] = lambda t: [C(t(3, 3), t(3, 3)), C(t(2, 3, 3), t(3, 3)), C(t(3), t(3))]
of("dot vdot", lambda t: [C(t(3), t(3))])
of("outer", lambda t: [C(t(2), t(3))])
SAMPLES["inner"] = lambda t: [C(t(2, 3), t(2, 3)), C(t(3), t(3))]
SAMPLES["kron"] = lambda t: [C(t(2, 2), t(1, 3))]
SAMPLES["tensordot"] = lambda t: [C(t(2, 3), t(3, 2), dims=1), C(t(2, 3), t(2, 3), dims=([0, 1], [0, 1]))]
SAMPLES["einsum"] = lambda t: [C([t(2, 3), t(3, 2)], "ij,jk->ik"), C([t(2, 2)], "ii->")]
SAMPLES["cdist"] = lambda t: [C(t(3, 2), t(2, 2)), C(t(3, 2), t(2, 2), 1.0)]
of("mm", lambda t: [C(t(2, 3), t(3, 2))])
of("mv", lambda t: [C(t(2, 3), t(3))])
of("bmm bmm/triton_optimized", lambda t: [C(t(2, 2, 3), t(2, 3, 2))])
of("addmm addmm/decomposed", lambda t: [C(t(2, 2), t(2, 3), t(3, 2)), C(t(2), t(2, 3), t(3, 2), beta=2 if t.float else 1)])
SAMPLES["addmv"], SAMPLES["addr"] = lambda t: [C(t(2), t(2, 3), t(3))], lambda t: [C(t(2, 3), t(2), t(3))]
SAMPLES["addbmm"], SAMPLES["baddbmm"] = lambda t: [C(t(2, 2), t(3, 2, 3), t(3, 3, 2))], lambda t: [C(t(3, 2, 2), t(3, 2, 3), t(3, 3, 2))]
of("linalg.det linalg.slogdet logdet", lambda t: [C(t.spd(3))])
of("linalg.inv linalg.inv_ex pinverse linalg.pinv linalg.cond matrix_exp linalg.lu linalg.lu_factor linalg.lu_factor_ex lu linalg.eig linalg.eigvals "
   "linalg.qr qr geqrf linalg.matrix_norm linalg.svdvals svd linalg.svd", lambda t: [C(t.regular(3, 3))])
of("linalg.cholesky linalg.cholesky_ex cholesky linalg.eigh linalg.eigvalsh linalg.ldl_factor linalg.ldl_factor_ex", lambda t: [C(t.spd(3))])
SAMPLES["linalg.pinv/hermitian"] = lambda t: [C(t.spd(3), hermitian=True)]
SAMPLES["linalg.matrix_rank"], SAMPLES["linalg.matrix_rank/hermitian"] = lambda t: [C(t(3, 3))], lambda t: [C(t.spd(3), hermitian=True)]
of("linalg.solve linalg.solve_ex", lambda t: [C(t.regular(3, 3), t(3, 2)), C(t.regular(3, 3), t(3))])
SAMPLES["linalg.solve_triangular"] = lambda t: [C(t.regular(3, 3), t(3, 2), upper=True)]
SAMPLES["triangular_solve"] = lambda t: [C(t(3, 2), t.regular(3, 3))]
SAMPLES["cholesky_solve"] = lambda t: [C(t(3, 2), t.regular(3, 3))]
SAMPLES["cholesky_inverse"] = lambda t: [C(t.regular(3, 3))]
of("linalg.lstsq linalg.lstsq/grad_oriented", lambda t: [C(t.regular(3, 3), t(3, 2))])
SAMPLES["lu_solve"] = lambda t: [C(t(3, 2), t.regular(3, 3), t.tensor([1, 2, 3], dtype=dtypes.int32))]
SAMPLES["squeeze/multiple"] = lambda t: [C(t(1, 2, 1), (0, 2)), C(t(1, 2, 1), (0, 1))]
SAMPLES["linalg.matrix_power"] = lambda t: [C(t.regular(3, 3), 2), C(t.regular(3, 3), -1), C(t.regular(3, 3), 0)]
SAMPLES["linalg.multi_dot"] = lambda t: [C([t(2, 3), t(3, 2), t(2, 4)])]
of("linalg.norm linalg.norm/subgradients_at_zero", lambda t: [C(t(3, 3)), C(t(3), 2)])
SAMPLES["linalg.vector_norm"] = lambda t: [C(t(2, 3)), C(t(2, 3), 1, dim=1), C(t(2, 3), 3, dim=0, keepdim=True)]
SAMPLES["linalg.vecdot"] = lambda t: [C(t(2, 3), t(2, 3))]
SAMPLES["linalg.diagonal"] = lambda t: [C(t(2, 3, 3))]
SAMPLES["linalg.vander"] = lambda t: [C(t(3)), C(t(3), N=2)]
SAMPLES["linalg.tensorinv"] = lambda t: [C(t.regular(6, 6).reshape(2, 3, 6).detach().requires_grad_(t.requires_grad), ind=2)]
SAMPLES["linalg.tensorsolve"] = lambda t: [C(t.regular(6, 6).reshape(2, 3, 6).detach().requires_grad_(t.requires_grad), t(2, 3))]
SAMPLES["linalg.householder_product"] = lambda t: [C(t(3, 2, low=-1, high=1), t(2, low=0.1, high=1))]

# Transforms

of("fft.fft fft.fft2 fft.fftn fft.ifft fft.ifft2 fft.ifftn fft.hfft fft.hfft2 fft.hfftn fft.irfft fft.irfft2 fft.irfftn fft.fftshift fft.ifftshift",
   lambda t: [C(t(3, 4))])
of("fft.rfft fft.rfft2 fft.rfftn fft.ihfft fft.ihfft2 fft.ihfftn", lambda t: [C(t(3, 4))])
SAMPLES["stft"] = lambda t: [C(t(12), n_fft=4, return_complex=True, window=t.real(4, low=0.5, high=1, grad=False))]
of("signal.windows.hamming signal.windows.hann signal.windows.bartlett signal.windows.blackman signal.windows.cosine signal.windows.nuttall "
   "signal.windows.exponential signal.windows.gaussian signal.windows.kaiser", lambda t: [C(5, dtype=t.dtype, device=t.device)])
SAMPLES["signal.windows.general_cosine"] = lambda t: [C(5, a=[0.5, 0.3, 0.2], dtype=t.dtype, device=t.device)]
SAMPLES["signal.windows.general_hamming"] = lambda t: [C(5, alpha=0.6, dtype=t.dtype, device=t.device)]

# Layers

_pool = {1: (2, 3, 6), 2: (2, 3, 6, 6), 3: (1, 2, 4, 4, 4)}
for _n, _shape in _pool.items():
    of(f"nn.functional.avg_pool{_n}d nn.functional.max_pool{_n}d", lambda t, s=_shape: [C(t(*s), 2), C(t(*s), 2, 1)])
    of(f"nn.functional.adaptive_avg_pool{_n}d nn.functional.adaptive_max_pool{_n}d", lambda t, s=_shape: [C(t(*s), 2)])
    SAMPLES[f"nn.functional.conv{_n}d"] = lambda t, s=_shape, n=_n: [
        C(t(*s), t(4, s[1], *[2] * n), t(4)), C(t(*s), t(s[1], 1, *[2] * n), padding=1, stride=2, groups=s[1])]
    SAMPLES[f"nn.functional.conv_transpose{_n}d"] = lambda t, s=_shape, n=_n: [C(t(*s), t(s[1], 2, *[2] * n), t(2)), C(t(*s), t(s[1], 2, *[2] * n), stride=2)]
SAMPLES["nn.functional.linear"] = lambda t: [C(t(2, 3), t(4, 3), t(4)), C(t(3), t(4, 3))]
SAMPLES["nn.functional.bilinear"] = lambda t: [C(t(2, 3), t(2, 4), t(5, 3, 4), t(5))]
SAMPLES["nn.functional.glu"] = lambda t: [C(t(2, 4)), C(t(4, 2), 0)]
SAMPLES["nn.functional.prelu"] = lambda t: [C(t(2, 3), t(3)), C(t(2, 3), t(1))]
SAMPLES["nn.functional.rrelu"] = lambda t: [C(t(2, 3), lower=0.1, upper=0.2, training=False)]
SAMPLES["nn.functional.threshold"] = lambda t: [C(t(2, 3), 0.5 if t.float else 1, 2)]
of("nn.functional.softshrink nn.functional.hardshrink", lambda t: [C(t(2, 3)), C(t(2, 3), 0.3)])
SAMPLES["nn.functional.pad/constant"] = lambda t: [C(t(2, 3), (1, 2)), C(t(2, 3), (1, 0, 0, 2), value=1)]
SAMPLES["constant_pad_nd"] = lambda t: [C(t(2, 3), (1, 2), 1)]
for _mode in ("reflect", "replicate", "circular"):
    SAMPLES[f"nn.functional.pad/{_mode}"] = lambda t, m=_mode: [C(t(1, 2, 4), (1, 2), mode=m), C(t(1, 2, 4, 4), (1, 1, 1, 0), mode=m)]
SAMPLES["nn.functional.pad/replicate_negative"] = lambda t: [C(t(1, 2, 4), (-1, 1), mode="replicate")]
SAMPLES["nn.functional.unfold"] = lambda t: [C(t(2, 2, 4, 4), 2), C(t(2, 2, 4, 4), (2, 3), stride=2)]
for _mode, _shape in (("nearest", (2, 2, 4)), ("nearest-exact", (2, 2, 4)), ("linear", (2, 2, 4)), ("bilinear", (1, 2, 3, 4)), ("bicubic", (1, 2, 3, 4)),
                      ("trilinear", (1, 1, 2, 3, 2)), ("area", (1, 2, 4, 4))):
    SAMPLES[f"nn.functional.interpolate/{_mode}"] = lambda t, m=_mode, s=_shape: [C(t(*s), scale_factor=2.0, mode=m), C(t(*s), 3, mode=m)]
SAMPLES["nn.functional.upsample_bilinear"] = SAMPLES["nn.functional.upsample_nearest"] = lambda t: [C(t(1, 2, 3, 4), 4)]
SAMPLES["nn.functional.normalize"] = lambda t: [C(t(2, 3)), C(t(2, 3), p=1.0, dim=0)]
SAMPLES["nn.functional.cosine_similarity"] = lambda t: [C(t(2, 3), t(2, 3)), C(t(2, 3), t(3), dim=1)]
SAMPLES["nn.functional.pairwise_distance"] = lambda t: [C(t(2, 3), t(2, 3)), C(t(2, 3), t(2, 3), p=1.0)]
SAMPLES["nn.functional.pdist"] = lambda t: [C(t(3, 2)), C(t(3, 2), 1.0)]
SAMPLES["nn.functional.layer_norm"] = lambda t: [C(t(2, 3), (3,)), C(t(2, 3), (3,), t(3), t(3))]
SAMPLES["nn.functional.rms_norm"] = lambda t: [C(t(2, 3), (3,)), C(t(2, 3), (3,), t(3))]
SAMPLES["nn.functional.group_norm"] = lambda t: [C(t(2, 4, 3), 2), C(t(2, 4, 3), 2, t(4), t(4))]
SAMPLES["nn.functional.instance_norm"] = lambda t: [C(t(2, 3, 4)), C(t(2, 3, 4), weight=t(3), bias=t(3))]
SAMPLES["nn.functional.local_response_norm"] = lambda t: [C(t(2, 3, 4), 2)]
of("nn.functional.batch_norm nn.functional.batch_norm/without_cudnn", lambda t: [
    C(t(4, 3), None, None, training=True), C(t(4, 3), t(3, grad=False), t(3, low=0.5, high=1, grad=False), t(3), t(3))])
of("nn.functional.dropout nn.functional.alpha_dropout nn.functional.dropout2d nn.functional.dropout3d", lambda t: [C(t(2, 3, 2, 2, 2), p=0.0), C(t(2, 3, 2, 2, 2), training=False)])
SAMPLES["nn.functional.feature_alpha_dropout/with_train"] = lambda t: [C(t(2, 3, 2), p=0.0, training=True)]
SAMPLES["nn.functional.feature_alpha_dropout/without_train"] = lambda t: [C(t(2, 3, 2), training=False)]
SAMPLES["nn.functional.one_hot"] = lambda t: [C(t.i(0, 2), 3)]
SAMPLES["nn.functional.embedding"] = lambda t: [C(t(4, 3), t.i([0, 2], [1, 1])), C(t(4, 3), t.i(0, 2), padding_idx=0)]
SAMPLES["nn.functional.embedding_bag"] = lambda t: [C(t(4, 3), t.i([0, 2], [1, 3]))]
SAMPLES["nn.functional.scaled_dot_product_attention"] = lambda t: [C(t(2, 3, 4), t(2, 3, 4), t(2, 3, 4)), C(t(2, 3, 4), t(2, 3, 4), t(2, 3, 4), is_causal=True)]
SAMPLES["nn.functional.grid_sample"] = lambda t: [C(t(1, 2, 3, 3), t(1, 2, 2, 2, low=-0.9, high=0.9), align_corners=False)]
SAMPLES["nn.functional.channel_shuffle"] = lambda t: [C(t(1, 4, 2, 2), 2)]
SAMPLES["nn.functional.pixel_shuffle"], SAMPLES["nn.functional.pixel_unshuffle"] = lambda t: [C(t(1, 4, 2, 2), 2)], lambda t: [C(t(1, 1, 4, 4), 2)]
of("nn.functional.mse_loss nn.functional.l1_loss nn.functional.smooth_l1_loss nn.functional.huber_loss", lambda t: [
    C(t(2, 3), t(2, 3)), C(t(2, 3), t(2, 3), reduction="sum"), C(t(2, 3), t(2, 3), reduction="none")])
SAMPLES["nn.functional.cross_entropy"] = lambda t: [C(t(3, 4), t.i(0, 3, 1)), C(t(3, 4), t.i(0, 3, 1), label_smoothing=0.1), C(t(3, 4), t.i(0, 3, 1), reduction="none")]
SAMPLES["nn.functional.nll_loss"] = lambda t: [C(t(3, 4), t.i(0, 3, 1)), C(t(3, 4), t.i(0, 3, 1), reduction="none")]
SAMPLES["nn.functional.binary_cross_entropy"] = lambda t: [C(t(2, 3, low=0.1, high=0.9), t(2, 3, low=0.1, high=0.9))]
SAMPLES["nn.functional.binary_cross_entropy_with_logits"] = lambda t: [C(t(2, 3), t(2, 3, low=0.1, high=0.9)), C(t(2, 3), t(2, 3, low=0.1, high=0.9), pos_weight=t(3, low=1, high=2, grad=False))]
SAMPLES["nn.functional.kl_div"] = lambda t: [C(t(2, 3), t(2, 3, low=0.1, high=0.9), reduction="batchmean")]
SAMPLES["nn.functional.soft_margin_loss"] = lambda t: [C(t(2, 3), t(2, 3, low=-1, high=1, grad=False))]
SAMPLES["nn.functional.hinge_embedding_loss"] = lambda t: [C(t(2, 3), (t.mask(2, 3).to(t.dtype) * 2 - 1))]
SAMPLES["nn.functional.margin_ranking_loss"] = lambda t: [C(t(3), t(3), t.tensor([1, -1, 1], dtype=t.dtype))]
SAMPLES["nn.functional.cosine_embedding_loss"] = lambda t: [C(t(3, 2), t(3, 2), t.tensor([1, -1, 1], dtype=t.dtype))]
SAMPLES["nn.functional.multi_margin_loss"] = lambda t: [C(t(3, 4), t.i(0, 3, 1))]
SAMPLES["nn.functional.multilabel_margin_loss"] = lambda t: [C(t(2, 3), t.i([0, 2, -1], [1, -1, 0]))]
SAMPLES["nn.functional.multilabel_soft_margin_loss"] = lambda t: [C(t(2, 3), t(2, 3, low=0, high=1))]
SAMPLES["nn.functional.poisson_nll_loss"] = lambda t: [C(t(2, 3, low=-1, high=1), t(2, 3, low=0.5, high=3))]
SAMPLES["nn.functional.gaussian_nll_loss"] = lambda t: [C(t(2, 3), t(2, 3), t(2, 3, low=0.5, high=2))]
of("nn.functional.triplet_margin_loss nn.functional.triplet_margin_with_distance_loss", lambda t: [C(t(2, 3), t(2, 3), t(2, 3))])
SAMPLES["nn.functional.ctc_loss"] = lambda t: [C(t(5, 2, 4).log_softmax(2).detach().requires_grad_(t.requires_grad), t.i([1, 2], [3, 1]), (5, 4), (2, 2))]

# Random numbers

of("bernoulli", lambda t: [C(t(2, 3, low=0.1, high=0.9))])
SAMPLES["multinomial"] = lambda t: [C(t(2, 3, low=0.1, high=1), 2, True)]
SAMPLES["normal"] = lambda t: [C(t(2, 3), t(2, 3, low=0.5, high=1))]
SAMPLES["normal/number_mean"] = lambda t: [C(0.5, t(2, 3, low=0.5, high=1))]
of("normal/in_place uniform", lambda t: [C(t(2, 3), 0, 1)])
of("cauchy exponential log_normal", lambda t: [C(t(2, 3))])
SAMPLES["geometric"] = lambda t: [C(t(2, 3), 0.5)]


def _double(t):
    return dtypes.float64 if t.float else dtypes.float32


# What is seldom called by its name

SAMPLES["istft"] = lambda t: [C(_named("stft")(t.real(12).detach(), 4, return_complex=True, window=_ones(t, 4)).to(t.dtype).detach().requires_grad_(t.requires_grad), n_fft=4,
                                window=_ones(t, 4))] if t.dtype.is_complex else []
SAMPLES["as_strided_scatter"] = lambda t: [C(t(9), t(2, 2), (2, 2), (1, 2)), C(t(9), t(2, 2), (2, 2), (3, 1), 1)]
of("native_batch_norm _native_batch_norm_legit", lambda t: [
    C(t(2, 3, 4), t(3), t(3), t(3, grad=False), t(3, low=0.5, high=1, grad=False), training, 0.5, 1e-5) for training in (True, False)])
for _n, _shape in {1: (1, 2, 6), 2: (1, 2, 4, 4), 3: (1, 1, 4, 4, 4)}.items():
    of(f"nn.functional.max_unpool{_n}d nn.functional.max_unpool{_n}d/grad", lambda t, n=_n, s=_shape: [_pooled(t, n, s)])
SAMPLES["_segment_reduce/lengths"] = lambda t: [C(t(5, 2), r, lengths=t.i(2, 0, 3)) for r in ("sum", "mean", "max", "min", "prod")]
SAMPLES["_segment_reduce/offsets"] = lambda t: [C(t(5, 2), r, offsets=t.i(0, 2, 2, 5)) for r in ("sum", "mean", "max", "min", "prod")]
SAMPLES["_softmax_backward_data"] = lambda t: [C(t(2, 3), t(2, 3), 1, t.dtype)]
SAMPLES["hash_tensor"] = lambda t: [C(t(2, 3)), C(t(2, 3), dim=0), C(t(2, 3), dim=1, keepdim=True)]
SAMPLES["linalg.pinv/singular"] = lambda t: [C(t(4, 2), t(3, 2))]
SAMPLES["_unsafe_masked_index"] = lambda t: [C(t(2, 3), t.mask(2, 3), [t.i(0, 1)[:, None], t.i(0, 1, 2)], 1)]
SAMPLES["_unsafe_masked_index_put_accumulate"] = lambda t: [C(t(2, 3), t.mask(2, 3), [t.i(0, 1)[:, None], t.i(0, 1, 2)], t(2, 3))]
SAMPLES["torch.ops.aten._safe_softmax.default"] = lambda t: [C(t(2, 3), 1), C(t(3), 0)]


def _named(name):
    return _publish.load_all()[f"torch.{name}"]


def _ones(t, n):
    return _named("ones")(n, dtype=t.dtype.to_real() if t.dtype.is_complex else t.dtype, device=t.device)


def _pooled(t, n, shape):
    """What a pooling of different numbers gives, and where it found them."""
    count = 1
    for k in shape:
        count *= k
    spread = _named("arange")(count, device=t.device).mul(7).remainder(count).reshape(shape).to(t.dtype)
    values, indices = _publish.load_all()[f"torch.nn.functional.max_pool{n}d"](spread, 2, return_indices=True)
    return C(values.detach().requires_grad_(t.requires_grad), indices, 2)
