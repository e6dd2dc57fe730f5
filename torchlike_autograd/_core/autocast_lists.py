"""Which functions autocast casts, by kind of device (layer 6): by public path without "torch." and "nn.functional.", and by name of the op table.

For CUDA: PyTorch's lists in aten/src/ATen/autocast_mode.h, and what a GPU build (2.11) said of every entry of the op table, which tells apart operators
that are made of listed ones there.
"""

LOWER, FULL, WIDEST, ADDED_IN_FULL, UNSAFE = "lower", "full", "widest", "added in full", "unsafe"

_CPU = {
    LOWER: [
        "_addmm_activation", "addbmm", "addmm", "affine_grid", "affine_grid_generator", "baddbmm", "bmm", "conv1d", "conv2d", "conv3d", "conv_tbc",
        "conv_transpose1d", "conv_transpose2d", "conv_transpose3d", "linalg.matmul", "linalg.vecdot", "linalg_vecdot", "linear", "matmul",
        "mm", "prelu", "scaled_dot_product_attention", "tensordot"],
    FULL: [
        "adaptive_avg_pool3d", "adaptive_max_pool3d", "avg_pool3d", "binary_cross_entropy", "binary_cross_entropy_with_logits", "cdist", "cholesky",
        "cholesky_inverse", "cholesky_solve", "cosine_embedding_loss", "cross_entropy", "ctc_loss", "fake_quantize_per_tensor_affine", "fft.fft", "fft.fft2",
        "fft.fftn", "fft.hfft", "fft.ifft", "fft.ifft2", "fft.ifftn", "fft.ihfft", "fft.irfft", "fft.irfft2", "fft.irfftn", "fft.rfft", "fft.rfft2",
        "fft.rfftn", "fractional_max_pool2d", "fractional_max_pool3d", "geqrf", "grid_sample", "grid_sampler", "grid_sampler_2d", "grid_sampler_3d",
        "hinge_embedding_loss", "huber_loss", "inverse", "kl_div", "l1_loss", "linalg.cholesky", "linalg.cholesky_ex", "linalg.cond", "linalg.eig",
        "linalg.eigh", "linalg.eigvals", "linalg.eigvalsh", "linalg.householder_product", "linalg.inv", "linalg.inv_ex", "linalg.lstsq", "linalg.matrix_rank",
        "linalg.qr", "linalg.solve", "linalg.svd", "linalg.svdvals", "linalg.tensorinv", "linalg.tensorsolve", "linalg_cholesky_ex", "linalg_eig",
        "linalg_eigh", "linalg_householder_product", "linalg_inv_ex", "linalg_qr", "linalg_svd", "lu_solve", "margin_ranking_loss", "max_pool3d",
        "max_pool3d_with_indices", "max_unpool2d", "max_unpool3d", "mse_loss", "multi_margin_loss", "multilabel_margin_loss", "nanquantile", "nll_loss",
        "ormqr", "orgqr", "pinverse", "poisson_nll_loss", "polar", "prod", "qr", "quantile", "reflection_pad1d", "reflection_pad2d", "replication_pad1d",
        "replication_pad2d", "replication_pad3d", "smooth_l1_loss", "soft_margin_loss", "stft", "svd", "trace", "triangular_solve", "triplet_margin_loss",
        "view_as_complex"],
    WIDEST: ["cat", "column_stack", "concat", "concatenate", "dstack", "hstack", "index_copy", "row_stack", "stack", "vstack"],
}

_CUDA = {
    LOWER: [
        "_addmm_activation", "addbmm", "addmm", "addmv", "addr", "affine_grid", "affine_grid_generator", "baddbmm", "bmm", "chain_matmul", "conv1d", "conv2d",
        "conv3d", "conv_tbc", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d", "convolution", "gru", "gru_cell", "linalg.matmul",
        "linalg.multi_dot", "linalg.vecdot", "linalg_vecdot", "linear", "lstm", "lstm_cell", "matmul", "mm", "mv", "prelu", "rnn_relu", "rnn_relu_cell",
        "rnn_tanh", "rnn_tanh_cell", "scaled_dot_product_attention"],
    FULL: [
        "acos", "arccos", "asin", "arcsin", "cosh", "erfinv", "special.erfinv", "exp", "expm1", "special.expm1", "log", "log10", "log2", "log1p",
        "special.log1p", "reciprocal", "rsqrt", "sinh", "tan", "pow", "ldexp", "mvlgamma", "special.multigammaln", "pairwise_distance", "trace", "softplus",
        "layer_norm", "native_layer_norm", "group_norm",
        "nuclear_norm", "cosine_similarity", "poisson_nll_loss", "cosine_embedding_loss", "cross_entropy", "nll_loss", "hinge_embedding_loss", "kl_div",
        "l1_loss", "smooth_l1_loss", "huber_loss", "mse_loss", "margin_ranking_loss", "multilabel_margin_loss", "soft_margin_loss", "triplet_margin_loss",
        "multi_margin_loss", "binary_cross_entropy_with_logits", "dist", "pdist", "cdist", "renorm", "logsumexp", "special.logsumexp", "upsample_nearest1d",
        "_upsample_nearest_exact1d", "upsample_nearest2d", "_upsample_nearest_exact2d", "upsample_nearest3d", "_upsample_nearest_exact3d", "upsample_linear1d",
        "upsample_bilinear2d", "_upsample_bilinear2d_aa", "upsample_trilinear3d", "upsample_bicubic2d", "_upsample_bicubic2d_aa"],
    WIDEST: [
        "addcdiv", "addcmul", "atan2", "arctan2", "bilinear", "cat", "concat", "concatenate", "cross", "dot", "vdot", "grid_sample", "grid_sampler",
        "index_put", "tensordot", "scatter_add", "stack"],
    ADDED_IN_FULL: [
        "cumprod", "cumsum", "linalg.matrix_norm", "linalg.norm", "linalg.vector_norm", "linalg_matrix_norm", "linalg_vector_norm", "log_softmax", "norm",
        "prod", "softmax", "special.log_softmax", "special.softmax", "sum"],
    UNSAFE: ["binary_cross_entropy"],
}

LISTS = {kind: {name: step for step, names in lists.items() for name in names} for kind, lists in (("cpu", _CPU), ("cuda", _CUDA))}  # {kind: {name: step}}

__all__ = ["ADDED_IN_FULL", "FULL", "LISTS", "LOWER", "UNSAFE", "WIDEST"]
